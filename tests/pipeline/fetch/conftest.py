from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.pipeline.fetch.crawl import Crawl
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(1) as (one,):
        yield one


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path / "crawl")
