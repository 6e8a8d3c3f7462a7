"""What of a page is indexed, through whole tasks against a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.state.kinds import BLOCKS
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.anchors import pages_of
from crawlctl.pipeline.webdb.repeated.block_table import read_samples
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.crawl import Fetched
    from crawlctl.tests.pipeline.fetch.site import Site

HTML = "text/html"


def own(number: int) -> str:
    return f"Page {number} tells its own story, which no other page of the host tells in these words. " * 3


def texts(fetched: Fetched) -> dict[str, str]:
    records = [
        decode_record(value)
        for run in runs_of(fetched.files)
        for block in SequenceFileReader(fetched.store.open(run.docs_data)).blocks()
        for value in block.values
    ]
    return {record.title: record.text for record in records}


def old_layout(number: int, links: str = "") -> str:
    return (
        f"<title>{number}</title><body><div><p>Acme Widgets, makers of fine widgets</div>"
        f"<p>{own(number)}<p>{links}<div><p>All widgets are made by hand</div>"
    )


def three_levels(site: Site) -> None:
    """Let a page lead to nine, and these to twelve more."""
    site.text("/", old_layout(0, "".join(f"<a href=/{one}>{one}</a> " for one in range(1, 10))), kind=HTML)
    last = "".join(f"<a href=/{one}>on to {one}</a> " for one in range(90, 102))
    for number in range(1, 10):
        site.text(f"/{number}", old_layout(number, last), kind=HTML)
    for number in range(90, 102):
        site.text(f"/{number}", old_layout(number), kind=HTML)


def test_blocks_that_a_round_finds_on_most_pages_are_gone_in_the_next(site: Site, crawl: Crawl) -> None:
    three_levels(site)
    crawl.inject(site.url())
    crawl.round()
    second, third = crawl.round(), crawl.round()
    assert texts(second)["5"].startswith("Acme Widgets, makers of fine widgets\nPage 5")
    assert texts(second)["5"].endswith("All widgets are made by hand")
    assert texts(third) == {str(number): own(number).strip() for number in range(90, 102)}


@pytest.mark.slow
def test_the_setting_keeps_repeated_blocks(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "crawl", settings(parse={"drop_repeated": False}))
    three_levels(site)
    crawl.inject(site.url())
    crawl.round()
    crawl.round()
    assert texts(crawl.round())["95"].startswith("Acme Widgets")
    assert not load_current(crawl.store).files_of(BLOCKS)


@pytest.mark.slow
@pytest.mark.parametrize("stops", [(2,), (1, 5, 9)])
def test_documents_do_not_depend_on_how_often_a_task_is_stopped(
    site: Site, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    """The sample and all documents are those of a crawl that nobody has stopped."""
    three_levels(site)
    crawls = [Crawl(tmp_path / name, settings(round={"flush_pages": 2})) for name in ("whole", "stopped")]
    found = []
    for number, crawl in enumerate(crawls):
        crawl.inject(site.url())
        documents: dict[str, str] = {}
        for _ in range(3):
            for pages in stops if number else ():
                fetch_partition(crawl.order(max_pages=pages), crawl.store)
            documents |= texts(crawl.round())
        table = load_current(crawl.store).files_of(BLOCKS, 0)
        found.append((documents, [dict(read_samples(crawl.store, entry)) for entry in table]))
    assert found[0] == found[1]
    assert len(found[0][0]) == 22


def test_the_menu_is_not_indexed_but_followed_and_its_anchors_weigh_less(site: Site, crawl: Crawl) -> None:
    menu = "<nav><a href=/x>Menu of x</a><a href=/y>Menu of y</a></nav>"
    page = f"<title>t</title>{menu}<main><p>{own(1)}<a href=/y>what y says</a></p></main>"
    site.text("/", page, kind=HTML)
    crawl.inject(site.url())
    fetched = crawl.fetch()
    assert texts(fetched) == {"t": f"{own(1)}what y says"}
    found = {url.rpartition("/")[2]: fresh for url, fresh in fetched.fresh().items()}
    assert (found["x"].anchors, found["x"].anchor_weights) == (("Menu of x",), ())
    assert found["y"].anchors == ("what y says",)
    assert pages_of(found["y"].anchor_weights[0]) == 1
