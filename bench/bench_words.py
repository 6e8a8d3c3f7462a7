"""Words: how many slips are corrected, how fast searches are corrected and completed, and what it takes.

    python bench/bench_words.py STORE [--edits 1000] [--rounds 3]

STORE is a crawl on this machine. Words of five letters and more that at least five pages have are spoilt by
one slip each: a letter dropped, added, changed, or swapped with the next, anywhere in the word, all equally
likely. A slip that makes another word of the table does not count. A correction is right if it is the word
itself. Each round takes other words. Completions are asked for each beginning, from one letter on, of titles
and headings. Times are CPU time of the thread. What a cold process needs is measured in a process of its own,
from the open index on (memory on Linux only).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from clock import keep_byte_code

from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.suggestions.completions import complete
from crawlctl.pipeline.search.suggestions.suggest import suggestion
from crawlctl.pipeline.state.kinds import DICTIONARY, SEGMENTS
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.stems import is_form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlctl.pipeline.search.open.searcher import Searcher

LEAST_PAGES, LEAST_LETTERS = 5, 5
COLD = """
import os, sys, time
from pathlib import Path
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.answer import find, snippets
from crawlctl.pipeline.store.local.store import LocalStore
def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
searcher = open_index(LocalStore(Path(sys.argv[1])))
searcher.lexicon.entries(["pyhton"])
before, memory = time.process_time(), held()
if sys.argv[2] == "correct":
    from crawlctl.pipeline.search.suggestions.suggest import suggestion
    suggestion(searcher, "pyhton")
else:
    from crawlctl.pipeline.search.suggestions.completions import complete
    complete(searcher, "pyth")
print(1000 * (time.process_time() - before), held() - memory)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    keep_byte_code()
    searcher = open_index(LocalStore(arguments.store))
    report_sizes(searcher)
    for seed in range(arguments.rounds):
        report_corrections(searcher, random.Random(seed), arguments.edits)
        report_completions(searcher, random.Random(seed), arguments.edits // 10)
    for what in ("correct", "complete"):
        report_cold(arguments.store, what, arguments.rounds)


def report_sizes(searcher: Searcher) -> None:
    """Print the bytes of words as they are written in the posting lists, and of both tables."""
    sizes = {False: 0, True: 0}
    for term, infos in searcher.lexicon.range(b"\x03", None):
        sizes[is_form(term)] += sum(info.documents_bytes + info.positions_bytes for info in infos)
    files = searcher.snapshot.files
    words = sum(entry.bytes for entry in files if entry.kind == DICTIONARY and entry.name.endswith("/words"))
    titles = sum(entry.bytes for entry in files if entry.kind == SEGMENTS and entry.name.endswith("/titles"))
    print(
        f"{searcher.documents:,} pages; words as written take {100 * sizes[True] / sizes[False]:.1f} % "
        "of what other lists take"
    )
    print(f"word tables {words:,} bytes, {len(searcher.words):,} words; title tables {titles:,} bytes")


def spoilt(word: str, chance: random.Random) -> str:
    """Return the word with one slip."""
    kind, letter = chance.choice(("drop", "add", "change", "swap")), chance.choice(ascii_lowercase)
    at = chance.randrange({"add": len(word) + 1, "swap": len(word) - 1}.get(kind, len(word)))
    slips = {
        "drop": word[:at] + word[at + 1 :],
        "add": word[:at] + letter + word[at:],
        "change": word[:at] + letter + word[at + 1 :],
        "swap": word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
    }
    return slips[kind]


def common_words(searcher: Searcher) -> list[str]:
    """Return the words that slips are made in."""
    found = [word for letter in ascii_lowercase for _, word in searcher.words.beginning_with(letter, 1 << 16)]
    return [
        word
        for word in found
        if len(word) >= LEAST_LETTERS and word.isascii() and searcher.words.documents(word) >= LEAST_PAGES
    ]


def report_corrections(searcher: Searcher, chance: random.Random, edits: int) -> None:
    words = common_words(searcher)
    pairs: list[tuple[str, str]] = []
    while len(pairs) < edits:
        word = chance.choice(words)
        slip = spoilt(word, chance)
        if slip != word and not searcher.words.documents(slip):
            pairs.append((word, slip))
    right = [suggestion(searcher, slip) == word for word, slip in pairs]
    first = [good for good, (word, slip) in zip(right, pairs, strict=True) if word[0] != slip[0]]
    times = timed(lambda slip: suggestion(searcher, slip), [slip for _, slip in pairs])
    print(
        f"corrections: {100 * sum(right) / edits:.1f} % of {edits} right, "
        f"{100 * sum(first) / max(1, len(first)):.0f} % of {len(first)} with a wrong first letter; "
        f"{percentiles(times)}"
    )


def report_completions(searcher: Searcher, chance: random.Random, count: int) -> None:
    found = [
        one.entry.text for letter in ascii_lowercase for one in searcher.titles.beginning_with(letter, 200)
    ]
    texts = chance.sample(found, min(count, len(found)))
    typed = [text[:end] for text in texts for end in range(1, min(len(text), 20))]
    times = timed(lambda text: complete(searcher, text), typed)
    print(f"completions: {len(typed):,} beginnings; {percentiles(times)}")


def report_cold(store: Path, what: str, rounds: int) -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", COLD, str(store), what], check=True, capture_output=True, text=True
        ).stdout.split()
        for _ in range(2 * rounds)
    ]
    times = sorted(float(run[0]) for run in runs)
    print(
        f"cold, to {what}: {times[0]:.0f} to {times[-1]:.0f} ms of CPU time, {float(runs[0][1]):.1f} MB more"
    )


def timed(work: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Return the milliseconds that each text takes."""
    times = []
    for text in texts:
        began = time.thread_time()
        work(text)
        times.append(1000 * (time.thread_time() - began))
    return sorted(times)


def percentiles(times: Sequence[float]) -> str:
    return f"p50 {times[len(times) // 2]:.2f}, p95 {times[len(times) * 95 // 100]:.2f} ms"


if __name__ == "__main__":
    main()
