"""Pages of few different words, so that they meet, and queries of all operators about them."""

from __future__ import annotations

from hypothesis import strategies as st

from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.filters import (
    After,
    Before,
    DocumentType,
    FieldValue,
    Language,
    Site,
)
from crawlctl.tests.pipeline.search.brute_force import Page

WORDS = (
    *("run", "running", "the", "der", "Häuser", "haus", "c", "x"),
    *("7", "1990", "1995", "007", "e-mail", "email", "mail", "東京都", "run_the", "runTheHaus", "c#", "x.7"),
)
HOSTS = ("a.example", "b.a.example", "b.a.example:8080", "aa.example")
FIELDS = (None, "body", "heading", "title", "url", "anchor")

words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=6).map(" ".join)
urls = st.builds("http://{}/{}/{}".format, st.sampled_from(HOSTS), words, st.integers(0, 99))
pages = st.builds(
    Page,
    url=urls,
    title=texts,
    text=texts,
    headings=st.lists(texts, max_size=2).map(tuple),
    anchors=st.lists(texts, max_size=2).map(tuple),
    language=st.sampled_from(["en", "de", ""]),
    fetched_at=st.integers(0, 5),
    last_modified=st.sampled_from([0, 1, 1_704_067_199, 1_704_067_200]),
    kind=st.sampled_from(["", "html", "pdf"]),
    values=st.lists(
        st.sampled_from([("author", "Ann Lee"), ("author", "bo"), ("price", 12)]), max_size=2
    ).map(tuple),
    dead=st.booleans(),
    prior=st.integers(0, 255),
)

_fields = st.sampled_from(FIELDS)
leaves = st.one_of(
    st.builds(tree.Word, words, _fields),
    st.builds(tree.Phrase, st.lists(words, min_size=2, max_size=3).map(tuple), _fields),
    st.builds(tree.Prefix, st.sampled_from(["r", "run", "ha", "19", "running", "runni", "hause"]), _fields),
    st.builds(tree.Exact, st.sampled_from(["run", "running", "haus", "häuser", "hauser", "7"]), _fields),
    st.builds(tree.Range, st.integers(0, 8), st.sampled_from([8, 1990, 2000]), _fields),
    st.builds(Site, st.sampled_from([*HOSTS, "example", "c.d"]), st.sampled_from(["", "", "run", "e-mail"])),
    st.builds(Language, st.sampled_from(["de", "en", "fr"])),
    st.builds(Before, st.sampled_from(["1970", "2024", "2025-01-31"])),
    st.builds(After, st.sampled_from(["1970", "2024", "2025-01"])),
    st.builds(DocumentType, st.sampled_from(["pdf", "html"])),
    st.sampled_from([FieldValue("author", "ann lee"), FieldValue("author", "Bo"), FieldValue("price", "12")]),
    st.builds(tree.AllPages),
)


def _and(wanted: list[tree.Node], unwanted: list[tree.Node]) -> tree.Node:
    return tree.And((*wanted, *map(tree.Not, unwanted)))


trees: st.SearchStrategy[tree.Node] = st.recursive(
    leaves,
    lambda nodes: st.one_of(
        st.builds(_and, st.lists(nodes, min_size=1, max_size=3), st.lists(nodes, max_size=2)),
        st.lists(nodes, min_size=2, max_size=3).map(lambda parts: tree.Or(tuple(parts))),
    ),
    max_leaves=6,
)
