"""Which copies may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.serve.archived_copy import ArchivedCopy, StoredPages, forbids_copies
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.commands.damaged_crawl import linked_copy
from crawlctl.tests.pipeline.serve.served_web import LOOP, PAGES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="robots" content="noarchive">',
        "<meta content=noindex,NOARCHIVE name=ROBOTS>",
        "<meta\nname='crawlctl'\ncontent = 'none'>",
    ],
)
def test_a_meta_element_forbids_copies(head: str) -> None:
    assert forbids_copies((), head.encode(), "crawlctl")
    assert forbids_copies((), head.encode("utf-16"), "crawlctl")


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="googlebot" content="noarchive">',
        '<meta name="robots" content="nofollow">',
        '<meta name="description" content="noarchive">',
        "noarchive",
    ],
)
def test_other_elements_do_not(head: str) -> None:
    assert not forbids_copies((), head.encode(), "crawlctl")


@pytest.mark.parametrize(
    ("value", "is_forbidden"),
    [("noarchive", True), ("crawlctl: noarchive", True), ("otherbot: noarchive", False), ("noindex", False)],
)
def test_a_header_forbids_copies(value: str, is_forbidden: bool) -> None:
    assert forbids_copies((("x-robots-tag", value),), b"", "crawlctl") is is_forbidden


@pytest.mark.parametrize(
    ("content_type", "is_html", "charset"),
    [
        ("text/html; charset=Windows-1252", True, "cp1252"),
        ('TEXT/HTML;charset="utf-8"', True, "utf-8"),
        ("text/html; charset=x\x1b[31m", True, ""),
        ("text/html; charset=klingon", True, ""),
        ("image/svg+xml", False, ""),
        ("", False, ""),
    ],
)
def test_only_html_is_shown_as_a_page(content_type: str, is_html: bool, charset: str) -> None:
    copy = ArchivedCopy("http://a.org/", 0, 0, content_type, b"", b"")
    assert (copy.is_html, copy.charset) == (is_html, charset)


def test_a_page_that_was_forgotten_has_neither_document_nor_copy(
    web_store: LocalStore, tmp_path: Path
) -> None:
    store = LocalStore(linked_copy(web_store.root, tmp_path / "crawl"))
    pages = StoredPages(store, load_current(store), (), "crawlctl")
    assert pages.copy(LOOP).body == PAGES[LOOP][0]
    assert pages.document(LOOP + "#part").title == "The event loop"
    assert run(["forget", LOOP, "--store", store.uri, "--runner", "inline"]) == 0
    pages = StoredPages(store, load_current(store), (), "crawlctl")
    for look in (pages.copy, pages.document):
        with pytest.raises(NothingMatched, match="is not in the index"):
            look(LOOP)
