"""Repeated blocks: what is left out of the pages of each host because most of them have it, and its price.

    python bench/bench_repeated.py --web FOLDER [--pages 120] [--hosts a.org,b.org]

The pages are those of docweb (run `docweb build FOLDER` once). Each host is read as in two rounds: first the
blocks of its pages are sampled, then its pages are read with what is repeated. It prints by host which share
of the words of the text is gone, and the lines that are gone, with the number of pages that lost them: look
at them, they should be no content. The CPU time of a page is the least of several, because the machine may be
busy: without the comparison, of a page that is sampled, and of a page that is not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from clock import best_of
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.repeated.block_sample import mark_of, sample_of

ON, OFF = ParseRules(), ParseRules(ParseSettings(drop_repeated=False))
SHOWN = 8  # lines of a host
TIMED = 10  # pages of a host
REPEAT = 5


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=120, help="of each host")
    parser.add_argument("--hosts", default="", help="separated by commas (default: all)")
    options = parser.parse_args()
    folder = options.web / "hosts"
    hosts = options.hosts.split(",") if options.hosts else sorted(path.name for path in folder.iterdir())
    timed: list[FetchedDocument] = []
    for host in hosts:
        documents = chosen(folder / host, options.pages)
        timed += report_host(host, documents)[:TIMED]
    report_times(timed)
    return 0


def chosen(folder: Path, count: int) -> list[FetchedDocument]:
    """Return some pages of a host, the same ones each time."""
    paths = sorted(path for path in folder.rglob("*.html") if path.is_file())
    random.Random(2).shuffle(paths)
    return [
        FetchedDocument(f"http://{folder.name}/{path.relative_to(folder)}", path.read_bytes(), "text/html")
        for path in paths[:count]
    ]


def report_host(host: str, documents: list[FetchedDocument]) -> list[FetchedDocument]:
    """Print what the pages of a host lose; return them with the blocks that are repeated."""
    pages = [parse_document(document, ON).page for document in documents]
    marks = [mark_of(webdb_key(document.url)) for document in documents]
    found = zip(marks, (page.blocks for page in pages), strict=True)
    repeated = sample_of((mark, blocks) for mark, blocks in found if blocks).repeated()
    second = [replace(document, repeated=repeated) for document in documents]
    lost: Counter[str] = Counter()
    for page, document in zip(pages, second, strict=True):
        left = Counter(parse_document(document, ON).page.text.split("\n"))
        lost += Counter(page.text.split("\n")) - left
    words = sum(len(page.text.split()) for page in pages)
    gone = sum(len(line.split()) * count for line, count in lost.items())
    print(f"{host:32}{len(pages):6} pages {gone / max(1, words):8.2%} of the words left out", flush=True)
    for line, count in lost.most_common(SHOWN):
        print(f"{'':8}{count:6}  {line[:90]}")
    return second


def report_times(documents: list[FetchedDocument]) -> None:
    """Print the CPU time of a page in the three cases."""
    cases = {
        "not compared": (OFF, documents),
        "sampled": (ON, documents),
        "not sampled": (ON, [replace(document, is_sampled=False) for document in documents]),
    }
    for name, (rules, some) in cases.items():
        seconds = sum(best_of(partial(parse_document, one, rules), REPEAT).cpu for one in some)
        print(f"{name:16}{seconds / len(some) * 1000:8.2f} CPU ms a page, {len(some)} pages")


if __name__ == "__main__":
    sys.exit(main())
