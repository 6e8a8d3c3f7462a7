"""`crawlctl query`: search what was crawled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.common import Session, json_option, pass_session, print_json, store_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.search.index import Index
    from crawlctl.pipeline.search.tree import Query

_SYNTAX = '"“”„():'
_OPERATORS = {"AND", "OR", "NOT"}


class QueryCommand(click.Command):
    """A command whose words may begin with a minus: only what begins with two is an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse unknown options, which click is told to let through, before it takes them for words."""
        if args == ["-h"]:
            args = ["--help"]
        before = args[: args.index("--")] if "--" in args else args
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        for argument in before:
            name = argument.partition("=")[0]
            if name.startswith("--") and name not in known:
                raise click.NoSuchOption(name, possibilities=_near(name, known), ctx=ctx)
        return super().parse_args(ctx, args)


def _near(name: str, known: set[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, sorted(known))


@click.command(
    "query",
    cls=QueryCommand,
    # A short option would be found in any word that is left out: -python has the -h of --help.
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Most pages shown."
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Leave out so many of the first pages.")
@click.option(
    "--sort", type=click.Choice(["score", "date"]), default="score", help="Best or latest pages first."
)
@click.option("--strict", is_flag=True, help="Only pages that have all words.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@click.option("--urls", is_flag=True, help="Print nothing but URLs, one a line.")
@click.option("--count", is_flag=True, help="Print nothing but the number of pages that match.")
@store_option
@json_option
@pass_session
def command(session: Session, /, words: tuple[str, ...], **options: Any) -> None:
    """Search what was crawled.

    Words that stand side by side must all be in a page; AND, OR, NOT (or -), parentheses and "phrases" say
    more, and AND or OR may also come first. title:, heading:, anchor:, url: and body: look in one part of a
    page, site: at one host; pyth* is any word that begins so, 1990..2000 any number between. Where too few
    pages have all of your words, pages that have some follow, unless you used operators.

    Without words it asks for queries until you press Ctrl-D; an empty line shows more of the last answer.

    \b
    Example:
      crawlctl query event loop
      crawlctl query AND term1 term2
      crawlctl query 'title:python (asyncio OR trio) -twisted "event loop"'
      crawlctl query --sort date --limit 3 site:docs.python.org 1990..2000
    """
    if sum((options["as_json"], options["urls"], options["count"])) > 1:
        raise click.UsageError("--json, --urls and --count exclude each other; give one of them")
    query = _parse(joined(words)) if words else None  # a query with a fault needs no store to be told
    index = _open(session)
    try:
        if query is not None:
            _show(index, query, options)
        else:
            _prompt(index, options)
    finally:
        index.close()


def _prompt(index: Index, options: dict[str, Any]) -> None:
    from crawlctl.pipeline.commands.prompt import ask

    ask(lambda text, offset: _show(index, _parse(text), {**options, "offset": offset}), options["limit"])


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


def _open(session: Session) -> Index:
    from crawlctl.pipeline.search.opening import open_index

    return open_index(session.store())


def _parse(text: str) -> Query:
    from crawlctl.pipeline.search.grammar import parse

    return parse(text)


def _show(index: Index, query: Query, options: dict[str, Any]) -> int:
    """Answer a query on the terminal and return how many pages were shown."""
    if options["count"]:
        from crawlctl.pipeline.search.find import find

        click.echo(find(index, query, limit=0, strict=True).total)
        return 0
    from crawlctl.pipeline.commands.answers import print_answer, print_urls
    from crawlctl.pipeline.search.answer import answer

    chosen = {name: options[name] for name in ("limit", "offset", "sort", "strict", "explain")}
    if options["urls"]:
        return print_urls(index, query, chosen)
    found = answer(index, query, **chosen)
    if options["as_json"]:
        print_json(found)
    else:
        print_answer(found, query if options["explain"] else None)
    return len(found.pages)
