from __future__ import annotations

import pytest

from crawlctl.pipeline.runners.job_result import Counters


def test_counters_are_added_up_over_the_steps() -> None:
    counters = Counters.total([{"a": {"x": 1, "y": 2}}, {}, {"a": {"x": 10}, "b": {"z": 5}}])
    assert counters.groups == {"a": {"x": 11, "y": 2}, "b": {"z": 5}}
    assert counters.get("a", "x") == 11
    assert counters.get("a", "none") == counters.get("none", "x") == 0
    assert counters.group("none") == {}


def test_counters_cannot_be_changed() -> None:
    counters = Counters.total([{"a": {"x": 1}}])
    with pytest.raises(TypeError):
        counters.groups["a"]["x"] = 2  # type: ignore[index]
