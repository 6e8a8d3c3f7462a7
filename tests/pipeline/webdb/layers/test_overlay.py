from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.webdb.layers.overlay import overlaid

tables = st.dictionaries(st.integers(0, 60).map(lambda n: b"%02d" % n), st.binary(max_size=2))
layers = st.lists(st.tuples(tables, st.integers(1, 50)), max_size=5)


def blocks_of(table: dict[bytes, bytes], size: int) -> list[Block]:
    keys = sorted(table)
    parts = [keys[start : start + size] for start in range(0, len(keys), size)]
    return [Block(at, part, [table[key] for key in part]) for at, part in enumerate(parts)]


@given(layers)
def test_the_newest_row_of_each_key_comes_in_key_order(found: list[tuple[dict[bytes, bytes], int]]) -> None:
    made = [blocks_of(table, size) for table, size in found]
    copies = [[Block(one.offset, [*one.keys], [*one.values]) for one in blocks] for blocks in made]
    rows = [row for block in overlaid(made) for row in zip(block.keys, block.values, strict=True)]
    wanted = {key: value for table, _ in found for key, value in table.items()}
    assert rows == sorted(wanted.items())
    assert made == copies, "blocks are left as they are"


def test_blocks_without_newer_rows_are_passed_on() -> None:
    below = blocks_of({b"%02d" % number: b"old" for number in range(60)}, 20)
    above = blocks_of({b"25": b"new"}, 20)
    first, second, third = overlaid([below, above])
    assert first is below[0] and third is below[2]
    assert second.values[5] == b"new" and len(second.keys) == 20
