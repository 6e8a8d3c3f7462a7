"""Webs that make trouble for PageRank in parts, from random seeds: links, and the host of each page.

Hosts of all sizes follow each other, and the pages of a host are in the order of their URLs. What the webs
are made of stalls iterations in parts: trees of folders, runs of pages that name the next and the one before,
groups of pages with one menu, URLs that nobody has fetched, one domain with all of that, and pages that
name their translation on another host. further_webs.py has more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Web(NamedTuple):
    sources: np.ndarray
    targets: np.ndarray
    hosts: np.ndarray  # of each page

    @property
    def nodes(self) -> int:
        return len(self.hosts)


class Maker:
    """Gathers the links of a web whose hosts have sizes by a power law."""

    def __init__(
        self, seed: int, nodes: int, *, power: float, most: int, least: int = 1, copies: int = 1
    ) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = np.minimum(least * np.minimum(self.rng.zipf(power, nodes), most), most)
        sizes = sizes[: np.searchsorted(np.cumsum(sizes), nodes)]
        self.sizes = np.tile(np.append(sizes, nodes - sizes.sum()), copies)
        self.fronts = np.cumsum(self.sizes) - self.sizes
        self.hosts = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.pages = np.arange(nodes * copies)
        self.links: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, sources, targets) -> None:
        self.links.append(np.broadcast_arrays(sources, targets))

    def some(self, share: float) -> np.ndarray:
        return self.pages[self.rng.random(len(self.pages)) < share]

    def elsewhere(self, count: int, *, depth: float = 4) -> np.ndarray:
        """Return pages of popular hosts, most near the front page."""
        hosts = len(self.sizes)
        to = self.rng.permutation(hosts)[(hosts * self.rng.random(count) ** 3).astype(np.int64)]
        return self.fronts[to] + (self.sizes[to] * self.rng.random(count) ** depth).astype(np.int64)

    def leave(self, share: float, *, depth: float = 4) -> None:
        leaving = self.some(share)
        self.add(leaving, self.elsewhere(len(leaving), depth=depth))

    def web(self) -> Web:
        nodes = len(self.pages)
        sources, targets = (np.concatenate(ends) for ends in zip(*self.links, strict=True))
        pairs = np.unique(sources * nodes + targets)
        sources, targets = np.divmod(pairs, nodes)
        apart = sources != targets
        return Web(sources[apart], targets[apart], self.hosts)


def folders(seed: int = 0, nodes: int = 150_000) -> Web:
    """Deep sites: a page links to the one above, those below, the next; every third to the front page."""
    made = Maker(1 + 100 * seed, nodes, power=1.5, most=nodes // 20)
    first = made.fronts[made.hosts]
    up = (1 + made.rng.geometric(0.02, nodes)) * (made.rng.random(nodes) < 0.5)
    above = np.maximum(first, made.pages - np.maximum(up, 1))
    made.add(made.pages, above)
    made.add(above, made.pages)
    inside = np.flatnonzero(made.hosts[1:] == made.hosts[:-1])
    made.add(inside, inside + 1)
    third = made.some(0.33)
    made.add(third, first[third])
    made.leave(0.05)
    return made.web()


def chains(seed: int = 0, nodes: int = 150_000) -> Web:
    """Archives: runs of up to 600 pages, each with the next and often the one before, many as 1, 10, 2."""
    made = Maker(2 + 100 * seed, nodes, power=1.4, most=nodes // 10, least=5)
    for front, size in zip(made.fronts.tolist(), made.sizes.tolist(), strict=True):
        at = front + 1
        while at < front + size:
            count = min(int(made.rng.integers(3, 600)), front + size - at)
            by_name = made.rng.random() < 0.6
            run = at + np.argsort(sorted(range(count), key=str) if by_name else np.arange(count))
            made.add(run[:-1], run[1:])
            made.add(front, run[:1])
            if made.rng.random() < 0.7:
                made.add(run[1:], run[:-1])
            if made.rng.random() < 0.3:
                made.add(run, front)
            at += count
    made.leave(0.02)
    fronts = np.repeat(made.fronts, 3)
    made.add(fronts, made.elsewhere(len(fronts)))
    return made.web()


def menus(seed: int = 0, nodes: int = 100_000) -> Web:
    """Manuals: groups of up to 300 pages that all link to the same 30 of them, and hardly anywhere else."""
    made = Maker(3 + 100 * seed, nodes, power=1.5, most=nodes // 12, least=20)
    for front, size in zip(made.fronts.tolist(), made.sizes.tolist(), strict=True):
        at = front
        while at < front + size:
            group = np.arange(at, min(at + int(made.rng.integers(4, 300)), front + size))
            menu = made.rng.choice(group, min(len(group), 30), replace=False)
            made.add(group[:, None].repeat(len(menu), 1).ravel(), np.tile(menu, len(group)))
            made.add(front, group[:1])
            if made.rng.random() < 0.5:
                made.add(group[:1], front)
            at += len(group)
    made.leave(0.01)
    return made.web()


def frontier(seed: int = 0, nodes: int = 150_000) -> Web:
    """A young crawl: four of five URLs are not fetched yet."""
    made = Maker(4 + 100 * seed, nodes, power=1.5, most=nodes // 20)
    fetched = np.union1d(made.some(0.2), made.fronts)
    sources = np.repeat(fetched, np.minimum(made.rng.geometric(1 / 20, len(fetched)), 300))
    home = made.hosts[sources]
    targets = made.fronts[home] + (made.sizes[home] * made.rng.random(len(sources)) ** 2).astype(np.int64)
    leaving = np.flatnonzero(made.rng.random(len(sources)) < 0.2)
    targets[leaving] = made.elsewhere(len(leaving))
    made.add(sources, targets)
    return made.web()


def campus(seed: int = 0, nodes: int = 300_000) -> Web:
    """One domain of few hosts: slides in chains, manuals with menus, lists of files; half without links."""
    made = Maker(5 + 100 * seed, nodes, power=1.3, most=nodes // 4, least=100)
    for front, size in zip(made.fronts.tolist(), made.sizes.tolist(), strict=True):
        at, above = front + 1, [front]
        while at < front + size:
            folder = np.arange(at, min(at + 5 * int(min(made.rng.zipf(1.6), 600)), front + size))
            up = above[-min(len(above), int(made.rng.geometric(0.15)))]
            made.add(up, folder[:1])
            if made.rng.random() < 0.8:
                made.add(folder[:1], up)
            _fill(made, folder)
            above.append(at)
            at += len(folder)
    made.leave(0.02, depth=2)
    return made.web()


def _fill(made: Maker, folder: np.ndarray) -> None:
    kind = made.rng.random()
    if kind < 0.3:
        made.add(folder[:-1], folder[1:])
        made.add(folder[1:], folder[:-1])
        if kind < 0.15:
            made.add(folder, folder[0])
    elif kind < 0.45:
        menu = folder[:60]
        made.add(folder[:, None].repeat(len(menu), 1).ravel(), np.tile(menu, len(folder)))
    else:
        made.add(folder[0], folder)


def translations(seed: int = 0, nodes: int = 100_000) -> Web:
    """Twins: a page links to the same page of another host, and that back; and to the next, or the front."""
    made = Maker(6 + 100 * seed, nodes // 2, power=1.5, most=nodes // 20, least=10, copies=2)
    made.add(made.pages, (made.pages + nodes // 2) % len(made.pages))
    inside = np.flatnonzero(made.hosts[1:] == made.hosts[:-1])
    made.add(inside, inside + 1)
    some = made.some(0.3)
    made.add(some, made.fronts[made.hosts[some]])
    fronts, sizes = np.repeat(made.fronts, 4), np.repeat(made.sizes, 4)
    made.add(fronts, fronts + (sizes * made.rng.random(len(fronts))).astype(np.int64))
    made.leave(0.05)
    return made.web()


WEBS = {
    "folders": folders,
    "chains": chains,
    "menus": menus,
    "frontier": frontier,
    "campus": campus,
    "translations": translations,
}
