"""Parsing: CPU time per page from bytes to words, compared with beautifulsoup4 and nltk.

    python bench/bench_text.py [--rounds N] [FOLDER]

The pages are the HTML files below FOLDER, or without FOLDER what pydoc renders of the standard library. Both
sides read the same bytes and return title, text, absolute links and stemmed words. Ours adds language,
signature, sketch and directives. The time is the CPU time of this process and its helper, the best of several
rounds, in which the steps take turns. beautifulsoup4 uses html.parser.
"""

from __future__ import annotations

import argparse
import importlib
import pydoc
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from clock import measured
from nltk.stem.snowball import SnowballStemmer
from nltk.tokenize import RegexpTokenizer

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.text.words.language import language_of
from crawlctl.pipeline.text.words.stems import stemmer
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.text.documents.document import Parsed
    from crawlctl.pipeline.text.documents.page import Page

MAX_PAGES = 120
PEER_PAGES = 20
URL = "http://docs.example.com/library/page.html"
# Modules that do something when they are imported, or that are no library.
LEFT_OUT = re.compile(
    r"_|antigravity|this|idlelib|lib2to3|turtle|tkinter|test|ensurepip|msi|nt|win|pydoc_data"
)


class Step(NamedTuple):
    """A step to measure, and the number of pages that it works on."""

    name: str
    pages: int
    run: Callable[[], object]


def main() -> None:
    """Print a table with the CPU time per page of each step."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("folder", nargs="?", type=Path)
    arguments.add_argument("--rounds", type=int, default=3)
    chosen = arguments.parse_args()
    warnings.simplefilter("ignore")
    bodies = list(bodies_of(chosen.folder) if chosen.folder else bodies_of_pydoc())
    parsed = [page_of(body) for body in bodies]
    size, links = sum(map(len, bodies)) / len(bodies), sum(len(page.links) for page in parsed) / len(bodies)
    words = sum(len(tokens(page.text)) for page in parsed) / len(bodies)
    print(f"{len(bodies)} pages, on average {size / 1000:.0f} kB, {links:.0f} links, {words:.0f} words\n")
    print("| step | pages | CPU ms/page | pages/s/core |\n|---|---|---|---|")
    steps = steps_on(bodies, parsed)
    for step, seconds in zip(steps, best_of(steps, chosen.rounds), strict=True):
        print(
            f"| {step.name} | {step.pages} | {seconds / step.pages * 1000:.2f} | {step.pages / seconds:.0f} |"
        )


def bodies_of(folder: Path) -> Iterator[bytes]:
    """Yield files from all over a folder."""
    files = sorted(path for path in folder.rglob("*.html") if path.is_file())
    yield from (path.read_bytes() for path in files[:: max(1, len(files) // MAX_PAGES)][:MAX_PAGES])


def bodies_of_pydoc() -> Iterator[bytes]:
    """Yield the documentation of modules of the standard library."""
    names = sorted(name for name in sys.stdlib_module_names if not LEFT_OUT.match(name))
    for name in names[:MAX_PAGES]:
        try:
            module = importlib.import_module(name)
        except ImportError:  # a module of another platform
            continue
        yield pydoc.html.page(name, pydoc.html.document(module, name)).encode()


def steps_on(bodies: list[bytes], parsed: list[Page]) -> list[Step]:
    """Return the steps to measure: ours one by one and together, and those of the peers."""
    texts = [decode(body).text for body in bodies]
    documents = [FetchedDocument(URL, body, "text/html") for body in bodies]
    sample = bodies[:: max(1, len(bodies) // PEER_PAGES)][:PEER_PAGES]
    count = len(bodies)
    settings = ParseSettings()
    return [
        Step("charset", count, lambda: [decode(body) for body in bodies]),
        Step("HTML: tree, text, links", count, lambda: [parse_html(text, URL, settings) for text in texts]),
        Step("language", count, lambda: [language_of(page.text) for page in parsed]),
        Step("signature, sketch", count, lambda: [fingerprint(page.text) for page in parsed]),
        Step("words, stems", count, lambda: [stemmed(page.text) for page in parsed]),
        Step("**all of these**", count, lambda: [ours(document) for document in documents]),
        Step("all but words, in a helper", count, lambda: guarded(documents)),
        Step(
            "all but words, in process",
            count,
            lambda: [parse_document(each, ParseRules()) for each in documents],
        ),
        Step("beautifulsoup4, urljoin, nltk", len(sample), lambda: [theirs(body) for body in sample]),
    ]


def best_of(steps: list[Step], rounds: int) -> list[float]:
    """Return the least CPU time of each step in any round."""
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for number, step in enumerate(steps):
            best[number] = min(best[number], measured(step.run).cpu)
    return best


def page_of(body: bytes) -> Page:
    """Return a body parsed."""
    return parse_html(decode(body).text, URL, ParseSettings())


def stemmed(text: str) -> list[str]:
    """Return the stems of all words of an English text."""
    return list(map(stemmer("en"), tokens(text)))


def ours(document: FetchedDocument) -> tuple[Parsed, list[str]]:
    """Do everything that happens to a page before it is indexed."""
    parsed = parse_document(document, ParseRules())
    return parsed, stemmed(parsed.page.text)


def guarded(documents: list[FetchedDocument]) -> list[Parsed]:
    """Parse in a helper that always has some documents waiting."""
    found: list[Parsed] = []
    with Guard() as guard:
        for document in documents:
            guard.submit(document)
            if len(guard) > 8:
                found += guard.collect(60)
        while len(guard):
            found += guard.collect(60)
    return found


def theirs(body: bytes) -> tuple[str, list[str], list[str]]:
    """Do the same with the usual libraries, as their guides show it."""
    soup = BeautifulSoup(body, "html.parser")
    for element in soup(["script", "style", "template", "noscript"]):
        element.decompose()
    links = [urljoin(URL, str(anchor["href"])) for anchor in soup.find_all("a", href=True)]
    stem = SnowballStemmer("english").stem
    words = [stem(word) for word in RegexpTokenizer(r"\w+").tokenize(soup.get_text(" ").lower())]
    return (soup.title.get_text() if soup.title else ""), links, words


if __name__ == "__main__":
    main()
