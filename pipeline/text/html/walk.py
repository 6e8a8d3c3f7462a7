"""The walk over the tree of a page: what happens at which element."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.sitemaps.feed_formats import FEED_TYPES
from crawlctl.pipeline.text.details.metadata import Statements
from crawlctl.pipeline.text.documents.page import Directives
from crawlctl.pipeline.text.html.block_sizes import Block
from crawlctl.pipeline.text.html.boilerplate import CONTAINERS
from crawlctl.pipeline.text.html.content.article_signs import is_article_json_ld, is_article_meta
from crawlctl.pipeline.text.html.directives import meta_robots, refresh_of
from crawlctl.pipeline.text.html.elements import (
    APART,
    BLOCKS,
    BREAK,
    EMPHASIS,
    HEADINGS,
    NEVER_SHOWN,
    NOT_ENTERED,
    PERMALINKS,
)
from crawlctl.pipeline.text.html.outline import MAX_PHRASE, Heading, Phrase
from crawlctl.pipeline.text.html.page_links import WrittenLink
from crawlctl.pipeline.text.words.language import declared_language
from crawlctl.pipeline.text.words.names import MAX_NAME, is_qualified

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.config.settings import ParseSettings

    Handler = Callable[["Walk", LexborNode], None]

_HINTS_OF_LINKS = frozenset({"next", "prev", "alternate"})
_SOURCE = "[source]"  # the link to the source code, behind the term that Sphinx makes for a definition
_MAX_DEFINITIONS = 4000  # the most definitions per page
_MAX_TEXTS = 40  # the most texts of an emphasised phrase
_SLACK = 4  # how many characters are read per character kept, because white space is removed afterwards


def _squeezed(text: str, limit: int) -> str:
    return " ".join(text[: limit * _SLACK].split())[:limit].rstrip()


def _text_of_image(anchor: LexborNode) -> str:
    image = anchor.css_first("img[alt], [title]")
    return (image.attributes.get("alt") or image.attributes.get("title") or "") if image else ""


class Walk:
    """Walks over the tree of one page and gathers its text, links and metadata."""

    def __init__(self, settings: ParseSettings, agent: str) -> None:
        self.settings = settings
        self.agent = agent
        self._hidden: frozenset[int] = frozenset()
        # By the number of a tag: the hidden elements with this tag.
        self._suspects: dict[int, _Element] = {}
        self.texts: list[str] = [BREAK]
        self.marks: list[int] = []  # index in `texts` where each open element of interest begins
        self.blocks: list[Block] = []  # in the order in which they end
        self.linked: list[tuple[int, int]] = []  # the texts of links, as ranges of `texts`
        self.unscripted: list[str] = []  # the text in noscript elements
        self.written: list[WrittenLink] = []
        self.places: list[int] = []  # for each link in `written` the index in `texts` where it stands
        self.headings: list[Heading] = []
        self.definitions: list[Heading] = []  # terms of lists whose anchors are names
        self.phrases: list[Phrase] = []  # emphasised
        self.title: str | None = None
        self.base: str | None = None
        self.language = ""
        self.canonicals: list[str] = []
        self.feeds: list[str] = []
        self.directives = Directives()
        self.refresh: tuple[int, str] | None = None
        self.svgs = 0
        self._is_article = False  # a meta element says so
        self.statements = Statements()  # what the page says about itself
        self._concealed = 0  # open elements whose text is not shown

    @property
    def is_article(self) -> bool:
        """Whether the page says that it is an article."""
        return self._is_article or is_article_json_ld(self.statements.scripts)

    def hide(self, nodes: list[LexborNode]) -> None:
        """Leave out the text of these elements too."""
        self._hidden |= {node.mem_id for node in nodes}
        self._suspects |= {node.tag_id: _PLAIN for node in nodes}

    def over(self, root: LexborNode) -> None:  # noqa: PLR0912 - calls would take a tenth of its time
        """Visit `root` and every node below it, in the order of the document.

        A crawl spends most of its time here, so what happens at most elements is written out in the loop:
        the gap, the mark, the block. Only elements with a handler cost a call.
        """
        tags, hidden = _tags(), self._hidden
        text, element_at = tags.text, (self._suspects | tags.elements).get
        texts, marks, add, mark = self.texts, self.marks, self.texts.append, self.marks.append
        blocks, new = self.blocks.append, tuple.__new__  # Block(…) takes twice the time
        above: list[tuple[LexborNode, _Element | None]] = []
        node = root
        while True:
            tag, element, child = node.tag_id, None, None
            if tag == text:
                content = node.text_content
                if content and not (texts[-1] is BREAK and content.isspace()):
                    add(content)
            elif (element := element_at(tag)) is None:
                child = node.first_child
            else:
                gap, enter, _, is_closed, is_marked, _ = element
                if gap and texts[-1] is not gap:
                    add(gap)
                if is_marked:
                    mark(len(texts))
                if enter is not None:
                    enter(self, node)
                if hidden and node.mem_id in hidden:
                    self._conceal(node)
                child = None if is_closed else node.first_child
            if child is not None:
                above.append((node, element))
                node = child
                continue
            while True:  # leave this element, and those around it that end with it
                if element is not None:
                    gap, _, leave, _, _, block = element
                    if hidden and node.mem_id in hidden:
                        self._mute(node)
                    if block:
                        start, end = marks.pop(), len(texts)
                        if start < end:
                            blocks(new(Block, (start, end, node, block)))
                    elif leave is not None:
                        leave(self, node)
                    if gap and texts[-1] is not gap:
                        add(gap)
                following = node.next
                if following is not None:
                    node = following
                    break
                if not above:
                    return
                node, element = above.pop()

    def _conceal(self, _: LexborNode) -> None:
        self.marks.append(len(self.texts))
        self._concealed += 1

    def _mute(self, _: LexborNode) -> None:
        """Forget the text of an element that is not shown; its links count at the place of the element."""
        mark = self.marks.pop()
        self._forget(mark)
        self._concealed -= 1
        if not self._concealed:  # once for nested elements, not again for each of them
            for index in range(len(self.places) - 1, -1, -1):
                if self.places[index] <= mark:
                    break
                self.places[index] = mark

    def _forget(self, mark: int) -> None:
        """Forget all texts from index `mark` on, and what is noted of them."""
        del self.texts[mark:]
        for notes in (self.blocks, self.linked, self.headings, self.definitions, self.phrases):
            while notes and notes[-1][0] >= mark:  # each of them begins with its index in `texts`
                notes.pop()

    def _set_aside(self, node: LexborNode) -> None:
        self.unscripted += self.texts[self.marks[-1] :]
        self.unscripted.append(BREAK)
        self._mute(node)

    def _excerpt(self, limit: int) -> str:
        """Return the text since the last mark, cut at `limit`, without joining longer texts first."""
        start = self.marks.pop()
        if len(self.texts) - start == 1:
            return _squeezed(self.texts[start], limit)
        taken: list[str] = []
        room = limit * _SLACK
        for index in range(start, len(self.texts)):  # islice would step over all texts before
            text = self.texts[index]
            taken.append(text[:room])
            room -= len(text)
            if room <= 0:
                break
        return _squeezed("".join(taken), limit)

    def _heading(self, node: LexborNode) -> None:
        start = self.marks[-1]
        # Documentation generators put ¶, a link to the heading itself, behind each heading.
        text = self._excerpt(self.settings.max_title).rstrip(" ¶")
        if text:
            self.headings.append(Heading(start, text, node))

    def _term(self, node: LexborNode) -> None:
        """Note a term of a list of definitions if its anchor is a name; it is emphasised text too."""
        anchor = node.id
        if anchor and len(self.definitions) < _MAX_DEFINITIONS and is_qualified(anchor):
            start = self.marks[-1]
            text = self._excerpt(MAX_NAME).rstrip(" ¶").removesuffix(_SOURCE)
            self.marks.append(start)
            if text:
                self.definitions.append(Heading(start, text, node))
        self._phrase(node)

    def _phrase(self, _: LexborNode) -> None:
        start = self.marks.pop()
        texts = self.texts[start : start + _MAX_TEXTS]
        if start + len(texts) < len(self.texts) or sum(map(len, texts)) > MAX_PHRASE * _SLACK:
            return
        text = " ".join("".join(texts).split())
        if text and len(text) <= MAX_PHRASE:
            self.phrases.append(Phrase(start, text))

    def _anchor(self, node: LexborNode) -> None:
        start, texts = self.marks[-1], self.texts
        self.linked.append((start, len(texts)))
        if len(texts) - start == 1 and len(texts[start]) <= self.settings.max_anchor:
            text = " ".join(texts[start].split())  # as in most links
            del self.marks[-1]
        else:
            text = self._excerpt(self.settings.max_anchor)
        attributes = node.attributes
        href = attributes.get("href") or attributes.get("xlink:href")
        if text in PERMALINKS and href and href.startswith("#"):
            self._forget(start)
        elif href:
            rel = attributes.get("rel")
            text = text or _squeezed(_text_of_image(node), self.settings.max_anchor)
            self.written.append(WrittenLink(href, text, " ".join(rel.lower().split()) if rel else ""))
            self.places.append(start)

    def _link(self, href: str, text: str | None, rel: str | None = None) -> None:
        text = _squeezed(text, self.settings.max_anchor) if text else ""
        self.written.append(WrittenLink(href, text, " ".join(rel.lower().split()) if rel else ""))
        self.places.append(len(self.texts))

    def _on_html(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.language = declared_language(attributes.get("lang") or attributes.get("xml:lang"))

    def _on_title(self, node: LexborNode) -> None:
        if self.title is None and not self.svgs:
            self.title = _squeezed(node.text(), self.settings.max_title)

    def _on_base(self, node: LexborNode) -> None:
        if self.base is None:
            self.base = node.attributes.get("href")

    def _on_area(self, node: LexborNode) -> None:
        attributes = node.attributes
        href = attributes.get("href")
        if href:
            self._link(href, attributes.get("alt"), attributes.get("rel"))

    def _on_frame(self, node: LexborNode) -> None:
        attributes = node.attributes
        source = attributes.get("src")
        if source:
            self._link(source, attributes.get("title"))

    def _on_svg(self, _: LexborNode) -> None:
        self.svgs += 1

    def _leave_svg(self, _: LexborNode) -> None:
        self.svgs -= 1

    def _on_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        href, rel = attributes.get("href"), (attributes.get("rel") or "").lower().split()
        if not href:
            return
        # Only the author may name the canonical page; what visitors write is in the body, not in the head.
        if "canonical" in rel and node.parent is not None and node.parent.tag_id == _tags().head:
            self.canonicals.append(href)
        elif "alternate" in rel and (attributes.get("type") or "").strip().lower() in FEED_TYPES:
            self.feeds.append(href)
        elif not _HINTS_OF_LINKS.isdisjoint(rel) and (attributes.get("type") or "text/html") == "text/html":
            self._link(href, attributes.get("title"), " ".join(rel))

    def _on_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            return
        name, meant = attributes.get("name"), (attributes.get("http-equiv") or "").strip().lower()
        if name:
            self.directives |= meta_robots(name, content, self.agent)
        if meant == "content-language":
            self.language = self.language or declared_language(content)
        elif meant == "refresh" and self.refresh is None and not self._in_noscript(node):
            self.refresh = refresh_of(content)
        else:
            known = name or attributes.get("property")
            if known and is_article_meta(known, content):
                self._is_article = True
            self.statements.meta(known, attributes.get("itemprop"), content)

    def _on_script(self, node: LexborNode) -> None:
        self.statements.script(node)

    def _on_time(self, node: LexborNode) -> None:
        self.statements.time(node.attributes, len(self.headings))

    def _in_noscript(self, node: LexborNode) -> bool:
        """Return whether a meta element is in noscript: a refresh there only leads to an apology page."""
        return node.parent is not None and node.parent.tag_id == _tags().noscript


class _Element(NamedTuple):
    """What the walk does at an element."""

    gap: str = ""  # is added before and after the text of the element
    enter: Handler | None = None
    leave: Handler | None = None
    closed: bool = False  # its children are not visited
    is_marked: bool = False  # its start is kept in `marks`, for `leave` or for its block
    block: str = ""  # its tag, if its text is judged as a whole (boilerplate.py)


_PLAIN = _Element()


class _Tags(NamedTuple):
    """The elements of interest by lexbor's numbers, and the numbers of some nodes."""

    elements: dict[int, _Element]
    text: int
    head: int
    noscript: int


