"""The tests of the driver run jobs, with the fixtures of the runners' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.tests.pipeline.runners.conftest import cache, job, scratch, watch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cache", "job", "made_up_web", "scratch", "watch"]


@pytest.fixture
def made_up_web(monkeypatch: pytest.MonkeyPatch, job: Callable[[str], Any]) -> None:
    """Let rounds fetch a web that is made up, without a network."""
    monkeypatch.setattr("crawlctl.jobs.fetch_index.FetchIndex", job("stand_in_fetch.StandInFetch"))
