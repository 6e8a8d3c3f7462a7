"""No input raises or takes too long; `python -m crawlctl.tests.fuzz` tries as many as it is told."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseRules, parse_document
from crawlctl.tests.fuzz.corpora import corpora
from crawlctl.tests.fuzz.mutation import MAX_BYTES
from crawlctl.tests.fuzz.running import fuzz, inputs_of
from crawlctl.tests.fuzz.targets import SHARES, TARGETS, close_all
from crawlctl.tests.fuzz.tree_mutation import Trees
from crawlctl.tests.fuzz.zip_seeds import office_seeds, xml_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

INPUTS = 4_000


@pytest.fixture(autouse=True, scope="module")
def _no_helper_left() -> Iterator[None]:
    yield
    close_all(TARGETS.values())


@pytest.mark.parametrize("target", TARGETS)
def test_what_people_write_is_read(target: str) -> None:
    for seed in corpora()[target].seeds:
        TARGETS[target](seed)


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_raises_or_takes_long(target: str) -> None:
    tally = fuzz(target, range(inputs_of(INPUTS)[target]), seed=0)
    assert [str(finding) for finding in tally.findings] == []


def test_the_same_number_is_the_same_input() -> None:
    for target in ("html", "office"):
        once, again = (corpora()[target].mutator() for _ in range(2))
        made = [once.make(number, 3) for number in range(200)]
        assert made == [again.make(number, 3) for number in range(200)]
        assert len(set(made)) > 190
        assert max(map(len, made)) <= MAX_BYTES


def test_a_changed_tree_is_xml_of_another_kind() -> None:
    seeds = xml_seeds()
    trees, draw = Trees(seeds), Random(1)
    made = [trees.changed(seeds[0], draw) or b"" for _ in range(200)]
    assert len(set(made)) > 190
    assert all(ElementTree.fromstring(data).tag for data in made)
    assert Trees(office_seeds()).changed(office_seeds()[0], draw) is None, "a ZIP file has no tree"


@pytest.mark.parametrize(("target", "share"), [("office", 0.15), ("epub", 0.33), ("xml", 0.35)])
def test_many_inputs_are_read_to_their_text(
    target: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where most inputs are refused at once, what reads them is not tried."""
    parsed: list[Parsed] = []

    def parse(document: FetchedDocument, rules: ParseRules) -> Parsed:
        parsed.append(parse_document(document, rules))
        return parsed[-1]

    monkeypatch.setattr("crawlctl.tests.fuzz.targets.parse_document", parse)
    assert not fuzz(target, range(300), seed=0).findings
    assert sum(bool(one.page and one.page.text) for one in parsed) > share * len(parsed)


def test_every_target_has_a_corpus_and_a_share() -> None:
    assert set(corpora()) == set(TARGETS) == set(SHARES)
    assert sum(SHARES.values()) == 100


def test_an_input_that_raises_is_a_finding_that_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(data: bytes) -> None:
        if b"T" in data:
            raise ValueError("a T")

    monkeypatch.setitem(TARGETS, "dates", refuse)
    tally = fuzz("dates", range(50), seed=0)
    assert tally.inputs == 50
    first = tally.findings[0]
    assert "ValueError: a T" in str(first)
    assert f"--target dates --seed 0 --only {first.number}" in str(first)
    assert corpora()["dates"].mutator().make(first.number, 0) == first.data
