"""The operators of queries as people read about them: one table for the help, the prompt and the manual.

`crawlctl query --help`, the `help` of the prompt, docs/searching.md (by docs/generate.py), the help page of
`crawlctl serve`, the description of its API and what agents are told are made from it. A test parses every
example of this table.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLUMN, _WIDTH = 26, 78  # widths in characters: the column of examples, the whole line
_PROMPT_COLUMN, _PROMPT_WIDTH = 16, 40  # narrower, so that the help of the prompt fits a narrow terminal


class Operator(NamedTuple):
    """How an operator is written, and which pages it finds."""

    examples: tuple[str, ...]
    meaning: str  # continues "pages that …"
    more: str = ""  # for the manual only
    prompt: bool = True  # used often: the help of the prompt shows it, and programs are told of it


OPERATORS = (
    Operator(
        ("event loop",),
        "have both words, anywhere",
        "If there are few, pages with some of the words follow, marked as such. Of three to six words, a "
        "page may lack one and come earlier if titles and headings have the others (neither with `--strict`)",
    ),
    Operator(
        ("AND event loop", "event AND loop"),
        "have both words, and no others follow",
        "`&&` is read as AND",
        prompt=False,
    ),
    Operator(("OR json decoder", "json OR decoder"), "have one of the words", "`||` is read as OR"),
    Operator(("json -decoder", "json NOT decoder"), "have the first word and not the second"),
    Operator(('"event loop"',), "have the words side by side", "In this order"),
    Operator(
        ('"windows"',),
        "have exactly this form of the word",
        "Without quotes `windows` finds `window` too. Capitals do not count",
        prompt=False,
    ),
    Operator(("(asyncio OR trio) queue",), "match in groups", prompt=False),
    Operator(("title:json",), "have the word in the title", "Or `intitle:json`"),
    Operator(("heading:functions",), "have the word in a heading", prompt=False),
    Operator(("url:json",), "have the word in the URL", "Or `inurl:json`", prompt=False),
    Operator(("anchor:queue",), "have the word in the text of links to them", prompt=False),
    Operator(("body:json",), "have the word in the visible text", prompt=False),
    Operator(
        ("title:(json OR csv)", 'title:"event loop"'),
        "match in the title; fields take groups too",
        prompt=False,
    ),
    Operator(
        ("pyth*",),
        "have a word that begins like this",
        "As it is written: `configurati*` finds `configuration` and `configurations`",
    ),
    Operator(("1990..2000",), "have a number in this range"),
    Operator(
        ("site:docs.python.org",),
        "are on this host or below it",
        "A scheme, a port and a slash at the end do no harm; `site:www.python.org` finds python.org where "
        "there is no other",
    ),
    Operator(
        ("site:docs.python.org/3/library",),
        "are on the host, below a path",
        "Whole words of the path count, and a host with a port is written with its port",
        prompt=False,
    ),
    Operator(("lang:de",), "are in a language, by its code", "Or `language:de`"),
    Operator(
        ("after:2024-05-01", "before:2024"),
        "have a date since, or before, this day",
        "A year or a month is its first day. Pages without a date match neither ([Dates](#dates)). Or "
        "`since:` and `until:`",
    ),
    Operator(
        ("type:pdf",),
        "were documents of this type",
        "One of html, pdf, text, xml, epub, office, docx, xlsx, pptx, odt, ods and odp. Or `filetype:pdf`",
    ),
    Operator(
        ("in:author=knuth", 'in:author="donald knuth"'),
        "have this value in a field",
        "Pages that name their authors in JSON-LD or meta elements have `author`, and so have PDFs, Office "
        "documents and e-books that name them in their properties; other fields are found "
        "by the rules for a site (setting `sites`). The whole value counts, in any case",
        prompt=False,
    ),
    Operator(("*",), "were fetched: all of them", "Those that are linked most first", prompt=False),
    Operator(
        ("* NOT json", "* -site:docs.python.org"),
        "were fetched and do not match what is excluded",
        prompt=False,
    ),
)


def help_lines() -> Iterator[str]:
    """Yield all operators with their first examples."""
    for operator in OPERATORS:
        yield from _in_columns(operator.examples[0], operator.meaning, _COLUMN, _WIDTH)


def prompt_lines(room: int, *more: tuple[str, str]) -> Iterator[str]:
    """Yield the frequent operators, and `more` that can be typed, in `room` columns, at least 40."""
    column, width = (_COLUMN, _WIDTH) if room >= _WIDTH else (_PROMPT_COLUMN, max(room, _PROMPT_WIDTH))
    often = ((operator.examples[0], operator.meaning) for operator in OPERATORS if operator.prompt)
    for typed, meaning in (*often, *more):
        yield from _in_columns(typed, meaning, column, width)


def in_one_line() -> str:
    """Return the operators that are used often, for programs."""
    often = (operator for operator in OPERATORS if operator.prompt)
    return "; ".join(f"{operator.examples[0]} finds pages that {operator.meaning}" for operator in often)


def _in_columns(example: str, meaning: str, column: int, width: int) -> Iterator[str]:
    """Yield an example and its meaning beside it, or below it if the example is long."""
    first, *rest = wrap(meaning, width - column - 2)
    if len(example) > column:
        yield example
        example = ""
    yield f"{example:{column}}  {first}"
    yield from (f"{'':{column}}  {line}" for line in rest)


def markdown_table() -> str:
    """Return all operators as a table in Markdown."""
    rows = ["| you type | pages that … |", "|---|---|"]
    for operator in OPERATORS:
        typed = ", ".join(f"`{example}`" for example in operator.examples)
        more = f". {operator.more}" if operator.more else ""
        rows.append(f"| {typed} | {operator.meaning}{more} |".replace("||", "\\|\\|"))
    return "\n".join(rows)
