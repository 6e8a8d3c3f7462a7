"""A run that fills the disk loses only unsaved pages, says how many, and gc keeps what was saved."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.upkeep.collecting import collect_garbage
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import StoreFull
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines
from crawlctl.tests.pipeline.fetch.crawl import paths, settings
from crawlctl.tests.pipeline.fetch.site import serving
from crawlctl.tests.pipeline.store.local.small_disk import enlarge, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

PAGES = 60
LOST = re.compile(r"(\d+) fetched pages of partition 0 could not be saved and are due again: ")
CONTINUING = "round 1: continuing where the last run stopped"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that is too small for the pages of the site."""
    with small_disk(tmp_path / "disk", "1m") as folder:
        yield folder


@pytest.fixture
def site() -> Iterator[Site]:
    """A site whose pages can hardly be compressed."""
    with serving(1) as (site,):
        for number in range(PAGES):
            site.page(f"/{number}", text=random.Random(number).randbytes(20_000).hex())
        yield site


def work_on(disk: Path, scratch: Path, said: SaidLines, *, flush_pages: int) -> Work:
    config = settings(
        runner={"name": "inline", "tmp_dir": str(scratch)},
        round={"flush_pages": flush_pages},
        gc={"min_age": "0s"},
    )
    return Work(LocalStore(disk / "crawl"), config, said)


def run(work: Work, site: Site) -> None:
    seeds = [site.url(f"/{number}") for number in range(PAGES)]
    run_rounds(work, iterations=1, partitions=1, seeds=seeds)


def run_until_full(work: Work, site: Site) -> int:
    """Run until the disk is full; return how many pages the message gives as lost."""
    with pytest.raises(StoreFull, match="No space left on device") as full:
        run(work, site)
    lost = LOST.match(str(full.value))
    assert lost is not None, str(full.value)
    return int(lost[1])


def saved_paths(work: Work, site: Site) -> set[str]:
    return paths({url_of_key(key) for key in adopt_runs(work.store, 1, 0).done}, site.host)


def test_after_gc_no_saved_page_is_asked_for_again(disk: Path, scratch: Path, site: Site) -> None:
    said = SaidLines()
    work = work_on(disk, scratch, said, flush_pages=5)
    lost = run_until_full(work, site)
    saved, asked = saved_paths(work, site), Counter(site.pages_asked())
    assert 5 <= len(saved) < PAGES
    assert len(saved) + lost <= len(asked)
    collect_garbage(work)
    assert saved_paths(work, site) == saved
    enlarge(disk, "64m")
    site.asked.clear()
    run(work, site)
    assert CONTINUING in said.lines
    assert set(site.pages_asked()) == {f"/{number}" for number in range(PAGES)} - saved


def test_if_the_first_save_fails_all_pages_are_asked_for_again(disk: Path, scratch: Path, site: Site) -> None:
    said = SaidLines()
    work = work_on(disk, scratch, said, flush_pages=PAGES)
    lost = run_until_full(work, site)
    assert lost and not saved_paths(work, site)
    collect_garbage(work)
    enlarge(disk, "64m")
    run(work, site)
    assert CONTINUING not in said.lines
    assert set(site.pages_asked()) == {f"/{number}" for number in range(PAGES)}
