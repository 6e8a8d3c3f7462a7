"""What a terminal shows of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.querying.answer_lines import print_answer
from crawlctl.pipeline.search.answer.answer import Answer, AnswerPage
from crawlctl.pipeline.search.answer.snippets import MarkedText

if TYPE_CHECKING:
    import pytest


def test_a_heading_stands_before_the_partial_matches_at_the_end_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    title = MarkedText("t", ())
    pages = tuple(
        AnswerPage(number, "http://a.example/", title, title, 1.0, 0, 0, "en", partial)
        for number, partial in enumerate((True, False, True, True), 1)
    )
    print_answer(Answer("q", 1, 3, pages, (), {}))
    printed = capsys.readouterr().out
    assert printed.count("Pages that have some of the words:") == 1
    assert printed.index("2. t") < printed.index("Pages that have some") < printed.index("3. t")
    assert printed.count("   some of the words\n") == 3
