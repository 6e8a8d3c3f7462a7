"""Strategies for documents: few different words, so that they meet, and some that are hard to cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

words = st.sampled_from(
    [
        "the",
        "running",
        "runs",
        "F",
        "B",
        "Straße",
        "naïve",
        "read_csv",
        "__",
        "—",
        "l'arbre",
        "東京都",
        "ไทย",
        "x" * 70,
    ]
)
sentences = st.lists(words, max_size=12).map(" ".join)
texts = st.one_of(sentences, st.text(max_size=30))
documents = st.builds(
    Document,
    url=st.sampled_from(["http://a.example/b/runs.html", "https://a.example/Z%C3%BCrich?q=1", "odd"]),
    title=texts,
    headings=st.lists(texts, max_size=3).map(tuple),
    text=texts,
    language=st.sampled_from(["en", "fr", "zh", ""]),
    links=st.lists(
        st.tuples(st.sampled_from(["http://b.example/", "http://ü.example/"]), texts, st.booleans())
    ).map(tuple),
    fetched_at=st.integers(0, 2**40),
    signature=st.binary(max_size=16),
    sketch=st.binary(max_size=8),
    canonical=st.sampled_from(["", "http://a.example/b"]),
)

st.register_type_strategy(Document, documents)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")
