"""The demo web, rendered once for all tests that read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.web import demo_web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.demo.web import DemoWeb


@pytest.fixture(scope="session")
def web() -> Iterator[DemoWeb]:
    with demo_web() as served:
        yield served
