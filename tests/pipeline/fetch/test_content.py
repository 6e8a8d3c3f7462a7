"""What of a page is indexed, through whole tasks against a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.webdb.anchors import pages_of

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched
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
