from __future__ import annotations

import random
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.text.duplicates import (
    KEYS,
    SKETCH_BYTES,
    Pair,
    fingerprint,
    groups,
    keys,
    similar_pairs,
    similarity,
)

WORDS = [f"{first}{second}" for first in "abcdefghijklmnopqrst" for second in "aeiouyrslnmtkpbdgfvz"]


def text_of(words: list[str]) -> str:
    return " ".join(words)


def triples(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(words, words[1:], words[2:], strict=False))


def jaccard(one: list[str], other: list[str]) -> float:
    return len(triples(one) & triples(other)) / len(triples(one) | triples(other))


def edited(words: list[str], chance: random.Random) -> list[str]:
    """Return the words with up to a fifth of them replaced here and there, or deleted, or added."""
    words, count = list(words), int(len(words) * chance.random() * 0.2)
    place = chance.randrange(len(words) - count)
    match chance.randrange(3):
        case 0:
            for _ in range(count // 2):
                words[chance.randrange(len(words))] = chance.choice(WORDS)
        case 1:
            del words[place : place + count]
        case _:
            words[place:place] = [chance.choice(WORDS) for _ in range(count)]
    return words


def sketch(text: str) -> bytes:
    return fingerprint(text).sketch


def test_case_punctuation_and_space_do_not_change_a_signature() -> None:
    assert fingerprint("Hello,  World!\n").signature == fingerprint("hello world").signature
    assert fingerprint("hello world").signature != fingerprint("world hello").signature
    assert fingerprint("helloworld").signature != fingerprint("hello world").signature


def test_signatures_and_sketches_are_the_same_in_every_release() -> None:
    found = fingerprint("the quick brown fox jumps over the lazy dog")
    assert found.signature.hex() == "5bfb7372bdb2f169ed8c800e5ee441e8"
    assert (
        sha256(found.sketch).hexdigest() == "c5212eddbc5ffd84c03391be244775331865b91f7a1c6b2a699d565dd077d35a"
    )


def test_a_text_without_words_has_no_fingerprint() -> None:
    assert fingerprint(" ,.! ") == (b"", b"")
    assert similarity(b"", b"") == 0.0
    assert list(similar_pairs([b"", b""], 0.9)) == []


@pytest.mark.parametrize("text", ["one", "one two", "one two three", "日", "日本語"])
def test_short_texts_have_a_sketch(text: str) -> None:
    assert len(sketch(text)) == SKETCH_BYTES
    assert len(keys(sketch(text))) == KEYS
    assert similarity(sketch(text), sketch(text)) == 1.0
    assert similarity(sketch(text), sketch(text + " more words here")) < 0.9


def test_characters_of_chinese_are_words() -> None:
    chance = random.Random(3)
    characters = [chr(chance.randrange(0x4E00, 0x9000)) for _ in range(300)]
    changed = [*characters[:150], "変", *characters[151:]]
    assert 0.95 < similarity(sketch("".join(characters)), sketch("".join(changed))) < 1


@pytest.mark.parametrize("size", [60, 300, 1000, 4000])
def test_the_estimate_is_close_to_the_similarity(size: int) -> None:
    chance = random.Random(size)
    errors = []
    for _ in range(40):
        words = [chance.choice(WORDS) for _ in range(size)]
        other = edited(words, chance)
        errors.append(similarity(sketch(text_of(words)), sketch(text_of(other))) - jaccard(words, other))
    assert abs(sum(errors) / len(errors)) < 0.006
    assert max(map(abs, errors)) < 0.03


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


def test_a_crowd_that_shares_a_key_is_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def count(one: bytes, other: bytes) -> float:
        nonlocal compared
        compared += 1
        return 0.0

    monkeypatch.setattr("crawlctl.pipeline.text.duplicates.similarity", count)
    common = sketch("one two three four five")
    crowd = [number.to_bytes(4, "little") + common[4:] for number in range(1, 1001)]
    list(similar_pairs(crowd, 0.9))
    assert compared <= 64 * len(crowd)


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_similarity_is_symmetric_and_between_none_and_all(one: str, other: str) -> None:
    first, second = sketch(one), sketch(other)
    assert similarity(first, second) == similarity(second, first)
    assert 0.0 <= similarity(first, second) <= 1.0
    assert not first or similarity(first, first) == 1.0
