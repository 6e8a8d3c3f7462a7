from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.details.json_ld import (
    MAX_AUTHORS,
    MAX_CHARACTERS,
    MAX_ITEMS,
    MAX_SCRIPTS,
    MAX_VALUE,
    JsonLd,
    documents_in,
    items_of,
    read_json_ld,
    values_at,
)

OWN = "https://a.example/story"
NAMES = (
    "@type",
    "@graph",
    "@id",
    "mainEntity",
    "datePublished",
    "publisher",
    "image",
    "url",
    "name",
    "offers",
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.just("Article")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=30,
)


def read(*documents: Any) -> JsonLd:
    return read_json_ld(map(json.dumps, documents), lambda link: link == OWN)


def article(**more: Any) -> dict[str, Any]:
    return {"@type": "NewsArticle", "datePublished": "2024-05-01", **more}


def test_an_article_with_everything() -> None:
    found = read(
        article(
            dateModified="2024-05-03",
            description="What it says",
            headline="The story",
            image=[{"@type": "ImageObject", "url": "/i.png"}],
            publisher={"@type": "Organization", "name": "The paper"},
        )
    )
    assert found == JsonLd("2024-05-01", "2024-05-03", "What it says", "The story", "/i.png", "The paper")


@pytest.mark.parametrize("kind", ["Article", "BlogPosting", "TechArticle", "WebPage", ["Thing", "AboutPage"]])
def test_articles_and_pages_are_read(kind: Any) -> None:
    assert read({"@type": kind, "datePublished": "2024-05-01"}).published == "2024-05-01"


@pytest.mark.parametrize("kind", ["Person", "Event", "Product", "BreadcrumbList", None, 7, {"a": 1}])
def test_other_things_have_dates_that_are_not_of_the_page(kind: Any) -> None:
    assert read({"@type": kind, "datePublished": "2024-05-01"}) == JsonLd()


def test_a_graph_whose_article_names_its_publisher() -> None:
    found = read(
        {
            "@graph": [
                {"@type": "WebPage", "@id": OWN, "description": "of the page", "datePublished": "2020-01-01"},
                article(publisher={"@id": "#us"}),
                {"@type": "Organization", "@id": "#us", "name": "We"},
            ]
        }
    )
    assert (found.published, found.description, found.site_name) == ("2024-05-01", "of the page", "We")


def test_of_several_articles_only_the_one_of_this_page_counts() -> None:
    others = [article(url=f"https://a.example/{number}") for number in range(3)]
    assert read(others) == JsonLd()
    assert (
        read([*others, article(mainEntityOfPage={"@id": OWN}, datePublished="2023-01-01")]).published
        == "2023-01-01"
    )


def test_the_main_entity_of_a_page_is_an_article_of_it() -> None:
    assert read({"@type": "WebPage", "mainEntity": article(headline="Inner")}).headline == "Inner"


@pytest.mark.parametrize(
    "script",
    [
        '<!-- {"@type": "Article", "headline": "h"} -->',
        '{"@type": "Article", "headline": "h"};',
        '{"@type":"Article",\n"headline":"h","x":"a\nb"}',
    ],
)
def test_slips_of_many_sites_are_forgiven(script: str) -> None:
    assert read_json_ld([script], bool).headline == "h"


@pytest.mark.parametrize(
    "script", ["", "{", "null", "[" * 100_000, '{"a":' * 5_000, "9" * 10_000, '"\\ud800"']
)
def test_what_is_no_json_says_nothing(script: str) -> None:
    assert read_json_ld([script], bool) == JsonLd()


def test_scripts_are_bounded() -> None:
    late = [json.dumps({"@type": "Person"})] * MAX_SCRIPTS + [json.dumps(article())]
    assert read_json_ld(late, bool) == JsonLd()
    assert documents_in([json.dumps("x" * MAX_CHARACTERS)]) == []
    assert len(items_of([[{}] * (3 * MAX_ITEMS)])) == MAX_ITEMS
    assert len(read(article(description="x" * 9999)).description) == MAX_VALUE


@given(st.lists(values, max_size=4))
def test_any_json_is_read_within_bounds(documents: list[Any]) -> None:
    found = read_json_ld([json.dumps(one) for one in documents], bool)
    assert len(found.authors) <= MAX_AUTHORS
    values = (*found[:-1], *found.authors)
    assert all(isinstance(value, str) and len(value) <= MAX_VALUE for value in values)
    assert len(items_of(documents)) <= MAX_ITEMS
    for path in ("name", "offers.name", "publisher.@id"):
        assert all(isinstance(value, (str, int, float)) for value in values_at(documents, path))


@given(st.lists(st.text(max_size=40), max_size=3))
def test_any_script_is_read(scripts: list[str]) -> None:
    assert isinstance(read_json_ld(scripts, bool), JsonLd)


def test_values_at_a_path() -> None:
    product = {
        "@type": "Product",
        "offers": [{"price": "12.50"}, {"price": 9}, {"price": None}],
        "name": {"a": 1},
    }
    assert list(values_at([product], "offers.price")) == ["12.50", 9]
    assert list(values_at([product], "name")) == []
    assert list(values_at([{"@graph": [product]}], "offers.price")) == ["12.50", 9]
