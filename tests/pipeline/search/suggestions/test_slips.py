from __future__ import annotations

import pytest

from crawlctl.pipeline.search.suggestions.slips import slip


@pytest.mark.parametrize(
    ("typed", "meant"), [("pyhton", "python"), ("pythn", "python"), ("ython", "python"), ("ypthon", "python")]
)
def test_dropped_and_swapped_letters_are_likelier_than_changed_and_added_ones(typed: str, meant: str) -> None:
    for other in ("pyxhon", "pythoxn", "xython"):
        likely, rare = slip(typed, meant), slip(other, "python")
        assert likely is not None
        assert rare is not None
        assert likely > rare


def test_a_neighbour_on_the_keyboard_and_a_letter_typed_twice_are_likelier_than_other_letters() -> None:
    for likely, rare in (("pythin", "pythxn"), ("pytthon", "pytxhon"), ("poython", "pxython")):
        assert (slip(likely, "python") or 0) > (slip(rare, "python") or 0)


@pytest.mark.parametrize(("typed", "meant"), [("python", "python"), ("ptyohn", "python"), ("py", "python")])
def test_no_slip_and_several_slips_are_none(typed: str, meant: str) -> None:
    assert slip(typed, meant) is None
