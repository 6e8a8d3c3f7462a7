"""Runs `crawlctl query`, whether click or query_options.py has read the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.commands.shared.output import print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.commands.shared.session import Session
    from crawlctl.pipeline.search.answer.find import SearchOptions
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query

_SYNTAX = '"“”„():'
_FIELD_FILTER = "in:"
_SIGNS = ("", "-", "+")


def search(session: Session, words: Sequence[str], options: dict[str, Any]) -> None:
    """Answer the query of a command line; if it has no words, answer the queries that the user types."""
    if not words:
        _prompt(session, options)
        return
    # before the store is opened, so that errors in the query are reported first
    query = _parse(joined(words))
    searcher = _open(session, query)
    try:
        _show(searcher, query, options)
    finally:
        searcher.close()


def _prompt(session: Session, options: dict[str, Any]) -> None:
    from crawlctl.pipeline.commands.shared.querying.prompt import ShownPages, ask
    from crawlctl.pipeline.search.open.follower import FollowingSearcher

    searcher = FollowingSearcher(session.store())

    def answer(text: str, offset: int) -> ShownPages:
        query, before = _parse(text), searcher.snapshot

        def show(current: Searcher) -> tuple[int, bool]:
            if current.snapshot.writer != before.writer:
                say(f"the crawl has moved on, this is snapshot {current.snapshot.number}:", err=True)
            return _show(current, query, {**options, "offset": offset})

        # The next pages of an answer come from the same snapshot as its first pages.
        return ShownPages(*searcher.ask(show, stay=offset > 0, ahead=query))

    def completions(line: str) -> list[str]:
        from crawlctl.pipeline.search.suggestions.completions import complete

        return [found.text for found in searcher.ask(lambda current: complete(current, line), stay=True)]

    try:
        ask(answer, searcher.documents, completions)
    finally:
        searcher.close()


def joined(words: Sequence[str]) -> str:
    """Return the query that the words of a command line make together.

    If there are several words, a word with spaces in it was quoted for the shell and means a phrase, or the
    value of a field as in `in:author="donald knuth"`.
    """
    if len(words) == 1:
        return words[0]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    sign, name, value = word.partition(_FIELD_FILTER)
    if name and sign in _SIGNS and " " in value and '"' not in value:
        return f'{sign}{name}"{value}"'
    return f'"{word}"' if _is_phrase(word) else word


def _is_phrase(word: str) -> bool:
    from crawlctl.pipeline.search.query.tree import KEYWORDS

    parts = word.split()
    return len(parts) > 1 and not any(sign in word for sign in _SYNTAX) and set(KEYWORDS).isdisjoint(parts)


def _open(session: Session, query: Query) -> Searcher:
    from crawlctl.pipeline.search.open.open_index import open_index

    return open_index(session.store(), query=query)


def _parse(text: str) -> Query:
    from crawlctl.pipeline.search.query.grammar import parse

    return parse(text)


def _show(searcher: Searcher, query: Query, options: dict[str, Any]) -> tuple[int, bool]:
    """Answer a query on the terminal; return how many pages were shown, and whether there are more."""
    shown = _print(searcher, query, options)
    sys.stdout.flush()  # flush here, where errors of writing are caught and explained
    return shown


def _print(searcher: Searcher, query: Query, options: dict[str, Any]) -> tuple[int, bool]:
    from crawlctl.pipeline.commands.shared.querying.answer_lines import (
        print_answer,
        print_notices,
        print_urls,
    )
    from crawlctl.pipeline.search.answer.find import SearchOptions, find

    if options["count"]:
        results = find(searcher, query, SearchOptions(limit=0, strict=True))
        print_notices(results.notices)
        say(results.total)
        return 0, False
    from crawlctl.pipeline.search.answer.answer import answer

    if options["urls"]:
        urls = print_urls(searcher, query, _search_options({**options, "explain": False}))
        return urls, urls == options["limit"]
    found = answer(searcher, query, _search_options(options))
    if options["as_json"]:
        print_json(found)
    else:
        print_answer(found, query if options["explain"] else None)
    shown = len(found.pages)
    return shown, shown == options["limit"] and options["offset"] + shown < found.total + found.partial


def _search_options(options: dict[str, Any]) -> SearchOptions:
    from crawlctl.pipeline.search.answer.find import SearchOptions

    # some fields are used by the search page only
    names = set(SearchOptions.__struct_fields__) & options.keys()
    return SearchOptions(**{name: options[name] for name in names})
