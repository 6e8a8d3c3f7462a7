from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from crawlctl.pipeline.text.words import stems
from crawlctl.pipeline.text.words.stems import (
    form_of,
    is_form,
    stem,
    stem_in,
    stemmed_languages,
    stemmer,
    term_of,
)
from crawlctl.pipeline.text.words.tokens import folded

VOCABULARIES = Path(__file__).parents[5] / "shared" / "data" / "conformance" / "snowball"


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("running", "en", "run"),
        ("organizations", "en", "organiz"),
        ("häuser", "de", "haus"),
        ("chevaux", "fr", "cheval"),
        ("книги", "ru", "книг"),
        ("日本", "en", "日本"),
        ("running", "ja", "running"),
        ("running", "", "running"),
        ("running", "xx", "running"),
        ("άγα", "el", "άγα"),  # of which Snowball leaves nothing
    ],
)
def test_words_lose_their_endings(word: str, language: str, expected: str) -> None:
    assert stem(word, language) == expected
    assert stems.stems([b"a", word.encode()], language)[1] == expected.encode()


@pytest.mark.parametrize("language", sorted(stemmed_languages()))
def test_every_language_has_its_stemmer(language: str) -> None:
    assert stemmer(language)("abcdefgh")


@pytest.mark.parametrize(
    ("language", "name"), [("en", "english"), ("fr", "french"), ("de", "german"), ("es", "spanish")]
)
def test_snowballs_own_vocabularies(language: str, name: str) -> None:
    path = VOCABULARIES / f"{name}.tsv.zst"
    program = shutil.which("zstd")
    if not path.exists() or program is None:
        pytest.skip("needs ../shared/data/conformance/snowball and the program zstd")
    text = subprocess.run([program, "-dc", path], capture_output=True, check=True).stdout.decode()
    pairs = [line.split("\t") for line in text.splitlines()]
    assert len(pairs) > 20_000
    assert [word for word, expected in pairs if stem(word, language) != expected] == []
    # Words come to the stemmer folded, which must not matter.
    assert [word for word, expected in pairs if stem(folded(word), language) != folded(expected)] == []


def test_no_more_stems_than_allowed_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stems, "_MAX_REMEMBERED", 10)
    remembered = stems._Stems("english")
    assert [remembered[f"tests{number}"] for number in range(25)] == [
        f"tests{number}" for number in range(25)
    ]
    assert len(remembered) <= 10


def test_a_word_as_it_is_written_is_a_term_beside_its_stem() -> None:
    assert form_of("windows", "en") == b"windows\x02en"
    assert form_of("window", "en") == b"window\x02en"
    assert form_of("h\u00e4user", "de") == "h\u00e4user\x02de".encode()
    assert form_of("utf8", "en") == term_of("utf8", "en")  # its stem says as much
    assert form_of("get_names", "en") == b"get_names\x02en"
    assert form_of("1990", "en") == b"1990"
    assert form_of("windows", "") == b"windows"


def test_a_term_tells_its_word_and_whether_it_is_a_form() -> None:
    assert stem_in(b"show\x01fr") == stem_in(b"show\x02fr") == b"show"
    assert is_form(b"show\x02fr")
    assert not is_form(b"show\x01fr")
    assert not is_form(b"\x01in\x01author\x01ann\x02lee")  # a keyword
