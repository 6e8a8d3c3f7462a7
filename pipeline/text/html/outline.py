"""What stands out in the text of a page: its headings, the sections a link can lead to, emphasised words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.documents.page import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

MAX_PHRASE = 100  # characters: a longer text in bold is a matter of style, not an emphasis
_MAX_EMPHASISED = 2000  # the most characters of all emphasised texts of a page
_MAX_ANCHOR = 200  # characters: a longer id would be stored for each section, and no link leads to it
_LEVELS = 4  # how many elements around a heading are searched for the id of its section
_AROUND = frozenset(("article", "div", "header", "hgroup", "section"))
_MARKERS = frozenset(("a", "span"))  # elements inside a heading that may have its id


class Heading(NamedTuple):
    """A heading of a page: the index of its first text, its text, its element."""

    start: int
    text: str
    node: LexborNode

    @property
    def is_first_level(self) -> bool:
        """Whether it is an h1, which is the title of the page more often than the head of a section."""
        return self.node.tag == "h1"


class Phrase(NamedTuple):
    """An emphasised text: the index of its first text, and the text itself."""

    start: int
    text: str


def sections(headings: Iterable[Heading], offsets: Iterable[int], limit: int) -> tuple[Section, ...]:
    """Return the sections that have their own anchor; `offsets` are the offsets of the headings."""
    used: set[str] = set()
    found: list[Section] = []
    for heading, offset in zip(headings, offsets, strict=True):
        names = (name for name in _anchors(heading.node) if len(name) <= _MAX_ANCHOR)
        anchor = next((name for name in names if name not in used), "")
        if anchor and offset < limit:
            used.add(anchor)
            found.append(Section(anchor, heading.text, offset))
    return tuple(found)


def _anchors(heading: LexborNode) -> Iterator[str]:
    """Yield the ids that lead to a heading: its own, of elements in it, around it, and of its permalink."""
    if own := heading.id:
        yield own
    for child in _children(heading):
        if child.tag in _MARKERS and (name := child.id or child.attributes.get("name")):
            yield name
    around = heading.parent
    for _ in range(_LEVELS):
        if around is None or around.tag not in _AROUND:
            break
        if name := around.id:
            yield name
        around = around.parent
    if (link := heading.css_first('a[href^="#"]')) and (href := link.attributes.get("href")):
        yield href[1:]


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def emphasised(phrases: Iterable[str], headings: Iterable[Heading]) -> str:
    """Return the emphasised words of a page, each phrase once, separated by spaces."""
    found: dict[str, None] = {}
    room = _MAX_EMPHASISED
    for text in (*_code_in(headings), *phrases):
        if text not in found:
            room -= len(text) + 1
            if room < 0:
                break
            found[text] = None
    return " ".join(found)


def _code_in(headings: Iterable[Heading]) -> Iterator[str]:
    for heading in headings:
        for child in _children(heading.node):
            if child.tag == "code" and (text := " ".join(child.text().split())[:MAX_PHRASE]):
                yield text
