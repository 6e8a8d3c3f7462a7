"""Changes the tree of an XML document: the result is well-formed, so readers get past its start."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from xml.etree.ElementTree import Element

    Change = Callable[["Trees", Element, random.Random], None]

_MAX_CHANGES = 8
_MAX_NODES = 2_000
_MAX_COPIES = 100  # also of elements in each other; to write more would exceed the recursion limit
_ENCODINGS = ("utf-8", "us-ascii", "utf-16")
_TEXTS = (
    *("", " ", "0", "-1", "9", "4294967296", "99999999999999999999", "1e308", "nan", "A1", "..", "/", "#a"),
    *("../a.xhtml", "http://[", "%zz", "]]>", "<b>", "&amp;", "日本", "\u202e", "s", "inlineStr", "true"),
    *("2026-02-30T99:00:00Z", "de-" * 40, "word " * 2_000),
)


class Trees:
    """The trees of the seeds that are XML; what one seed has may get into another."""

    def __init__(self, seeds: Sequence[bytes]) -> None:
        self._trees = {seed: tree for seed in seeds if (tree := _tree(seed)) is not None}
        nodes = [node for tree in self._trees.values() for node in tree.iter()]
        self._nodes = nodes
        self._names = sorted({name for node in nodes for name in node.attrib})

    def changed(self, seed: bytes, draw: random.Random) -> bytes | None:
        """Return a seed with some changes of its tree; None if the seed is no XML."""
        if seed not in self._trees:
            return None
        tree = deepcopy(self._trees[seed])
        for _ in range(draw.randint(1, _MAX_CHANGES)):
            if len(nodes := list(tree.iter())) < _MAX_NODES:
                draw.choice(_CHANGES)(self, draw.choice(nodes), draw)
        tree.tail = None  # no text may follow the last tag
        written: bytes = ElementTree.tostring(tree, draw.choice(_ENCODINGS))
        return written

    def _copy(self, draw: random.Random) -> Element:
        return deepcopy(draw.choice(self._nodes))

    def add(self, node: Element, draw: random.Random) -> None:
        node.insert(draw.randint(0, len(node)), self._copy(draw))

    def multiply(self, node: Element, draw: random.Random) -> None:
        copy = self._copy(draw)
        node.extend(deepcopy(copy) for _ in range(draw.randint(2, _MAX_COPIES)))

    def nest(self, node: Element, draw: random.Random) -> None:
        inner = outer = ElementTree.Element(draw.choice(self._nodes).tag)
        for _ in range(draw.randint(1, _MAX_COPIES)):
            inner = ElementTree.SubElement(inner, draw.choice((outer.tag, node.tag)))
        inner.extend(list(node))
        node[:] = [outer]

    def remove(self, node: Element, draw: random.Random) -> None:
        if len(node):
            del node[draw.randrange(len(node))]

    def rename(self, node: Element, draw: random.Random) -> None:
        node.tag = draw.choice(self._nodes).tag

    def say(self, node: Element, draw: random.Random) -> None:
        node.text = draw.choice(_TEXTS)

    def say_behind(self, node: Element, draw: random.Random) -> None:
        node.tail = draw.choice(_TEXTS)

    def mark(self, node: Element, draw: random.Random) -> None:
        if self._names:
            node.set(draw.choice(self._names), draw.choice(_TEXTS))


_CHANGES: tuple[Change, ...] = (
    Trees.add,
    Trees.multiply,
    Trees.nest,
    Trees.remove,
    Trees.rename,
    Trees.say,
    Trees.say_behind,
    Trees.mark,
)


def _tree(seed: bytes) -> Element | None:
    try:
        return ElementTree.fromstring(seed)
    except (ElementTree.ParseError, ValueError):
        return None
