"""The base classes of all nodes of a query's tree: how a node is printed, and the nodes inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from typing import Self

    from crawlctl.pipeline.search.query.tree import Node


class BaseNode(msgspec.Struct, frozen=True):
    """A node of the tree: an operator, or a leaf such as a word."""

    def infix(self) -> str:
        """Return the node as a person would write it: `a (b OR c) NOT d`."""
        raise NotImplementedError

    def operand(self) -> str:
        """Return the node as it is written inside another node, in parentheses if needed."""
        return self.infix()


class BaseLeaf(BaseNode, frozen=True):
    """A node without nodes inside it."""

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes inside this one: none."""
        return ()

    def with_parts(self, _parts: tuple[Node, ...]) -> Self:
        """Return the leaf itself: it has no nodes inside it to replace."""
        return self
