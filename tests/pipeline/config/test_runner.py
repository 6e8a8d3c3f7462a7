from __future__ import annotations

import pytest

from crawlctl.pipeline.config.runner import RunnerSettings


def test_the_default_is_the_forked_runner() -> None:
    assert RunnerSettings().name == "forked"


def test_what_cannot_work_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="name must be one of forked, inline, local"):
        RunnerSettings(name="dataproc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers must be 1 or more"):
        RunnerSettings(workers=0)
