"""Texts that differ by known edits, and how alike they really are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.likeness.fingerprint import fingerprint

if TYPE_CHECKING:
    import random

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
