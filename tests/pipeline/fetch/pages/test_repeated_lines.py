from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.pages import repeated_lines
from crawlctl.pipeline.fetch.pages.repeated_lines import MAX_REPEATED, RepeatedLines, line_hash
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.text.documents.page import PageDetails, Section

if TYPE_CHECKING:
    import pytest

HEAD, TAIL = ["Acme Widgets", "Home", "Products"], ["Imprint", "© Acme"]
OWN = "A text of its own that is long enough to stand alone when all around it is gone. " * 2


def text_of(number: int) -> str:
    return "\n".join([*HEAD, f"Page {number}", "Home", f"{number} {OWN}", *TAIL])


def learned(pages: int, before: HostState | None = None) -> HostState:
    lines = RepeatedLines({"a": before} if before else None)
    for number in range(pages):
        lines.count("a", text_of(number))
    return lines.remembered("a", HostState())


def test_lines_at_the_edges_of_most_pages_are_left_out_in_later_rounds() -> None:
    lines = RepeatedLines({"a": learned(8)})
    document = lines.without("a", Document("http://a/", text=text_of(99)))
    assert document.text == f"Page 99\nHome\n99 {OWN}"


def test_another_host_and_the_same_round_lose_nothing() -> None:
    lines = RepeatedLines({"a": learned(8)})
    document = Document("http://b/", text=text_of(1))
    assert lines.without("b", document) is document
    fresh = RepeatedLines()
    for number in range(20):
        fresh.count("b", text_of(number))
    assert fresh.without("b", document) is document


def test_few_pages_teach_nothing_and_forget_nothing() -> None:
    assert learned(7).repeated == ()
    known = learned(8)
    assert learned(3, known).repeated == known.repeated


def test_lines_that_no_page_has_any_more_are_forgotten() -> None:
    known = HostState(repeated=(line_hash("Old menu"), line_hash("Home")))
    assert set(learned(9, known).repeated) == set(learned(9).repeated)


def test_headings_and_sections_follow_the_text() -> None:
    text = "\n".join([*HEAD, "First", OWN, "Imprint"])
    sections = (Section("p", "Products", text.index("Products")), Section("f", "First", text.index("First")))
    document = Document(
        "http://a/", text=text, headings=("Products", "First"), details=PageDetails(sections=sections)
    )
    found = RepeatedLines({"a": learned(8)}).without("a", document)
    assert (found.headings, found.details.sections) == (("First",), (Section("f", "First", 0),))


def test_a_page_of_repeated_lines_alone_keeps_them() -> None:
    document = Document("http://a/", text="\n".join([*HEAD, *TAIL]))
    assert RepeatedLines({"a": learned(8)}).without("a", document) is document


@given(st.permutations(range(12)))
def test_the_order_of_pages_does_not_matter(order: list[int]) -> None:
    lines = RepeatedLines()
    for number in order:
        lines.count("a", text_of(number))
    assert lines.remembered("a", HostState()) == learned(12)


def test_the_lines_counted_in_a_task_are_bounded_and_the_known_ones_are_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeated_lines, "_MAX_LINES", 1000)
    known = learned(8)
    lines = RepeatedLines({"a": known, "late": known})
    lines.count("a", text_of(99))
    for host in range(100):
        lines.count(f"h{host}", "\n".join(f"{host} {number}" for number in range(80)))
    for number in range(9):
        lines.count("a", text_of(number))
        lines.count("late", text_of(number))
    assert lines.counted <= 1000 + len(known.repeated)
    assert lines.remembered("a", HostState()).repeated == known.repeated
    assert lines.remembered("late", HostState()).repeated == known.repeated


def test_a_host_of_many_pages_gives_back_the_lines_that_few_of_them_have() -> None:
    lines = RepeatedLines()
    for number in range(64):
        lines.count("a", text_of(number) + "\n" + "\n".join(f"{number} {one}" for one in range(60)) + "\nEnd")
    assert lines.counted < 1000
    assert line_hash("End") in lines.remembered("a", HostState()).repeated


def test_what_is_saved_of_a_host_is_bounded() -> None:
    lines = RepeatedLines()
    for _ in range(8):
        for part in range(20):
            lines.count("a", "\n".join(f"line {part} {number}" for number in range(80)))
    for _ in range(200):
        lines.count("a", "\n".join(f"line {number}" for number in range(80)))
    assert len(lines.remembered("a", HostState()).repeated) <= MAX_REPEATED
