from __future__ import annotations

import os

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.run.settings import RunnerSettings, usable_cores


def test_the_default_is_the_forked_runner() -> None:
    assert RunnerSettings().name == "forked"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"name": "dataproc"}, "choose one of forked, inline, local"), ({"workers": 0}, "give 1 or more")],
)
def test_what_cannot_work_is_refused_with_the_choices(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        RunnerSettings(**wrong)  # type: ignore[arg-type]


def test_usable_cores_are_some_of_the_machines() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
