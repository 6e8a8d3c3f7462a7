from __future__ import annotations

import random
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.text.likeness.fingerprint import (
    SKETCH_BYTES,
    fingerprint,
    similarity,
    sketch_keys,
)
from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS
from crawlctl.tests.pipeline.text.edits import WORDS, edited, jaccard, sketch, text_of


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


@pytest.mark.parametrize("text", ["one", "one two", "one two three", "日", "日本語"])
def test_short_texts_have_a_sketch(text: str) -> None:
    assert len(sketch(text)) == SKETCH_BYTES
    assert len(sketch_keys(sketch(text))) == KEYS
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


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_similarity_is_symmetric_and_between_none_and_all(one: str, other: str) -> None:
    first, second = sketch(one), sketch(other)
    assert similarity(first, second) == similarity(second, first)
    assert 0.0 <= similarity(first, second) <= 1.0
    assert not first or similarity(first, first) == 1.0
