from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.merge import layer_policy
from crawlctl.pipeline.index.merge.layer_policy import MAX_LAYERS, SMALL_LAYER, plan_layer
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of, needed_layers
from crawlctl.tests.pipeline.index.segment.test_dictionary_layers import layer

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry

LARGE = 100 * SMALL_LAYER


def merged(files: list[FileEntry], live: dict[str, int]) -> tuple[list[FileEntry], int]:
    """Return the dictionary after a merge, and the number of terms that it wrote."""
    layers = layers_of(files)
    chosen = plan_layer(live, layers)
    number = layers[0].number + 1 if layers else 1
    fresh = layer(number, {name: live[name] for name in chosen})
    return [*needed_layers((*files, *fresh), live)], sum(live[name] for name in chosen)


def test_a_new_segment_is_a_new_layer_beside_a_large_one() -> None:
    files, _ = merged([], {"a": LARGE})
    assert plan_layer({"a": LARGE, "b": 5}, layers_of(files)) == ["b"]


def test_small_layers_are_written_again() -> None:
    live = {"a": LARGE, "b": SMALL_LAYER}
    files = [*layer(1, {"a": LARGE}), *layer(2, {"b": SMALL_LAYER})]
    assert plan_layer({**live, "c": 1}, layers_of(files)) == ["b", "c"]


def test_a_layer_is_taken_in_once_the_smaller_ones_come_near_its_size() -> None:
    files = [*layer(1, {"a": LARGE}), *layer(2, {"b": LARGE // 2})]
    assert plan_layer({"a": LARGE, "b": LARGE // 2, "c": LARGE // 4}, layers_of(files)) == ["a", "b", "c"]


def test_a_layer_whose_segments_are_mostly_gone_is_written_again() -> None:
    files = layer(1, {"a": LARGE, "b": LARGE, "c": 1})
    assert plan_layer({"a": LARGE, "b": LARGE, "d": 1}, layers_of(files)) == ["d"]
    assert plan_layer({"a": LARGE, "d": 1}, layers_of(files)) == ["a", "d"]


def test_nothing_new_makes_an_empty_layer() -> None:
    assert plan_layer({"a": LARGE}, layers_of(layer(1, {"a": LARGE}))) == []


def test_the_dictionary_of_an_older_version_is_written_again_as_a_whole() -> None:
    assert plan_layer({"a": LARGE, "b": 1}, layers_of(layer(0, {}))) == ["a", "b"]


sizes = st.integers(0, 40)
steps = st.tuples(st.lists(sizes, max_size=3), st.sets(st.integers(0, 20), max_size=4))


@given(st.lists(steps, max_size=40))
def test_every_live_segment_is_in_one_of_a_few_layers(history: list[tuple[list[int], set[int]]]) -> None:
    live: dict[str, int] = {}
    files: list[FileEntry] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_policy, "SMALL_LAYER", 8)
        for step, (added, gone) in enumerate(history):
            live = {name: size for place, (name, size) in enumerate(live.items()) if place not in gone}
            live |= {f"{step:03d}-{place}": size for place, size in enumerate(added)}
            if live:
                files, _ = merged(files, live)
            assert len(layers_of(files)) <= MAX_LAYERS
            assert live.keys() <= {name for one in layers_of(files) for name in one.segments}


@pytest.mark.parametrize(("count", "times"), [(100, 6), (1000, 11)])
@pytest.mark.parametrize("size", [SMALL_LAYER, LARGE])
def test_a_term_is_written_a_few_times_however_many_merges_there_are(
    count: int, times: int, size: int
) -> None:
    written, live = 0, {}
    files: list[FileEntry] = []
    for step in range(count):
        live[f"{step:05d}"] = size
        files, now = merged(files, live)
        written += now
    assert written <= times * count * size
