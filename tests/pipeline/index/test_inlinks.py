from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.inlinks import inlinks, stored_links
from crawlctl.pipeline.index.lookup import find_document
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.urls.hosts import stable_hash, webdb_key

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.local.store import LocalStore

TARGET = "http://b.example/"
PAGES = [f"http://{host}.example/{number}" for host in "ac" for number in range(20)]


def run(store: LocalStore, *documents: Document) -> tuple[FileEntry, ...]:
    builder = RunBuilder()
    for document in documents:
        builder.add(document)
    return builder.write(store, partition=0, round_number=1)


def page(url: str, *targets: str, nofollow: bool = False, fetched_at: int = 1) -> Document:
    links = tuple((target, "", nofollow) for target in targets)
    return Document(
        url, title=f"of {url} at {fetched_at}", text="some words", links=links, fetched_at=fetched_at
    )


def merged(store: LocalStore, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
    pages = [PageState(key, True, (), 1.0) for key in sorted(map(webdb_key, PAGES))]
    task = MergeTask(0, 2, IndexSettings(), totals_of(files), 0)
    return merge_partition(store, task, files, pages).files


@pytest.mark.parametrize("is_merged", [False, True])
def test_pages_that_link_to_a_url_are_found_in_runs_and_segments(store: LocalStore, is_merged: bool) -> None:
    linking = {PAGES[3], PAGES[27]}
    files = run(
        store,
        *(page(url, "http://x/", *([TARGET] if url in linking else []), "http://y/") for url in PAGES[:30]),
    )
    files += run(store, page(PAGES[30], TARGET, nofollow=True), page(PAGES[31]))
    if is_merged:
        files = merged(store, files)
    found = {link.record.url: link.nofollow for link in inlinks(stored_links(store, files), TARGET)}
    assert found == {PAGES[3]: False, PAGES[27]: False, PAGES[30]: True}
    assert list(inlinks(stored_links(store, files), "http://nobody/")) == []


def test_bytes_that_lie_across_two_links_are_no_link(store: LocalStore) -> None:
    two = (stable_hash("http://x/").to_bytes(8, "big") + stable_hash("http://y/").to_bytes(8, "big"))[4:12]
    files = run(store, page(PAGES[0], "http://x/", "http://y/"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawlctl.pipeline.index.inlinks.stable_hash", lambda _: int.from_bytes(two, "big"))
        assert list(inlinks(stored_links(store, files), TARGET)) == []


def test_links_without_their_document_are_damage(store: LocalStore) -> None:
    files = run(store, page(PAGES[0], TARGET))
    (held,) = stored_links(store, files)
    (names,) = runs_of(run(store, page(PAGES[1])))
    docs = MapFileReader(store.open(names.docs_data), store.open(names.docs_index))
    with pytest.raises(CorruptFile, match="no document 7"):
        held._replace(docs=docs).record((7).to_bytes(8, "big"))


@pytest.mark.parametrize("is_merged", [False, True])
def test_the_latest_document_of_a_url_is_found(store: LocalStore, is_merged: bool) -> None:
    files = run(store, *(page(url) for url in PAGES))
    if is_merged:
        files = merged(store, files)
    found = find_document(store, files, PAGES[25])
    assert found is not None
    assert (found.url, found.title, found.lengths.body) == (PAGES[25], f"of {PAGES[25]} at 1", 2)
    assert find_document(store, files, PAGES[25] + "/no") is None
    assert find_document(store, files, "http://nowhere/") is None
    files += run(store, page(PAGES[25], fetched_at=2))
    latest = find_document(store, files, PAGES[25])
    assert latest is not None and latest.fetched_at == 2
