"""Good hosts: some pages that link to each other, at a depth that takes several rounds to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.tests.hostile.catalogue import NOT_FOUND, ROBOTS, ROOT, page

if TYPE_CHECKING:
    from crawlctl.tests.hostile.catalogue import Ask

FANOUT = 8


def paths(pages: int) -> list[str]:
    """Return the paths of a host with so many pages: the root is the first."""
    return [ROOT, *(f"/page{number}" for number in range(1, pages))]


def good_answer(ask: Ask, pages: int) -> bytes:
    """Answer like a small site: page n links to the next FANOUT ones below it, and home."""
    if ask.path == ROBOTS:
        return NOT_FOUND
    known = paths(pages)
    if ask.path not in known:
        return NOT_FOUND
    number = known.index(ask.path)
    below = known[number * FANOUT + 1 : (number + 1) * FANOUT + 1]
    title = f"good {ask.host} {ask.path}"
    return page(title, ROOT, *below, text=f"{title} " + " ".join(f"{title[-12:]}{n}" for n in range(60)))
