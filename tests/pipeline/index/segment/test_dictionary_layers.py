from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.dictionary_layers import (
    asked_segments,
    layer_counters,
    layers_of,
    needed_layers,
)
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.manifest import FileEntry

NAMES = "abcdef"


def layer(number: int, segments: dict[str, int]) -> list[FileEntry]:
    """Return the files of a layer of two shards; number 0 is that of an older version."""
    counters = [layer_counters(number, segments), layer_counters(number, {})] if number else [{}, {}]
    return [
        FileEntry(DICTIONARY, shard, f"dictionary/{shard:05d}/{number:08d}-0/{file}", 1, 1, "0" * 64, some)
        for shard, some in enumerate(counters)
        for file in ("data", "index")
    ]


def test_the_files_of_a_layer_belong_together_and_the_newest_comes_first() -> None:
    files = [*layer(1, {"a": 3}), *layer(2, {"b": 4, "c": 0})]
    newest, oldest = layers_of(reversed(files))
    assert (newest.number, newest.segments, len(newest.files)) == (2, {"b": 4, "c": 0}, 4)
    assert (oldest.number, oldest.segments, len(oldest.files)) == (1, {"a": 3}, 4)


def test_the_dictionary_of_an_older_version_is_a_layer_that_names_no_segments() -> None:
    (only,) = layers_of(layer(0, {"a": 3}))
    assert (only.number, only.segments) == (0, {})


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 9)), max_size=5),
    st.sets(st.sampled_from(NAMES)),
)
def test_of_each_live_segment_the_newest_layer_is_asked(
    covered: list[dict[str, int]], live: set[str]
) -> None:
    files = [entry for number, some in enumerate(covered, 1) for entry in layer(number, some)]
    asked = asked_segments(layers_of(files), live)
    expected = {
        name: max(n for n, some in enumerate(covered, 1) if name in some)
        for name in live
        if any(name in some for some in covered)
    }
    assert {name: number for number, own in asked.items() for name in own} == expected
    kept = {one.number for one in layers_of(needed_layers(files, live))}
    assert kept == {*expected.values(), *([len(covered)] if covered else [])}
