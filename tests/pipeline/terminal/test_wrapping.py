from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.terminal.width import columns
from crawlctl.pipeline.terminal.wrapping import cut, wrapped

TEXTS = st.text("ab.例え\u0301 ", max_size=60)


def test_a_long_host_keeps_its_beginning_and_its_end() -> None:
    assert cut("documentation.department.example.org", 20).startswith("documentation…")
    assert cut("documentation.department.example.org", 20).endswith("le.org")
    assert cut("short", 20) == "short"
    assert columns(cut("例え例え例え例え例え.example", 11)) <= 11


@given(TEXTS, st.integers(0, 40))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text: str, room: int) -> None:
    shown = cut(text, room)
    assert columns(shown) <= room
    assert shown == text or columns(text) > room


@given(TEXTS, st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_no_letter(text: str, room: int) -> None:
    lines = list(wrapped(text, room, "  "))
    assert all(columns(line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(TEXTS, st.integers(4, 30))
def test_words_that_stay_whole_stick_out_alone(text: str, room: int) -> None:
    lines = list(wrapped(text, room, "  ", breaks_words=False))
    assert " ".join(lines).split() == text.split()
    assert all(columns(line) <= room or len(line.split()) == 1 for line in lines)
