from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from crawlctl.pipeline.text.words import stems
from crawlctl.pipeline.text.words.stems import stem, stemmed_languages, stemmer
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
