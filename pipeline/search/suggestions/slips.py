"""How likely a typing error (slip) is: that a person who meant one word typed another word.

After Kernighan, Church and Gale (1990): a correction is better if more pages have the word and if the slip is
likelier. At each place of a word there is one way to drop a letter or to swap two letters, but 25 ways to
change a letter. So a dropped letter explains a wrong word much better than a changed letter. A changed or
added letter is likely if it lies beside the right one on the keyboard, repeats its neighbour, or sounds
alike.
"""

from __future__ import annotations

from itertools import pairwise

LIKELY, RARE = 0.0, -3.2  # natural logarithms; RARE: one of 25 ways to change a letter
FIRST_LETTER = -0.5  # people see the first letter of a word when they type it

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {pair for row in _ROWS for one, other in pairwise(row) for pair in ((one, other), (other, one))}
_VOWELS = "aeiouy"
_ALIKE = {*_BESIDE, *((one, other) for one in _VOWELS for other in _VOWELS)}
_SOUNDS = {("c", "s"), ("c", "k"), ("s", "z"), ("g", "j"), ("f", "v"), ("t", "d"), ("m", "n")}
_ALIKE |= _SOUNDS | {(other, one) for one, other in _SOUNDS}


def slip(typed: str, meant: str) -> float | None:
    """Return the logarithm of how likely one slip leads from `meant` to `typed`; None if it takes more."""
    start = _same_beginning(typed, meant)
    end = _same_beginning(typed[start:][::-1], meant[start:][::-1])
    wrong, right = typed[start : len(typed) - end], meant[start : len(meant) - end]
    first = FIRST_LETTER if start == 0 else 0.0
    if not wrong and len(right) == 1:
        return first + LIKELY
    if len(wrong) == 2 and wrong == right[::-1]:
        return first + LIKELY
    if len(wrong) == 1 and not right:
        around = typed[max(start - 1, 0) : start] + typed[start + 1 : start + 2]
        return first + (-1.5 if any(one == wrong or (one, wrong) in _BESIDE for one in around) else RARE)
    if len(wrong) == 1 and len(right) == 1:
        return first + (-1.5 if (wrong, right) in _ALIKE else RARE)
    return None


def _same_beginning(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    same = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        same += 1
    return same
