from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.urls.typed_seeds import is_file_name, read_words

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").touch()


@pytest.mark.parametrize(
    ("word", "is_file"),
    [
        ("https://a.org/", False),
        ("ftp://a.org/", False),
        ("docs.python.org/3/", False),
        ("a.co.uk", False),
        ("bücher.de/ü", False),
        ("localhost:8000", False),
        ("127.0.0.1", False),
        ("seed.txt", True),
        ("folder/seed", True),
        ("notes.md", True),
        ("other.md", False),
        ("co.uk", True),
        ("-", True),
        ("user@a.org", True),
        ("", True),
    ],
)
def test_a_word_is_a_url_or_a_file(word: str, is_file: bool) -> None:
    assert is_file_name(word) is is_file


def test_words_are_sorted_and_each_url_stands_once() -> None:
    typed = read_words(
        ["https://A.org", "a.org/", "seed.txt", "http://a.org:25/", "a.org?utm_x=1"], ("utm_*",)
    )
    assert typed.seeds.urls == ("https://a.org/",)
    assert typed.files == ("seed.txt", "a.org?utm_x=1")
    assert typed.notices == ("a.org/ is read as https://a.org/",)
    assert [problem.line for problem in typed.seeds.problems] == [4]


@given(st.lists(st.text("ab.:/?#@-[]% é*\\", max_size=12), max_size=4))
def test_no_word_is_lost_and_none_raises(words: list[str]) -> None:
    typed = read_words(words)
    numbers = {seed.line for seed in typed.seeds.seeds} | {problem.line for problem in typed.seeds.problems}
    assert len(words) >= len(numbers) + len(typed.files)
    assert all(url.startswith(("http://", "https://")) for url in typed.seeds.urls)
