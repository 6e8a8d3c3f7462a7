r"""Writes the inside of a paragraph: escaped text, emphasis, code spans, links and images.

While a paragraph is collected, the ends of emphasis are control characters. They become asterisks only when
the whole paragraph is known, because whether an asterisk opens or closes emphasis depends on the characters
on both sides of it (CommonMark 0.31, "left-flanking"). Emphasis that cannot be written is left out: its words
matter more.

A character is escaped only where Markdown would give it a meaning. `snake_case`, `2 * 3` and `[1]` stay as
they are.

https://spec.commonmark.org/0.31.2/
"""

from __future__ import annotations

import re
import unicodedata

# Control characters that stand for line breaks and for the ends of emphasis and code; texts of pages have
# none, because `plain` removes them.
BREAK = "\x1e"
STRONG, EMPHASIS, STRUCK = "\x01\x02", "\x03\x04", "\x05\x06"
CODE = "\x07\x08"  # around code, in which nothing is escaped

_SIGNS = {STRONG: "**", EMPHASIS: "*", STRUCK: "~~"}
_SIGN_OF_END = {end: sign for ends, sign in _SIGNS.items() for end in ends}
_OPENED_BY = {ends[1]: ends[0] for ends in _SIGNS}
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]+")
# Within a text: a backslash or backtick anywhere, other characters where they could begin or end something. A
# character at the edge of a text is escaped, because its neighbour is not known.
_SPECIAL = re.compile(
    r"[\\`]|(?<!\S\s)\*|\*(?!\s\S)|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<!\s)~"
    r"|\](?=[(\[:]|\Z)|<(?=[A-Za-z/!?]|\Z)|&(?=#?\w{1,32};)"
)
# At the start of a line: a heading, a quote, an item, a number, a rule, a fence, the line below a heading or
# below the first row of a table, the definition of a link.
_SPECIAL_START = re.compile(
    r"\A(?:\d{1,9}(?=[.)](?:\s|\Z))|(?=#{1,6}(?:\s|\Z)|[-+*](?:\s|\Z)|>|~~~|[-=:|][-=:| ]*\Z|\[[^\[\]]*\]:))"
)
_SPECIAL_IN_LINK = re.compile(rf"[\[\]]|{_SPECIAL.pattern}")
_OPENING, _CLOSING = "[\x01\x03\x05]", "[\x02\x04\x06]"
_SPACE_WITHIN = re.compile(rf"(?P<ends>{_OPENING}+)(?P<space>[\s\x1e]+)")
_SPACE_BEFORE_END = re.compile(rf"(?P<space>[\s\x1e]+)(?P<ends>{_CLOSING}+)")
_CODE = re.compile("\x07([^\x08]*)\x08")
_NOTHING = re.compile("\x08\x07|\x01\x02|\x03\x04|\x05\x06|\x02\x01|\x04\x03|\x06\x05")
_ENDS = re.compile(r"[\x01-\x06]+")
_NO_LETTERS = frozenset(BREAK + CODE)
_TICKS = re.compile("`+")
_OF_LINK_TARGETS = re.compile(r"[()\\<>]")


def plain(text: str) -> str:
    """Return the text of a page without control characters."""
    return _CONTROLS.sub(" ", text)


def escaped(text: str) -> str:
    """Return a text escaped so that nothing in it is read as emphasis, code, link, tag or reference."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escaped_in_link(text: str) -> str:
    """Return a text for a link or an image: brackets are escaped too."""
    return _SPECIAL_IN_LINK.sub(r"\\\g<0>", text)


def code(text: str) -> str:
    """Return a text as code, in which nothing is escaped; `lines_of` writes the backticks."""
    before, inner, after = _edges(text)
    return f"{before}{CODE[0]}{inner}{CODE[1]}{after}" if inner else text


def link(text: str, url: str) -> str:
    """Return a link with a text of `escaped_in_link`."""
    before, inner, after = _edges(text)
    return f"{before}[{inner}]({_target(url)}){after}" if inner else text


def _edges(text: str) -> tuple[str, str, str]:
    """Return the white space before a text, the text, and the white space behind it."""
    inner = text.strip()  # str.strip takes BREAK for white space
    before, _, after = text.partition(inner) if inner else (text, "", "")
    return before, inner, after


def image(alt: str, url: str) -> str:
    """Return an image with its alternative text."""
    text = " ".join(plain(alt).split())
    return f"![{escaped_in_link(text)}]({_target(url)})"


def _target(url: str) -> str:
    return _OF_LINK_TARGETS.sub(r"\\\g<0>", url)


def lines_of(collected: str) -> list[str]:
    """Return the collected pieces of a paragraph as lines, with emphasis written as asterisks."""
    text = _SPACE_WITHIN.sub(r"\g<space>\g<ends>", collected)
    text = _SPACE_BEFORE_END.sub(r"\g<ends>\g<space>", text)
    while (tidied := _NOTHING.sub("", text)) != text:
        text = tidied
    text = _CODE.sub(_code_span, _with_emphasis(text).replace("".join(reversed(CODE)), ""))
    lines = (" ".join(line.split()) for line in text.split(BREAK))
    return [line for line in lines if line]


def _code_span(match: re.Match[str]) -> str:
    """Return code within as many backticks as the code does not have in a row."""
    text = " ".join(match[1].split())
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    edge = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def as_paragraph(lines: list[str]) -> str:
    """Return lines with hard breaks between them; no line can be read as a heading, a list or a rule."""
    return "\\\n".join(_SPECIAL_START.sub(r"\g<0>\\", line, count=1) for line in lines)


def as_heading(lines: list[str], level: int) -> str:
    """Return lines as a heading on one line, without the ¶ that documentation generators add."""
    text = " ".join(lines).rstrip(" ¶")
    text = re.sub(r"(?:(?<=\s)|\A)#+\Z", r"\\\g<0>", text)
    return f"{'#' * level} {text}" if text else ""


def _with_emphasis(text: str) -> str:
    """Return a text with asterisks in place of the ends of emphasis that Markdown can express."""
    kept: dict[int, str] = {}
    opened: dict[str, list[tuple[int, bool]]] = {ends[0]: [] for ends in _SIGNS}
    for run in _ENDS.finditer(text):
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        opens, closes = _flanks(before, after), _flanks(after, before)
        for index, end in enumerate(run[0], run.start()):
            if end in opened:
                opened[end].append((index, opens))
            elif opened[_OPENED_BY[end]]:
                start, is_open = opened[_OPENED_BY[end]].pop()
                if is_open and closes:
                    kept[start] = kept[index] = _SIGN_OF_END[end]
    return _ENDS.sub(lambda run: "".join(kept.get(index, "") for index in range(*run.span())), text)


def _flanks(outside: str, inside: str) -> bool:
    """Return whether a sign between these characters opens (or, seen from the right, closes) emphasis."""
    if not inside or inside.isspace() or inside == BREAK:
        return False
    return not _is_punctuation(inside) or not outside or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return character in _NO_LETTERS or unicodedata.category(character)[0] in "PS"
