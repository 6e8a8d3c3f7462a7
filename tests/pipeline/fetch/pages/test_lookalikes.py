from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.pages import lookalikes as module
from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint

if TYPE_CHECKING:
    import pytest

TEXT = " ".join(f"word{number}" for number in range(300))


def find(them: Lookalikes, url: str, text: str) -> str | None:
    return them.find(url, *fingerprint(text))


def test_of_equal_pages_the_first_leads() -> None:
    them = Lookalikes(0.9)
    assert find(them, "a", TEXT) is None
    assert find(them, "b", TEXT) == "a"
    assert find(them, "c", TEXT) == "a"


def test_a_page_is_no_lookalike_of_itself() -> None:
    them = Lookalikes(0.9)
    assert find(them, "a", TEXT) is None and find(them, "a", TEXT) is None


def test_a_near_page_is_marked_too_and_another_one_not() -> None:
    them = Lookalikes(0.9)
    find(them, "a", TEXT)
    assert find(them, "b", TEXT + " other") == "a"
    assert find(them, "c", " ".join(reversed(TEXT.split()))) is None


def test_pages_without_words_are_like_none() -> None:
    them = Lookalikes(0.9)
    assert find(them, "a", "") is None and find(them, "b", "") is None


def test_its_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_PAGES", 3)
    them = Lookalikes(0.9)
    for number in range(10):
        find(them, str(number), " ".join(f"{number}x{word}" for word in range(50)))
    assert len(them._sketches) == 3
    assert {url for urls in them._by_key.values() for url in urls} == {"7", "8", "9"}
