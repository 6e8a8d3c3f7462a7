"""robots.txt, scope, sitemaps and the polite queue: operations per CPU second of one core.

    python bench/bench_robots.py [--repeat 3]

The robots.txt has 150 rules for folders, like that of a large site, and three rules with stars. protego, if
it is installed, reads the same file and judges the same URLs. The queue takes and hands out 50 pages of each
of 1,000 hosts, and 3 pages of each of 20,000 hosts, whose answers come at once. Figures are medians of the
repeats.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
from typing import TYPE_CHECKING

from clock import cpu_seconds

from crawlctl.pipeline.config.settings import (
    BudgetSettings,
    PolitenessSettings,
    ScopeSettings,
    SitemapSettings,
)
from crawlctl.pipeline.politeness.handout import Action, Reply
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.robots.robots import Robots
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.scope.url_budgets import UrlBudgets
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapReader, read_sitemap

if TYPE_CHECKING:
    from collections.abc import Callable

ROBOTS = "\n".join(
    [
        "User-agent: *",
        *(f"Disallow: /section{number}/private" for number in range(150)),
        "Disallow: /*?sort=",
        "Disallow: /*.cgi$",
        "Allow: /section3/private/*/open",
    ]
)
URLS = [f"https://example.org/section{number}/part/page{number}.html" for number in range(5_000)]
SITEMAP = gzip.compress(
    b"<urlset>%s</urlset>"
    % b"".join(
        b"<url><loc>%s</loc><lastmod>2024-02-29T12:00:00Z</lastmod></url>" % url.encode() for url in URLS
    )
)


def ask_robots() -> int:
    verdict = Robots.parse(ROBOTS.encode(), "crawlctl").verdict
    return sum(verdict(url).allowed for url in URLS)


def ask_protego() -> int:
    from protego import Protego

    can_fetch = Protego.parse(ROBOTS).can_fetch
    return sum(can_fetch(url, "crawlctl") for url in URLS)


def ask_scope() -> int:
    scope = Scope(ScopeSettings(), ["example.org"])
    return sum(scope.verdict(url, 3) is None for url in URLS)


def ask_budgets() -> int:
    budgets = UrlBudgets(BudgetSettings(urls_per_prefix=len(URLS)))
    return sum(budgets.admit(url) is None for url in URLS)


def read_sitemaps() -> int:
    return sum(1 for _ in read_sitemap(SitemapReader("https://example.org/s", SitemapSettings()), [SITEMAP]))


def hand_out(hosts: int, pages: int) -> int:
    queue = PoliteQueue(PolitenessSettings(), "crawlctl", {}, 0.0)
    for number in range(hosts * pages):
        queue.add(f"https://h{number % hosts}.example/section/page{number}.html", float(number % 7))
    robots = Robots.parse(ROBOTS.encode(), "crawlctl")
    now, handouts, reply = 0.0, 0, Reply(200, 0.05)
    while True:
        handout = queue.next_ready(now)
        if handout is not None:
            handouts += 1
            if handout.action is Action.ROBOTS:
                queue.robots_finished(handout, now, reply, robots)
            else:
                queue.finished(handout, now, reply)
        elif (ready := queue.next_time()) is not None:
            now = ready
        else:
            return handouts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(f"Python {sys.version.split()[0]}, median of {repeat}\n")
    measure("robots.txt verdicts", ask_robots, repeat)
    try:
        measure("the same by protego", ask_protego, repeat)
    except ImportError:
        print("protego is not installed (pip install protego)")
    measure("scope verdicts", ask_scope, repeat)
    measure("budget decisions", ask_budgets, repeat)
    measure("sitemap entries, gzipped", read_sitemaps, repeat)
    measure("handouts, 1,000 hosts", lambda: hand_out(1_000, 50), repeat)
    measure("handouts, 20,000 hosts", lambda: hand_out(20_000, 3), repeat)


def measure(name: str, work: Callable[[], int], repeat: int) -> None:
    rates = []
    for _ in range(repeat):
        start = cpu_seconds()
        rates.append(work() / (cpu_seconds() - start))
    print(f"{name:32}{statistics.median(rates):12,.0f} /s")


if __name__ == "__main__":
    main()
