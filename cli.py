"""The crawlctl program: its entry point and the list of its commands.

A small query would spend most of its time on the start and end of the process: on importing click, on
Python's garbage collector, and on freeing all modules. So a plain query is read without click
(pipeline/commands/shared/querying/query_options.py), and its process ends as soon as the answer is printed.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.session import COMPLETION_VARIABLE, STORE_FLAG, Session
from crawlctl.pipeline.errors import EXIT_ERROR
from crawlctl.pipeline.terminal.streams import flushed, prepare_streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from crawlctl.pipeline.commands.shared.group import LazyGroup
    from crawlctl.pipeline.commands.shared.querying.query_options import PlainQuery

# The commands by section; in each section they are in the order of the data flow.
SECTIONS = {
    "Crawl": ("run", "inject", "import-warc", "schedule", "demo"),
    "Search": ("query", "serve", "mcp", "rank", "merge"),
    "Look": ("status", "pages", "hosts", "errors", "show", "explain", "dump", "config"),
    "Manage": ("init", "forget", "refresh", "rollback", "check", "copy", "export", "gc"),
    "Clusters": ("package", "emr"),
    "Help": ("help", "completion", "version"),
}
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    prepare_streams()
    gc.disable()
    arguments = sys.argv[1:]
    query = _plain_query(arguments)
    if query is not None:
        # Exit at once: freeing all modules and objects would take longer than loading them.
        os._exit(flushed(_answer(query), EXIT_ERROR))
    sys.exit(flushed(_run(arguments, _kept_commands), EXIT_ERROR))


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; every expected failure is one line on stderr."""
    query = _plain_query(arguments)
    return _run(arguments) if query is None else _answer(query)


def commands() -> LazyGroup:
    """Return the commands as click knows them."""
    from crawlctl.pipeline.commands.shared.group import group_of

    return group_of(SECTIONS)


def _kept_commands() -> LazyGroup:
    """Return the commands; objects that exist by now are kept until the process ends."""
    group = commands()
    gc.freeze()
    gc.enable()
    return group


def _run(arguments: list[str], load: Callable[[], LazyGroup] = commands) -> int:
    from crawlctl.pipeline.commands.shared.exit_codes import exit_code_of

    session = Session()
    return exit_code_of(lambda: _run_click(load, arguments, session), session)


def _run_click(load: Callable[[], LazyGroup], arguments: list[str], session: Session) -> int:
    from crawlctl.pipeline.commands.shared.group import run_group

    return run_group(load(), arguments, session)


def _plain_query(arguments: list[str]) -> PlainQuery | None:
    if arguments[:1] != ["query"] or COMPLETION_VARIABLE in os.environ:
        return None
    from crawlctl.pipeline.commands.shared.querying.query_options import read_plainly

    return read_plainly(arguments[1:])


def _answer(query: PlainQuery) -> int:
    from crawlctl.pipeline.commands.shared.exit_codes import exit_code_of

    session = Session()
    session.flag("store", query.store, STORE_FLAG)
    return exit_code_of(lambda: _search(query, session), session)


def _search(query: PlainQuery, session: Session) -> None:
    _import_msgspec()
    from crawlctl.pipeline.commands.shared.querying.query_run import search

    search(session, query.words, query.options)


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions.

    msgspec takes from it only what `typing` has too, and the import of `inspect` behind it costs a tenth of a
    query.
    """
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # how Python spells "not there"
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


if __name__ == "__main__":
    main()
