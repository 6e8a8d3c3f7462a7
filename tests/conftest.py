from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from crawlctl.tests.effort import EVERYDAY, EXPLORING, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from crawlctl.tests.hadoop.cluster import Cluster

# The same examples each time, so that a red run tells of the change at hand: few for every day, more for
# `make properties`. What nobody has thought of yet is for `make explore` to find.
settings.register_profile("everyday", max_examples=EVERYDAY, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=THOROUGH, derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=EXPLORING, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that tests start: a shell that starts us in the background ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with long time limits first: a long file begun last would leave the other processes idle."""
    limits: dict[Path, float] = {}
    for item in items:
        marker = item.get_closest_marker("timeout")
        limits[item.path] = max(limits.get(item.path, 0), marker.args[0] if marker else 0)
    items.sort(key=lambda item: -limits[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where integration is required, as in .ci/run, a test that skips for want of a server has failed.

    Servers can be had everywhere; data of others, which lie beside the project in ../shared, cannot.
    """
    report = yield
    is_required = os.environ.get("REQUIRE_INTEGRATION") and item.get_closest_marker("integration")
    if report.skipped and is_required and "../shared" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, but integration is required: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def hadoop() -> Iterator[Cluster]:
    """The Hadoop that `make hadoop` has started, else one for these tests alone."""
    from crawlctl.tests.hadoop.cluster import assemble, current, missing_programs, start, stop_current

    if missing := missing_programs():
        pytest.skip(f"no Hadoop without {' and '.join(missing)}: install Java 17 and Maven")
    assemble()
    running = current()
    if running is not None:
        yield running
        return
    try:
        yield start()
    finally:
        stop_current()
