"""`crawlctl query`: search what was crawled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import Session, pass_session, store_option
from crawlctl.pipeline.commands.shared.query_options import OPTIONS, clashing

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.commands.shared.query_options import Option


class QueryCommand(click.Command):
    """A command whose words may begin with one minus; only two minuses begin an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse unknown options; click lets them through here, and would take them for words."""
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


def _takes_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(OPTIONS):
        function = _click_option(option)(function)
    return function


def _click_option(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    if option.is_flag:
        return click.option(option.name, option.key, is_flag=True, help=option.meaning)
    kind = click.Choice(option.choices) if option.choices else click.IntRange(option.low, option.high)
    shown = bool(option.default)
    return click.option(
        option.name, option.key, type=kind, default=option.default, show_default=shown, help=option.meaning
    )


@click.command(
    "query",
    cls=QueryCommand,
    # Short options would be found in excluded words: -python contains the -h of --help.
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@_takes_options
@store_option
@pass_session
def command(session: Session, /, words: tuple[str, ...], **options: Any) -> None:
    """Search the crawled pages.

    A page matches if it has all words. You can also use AND, OR, NOT (or -), parentheses and "phrases"; AND
    or OR may also come first. title:, heading:, anchor:, url: and body: search one part of a page, site:
    searches one host, pyth* finds words that begin with pyth, and 1990..2000 finds numbers in this range. If
    too few pages have all words, pages with some of the words follow, but only if the query is plain words
    (parentheses do not matter).

    Without words, crawlctl asks for queries until you press Ctrl-D. An empty line shows more results of the
    last query.

    \b
    Example:
      crawlctl query event loop
      crawlctl query AND term1 term2
      crawlctl query 'title:python (asyncio OR trio) -twisted "event loop"'
      crawlctl query --sort date --limit 3 site:docs.python.org 1990..2000
    """
    if clashing(options):
        raise click.UsageError("--json, --urls and --count exclude each other; give one of them")
    from crawlctl.pipeline.commands.shared.query_run import search

    search(session, words, options)
