"""Which names a query may ask for, as keys: `click.Group.get_command`, `scipy curve fit`, `curve_fit`.

A name is the whole query, or the query without its first or its last word. That word then names the project:
it must be in the title or the URL of the page. The key of a name has no signs (text/words/names.py). If a
name has three parts or more, its last two parts are looked for too: people write `np.linalg.norm` for
`numpy.linalg.norm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST_KEY = 4  # the fewest characters of a key, as in text/words/names.py
_PAIR = 2
_LEAST_PARTS = 3  # the fewest parts of a name whose last two parts are looked up too


class Asked(NamedTuple):
    """A name that a query may ask for: its key, and the words of the query from which it is made."""

    key: str
    leaves: tuple[int, int]  # the range [start, end) of leaves of the query that make up the name


def asked_names(leaves: Sequence[Sequence[str]]) -> list[Asked]:
    """Return the names in a query, given the words of each of its leaves."""
    count = len(leaves)
    ranges = dict.fromkeys(((0, count), (1, count), (0, count - 1)))
    found = {asked.key: asked for some in ranges if some[0] < some[1] for asked in _names(leaves, some)}
    return [asked for asked in found.values() if len(asked.key) >= LEAST_KEY]


def _names(leaves: Sequence[Sequence[str]], some: tuple[int, int]) -> Iterator[Asked]:
    """Yield the names that some leaves make, if they have at least two words."""
    words = [word for leaf in leaves[slice(*some)] for word in leaf]
    is_hyphened = some[1] - some[0] == 1 and len(words) == _PAIR and min(map(len, words)) == 1
    if is_hyphened:  # utf-8, e-mail: words, although something may be called utf8
        return
    if len(words) > 1 or "_" in "".join(words):
        yield Asked("".join(words).replace("_", ""), some)
    if some[1] - some[0] == 1 and len(words) >= _LEAST_PARTS:
        yield Asked("".join(words[-2:]).replace("_", ""), some)
