from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.jobs.shared.shards import ShardProtocol, escaped, unescaped

TRICKY = st.lists(st.sampled_from([b"\\", b"\n", b"\r", b"\t", b"b", b"n", b"r", b"t", b"\0", b"\xff"])).map(
    b"".join
)


@given(st.integers(0, 99_999), TRICKY | st.binary())
def test_a_record_survives_its_line_and_what_mrjob_strips(shard: int, value: bytes) -> None:
    line = ShardProtocol().write(shard, value)
    assert b"\n" not in line and line.count(b"\t") == 1
    assert ShardProtocol().read((line + b"\n").rstrip(b"\r\n")) == (shard, value)


@given(TRICKY)
def test_escaping_is_undone(value: bytes) -> None:
    assert unescaped(escaped(value)) == value


@given(st.lists(st.integers(0, 99_999)))
def test_lines_sort_as_their_shards(shards: list[int]) -> None:
    lines = [ShardProtocol().write(shard, b"") for shard in shards]
    assert [ShardProtocol().read(line)[0] for line in sorted(lines)] == sorted(shards)


def test_the_line_is_what_it_looks_like() -> None:
    assert ShardProtocol().write(7, b"a\tb\n\\") == b"00007\ta\\tb\\n\\b"
