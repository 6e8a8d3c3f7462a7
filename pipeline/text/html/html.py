"""Parses HTML: title, headings, visible text, links and directives, in one walk over the tree.

lexbor (through selectolax) builds the tree. It follows the HTML standard as browsers do, and is about thirty
times as fast as beautifulsoup4. The walk is iterative, so a page may be nested to any depth. For some pages
the time of lexbor grows with the square of their size, so call this only through text/guarded/guard.py.

Whether an element is visible is decided without style sheets: elements with `hidden` or with `display: none`
in a style attribute, and elements that browsers never show, are left out. Their links still count, because
menus are often hidden until a script opens them. If a page shows almost no text without scripts, the text of
its noscript elements is added.
"""

from __future__ import annotations

import re
from itertools import compress, pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.text.details.metadata import stated_in
from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.html.boilerplate import Verdict, judged
from crawlctl.pipeline.text.html.directives import AGENT
from crawlctl.pipeline.text.html.elements import BREAK
from crawlctl.pipeline.text.html.hidden import hidden_nodes
from crawlctl.pipeline.text.html.outline import emphasised, sections
from crawlctl.pipeline.text.html.page_links import LinkResolver
from crawlctl.pipeline.text.html.walk import Walk
from crawlctl.pipeline.text.repeated.page_blocks import PageBlocks, unpacked, without_repeated
from crawlctl.pipeline.text.words.language import declared_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.config.settings import ParseSettings
    from crawlctl.pipeline.text.details.metadata import Stated
    from crawlctl.pipeline.text.html.outline import Heading

ALMOST_NO_TEXT = 100  # characters, such as "Loading …" and a footer
_MAX_FEEDS = 8  # the most feeds per page
_LONGEST_APOLOGY = 400  # characters: "You need to enable JavaScript …", which says nothing about the page
_SCRIPTS = re.compile(r"(?<![a-z])(?:java)?script(?:s|ing)?(?![a-z])", re.IGNORECASE)  # not "description"


def parse_html(
    html: str,
    url: str,
    settings: ParseSettings,
    *,
    strip: tuple[str, ...] = (),
    agent: str = AGENT,
    fetched_at: int = 0,
    is_content: bool = False,
    repeated: bytes = b"",
    is_sampled: bool = True,
) -> Page:
    """Return the page that was fetched from the canonical URL `url`, at a time in UTC seconds (0: now).

    With `is_content` no block counts as boilerplate: the user has said where the content is, or it is the
    chapter of a book. `repeated` are the hashes of blocks that many pages of the host have (page_blocks.py);
    the page's own blocks are hashed if `repeated` is not empty or if it `is_sampled`.
    """
    tree = LexborHTMLParser(html)
    walk = Walk(settings, agent)
    if tree.root is not None:
        if hidden := hidden_nodes(tree):
            walk.hide(hidden)
        walk.over(tree.root)
    resolver = LinkResolver(url, walk.base or "", strip)
    verdict = (
        Verdict([])
        if is_content
        else judged(walk.texts, walk.blocks, walk.linked, is_article=walk.is_article)
    )
    is_compared = settings.drop_repeated and not is_content and (is_sampled or repeated)
    shorter, blocks = _compared(walk, verdict, repeated) if is_compared else (verdict, b"")
    page = _page(walk, shorter, resolver, settings, stated_in(walk.statements, resolver, fetched_at))
    page = replace(page, blocks=blocks)
    return page if shorter is verdict else _with_whole(page, _whole_text(walk, verdict, settings))


def _compared(walk: Walk, verdict: Verdict, repeated: bytes) -> tuple[Verdict, bytes]:
    """Return a verdict that also drops repeated blocks, and the hashes of the page's blocks."""
    blocks = PageBlocks(walk.texts, walk.blocks, walk.headings, verdict.kept(len(walk.texts)))
    left_out = blocks.left_out(unpacked(repeated)) if repeated else []
    return without_repeated(verdict, left_out), blocks.packed()


def _whole_text(walk: Walk, verdict: Verdict, settings: ParseSettings) -> str:
    """Return the text of the page as it would be if no block was left out as repeated."""
    is_kept = verdict.kept(len(walk.texts))
    inside = _inside(walk, is_kept, settings)
    cuts = [one.start for one in _linkable(walk, is_kept, inside)]
    return _text(walk, is_kept, cuts, settings.max_text)[0]


