"""The groups of documents: the same before and after tables are made of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups
from crawlctl.pipeline.search.evaluate.group_table import GroupTable

DOCUMENTS = 20  # per segment
# Groups that share bytes: packed side by side, one may seem to stand between two others.
GROUPS = st.sampled_from([0x0101010101010101, 0x0202010101010101, 0x0101010101010202, 7 << 56, 7])
SEGMENTS = st.lists(st.dictionaries(st.integers(0, DOCUMENTS - 1), GROUPS), max_size=4)


@given(SEGMENTS)
def test_groups_and_members_are_found_by_searching_and_in_tables(
    segments: list[dict[int, int]],
) -> None:
    table = GroupTable(
        (DOCUMENTS * number, pack_groups(f"s{number}", members)) for number, members in enumerate(segments)
    )
    expected = {
        DOCUMENTS * number + ordinal: group
        for number, members in enumerate(segments)
        for ordinal, group in members.items()
    }
    assert bool(table) == bool(expected)
    for _ in range(3):  # tables are made on the way
        for document in range(DOCUMENTS * len(segments)):
            group = table.group_of(document)
            assert group == expected.get(document)
            if group is not None:
                members = [other for other, of in sorted(expected.items()) if of == group]
                assert list(table.members(group)) == members
