from __future__ import annotations

import pytest

from crawlctl.pipeline.search.query.command_options import COMMANDS, is_option


@pytest.mark.parametrize("word", ["m", "Z", "9"])
def test_one_letter_or_digit_is_an_option_behind_any_word(word: str) -> None:
    assert is_option(word, behind_command=False)


@pytest.mark.parametrize("word", ["la", "xzvf", "O2", "Wall", "std=c++17", "lh1"])
def test_other_options_need_a_command_before_them(word: str) -> None:
    assert is_option(word, behind_command=True)
    assert not is_option(word, behind_command=False)


@pytest.mark.parametrize("word", ["github", "é", "国", "naïveté"])
def test_words_of_a_language_are_no_options(word: str) -> None:
    assert not is_option(word, behind_command=True)


def test_commands_are_no_ordinary_words() -> None:
    assert not COMMANDS & {"cat", "find", "make", "sort", "head", "man", "top", "java", "python"}
