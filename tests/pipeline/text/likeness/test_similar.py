from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.likeness import similar as grouping
from crawlctl.pipeline.text.likeness.fingerprint import similarity
from crawlctl.pipeline.text.likeness.similar import Leaders
from crawlctl.tests.pipeline.text.edits import WORDS, sketch, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest


def groups(sketches: Sequence[bytes], threshold: float) -> list[list[int]]:
    """Return groups of two texts or more, each led by its first."""
    leaders, found = Leaders(threshold), defaultdict[int, list[int]](list)
    for number, data in enumerate(sketches):
        found[leaders.leader_of(number, data)].append(number)
    return [members for members in found.values() if len(members) > 1]


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
    assert groups([b"", b""], 0.9) == []
    assert groups([], 0.9) == []


def test_of_a_crowd_that_shares_a_key_only_the_last_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def unlike(*_: bytes) -> float:
        nonlocal compared
        compared += 1
        return 0.0

    monkeypatch.setattr(grouping, "similarity", unlike)
    monkeypatch.setattr(grouping, "_MAX_COMPARED", 20)
    common = sketch("one two three four five")
    crowd = [number.to_bytes(4, "little") + common[4:] for number in range(20_000, 20_500)]
    assert groups(crowd, 0.9) == []
    assert compared == sum(min(number, 20) for number in range(len(crowd)))