def _with_whole(page: Page, whole: str) -> Page:
    """Return the page with its whole text, and with the number of characters that were left out of it."""
    details = replace(page.details, repeated=max(0, len(whole) - len(page.text)))
    return replace(page, whole=whole, details=details)


def _page(
    walk: Walk, verdict: Verdict, resolver: LinkResolver, settings: ParseSettings, stated: Stated
) -> Page:
    seconds, target = walk.refresh or (0, "")
    is_kept = verdict.kept(len(walk.texts))
    inside = _inside(walk, is_kept, settings)
    linkable = _linkable(walk, is_kept, inside)
    text, offsets = _text(walk, is_kept, [one.start for one in linkable], settings.max_text + 1)
    links = resolver.links(walk.written, settings.max_links + 1, [not is_kept[at] for at in walk.places])
    return Page(
        title=walk.title or stated.title[: settings.max_title],
        headings=_headings(walk, verdict, inside)[: settings.max_headings],
        text=text[: settings.max_text],
        language=walk.language or declared_language(stated.locale),
        links=links[: settings.max_links],
        canonical=resolver.only(walk.canonicals),
        directives=walk.directives,
        refresh=resolver.url_of(target) if target else "",
        refresh_seconds=seconds,
        truncated=len(text) > settings.max_text or len(links) > settings.max_links,
        details=replace(
            stated.details,
            sections=sections(linkable, offsets, settings.max_text),
            emphasised=emphasised([one.text for one in walk.phrases if is_kept[one.start]], inside),
        ),
        feeds=tuple(filter(None, map(resolver.url_of, walk.feeds[:_MAX_FEEDS]))),
    )


def _inside(walk: Walk, is_kept: bytes, settings: ParseSettings) -> list[Heading]:
    """Return the headings in the content."""
    return [heading for heading in walk.headings if is_kept[heading.start]][: settings.max_headings]


def _linkable(walk: Walk, is_kept: bytes, inside: list[Heading]) -> list[Heading]:
    """Return the headings and definitions, to which a link can lead, in the order of the page."""
    defined = [one for one in walk.definitions if is_kept[one.start]]
    return sorted((*inside, *defined), key=lambda one: one.start) if defined else inside


def is_apology(unscripted: str) -> bool:
    """Return whether the text of noscript elements says only that the page needs scripts."""
    return len(unscripted) < _LONGEST_APOLOGY and _SCRIPTS.search(unscripted) is not None


def _headings(walk: Walk, verdict: Verdict, inside: list[Heading]) -> tuple[str, ...]:
    """Return the headings in the content; an h1 before a main block without h1 is the title of the page."""
    texts = tuple([heading.text for heading in inside])
    if verdict.main is None or any(heading.is_first_level for heading in inside):
        return texts
    first = next(
        (heading for heading in walk.headings if heading.is_first_level and not verdict.drops(heading.start)),
        None,
    )
    return texts if first is None else (first.text, *texts)


def _text(walk: Walk, is_kept: bytes, cuts: list[int], limit: int) -> tuple[str, list[int]]:
    """Return the text of the content, and the offset in it of each index in `cuts`.

    If there is almost no text, the text of the noscript elements follows.
    """
    text, offsets = joined(walk.texts, is_kept, cuts, limit)
    if len(text) >= ALMOST_NO_TEXT or not walk.unscripted:
        return text, offsets
    unscripted = tidy("".join(walk.unscripted), limit)
    whole = text if is_apology(unscripted) else "\n".join(filter(None, (text, unscripted)))[:limit]
    return whole, offsets


def joined(texts: list[str], is_kept: bytes, cuts: Sequence[int], limit: int) -> tuple[str, list[int]]:
    """Join the texts that are kept; return the joined text, and the offset in it of each index in `cuts`.

    The text at such an index is the first one of a block, so a line begins with it.
    """
    pieces: list[str] = []
    offsets: list[int] = []
    length = 0
    for start, end in pairwise((0, *cuts, len(texts))):
        offsets.append(length)
        piece = tidy("".join(compress(texts[start:end], is_kept[start:end])), limit)
        if piece and length < limit:
            pieces.append(piece)
            length += len(piece) + 1
    return "\n".join(pieces)[:limit], offsets[1:]


def tidy(text: str, limit: int) -> str:
    """Return a text with one line per block and single spaces within, cut at `limit` characters."""
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    return "\n".join(filter(None, lines))[:limit]
