"""URLs: links resolved and made canonical per CPU second, compared with the standard library.

    python bench/bench_urls.py [--links 40000] [--rounds 5]

Each row is the best of the rounds, in CPU time. Rows take turns within a round, so that a busy machine slows
all of them alike.
"""

from __future__ import annotations

import argparse
import itertools
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

import ada_url
from clock import measured

from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.urls.whatwg import join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TRACKING = ("utm_*", "gclid", "fbclid")
PAGES = (
    "https://docs.python.org/3/library/asyncio-task.html",
    "https://www.postgresql.org/docs/current/sql-select.html",
    "https://en.wikipedia.org/wiki/Web_crawler",
    "http://news.example.org/2024/05/17/story.php?id=1138&page=2",
)
# What pages link to: neighbours, sections, the site's frame, other sites, queries, escapes, letters.
LINKS = (
    "asyncio-stream.html",
    "../genindex.html",
    "../reference/datamodel.html#object.__await__",
    "#coroutines",
    "#asyncio.create_task",
    "/",
    "/about/contact",
    "/wiki/Uniform_Resource_Identifier",
    "/wiki/Caf%C3%A9_(disambiguation)",
    "/w/index.php?title=Web_crawler&action=edit&section=4",
    "?page=3",
    "./img/figure-2.png",
    "https://www.rfc-editor.org/rfc/rfc9309.html",
    "https://github.com/python/cpython/blob/main/Lib/asyncio/tasks.py",
    "https://example.com/offer?id=77&utm_source=news&utm_medium=mail",
    "//cdn.example.net/assets/site.css?v=20240517",
    "http://archive.example.edu/~smith/papers/crawl%2dorder.pdf",
    "sql-insert.html",
    "functions-aggregate.html#FUNCTIONS-ORDEREDSET-TABLE",
    "https://de.wikipedia.org/wiki/Straße",
)


def link_pairs(count: int) -> list[tuple[str, str]]:
    """Return pairs of a page and a link on it."""
    return list(itertools.islice(itertools.cycle(itertools.product(PAGES, LINKS)), count))


def urljoin_and_defrag(page: str, link: str) -> str:
    """Resolve a link as crawlers with the standard library do: escapes, ports and hosts stay as they are."""
    return urldefrag(urljoin(page, link)).url


def call_all(function: Callable[..., object], arguments: Sequence[tuple[object, ...]]) -> None:
    """Call a function once for each tuple of arguments."""
    for arguments_of_call in arguments:
        function(*arguments_of_call)


def measure(count: int, rounds: int) -> dict[str, float]:
    """Return the calls per second of each row of the table."""
    pairs = link_pairs(count)
    urls = [(canonical_link(page, link),) for page, link in pairs]
    rows: dict[str, tuple[Callable[..., object], Sequence[tuple[object, ...]]]] = {
        "urllib urljoin": (urljoin, pairs),
        "urllib urljoin + urldefrag": (urljoin_and_defrag, pairs),
        "ada_url.join_url": (ada_url.join_url, pairs),
        "join": (join, pairs),
        "join + canonical": (canonical_link, pairs),
        "join + canonical, 3 names stripped": (
            lambda page, link: canonical_link(page, link, TRACKING),
            pairs,
        ),
        "canonical": (canonical, urls),
        "webdb_key": (webdb_key, urls),
        "host_of + partition": (lambda url: partition_of(host_of(url), 16), urls),
    }
    best = dict.fromkeys(rows, float("inf"))
    for _ in range(rounds):
        for name, (function, arguments) in rows.items():
            best[name] = min(best[name], measured(partial(call_all, function, arguments)).cpu)
    return {name: count / seconds for name, seconds in best.items()}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, default=40_000, help="links in a pass")
    parser.add_argument("--rounds", type=int, default=5, help="passes, of which the best counts")
    options = parser.parse_args()
    rates = measure(options.links, options.rounds)
    base = rates["urllib urljoin"]
    print(f"{'':36}{'per CPU-second':>16}{'vs urljoin':>12}")
    for name, rate in rates.items():
        print(f"{name:36}{rate:16,.0f}{rate / base:11.1f}x")


if __name__ == "__main__":
    main()
