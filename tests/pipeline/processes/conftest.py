"""The tests of processes run jobs, with the fixtures of the runners' tests."""

from __future__ import annotations

from crawlctl.tests.pipeline.runners.conftest import cache, job, scratch, watch

__all__ = ["cache", "job", "scratch", "watch"]
