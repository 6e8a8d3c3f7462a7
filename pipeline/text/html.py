"""The title, headings, visible text, links and directives of an HTML page, in one walk over its tree.

The tree is lexbor's (through selectolax), which follows the HTML standard as browsers do, and builds it about
thirty times as fast as beautifulsoup4.  The walk is iterative: a page may nest as deeply as it likes.  Some
pages cost lexbor a time that is quadratic in their size, so call this through `guard`.

What is visible is decided without style sheets: `hidden`, `display: none` in a style attribute and the elements
browsers never show are left out.  Their links count all the same, for menus are often hidden until a script
opens them.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.text.directives import AGENT, meta_robots, refresh_of
from crawlctl.pipeline.text.language import declared_language
from crawlctl.pipeline.text.links import Resolver, Written
from crawlctl.pipeline.text.page import Directives, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.config.parse import ParseSettings

# Stands where one block ends and another begins; white space to str.split, as all separators of ASCII are.
BREAK = "\x1e"

_BLOCKS = (
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup "
    "option p plaintext pre search section summary table tbody tfoot thead tr ul xmp"
)
# They stand in a line with what is beside them, and yet are no part of its words.
_APART = "audio button canvas embed iframe img input meter object progress select svg td textarea th video"
_NEVER_SHOWN = (
    "annotation annotation-xml audio canvas datalist desc head metadata noembed noframes noscript object rp video"
)
_NOT_ENTERED = "iframe script style template title"
_HIDDEN = '[hidden]:not([hidden="until-found" i]), [style*="display:none" i], [style*="display: none" i]'
_HINTS_OF_LINKS = frozenset({"next", "prev", "alternate"})
_SLACK = 4  # characters looked at for each one kept: white space is squeezed out afterwards


def parse_html(
    html: str, url: str, settings: ParseSettings, *, strip: tuple[str, ...] = (), agent: str = AGENT
) -> Page:
    """Return what there is on the page that was fetched from the canonical URL `url`."""
    tree = LexborHTMLParser(html)
    walk = _Walk(settings, agent)
    if tree.root is not None:
        if "hidden" in html or "none" in html:
            walk.hidden = frozenset(node.mem_id for node in tree.css(_HIDDEN))
        walk.over(tree.root)
    return walk.page(url, strip)


def tidy(text: str, limit: int) -> str:
    """Return a text with a line for each block and single spaces within, cut at `limit` characters."""
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    return "\n".join(filter(None, lines))[:limit].rstrip()


def _squeezed(text: str, limit: int) -> str:
    return " ".join(text[: limit * _SLACK].split())[:limit].rstrip()


def _text_of_image(anchor: LexborNode) -> str:
    image = anchor.css_first("img[alt], [title]")
    return (image.attributes.get("alt") or image.attributes.get("title") or "") if image else ""


class _Walk:
    """Gathers what a page holds while it goes over the tree."""

    def __init__(self, settings: ParseSettings, agent: str) -> None:
        self.settings = settings
        self.agent = agent
        self.hidden: frozenset[int] = frozenset()
        self.pieces: list[str] = []
        self.marks: list[int] = []  # where in pieces the open elements of interest begin
        self.written: list[Written] = []
        self.headings: list[str] = []
        self.title: str | None = None
        self.base: str | None = None
        self.language = ""
        self.canonicals: list[str] = []
        self.directives = Directives()
        self.refresh: tuple[int, str] | None = None
        self.svgs = 0

    def over(self, root: LexborNode) -> None:
        """Visit every node below and including `root`, in the order of the document."""
        tags, add = _tags(), self.pieces.append
        text, gaps, entered, closed = tags.text, tags.gaps, tags.entered, tags.closed
        node, depth = root, 0
        while True:
            tag = node.tag_id
            if tag == text:
                add(node.text_content or "")
            else:
                if tag in gaps:
                    add(gaps[tag])
                if tag in entered:
                    entered[tag](self, node)
                if self.hidden and node.mem_id in self.hidden:
                    self.mark(node)
                child = None if tag in closed else node.first_child
                if child is not None:
                    node, depth = child, depth + 1
                    continue
                self.leave(node, tag, tags)
            while depth:
                following = node.next
                if following is not None:
                    node = following
                    break
                node, depth = cast("LexborNode", node.parent), depth - 1
                self.leave(node, node.tag_id, tags)
            else:
                return

    def leave(self, node: LexborNode, tag: int, tags: _Tags) -> None:
        if self.hidden and node.mem_id in self.hidden:
            self.mute(node)
        if tag in tags.left:
            tags.left[tag](self, node)
        if tag in tags.gaps:
            self.pieces.append(tags.gaps[tag])

    def mark(self, _: LexborNode) -> None:
        self.marks.append(len(self.pieces))

    def mute(self, _: LexborNode) -> None:
        del self.pieces[self.marks.pop() :]

    def excerpt(self, limit: int) -> str:
        """Return the text since the last mark; never more than is kept of it is put together."""
        start = self.marks.pop()
        if len(self.pieces) - start == 1:
            return _squeezed(self.pieces[start], limit)
        taken: list[str] = []
        room = limit * _SLACK
        for piece in islice(self.pieces, start, None):
            taken.append(piece[:room])
            room -= len(piece)
            if room <= 0:
                break
        return _squeezed("".join(taken), limit)

    def heading(self, _: LexborNode) -> None:
        # ¶ is the link to itself that generators of documentation put behind each heading.
        text = self.excerpt(self.settings.max_title).rstrip(" ¶")
        if text and len(self.headings) < self.settings.max_headings:
            self.headings.append(text)

    def anchor(self, node: LexborNode) -> None:
        text = self.excerpt(self.settings.max_anchor)
        attributes = node.attributes
        href = attributes.get("href") or attributes.get("xlink:href")
        if href:
            rel = attributes.get("rel")
            text = text or _squeezed(_text_of_image(node), self.settings.max_anchor)
            self.written.append(Written(href, text, " ".join(rel.lower().split()) if rel else ""))

    def link(self, href: str, text: str | None, rel: str | None = None) -> None:
        text = _squeezed(text, self.settings.max_anchor) if text else ""
        self.written.append(Written(href, text, " ".join(rel.lower().split()) if rel else ""))

    def on_html(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.language = declared_language(attributes.get("lang") or attributes.get("xml:lang"))

    def on_title(self, node: LexborNode) -> None:
        if self.title is None and not self.svgs:
            self.title = _squeezed(node.text(), self.settings.max_title)

    def on_base(self, node: LexborNode) -> None:
        if self.base is None:
            self.base = node.attributes.get("href")

    def on_area(self, node: LexborNode) -> None:
        attributes = node.attributes
        href = attributes.get("href")
        if href:
            self.link(href, attributes.get("alt"), attributes.get("rel"))

    def on_frame(self, node: LexborNode) -> None:
        attributes = node.attributes
        source = attributes.get("src")
        if source:
            self.link(source, attributes.get("title"))

    def on_svg(self, _: LexborNode) -> None:
        self.svgs += 1

    def leave_svg(self, _: LexborNode) -> None:
        self.svgs -= 1

    def on_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        href, rel = attributes.get("href"), (attributes.get("rel") or "").lower().split()
        if not href:
            return
        # What visitors write ends up in the body, and only the author may say which page this is.
        if "canonical" in rel and node.parent is not None and node.parent.tag_id == _tags().head:
            self.canonicals.append(href)
        elif not _HINTS_OF_LINKS.isdisjoint(rel) and (attributes.get("type") or "text/html") == "text/html":
            self.link(href, attributes.get("title"), " ".join(rel))

    def on_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            return
        name, meant = attributes.get("name"), (attributes.get("http-equiv") or "").strip().lower()
        if name:
            self.directives |= meta_robots(name, content, self.agent)
        if meant == "content-language":
            self.language = self.language or declared_language(content)
        elif meant == "refresh" and self.refresh is None:
            # In a noscript it leads those without scripts, as we are, away from the page to an apology.
            if node.parent is None or node.parent.tag_id != _tags().noscript:
                self.refresh = refresh_of(content)

    def page(self, url: str, strip: tuple[str, ...]) -> Page:
        """Return what was gathered, with the links resolved."""
        resolver = Resolver(url, self.base or "", strip)
        seconds, target = self.refresh or (0, "")
        text = tidy("".join(self.pieces), self.settings.max_text + 1)
        links = resolver.links(self.written, self.settings.max_links + 1)
        return Page(
            title=self.title or "",
            headings=tuple(self.headings),
            text=text[: self.settings.max_text],
            language=self.language,
            links=links[: self.settings.max_links],
            canonical=resolver.only(self.canonicals),
            directives=self.directives,
            refresh=resolver.url_of(target) if target else "",
            refresh_seconds=seconds,
            truncated=len(text) > self.settings.max_text or len(links) > self.settings.max_links,
        )


class _Tags(NamedTuple):
    """What to do at which element, by lexbor's number for it."""

    gaps: dict[int, str]
    entered: dict[int, Callable[[_Walk, LexborNode], None]]
    left: dict[int, Callable[[_Walk, LexborNode], None]]
    closed: frozenset[int]
    text: int
    head: int
    noscript: int


