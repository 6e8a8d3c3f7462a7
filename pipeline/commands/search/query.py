"""`crawlctl query`: search what was crawled."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, pass_session
from crawlctl.pipeline.commands.shared.querying.query_options import MEANT, OPTIONS, clashing, is_mistyped
from crawlctl.pipeline.search.query.operators import help_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.commands.shared.querying.query_options import Option


SHORT = {"-h": "--help", "-v": "--verbose"}


class QueryCommand(CrawlctlCommand):
    """A command whose words may begin with one minus: an option must begin with two minuses."""

    has_short_options = False  # otherwise click would find them in excluded words: -vim contains -v

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse unknown options; otherwise click would take them for words."""
        return super().parse_args(ctx, list(self._checked(ctx, args)))

    def _checked(self, ctx: click.Context, args: list[str]) -> Iterator[str]:
        """Yield the arguments, with -h and -v written as long options; raise an error for unknown options."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        known = {name: one for one in options for name in one.opts}
        left = iter(args)
        for argument in left:
            name, equals, _ = argument.partition("=")
            if argument == "--":
                yield argument
                yield from left
            elif is_mistyped(argument):
                yield SHORT.get(argument) or _refused(argument, ctx, list(known))
            elif name.startswith("--") and name not in known:
                raise click.NoSuchOption(name, ctx=ctx)
            else:
                yield argument
                if name in known and not (equals or known[name].is_flag):
                    yield from islice(left, 1)


def _refused(argument: str, ctx: click.Context, known: list[str]) -> NoReturn:
    word = argument[1:]
    meant = _meant(word, known)
    raise click.UsageError(
        f"no option {argument}; {f'did you mean {meant}? To' if meant else 'to'} exclude the word {word} "
        f"write `NOT {word}`, to search for it `{word}`",
        ctx,
    )


def _meant(word: str, known: list[str]) -> str:
    """Return the options that the user may mean by a word behind one minus; for -n3 with the number."""
    if f"--{word.partition('=')[0]}" in known:
        return f"--{word}"
    letter, number = word[0], f" {word[1:]}" if word[1:] else ""
    names = [MEANT[letter]] if letter in MEANT else [name for name in known if name.startswith(f"--{letter}")]
    return " or ".join(name + number for name in names)


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


_OPERATORS = "\n".join(f"  {line}" for line in help_lines())
_HELP = f"""Search the crawled pages.

A page matches if it has all words. If too few pages have all words, pages with some of the words follow, but
only if the query is plain words (parentheses do not matter). Put the query in single quotes if it has
characters that your shell would change.

\b
You type, and find pages that:
{_OPERATORS}

Without words, crawlctl asks for queries until you press Ctrl-D. An empty line shows more results of the last
query. One minus and a letter or the name of an option, such as -n or -limit, is refused: write NOT limit to
exclude that word.

\b
Example:
  crawlctl query event loop
  crawlctl query AND term1 term2
  crawlctl query 'title:python (asyncio OR trio) -twisted "event loop"'
  crawlctl query --sort date --limit 3 site:docs.python.org 1990..2000
  crawlctl query --facets 'release notes type:html after:2024'
  crawlctl query '* NOT site:docs.python.org'
"""


@click.command(
    "query",
    cls=QueryCommand,
    help=_HELP,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@_takes_options
@pass_session
def command(session: Session, /, words: tuple[str, ...], **options: Any) -> None:
    """Search the crawled pages."""
    if clashing(options):
        raise click.UsageError(
            "--json, --urls and --count exclude each other, and the last two exclude --facets; give one"
        )
    from crawlctl.pipeline.commands.shared.querying.query_run import search

    search(session, words, options)
