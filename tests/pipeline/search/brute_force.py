"""A search by brute force: what the index is measured against."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.building.inversion import url_text
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.search.plan.lexicon import main_language
from crawlctl.pipeline.search.plan.readings import readings_of
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.filters import (
    After,
    Before,
    DocumentType,
    FieldValue,
    Language,
    Site,
    first_second,
)
from crawlctl.pipeline.text.words.accents import unaccented
from crawlctl.pipeline.text.words.stems import bare_term, term_of
from crawlctl.pipeline.text.words.tokens import parts_in, tokens
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlctl.pipeline.text.documents.page import Section


@dataclass(frozen=True)
class Page:
    """A document as a search sees it, the texts of the links to it included."""

    url: str
    title: str = ""
    text: str = ""
    headings: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    language: str = "en"
    fetched_at: int = 0
    last_modified: int = 0
    dead: bool = False
    prior: int = 0
    group: int = 0
    fetched: bool = True  # False: known only by the anchors of links to it
    kind: str = ""
    values: tuple[tuple[str, str | int | float], ...] = ()  # of the fields of its site
    sections: tuple[Section, ...] = ()
    signs: int = 0  # of text/documents/page_signs.py

    @property
    def key(self) -> tuple[str, str]:
        return host_of(self.url), self.url

    def fields(self) -> tuple[tuple[str, ...], ...]:
        """The texts of each field: no phrase reaches from one text into the next."""
        return (self.text,), self.headings, (self.title,), (url_text(self.url),), self.anchors

    def positions(self, term: Callable[[str, str], bytes] = term_of) -> dict[int, set[bytes]]:
        """The terms by position."""
        found: defaultdict[int, set[bytes]] = defaultdict(set)
        for field, texts in enumerate(self.fields()):
            at = field << OFFSET_BITS
            for text in texts:
                words = tokens(text)
                for offset, word in placed_words(text, self.language, body=field == 0):
                    found[at + offset].add(term(word, self.language))
                at += len(words) + 1
        return dict(found)


def written_words(page: Page) -> dict[str, int]:
    """The words of a page as they are written, and those beside them, each with the mask of its fields."""
    found: defaultdict[str, int] = defaultdict(int)
    for field, texts in enumerate(page.fields()):
        for text in texts:
            for _, word in placed_words(text, page.language, body=field == 0):
                found[word] |= 1 << field
    return dict(found)


def placed_words(text: str, language: str, *, body: bool) -> list[tuple[int, str]]:
    """The words of a text and those beside them, with their offsets; none lies behind a body."""
    words = tokens(text)
    parts = [(first + number, part) for first, some in parts_in(text) for number, part in enumerate(some)]
    kept = [(offset, part) for offset, part in parts if offset < len(words) or not body]
    plain = [(offset, other) for offset, word in enumerate(words) for other in unaccented(word, language)]
    return sorted({*enumerate(words), *kept, *plain})


def _is_on(node: Site, page: Page) -> bool:
    host = host_of(page.url)
    names = (host,) if ":" in node.host else (host, host.partition(":")[0])
    return any(f".{name}".endswith(f".{node.host}") for name in names)


def _passes(node: Language | Before | After | DocumentType | FieldValue, page: Page) -> bool:
    if isinstance(node, Language):
        return page.language == node.code
    if isinstance(node, Before):
        return 0 < page.last_modified < first_second(node.day)
    if isinstance(node, After):
        return 0 < page.last_modified >= first_second(node.day)
    if isinstance(node, DocumentType):
        return page.kind == node.name
    values = {str(value).casefold() for name, value in page.values if name == node.name}
    return node.value.casefold() in values


class BruteForce:
    """Answers queries by looking at every word of every page."""

    def __init__(self, pages: Sequence[Page], languages: Mapping[str, int] | None = None) -> None:
        self.pages = [page for page in pages if not page.dead]
        self._main = main_language(
            Counter(page.language for page in pages) if languages is None else languages
        )

    def find(self, query: tree.Node) -> set[str]:
        """Return the URLs of the pages that match."""
        return {page.url for page in self.pages if self._matches(query, page)}

    def _matches(self, node: tree.Node, page: Page) -> bool:
        if isinstance(node, tree.And):
            return all(self._matches(part, page) for part in node.parts)
        if isinstance(node, tree.Or):
            return any(self._matches(part, page) for part in node.parts)
        if isinstance(node, tree.Not):
            return not self._matches(node.part, page)
        if isinstance(node, tree.AllPages):
            return page.fetched
        if isinstance(node, Site):
            return _is_on(node, page) and (
                not node.path or self._has(tree.Phrase((f"{node.host}/{node.path}",), "url"), page)
            )
        if isinstance(node, (Language, Before, After, DocumentType, FieldValue)):
            return page.fetched and _passes(node, page)
        return self._has(node, page)

    def _has(self, leaf: tree.FieldLeaf, page: Page) -> bool:
        positions = page.positions()
        fields = range(len(INDEXED_FIELDS)) if leaf.field is None else [INDEXED_FIELDS.index(leaf.field)]
        starts = [at for at in positions if at >> OFFSET_BITS in fields]
        if isinstance(leaf, (tree.Prefix, tree.Exact)):
            (asked,) = tokens(leaf.text)
            mask = sum(1 << field for field in fields)
            written = [word for word, found in written_words(page).items() if found & mask]
            return any(
                word == asked or (isinstance(leaf, tree.Prefix) and word.startswith(asked))
                for word in written
            )
        if isinstance(leaf, tree.Range):
            numbers = [term.decode() for at in starts for term in positions[at] if term.isdigit()]
            plain = [int(number) for number in numbers if number == str(int(number))]
            return any(leaf.low <= number <= leaf.high for number in plain)
        readings: Iterable[Sequence[str]] = (
            readings_of(leaf.text) if isinstance(leaf, tree.Word) else [tokens(" ".join(leaf.words))]
        )
        return any(
            all(
                self._terms(word, page) & positions.get(at + further, set())
                for further, word in enumerate(words)
            )
            for words in readings
            for at in starts
        )

    def _terms(self, word: str, page: Page) -> set[bytes]:
        own = term_of(word, page.language)
        return {own, bare_term(word, self._main)} if own == word.encode() else {own}