@lru_cache(maxsize=1)
def _tags() -> _Tags:
    tree = LexborHTMLParser("<p>text")

    def numbers(names: str) -> list[int]:
        return [tree.create_node(name).tag_id for name in names.split()]

    (anchor, svg, head, noscript) = numbers("a svg head noscript")
    headings, muted = numbers("h1 h2 h3 h4 h5 h6"), numbers(_NEVER_SHOWN)
    return _Tags(
        gaps=dict.fromkeys(numbers(_BLOCKS), BREAK) | dict.fromkeys(numbers(_APART), " "),
        entered=dict.fromkeys([*muted, *headings, anchor], _Walk.mark)
        | dict(zip(numbers(" ".join(_ENTERED)), _ENTERED.values(), strict=True)),
        left=dict.fromkeys(muted, _Walk.mute)
        | dict.fromkeys(headings, _Walk.heading)
        | {anchor: _Walk.anchor, svg: _Walk.leave_svg},
        closed=frozenset(numbers(_NOT_ENTERED)),
        text=next(node.tag_id for node in tree.css("p")[0].iter(include_text=True)),
        head=head,
        noscript=noscript,
    )


_ENTERED: dict[str, Callable[[_Walk, LexborNode], None]] = {
    "html": _Walk.on_html,
    "title": _Walk.on_title,
    "base": _Walk.on_base,
    "meta": _Walk.on_meta,
    "link": _Walk.on_link,
    "area": _Walk.on_area,
    "frame": _Walk.on_frame,
    "iframe": _Walk.on_frame,
    "svg": _Walk.on_svg,
}
