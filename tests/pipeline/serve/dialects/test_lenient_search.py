"""Filters hold for a whole query, and only a query with the operator OR needs parentheses for that."""

from __future__ import annotations

from typing import Any, cast

import pytest

from crawlctl.pipeline.serve.dialects import lenient_search
from crawlctl.pipeline.serve.searching.search_request import SearchRequest


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("red OR tree", "(red OR tree) lang:en"),
        ("FORTRAN arrays", "FORTRAN arrays lang:en"),
        ("ORACLE FOR FLOOR", "ORACLE FOR FLOOR lang:en"),
    ],
)
def test_only_or_gets_parentheses(text: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(lenient_search, "search", lambda _, wanted: seen.append(wanted.text))
    lenient_search.lenient_search(cast("Any", None), SearchRequest(text), ["lang:en"])
    assert seen == [asked]
