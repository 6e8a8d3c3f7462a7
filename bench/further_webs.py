"""Further webs for PageRank in parts: dense hosts, chains between hosts, calendars, mirrors, a power law.

No constant of the ranking was chosen by them.
"""

from __future__ import annotations

import numpy as np
from made_up_webs import Maker, Web


def dense(seed: int = 0, nodes: int = 60_000) -> Web:
    """Dense hosts: each page links to 20 to 120 pages of its host at random; few links leave."""
    made = Maker(7 + 100 * seed, nodes, power=1.5, most=nodes // 10, least=40)
    sources = np.repeat(made.pages, made.rng.integers(20, 120, nodes))
    made.add(sources, _inside(made, sources, depth=1.5))
    made.leave(0.03)
    return made.web()


def _inside(made: Maker, sources: np.ndarray, *, depth: float) -> np.ndarray:
    """Return for each page some page of its host, most near the front page."""
    home = made.hosts[sources]
    return made.fronts[home] + (made.sizes[home] * made.rng.random(len(sources)) ** depth).astype(np.int64)


def rings(seed: int = 0, nodes: int = 120_000) -> Web:
    """Rings of sites: every page is in a chain of up to 400 pages of as many hosts, most with links back."""
    made = Maker(8 + 100 * seed, nodes, power=1.5, most=nodes // 20, least=5)
    order, at = made.rng.permutation(nodes), 0
    while at < nodes:
        run = order[at : at + int(made.rng.integers(3, 400))]
        kind = made.rng.random()
        made.add(run[:-1], run[1:])
        if kind < 0.6:
            made.add(run[1:], run[:-1])
        if kind < 0.2:
            made.add(run[-1:], run[:1])
        at += len(run)
    some = made.some(0.4)
    made.add(some, made.fronts[made.hosts[some]])
    inside = np.flatnonzero((made.hosts[1:] == made.hosts[:-1]) & (made.rng.random(nodes - 1) < 0.5))
    made.add(inside, inside + 1)
    fronts = np.repeat(made.fronts, 4)
    made.add(fronts, _inside(made, fronts, depth=1))
    made.leave(0.03)
    return made.web()


def calendars(seed: int = 0, nodes: int = 150_000) -> Web:
    """Calendars: a day names the next, the one before and its month, a month its days and the next months."""
    made = Maker(9 + 100 * seed, nodes, power=1.4, most=nodes // 10, least=50)
    for front, size in zip(made.fronts.tolist(), made.sizes.tolist(), strict=True):
        end = front + 1 + int(made.rng.random() * (size - 1))
        months = np.arange(front + 1, end, 31)
        made.add(months[:-1], months[1:])
        made.add(months[1:], months[:-1])
        made.add(months[-1:], front)
        made.add(front, months[-1:])
        days = np.setdiff1d(np.arange(front + 1, end), months)
        month = front + 1 + (days - front - 1) // 31 * 31
        made.add(days, month)
        made.add(month, days)
        made.add(days[:-1], days[1:])
        made.add(days[1:], days[:-1])
        articles = np.arange(end, front + size)
        above = np.maximum(front, articles - made.rng.geometric(0.05, len(articles)))
        made.add(articles, above)
        made.add(above, articles)
        dated = articles[made.rng.random(len(articles)) < 0.5 * (len(days) > 0)]
        if len(dated):
            made.add(dated, made.rng.choice(days, len(dated)))
    made.leave(0.03)
    return made.web()


def mirrors(seed: int = 0, nodes: int = 120_000) -> Web:
    """Mirrors: each site on three hosts; most pages name their copy on the next, some on the one before."""
    made = Maker(10 + 100 * seed, nodes // 3, power=1.5, most=nodes // 30, least=10, copies=3)
    for share, step in ((0.7, nodes // 3), (0.3, -(nodes // 3))):
        some = made.some(share)
        made.add(some, (some + step) % len(made.pages))
    above = np.maximum(made.fronts[made.hosts], made.pages - made.rng.geometric(0.05, len(made.pages)))
    made.add(made.pages, above)
    made.add(above, made.pages)
    inside = np.flatnonzero(made.hosts[1:] == made.hosts[:-1])
    made.add(inside, inside + 1)
    made.leave(0.05)
    return made.web()


def power_law(seed: int = 0, nodes: int = 150_000) -> Web:
    """Popularity: two of five links go to popular pages of popular hosts; a third of the pages has none."""
    made = Maker(11 + 100 * seed, nodes, power=1.6, most=nodes // 15)
    degrees = np.minimum(made.rng.zipf(1.8, nodes), 200) * (made.rng.random(nodes) > 0.33)
    sources = np.repeat(made.pages, degrees)
    targets = _inside(made, sources, depth=3)
    leaving = np.flatnonzero(made.rng.random(len(sources)) < 0.4)
    targets[leaving] = made.elsewhere(len(leaving))
    made.add(sources, targets)
    return made.web()


FURTHER_WEBS = {
    "dense": dense,
    "rings": rings,
    "calendars": calendars,
    "mirrors": mirrors,
    "power law": power_law,
}
