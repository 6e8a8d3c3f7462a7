"""ShardProtocol: the line in which a packed value crosses the shuffle.

A line is the number of a shard, a tab, and the value as escaped bytes.

mrjob, sort(1) and Hadoop Streaming need one record per line and one tab after the key, and drop a carriage
return at the end. Escaping only those bytes hardly changes the size of a value; base64 would add a third. The
number is padded with zeros, so that the order of bytes is the order of shards.
"""

from __future__ import annotations

SHARD_DIGITS = 5
# A backslash only begins an escape, so each pair can be replaced by itself, the backslash last.
ESCAPES = ((b"\\", b"\\b"), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))


def escaped(value: bytes) -> bytes:
    """Return the value without tabs and line ends."""
    for plain, escape in ESCAPES:
        value = value.replace(plain, escape)
    return value


def unescaped(text: bytes) -> bytes:
    """Return the value that was escaped to this text."""
    for plain, escape in reversed(ESCAPES):
        text = text.replace(escape, plain)
    return text


class ShardProtocol:
    """An mrjob protocol for records of (shard, bytes)."""

    def read(self, line: bytes) -> tuple[int, bytes]:
        """Return the shard and value of a line."""
        shard, _, text = line.partition(b"\t")
        return int(shard), unescaped(text)

    def write(self, shard: int, value: bytes) -> bytes:
        """Return the line of a shard and value, without its end."""
        return b"%0*d\t%s" % (SHARD_DIGITS, shard, escaped(value))
