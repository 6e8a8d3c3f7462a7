"""Content and boilerplate: what is left out of the text of real pages, and how well, beside trafilatura.

    python bench/bench_content.py --web FOLDER [--pages 700]
    python bench/bench_content.py --articles FOLDER [--trafilatura PYTHON]

With --web, the pages are those of docweb (run `docweb build FOLDER` once). It prints which share of the words
of the text lies in nav, footer, aside and navigation roles, before and after, by host, and how many pages
with text of their own have lost all of it.

With --articles, FOLDER has the layout of scrapinghub/article-extraction-benchmark (GitHub): ground-truth.json
with an articleBody for each page, and html/NAME.html.gz. Texts are compared as that benchmark compares them:
by runs of four words; precision and recall are averaged over the pages, and F1 is made from the averages.
F1 is printed for two halves of the pages too: numbers in the rules were chosen on the first half only.

The time is CPU time, the least and the most of several rounds: of "main text", from the string of HTML to the
string of its main text, as trafilatura's `extract` does; of "whole page", with title, headings, links, dates
and other metadata (parse_html). With --trafilatura, a Python that has trafilatura extracts the same pages in
its three modes, in turn with ours, so that a busy machine is busy for all of them.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.html.boilerplate import judged
from crawlctl.pipeline.text.html.hidden import hidden_nodes
from crawlctl.pipeline.text.html.html import joined, parse_html
from crawlctl.pipeline.text.html.walk import Walk
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search")
MARKED = ", ".join(("nav", "footer", "aside", *(f'[role="{role}"]' for role in _ROLES)))
MAX_TEXT = 1 << 24
WORD = re.compile(r"\w+")
RUN = 4  # words
ROUNDS = 5
COLLECTED_OBJECTS = 50_000  # as in the helper that parses (pipeline/text/guarded/helper.py)
PEER = """
import json, sys, time
import trafilatura
pages = json.loads(sys.stdin.readline())
modes = {
    "trafilatura": {},
    "trafilatura without comments": {"include_comments": False},
    "trafilatura fast, no comments": {"include_comments": False, "fast": True},
}
for _ in sys.stdin:
    for label, options in modes.items():
        begun = time.process_time()
        texts = {name: trafilatura.extract(html, **options) or "" for name, html in pages.items()}
        print(json.dumps([label, time.process_time() - begun, texts]), flush=True)
    print("null", flush=True)
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
    texts: dict[str, dict[str, str]] = {}
    times: dict[str, list[float]] = {}
    for label, seconds, found in rounds(pages, peer):
        times.setdefault(label, []).append(seconds)
        texts[label] = found
    print(f"{'':32}{'precision':>10}{'recall':>8}{'F1':>8}{'halves':>15}{'CPU ms/page':>15}")
    for label, found in texts.items():
        print_scores(label, bodies, found, times[label])


def rounds(pages: Mapping[str, str], peer: str) -> Iterator[tuple[str, float, dict[str, str]]]:
    """Yield what each way to read the pages takes in CPU seconds, and the texts that it finds."""
    ours = {
        "crawlctl, main text": main_text,
        "crawlctl, whole page": lambda html: parse_html(html, "http://example.com/", ParseSettings()).text,
    }
    gc.freeze()
    gc.set_threshold(COLLECTED_OBJECTS)
    with ExitStack() as stack:
        theirs = stack.enter_context(peer_process(peer, pages)) if peer else None
        for _ in range(ROUNDS):
            for label, read in ours.items():
                begun = time.process_time()
                texts = {name: read(html) for name, html in pages.items()}
                yield label, time.process_time() - begun, texts
            if theirs is not None:
                yield from answers(theirs)


def main_text(html: str) -> str:
    """Return the main text of a page and nothing else."""
    tree = LexborHTMLParser(html)
    if tree.root is None:
        return ""
    walk = Walk(ParseSettings(), "")
    walk.hide(hidden_nodes(tree))
    walk.over(tree.root)
    verdict = judged(walk.texts, walk.blocks, walk.linked, is_article=walk.is_article)
    return joined(walk.texts, verdict.kept(len(walk.texts)), (), MAX_TEXT)[0]


@contextmanager
def peer_process(python: str, pages: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start a Python that extracts the pages with trafilatura, once for each line that it reads."""
    with subprocess.Popen(
        [python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(pages) + "\n")
        yield process
        process.stdin.close()


def answers(process: subprocess.Popen[str]) -> Iterator[tuple[str, float, dict[str, str]]]:
    """Yield what trafilatura took and found in one round."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("round\n")
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer is None:
            return
        yield answer


def print_scores(label: str, bodies: Mapping[str, str], texts: Mapping[str, str], times: list[float]) -> None:
    """Print a line for the texts of one program."""
    scores = {name: scores_of(runs_of(bodies[name]), runs_of(texts[name])) for name in bodies}
    halves = [[each for name, each in scores.items() if half_of(name) == half] for half in (0, 1)]
    precision, recall, f1 = averages(list(scores.values()))
    both = " ".join(f"{averages(half)[2]:7.3f}" for half in halves)
    spread = f"{min(times) / len(bodies) * 1000:.1f} to {max(times) / len(bodies) * 1000:.1f}"
    print(f"{label:32}{precision:10.3f}{recall:8.3f}{f1:8.3f}{both}{spread:>15}")


def half_of(name: str) -> int:
    """Return 0 for the pages that numbers were chosen on, 1 for the others."""
    return hashlib.sha256(name.encode()).digest()[-1] % 2


def averages(scores: list[tuple[float | None, float | None]]) -> tuple[float, float, float]:
    """Return precision and recall averaged over pages, and F1 made from these."""
    precision = mean(score for score, _ in scores if score is not None)
    recall = mean(score for _, score in scores if score is not None)
    return precision, recall, 2 * precision * recall / (precision + recall)


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
