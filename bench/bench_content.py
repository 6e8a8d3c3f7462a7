"""Content and boilerplate: what is left out of the text of real pages, and how well, beside trafilatura.

    python bench/bench_content.py --web FOLDER [--pages 700]
    python bench/bench_content.py --articles FOLDER [--trafilatura PYTHON]

With --web, the pages are those of docweb (run `docweb build FOLDER` once). It prints which share of the words
of the text lies in nav, footer, aside and navigation roles, before and after, by host, and how many pages
with text of their own have lost all of it.

With --articles, FOLDER has the layout of scrapinghub/article-extraction-benchmark (GitHub): ground-truth.json
with an articleBody for each page, and html/NAME.html.gz. Texts are compared as that benchmark compares them:
by runs of four words; precision and recall are averaged over the pages, and F1 is made from the averages.
With --trafilatura, a Python that has trafilatura extracts the same pages, with and without comments. The time
is CPU time: of ours for title, headings, links and text together, of trafilatura for the text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from clock import measured
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.html.boilerplate import judged
from crawlctl.pipeline.text.html.html import joined, parse_html
from crawlctl.pipeline.text.html.walk import Walk
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search")
MARKED = ", ".join(("nav", "footer", "aside", *(f'[role="{role}"]' for role in _ROLES)))
MAX_TEXT = 1 << 24
WORD = re.compile(r"\w+")
RUN = 4  # words
ROUNDS = 3
PEER = """
import json, sys, time
import trafilatura
pages = json.load(sys.stdin)
for comments in (False, True):
    begun = time.process_time()
    texts = {name: trafilatura.extract(html, include_comments=comments) or "" for name, html in pages.items()}
    label = "trafilatura" if comments else "trafilatura without comments"
    print(json.dumps([label, time.process_time() - begun, texts]))
"""


class Words(NamedTuple):
    """Words of pages: all of them, those kept, and of both those in marked boilerplate."""

    all: int = 0
    kept: int = 0
    marked: int = 0
    marked_kept: int = 0

    def __add__(self, other: Words) -> Words:  # type: ignore[override]
        return Words(*(one + two for one, two in zip(self, other, strict=True)))


def main() -> None:
    """Measure what the options ask for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--web", type=Path, help="the folder that docweb was built in")
    parser.add_argument("--pages", type=int, default=700, help="of docweb")
    parser.add_argument("--articles", type=Path, help="a folder with ground-truth.json and html/")
    parser.add_argument("--trafilatura", default="", help="a Python that has trafilatura")
    arguments = parser.parse_args()
    if arguments.web:
        report_web(arguments.web / "hosts", arguments.pages)
    if arguments.articles:
        report_articles(arguments.articles, arguments.trafilatura)
    if not (arguments.web or arguments.articles):
        parser.error("give --web or --articles")


def report_web(hosts: Path, pages: int) -> None:
    """Print the shares of marked boilerplate in a random sample of pages, by host."""
    files = sorted(hosts.rglob("*.html"))
    by_host: dict[str, list[Words]] = {}
    for file in random.Random(16).sample(files, min(pages, len(files))):
        by_host.setdefault(file.relative_to(hosts).parts[0], []).append(
            words_of(decode(file.read_bytes()).text)
        )
    print(f"{'':32}{'pages':>6}{'words':>9}{'kept':>9}{'marked':>9}{'after':>8}{'lost':>6}")
    for host, found in sorted(by_host.items()):
        print_words(host, found)
    print_words("all", [words for found in by_host.values() for words in found])


def print_words(name: str, found: list[Words]) -> None:
    """Print a line for the pages of a host."""
    total = sum(found[1:], found[0])
    before, after = total.marked / max(1, total.all), total.marked_kept / max(1, total.kept)
    lost = sum(words.all > words.marked and not words.kept for words in found)
    print(f"{name:32}{len(found):6}{total.all:9}{total.kept:9}{before:9.1%}{after:8.2%}{lost:6}")


def words_of(html: str) -> Words:
    """Return the words of a page."""
    tree = LexborHTMLParser(html)
    if tree.root is None:
        return Words()
    walk = Walk(ParseSettings(), "")
    walk.over(tree.root)
    texts = walk.texts
    is_kept = judged(texts, walk.blocks, walk.linked, is_article=walk.is_article).kept(len(texts))
    marked = {node.mem_id for node in tree.css(MARKED)}
    is_marked = bytearray(len(texts) + 1)
    for block in walk.blocks:
        if block.node.mem_id in marked:
            is_marked[block.start : block.end] = b"\x01" * (block.end - block.start)
    both = bytes(one & two for one, two in zip(is_kept, is_marked, strict=True))
    masks = (b"\x01" * len(texts), is_kept, bytes(is_marked), both)
    return Words(*(len(tokens(joined(texts, mask, (), MAX_TEXT)[0])) for mask in masks))


def report_articles(folder: Path, peer: str) -> None:
    """Print precision, recall, F1 and CPU time on the pages of an article set."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    bodies = {name: each.get("articleBody", "") for name, each in truth.items()}
    pages = {
        name: decode(gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())).text
        for name in truth
    }
    texts: dict[str, str] = {}

    def read_all() -> None:
        for name, html in pages.items():
            texts[name] = parse_html(html, "http://example.com/", ParseSettings()).text

    times = sorted(measured(read_all).cpu for _ in range(ROUNDS))
    print(f"{'':32}{'precision':>10}{'recall':>8}{'F1':>8}{'CPU ms/page':>13}")
    print_scores(f"crawlctl ({ROUNDS} rounds)", bodies, texts, times)
    if peer:
        run = subprocess.run(
            [peer, "-c", PEER], input=json.dumps(pages), capture_output=True, text=True, check=True
        )
        for line in run.stdout.splitlines():
            label, seconds, theirs = json.loads(line)
            print_scores(label, bodies, theirs, [seconds])


def print_scores(label: str, bodies: Mapping[str, str], texts: Mapping[str, str], times: list[float]) -> None:
    """Print a line for the texts of one program."""
    scores = [scores_of(runs_of(bodies[name]), runs_of(texts[name])) for name in bodies]
    precision = mean(score for score, _ in scores if score is not None)
    recall = mean(score for _, score in scores if score is not None)
    f1 = 2 * precision * recall / (precision + recall)
    spread = " to ".join(
        f"{seconds / len(bodies) * 1000:.1f}" for seconds in dict.fromkeys((times[0], times[-1]))
    )
    print(f"{label:32}{precision:10.3f}{recall:8.3f}{f1:8.3f}{spread:>13}")


def runs_of(text: str) -> Counter[tuple[str, ...]]:
    """Return the runs of words of a text; a shorter text is one run."""
    words = WORD.findall(text)
    runs = [tuple(words[start : start + RUN]) for start in range(max(1, len(words) - RUN + 1))]
    return Counter(run for run in runs if run)


def scores_of(
    true: Counter[tuple[str, ...]], found: Counter[tuple[str, ...]]
) -> tuple[float | None, float | None]:
    """Return precision and recall of a page; None where there is nothing to find."""
    hits = (true & found).total()
    precision = hits / found.total() if found else None
    return precision, (hits / true.total() if true else None)


if __name__ == "__main__":
    sys.exit(main())
