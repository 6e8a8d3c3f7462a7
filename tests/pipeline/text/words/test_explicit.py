from __future__ import annotations

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.documents.page import A_LITTLE_EXPLICIT, CLEARLY_EXPLICIT
from crawlctl.pipeline.text.words.explicit import ExplicitLists, check_lists

LISTS = ExplicitLists(("Gore", "red light district"), ("*.adult.example", "https://mixed.example/late/"))
URL = "https://good.example/page"


@pytest.mark.parametrize(
    ("page", "rating"),
    [
        ({"url": URL, "text": "a gorge, and the Gores of a sail"}, 0),
        ({"url": URL, "text": "some GORE here"}, A_LITTLE_EXPLICIT),
        ({"url": URL, "text": "the red-light district"}, A_LITTLE_EXPLICIT),
        ({"url": URL, "text": "red light, district"}, A_LITTLE_EXPLICIT),
        ({"url": URL, "text": "light district red"}, 0),
        ({"url": URL, "text": "gore gore red light district"}, CLEARLY_EXPLICIT),
        ({"url": URL, "title": "All about gore"}, CLEARLY_EXPLICIT),
        ({"url": URL, "headings": ("Intro", "Gore")}, CLEARLY_EXPLICIT),
        ({"url": "https://good.example/gore/1"}, CLEARLY_EXPLICIT),
        ({"url": "https://a.adult.example/"}, CLEARLY_EXPLICIT),
        ({"url": "https://adult.example/"}, 0),
        ({"url": "https://mixed.example:8080/late/1"}, CLEARLY_EXPLICIT),
        ({"url": "https://mixed.example/late/1"}, CLEARLY_EXPLICIT),
        ({"url": "https://mixed.example/early/1", "text": "nothing"}, 0),
    ],
)
def test_a_page_is_rated_by_the_lists_of_the_operator(page: dict[str, object], rating: int) -> None:
    assert LISTS.rating(**page) == rating  # type: ignore[arg-type]


def test_without_lists_no_page_is_explicit() -> None:
    assert ExplicitLists((), ()).rating(URL, "gore", ("gore",), "gore " * 9) == 0


@pytest.mark.parametrize(
    ("words", "hosts", "part"),
    [
        (("…",), (), "index.explicit_words: '…' has no word"),
        (("a b c d e f g h i",), (), "more than 8"),
        ((), ("no host",), "index.explicit_hosts: 'no host' is neither a host"),
        (("a",) * 10_001, (), "more than 10,000 entries"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused(
    words: tuple[str, ...], hosts: tuple[str, ...], part: str
) -> None:
    check_lists(("fine",), ("fine.example",))
    with pytest.raises(ConfigError, match=part):
        check_lists(words, hosts)
