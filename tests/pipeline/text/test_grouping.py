from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.text import grouping
from crawlctl.pipeline.text.duplicates import similarity
from crawlctl.pipeline.text.grouping import Leaders, Pair, groups, similar_pairs
from crawlctl.tests.pipeline.text.edits import WORDS, edited, jaccard, sketch, text_of


def test_similar_pairs_are_found_and_others_are_not() -> None:
    chance = random.Random(1)
    texts: list[list[str]] = []
    for _ in range(120):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(80, 1500))]
        texts += [words, *(edited(words, chance) for _ in range(4))]
    found = {pair[:2] for pair in similar_pairs([sketch(text_of(words)) for words in texts], 0.9)}
    families = [range(start, start + 5) for start in range(0, len(texts), 5)]
    exact = {
        pair: jaccard(texts[pair[0]], texts[pair[1]])
        for family in families
        for pair in combinations(family, 2)
    }
    true = {pair for pair, value in exact.items() if value >= 0.9}
    assert len(true) > 250
    assert len(found & true) >= 0.95 * len(true)
    assert len(found - true) <= 0.01 * len(found)


def test_equal_sketches_are_paired_with_the_first() -> None:
    one, other = sketch("one two three four"), sketch("five six seven eight")
    assert list(similar_pairs([one, other, one, one], 0.9)) == [Pair(0, 2, 1.0), Pair(0, 3, 1.0)]


def test_a_group_is_led_by_its_first_and_nobody_is_in_two() -> None:
    chance = random.Random(7)
    words = [chance.choice(WORDS) for _ in range(2000)]
    chain = [words]
    for step in range(6):
        chain.append(
            [
                *chain[-1][: step * 60],
                *(chance.choice(WORDS) for _ in range(60)),
                *chain[-1][step * 60 + 60 :],
            ]
        )
    sketches = [sketch(text_of(link)) for link in chain]
    found = groups([*sketches, b"", sketch("alone in the world")], 0.9)
    members = [member for group in found for member in group]
    assert len(members) == len(set(members))
    assert len(found) > 1  # the ends of the chain have little in common
    for leader, *others in found:
        assert all(similarity(sketches[leader], sketches[other]) >= 0.9 for other in others)


def test_a_text_joins_the_leader_it_is_most_like() -> None:
    chance = random.Random(5)
    words = [chance.choice(WORDS) for _ in range(1000)]
    far, near = [*words[:940], *reversed(words[940:])], [*words[:990], *reversed(words[990:])]
    leaders = Leaders(0.97)
    assert leaders.leader_of(10, sketch(text_of(words))) == 10
    assert leaders.leader_of(20, sketch(text_of(far))) == 20
    assert leaders.leader_of(30, sketch(text_of(near))) == 10
    assert leaders.leader_of(40, b"") == 40


def test_a_page_said_again_and_again_has_one_leader() -> None:
    chance = random.Random(6)
    words = [chance.choice(WORDS) for _ in range(500)]
    copies = [[*words[:place], "new", *words[place:]] for place in range(300)]
    assert groups([sketch(text_of(copy)) for copy in [words, *copies]], 0.9) == [list(range(301))]


def test_no_words_are_like_no_others() -> None:
    assert list(similar_pairs([b"", b""], 0.9)) == []
    assert list(similar_pairs([], 0.9)) == []
    assert groups([], 0.9) == []


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000), st.floats(0.6, 0.95))
def test_pairs_are_as_similar_as_one_by_one(seed: int, threshold: float) -> None:
    chance = random.Random(seed)
    words = [chance.choice(WORDS) for _ in range(150)]
    sketches = [sketch(text_of(edited(words, chance))) for _ in range(6)]
    for first, second, found in similar_pairs(sketches, threshold):
        assert first < second
        assert found == pytest.approx(similarity(sketches[first], sketches[second]))
        assert found >= threshold


def test_a_crowd_that_shares_a_key_is_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    similarities = grouping._similarities

    def count(one: Any, others: Any) -> Any:
        nonlocal compared
        compared += len(others)
        return similarities(one, others)

    monkeypatch.setattr(grouping, "_similarities", count)
    monkeypatch.setattr(grouping, "_MAX_COMPARED", 20)
    common = sketch("one two three four five")
    crowd = [number.to_bytes(4, "little") + common[4:] for number in range(20_000, 20_500)]
    list(similar_pairs(crowd, 0.9))
    assert 0 < compared <= 20 * len(crowd)