@lru_cache(maxsize=1)
def _tags() -> _Tags:
    tree = LexborHTMLParser("<p>text")
    numbers = {name: tree.create_node(name).tag_id for name in _ELEMENTS}
    return _Tags(
        elements={number: _ELEMENTS[name] for name, number in numbers.items()},
        text=next(node.tag_id for node in tree.css("p")[0].iter(include_text=True)),
        head=numbers["head"],
        noscript=numbers["noscript"],
    )


def _elements() -> dict[str, _Element]:
    enter = dict.fromkeys(NEVER_SHOWN, Walk._conceal) | _ENTERED
    leave: dict[str, Handler] = {"a": Walk._anchor, "svg": Walk._leave_svg}
    leave |= dict.fromkeys(NEVER_SHOWN, Walk._mute) | dict.fromkeys(HEADINGS, Walk._heading)
    leave |= dict.fromkeys(EMPHASIS, Walk._phrase)
    leave["dt"] = Walk._term
    leave["noscript"] = Walk._set_aside
    gaps = dict.fromkeys(BLOCKS, BREAK) | dict.fromkeys(APART, " ")
    marked = {*CONTAINERS, *EMPHASIS, *HEADINGS, "a"}
    names = {*enter, *leave, *gaps, *marked, *NOT_ENTERED}
    return {
        name: _Element(
            gaps.get(name, ""),
            enter.get(name),
            leave.get(name),
            closed=name in NOT_ENTERED,
            is_marked=name in marked,
            block=name if name in CONTAINERS else "",
        )
        for name in names
    }


_ENTERED: dict[str, Handler] = {
    "html": Walk._on_html,
    "title": Walk._on_title,
    "base": Walk._on_base,
    "meta": Walk._on_meta,
    "link": Walk._on_link,
    "area": Walk._on_area,
    "frame": Walk._on_frame,
    "iframe": Walk._on_frame,
    "svg": Walk._on_svg,
    "script": Walk._on_script,
    "time": Walk._on_time,
}
_ELEMENTS = _elements()
