"""What `crawlctl query` does, however its command line was read."""

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
_OPERATORS = {"AND", "OR", "NOT"}


def search(session: Session, words: Sequence[str], options: dict[str, Any]) -> None:
    """Answer the query of a command line, or without words those that are typed."""
    if not words:
        _prompt(session, options)
        return
    query = _parse(joined(words))  # a query with a fault needs no store to be told
    index = _open(session, query)
    try:
        _show(index, query, options)
    finally:
        index.close()


def _prompt(session: Session, options: dict[str, Any]) -> None:
    from crawlctl.pipeline.commands.shared.prompt import ask
    from crawlctl.pipeline.search.open.follower import FollowingSearcher

    index = FollowingSearcher(session.store())

    def answer(text: str, offset: int) -> int:
        query, before = _parse(text), index.snapshot

        def show(current: Searcher) -> int:
            if current.snapshot.writer != before.writer:
                say(f"the crawl has moved on, this is snapshot {current.snapshot.number}:", err=True)
            return _show(current, query, {**options, "offset": offset})

        # More of an answer comes from where its beginning came from.
        return index.ask(show, stay=offset > 0)

    try:
        ask(answer, options["limit"])
    finally:
        index.close()


def joined(words: Sequence[str]) -> str:
    """Return the query that the words of a command line make.

    Of several, one that has spaces in it was put in quotes for the shell, and means a phrase.
    """
    if len(words) == 1:
        return words[0]
    return " ".join(f'"{word}"' if _is_phrase(word) else word for word in words)


def _is_phrase(word: str) -> bool:
    parts = word.split()
    return len(parts) > 1 and not any(sign in word for sign in _SYNTAX) and _OPERATORS.isdisjoint(parts)


def _open(session: Session, query: Query) -> Searcher:
    from crawlctl.pipeline.search.open.open_index import open_index

    return open_index(session.store(), query=query)


def _parse(text: str) -> Query:
    from crawlctl.pipeline.search.query.grammar import parse

    return parse(text)


def _show(searcher: Searcher, query: Query, options: dict[str, Any]) -> int:
    """Answer a query on the terminal and return how many pages were shown."""
    shown = _print(searcher, query, options)
    sys.stdout.flush()  # here, where it is told what goes wrong
    return shown


def _print(searcher: Searcher, query: Query, options: dict[str, Any]) -> int:
    from crawlctl.pipeline.search.answer.find import SearchOptions, find

    if options["count"]:
        say(find(searcher, query, SearchOptions(limit=0, strict=True)).total)
        return 0
    from crawlctl.pipeline.commands.shared.answer_lines import print_answer, print_urls
    from crawlctl.pipeline.search.answer.answer import answer

    if options["urls"]:
        return print_urls(searcher, query, _search_options({**options, "explain": False}))
    found = answer(searcher, query, _search_options(options))
    if options["as_json"]:
        print_json(found)
    else:
        print_answer(found, query if options["explain"] else None)
    return len(found.pages)


def _search_options(options: dict[str, Any]) -> SearchOptions:
    from crawlctl.pipeline.search.answer.find import SearchOptions

    return SearchOptions(**{name: options[name] for name in SearchOptions.__struct_fields__})
