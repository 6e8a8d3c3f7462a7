"""Draws queries whose right page is known from docweb, and prints them as bench/docweb_queries.tsv has them.

    python bench/docweb_known_items.py --web FOLDER [--each 40] [--seed 17] [--pages LISTING] [--without FILE]

FOLDER is where `docweb build` has put its hosts. A query is made of a fact about a page: its title, the
title of one of its sections, or a name that it documents. Sphinx writes these facts into `objects.inv`; of
hosts without that file the headings of pages are read. A title, section or name that several pages have says
too little, so it is left out, and so are names of one word for "project + words of a name". All hosts count
alike, however many pages they have. Each class is drawn apart, by the hash of the seed and the query: the
same seed draws the same queries. Queries of the file --without are not drawn again, and with --pages only
pages of a crawl are drawn.

    title     the title of a page
    section   the title of a section
    name      the project and the words of a name: scipy curve fit
    dotted    a name as it is written: scipy.optimize.curve_fit
"""

from __future__ import annotations

import argparse
import html
import json
import re
import zlib
from collections import defaultdict
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INVENTORY = "objects.inv"
HEADING = re.compile(r"<h([123])\b[^>]*>(.*?)</h\1>", re.I | re.S)
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"[^\W_]+")
NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
ENTRY = re.compile(r"^(?P<name>.+?) (?P<role>\S+:\S+) -?\d+ (?P<location>\S*) (?P<shown>.*)$", re.M)
NAMED = {"py:function", "py:class", "py:method", "py:exception"}
DOTTED = re.compile(r"\w+(?:\.\w+)+")
OWN_ANCHOR = "$"  # the name itself: the page documents it, and does not only repeat it
ELLIPSIS = "..."
SIGNS = "\u00b6\uf0c1#\u00a0 "  # what themes put behind a heading, to link to it
LEAST_WORDS, MOST_WORDS = 2, 8  # of a title; shorter titles are on many pages, longer ones nobody types
PROJECTS = {"sklearn": "scikit-learn"}  # where the module has another name than the project
KINDS = ("title", "section", "name", "dotted")


class Fact(NamedTuple):
    """A query of a class, and the page that it is about, without its scheme."""

    kind: str
    query: str
    page: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, required=True, help="the folder that docweb was built in")
    parser.add_argument("--each", type=int, default=40, help="queries of each class")
    parser.add_argument("--seed", default="17")
    parser.add_argument(
        "--pages", type=Path, help="what `crawlctl pages --all --status fetched --json` printed"
    )
    parser.add_argument("--without", type=Path, help="a file of queries that are not drawn again")
    options = parser.parse_args()
    taken = (
        {line.split("\t")[1] for line in options.without.read_text().splitlines()}
        if options.without
        else set()
    )
    facts = [fact for fact in all_facts(options.web / "hosts") if fact.query not in taken]
    crawled = pages_in(options.pages) if options.pages else {fact.page for fact in facts}
    for kind in KINDS:
        known = {query: page for query, page in usable(facts, kind).items() if page in crawled}
        for query, page in draw(known, options.each, options.seed):
            print(kind, query, page, sep="\t")


def pages_in(listing: Path) -> set[str]:
    """Return the pages of a crawl, without their schemes."""
    found = json.loads(listing.read_text(encoding="utf-8"))["pages"]
    return {page["url"].partition("://")[2] for page in found}


def all_facts(hosts: Path) -> Iterator[Fact]:
    for host in sorted(hosts.iterdir()):
        files = list(walk(host))
        inventories = [path for path in files if path.name == INVENTORY]
        for inventory in inventories:
            yield from inventory_facts(inventory, hosts)
        if not inventories:
            for path in files:
                if path.suffix == ".html":
                    yield from heading_facts(path, str(path.relative_to(hosts)))


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder; some folders of docweb are links, which rglob does not follow."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from walk(path)
        else:
            yield path


def inventory_facts(inventory: Path, hosts: Path) -> Iterator[Fact]:
    """Yield the facts of an inventory of Sphinx, version 2: four lines of text, then deflated lines."""
    _, named, _, _, packed = inventory.read_bytes().split(b"\n", 4)
    project = named.split(b": ", 1)[1].decode().lower()
    base = inventory.parent.relative_to(hosts)
    for match in ENTRY.finditer(zlib.decompress(packed).decode()):
        page, _, anchor = match["location"].partition("#")
        if (hosts / base / page).is_file():
            yield from entry_facts(
                match["name"], match["role"], anchor, match["shown"], project, f"{base}/{page}"
            )


def entry_facts(name: str, role: str, anchor: str, shown: str, project: str, page: str) -> Iterator[Fact]:
    if role == "std:doc":
        yield Fact("title", cleaned(shown), page)
    elif role == "std:label" and anchor and shown != "-":
        yield Fact("section", cleaned(shown), page)
    elif role in NAMED and DOTTED.fullmatch(name) and anchor == OWN_ANCHOR:
        yield Fact("dotted", name, page)
        words = NAME_WORD.findall(name.rpartition(".")[2])
        if len(words) >= LEAST_WORDS:
            yield Fact("name", " ".join((PROJECTS.get(project, project), *words)).lower(), page)


def heading_facts(path: Path, page: str) -> Iterator[Fact]:
    """Yield the title of a page and of its sections; its first heading is the title, whatever its level."""
    found = HEADING.findall(path.read_text(encoding="utf-8", errors="replace"))
    for index, (_, text) in enumerate(found):
        yield Fact("section" if index else "title", cleaned(text), page)


def cleaned(text: str) -> str:
    return " ".join(html.unescape(TAG.sub("", text)).split()).strip(SIGNS)


def usable(facts: Iterable[Fact], kind: str) -> dict[str, str]:
    """Return the page of each query of a class that says enough, and about one page only."""
    pages: dict[str, set[Fact]] = defaultdict(set)
    for fact in facts:
        if fact.kind == kind or (kind == "section" and fact.kind == "title"):
            pages[" ".join(WORD.findall(fact.query.lower()))].add(fact)
    found = {}
    for words, same in pages.items():
        fact = min(same)
        is_long_enough = LEAST_WORDS <= len(words.split()) <= MOST_WORDS
        is_title = kind in ("dotted", "name") or (" " in fact.query and ELLIPSIS not in fact.query)
        is_of_kind = all(one.kind == kind for one in same)  # a section may have the title of a page
        if len({one.page for one in same}) == 1 and is_long_enough and is_title and is_of_kind:
            found[fact.query] = fact.page
    return found


def draw(pages: dict[str, str], count: int, seed: str) -> list[tuple[str, str]]:
    """Return queries of all hosts in turn, and the page of each."""
    by_host: dict[str, list[str]] = defaultdict(list)
    for query, page in pages.items():
        by_host[page.split("/")[0]].append(query)
    for queries in by_host.values():
        queries.sort(key=lambda query: sha256(f"{seed} {query}".encode()).digest())
    turns = zip_longest(*(by_host[host] for host in sorted(by_host)))
    drawn = [query for turn in turns for query in turn if query is not None]
    return [(query, pages[query]) for query in drawn[:count]]


if __name__ == "__main__":
    main()
