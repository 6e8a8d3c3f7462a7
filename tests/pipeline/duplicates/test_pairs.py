from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.duplicates.pairs import PAIR, grouped, pairs_of
from crawlctl.pipeline.duplicates.sketch_rows import MEMBER, ROW, dealt
from crawlctl.pipeline.text.likeness.similar import SKETCH, Leaders
from crawlctl.tests.pipeline.text.edits import WORDS, edited, jaccard, sketch, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

THRESHOLD = 0.9


def rows_of(texts: Sequence[list[str]], demerits: Sequence[int] = ()) -> NDArray[np.void]:
    rows = np.zeros(len(texts), ROW)
    for number, words in enumerate(texts):
        rows[number]["sketch"] = np.frombuffer(sketch(text_of(words)), SKETCH)[0]
    member = rows["member"]
    member["joins"] = 1
    member["demerit"] = demerits or 255
    member["characters"] = np.arange(len(texts)) + 20
    member["hash"] = np.arange(len(texts)) + 1000
    member["partition"], member["segment"] = np.arange(len(texts)) % 3, 0
    member["ordinal"] = np.arange(len(texts))
    return rows


def groups_of(rows: NDArray[np.void], shards: int) -> dict[int, int]:
    """Return the group of each document by ordinal, as the job finds them."""
    boxes: dict[int, list[bytes]] = defaultdict(list)
    for shard, message in dealt(rows, shards):
        boxes[shard].append(message)
    pairs = [pairs_of(messages, THRESHOLD) for messages in boxes.values()]
    found = grouped(pairs)
    return dict(zip(found["ordinal"].tolist(), found["group"].tolist(), strict=True))


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_groups_are_those_of_comparing_all_texts(shards: int) -> None:
    chance = random.Random(3)
    texts: list[list[str]] = []
    for _ in range(200):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(80, 1200))]
        texts += [words, *(edited(words, chance) for _ in range(3))]
    found = groups_of(rows_of(texts), shards)
    # The first of a family represents it, so a page belongs to it if it is similar to the first.
    alike = {
        number: jaccard(texts[number // 4 * 4], texts[number]) for number in range(len(texts)) if number % 4
    }
    true = {number for number, value in alike.items() if value >= THRESHOLD}
    folded = {number for number in alike if found.get(number) == number // 4 * 4 + 1000}
    assert len(true) > 200
    assert len(folded & true) >= 0.95 * len(true)
    assert len(folded - true) <= 0.01 * len(folded)
    families = {number // 4 for number in found}
    assert all(group - 1000 in range(number // 4 * 4, number // 4 * 4 + 4) for number, group in found.items())
    assert len(families) > 40


def test_rank_decides_who_represents_a_group_then_the_shorter_url() -> None:
    chance = random.Random(1)
    words = [chance.choice(WORDS) for _ in range(300)]
    texts = [words, [*words, "end"], [*words, "stop"]]
    assert groups_of(rows_of(texts), 4) == {0: 1000, 1: 1000, 2: 1000}
    assert groups_of(rows_of(texts, [200, 200, 17]), 4) == {0: 1002, 1: 1002, 2: 1002}


def test_a_template_filled_again_and_again_is_one_group_whatever_the_order() -> None:
    chance = random.Random(2)
    words = [chance.choice(WORDS) for _ in range(400)]
    texts = [words, *([*words[:place], "new", *words[place:]] for place in range(200)), words]
    rows = rows_of(texts)
    assert set(groups_of(rows, 8).values()) == {1000}
    assert len(groups_of(rows, 8)) == len(texts)
    assert groups_of(rows[::-1], 8) == groups_of(rows, 8)


def test_nobody_is_folded_into_a_page_it_is_not_similar_to() -> None:
    chance = random.Random(7)
    chain = [[chance.choice(WORDS) for _ in range(2000)]]
    for step in range(6):
        last, new = chain[-1], [chance.choice(WORDS) for _ in range(60)]
        chain.append([*last[: step * 60], *new, *last[step * 60 + 60 :]])
    found = groups_of(rows_of(chain), 4)
    assert len(set(found.values())) > 1
    for number, group in found.items():
        assert jaccard(chain[number], chain[group - 1000]) >= THRESHOLD - 0.02


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=80), st.randoms())
def test_stars_are_those_of_going_through_all_documents_in_order(
    ends: set[tuple[int, int]], chance: random.Random
) -> None:
    stars = [tuple(sorted(pair)) for pair in ends if pair[0] != pair[1]]
    chance.shuffle(stars)
    members = np.zeros(31, MEMBER)
    members["ordinal"] = members["characters"] = np.arange(31)
    members["hash"] = chance.sample(range(10**6), 31)
    pairs = np.zeros(len(stars), PAIR)
    pairs["first"] = members[[first for first, _ in stars]]
    pairs["second"] = members[[second for _, second in stars]]
    leaders: dict[int, int] = {}
    for number in range(31):
        led = [second for first, second in sorted(stars) if first == number and second not in leaders]
        if number not in leaders and led:
            leaders.update(dict.fromkeys([number, *led], int(members["hash"][number])))
    found = grouped([pairs[:5].tobytes(), pairs.tobytes()])
    assert dict(zip(found["ordinal"].tolist(), found["group"].tolist(), strict=True)) == leaders


def test_no_pairs_are_no_groups() -> None:
    assert len(grouped([])) == 0
    assert pairs_of([rows_of([["alone"]]).tobytes()], THRESHOLD) == b""
    assert MEMBER.itemsize == 26


def test_every_two_rows_that_share_a_key_meet_in_a_shard() -> None:
    chance = random.Random(4)
    words = [chance.choice(WORDS) for _ in range(200)]
    rows = rows_of([edited(words, chance) for _ in range(30)])
    meetings = set()
    for _, message in dealt(rows, 5):
        ordinals = np.frombuffer(message, ROW)["member"]["ordinal"].tolist()
        meetings |= set(combinations(sorted(ordinals), 2))
    keys = rows["sketch"]["keys"]
    sharing = {(a, b) for a, b in combinations(range(30), 2) if (keys[a] == keys[b]).any()}
    assert sharing <= meetings
    assert len(sharing) > 20


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.integers(1, 12))
def test_pairs_are_those_of_taking_all_documents_one_by_one(seed: int, count: int, families: int) -> None:
    chance = random.Random(seed)
    texts = [[chance.choice(WORDS) for _ in range(60)] for _ in range(families)]
    rows = rows_of([edited(chance.choice(texts), chance) for _ in range(count)])
    leaders = Leaders(THRESHOLD)
    wanted = [leaders.leader_of(at, row.tobytes()) for at, row in enumerate(rows["sketch"])]
    pairs = np.frombuffer(pairs_of([rows.tobytes()], THRESHOLD), PAIR)
    found = dict(zip(pairs["second"]["ordinal"].tolist(), pairs["first"]["ordinal"].tolist(), strict=True))
    assert found == {second: first for second, first in enumerate(wanted) if first != second}


def test_documents_that_lead_already_stay_apart_and_come_first() -> None:
    chance = random.Random(6)
    words = [chance.choice(WORDS) for _ in range(300)]
    rows = rows_of([words, [*words, "end"], [*words, "stop"]], [17, 255, 255])
    rows["member"]["joins"][1:] = 0
    found = groups_of(rows, 1)
    assert found in ({0: 1001, 1: 1001}, {0: 1002, 2: 1002}), "the best rank does not take what leads already"
