from __future__ import annotations

import pytest

from crawlctl.pipeline.crawl.reports.causes import DISALLOWED, WAITING, cause_of, remedy_of
from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.politeness.failure_kinds import OTHER, ROBOTS
from crawlctl.pipeline.webdb.records import Kind

KINDS = (*(kind.value for kind in ErrorKind), ROBOTS, DISALLOWED, WAITING, OTHER, "status 503")


@pytest.mark.parametrize("kind", KINDS)
def test_every_cause_says_in_one_line_what_to_do(kind: str) -> None:
    words, remedy = cause_of(kind)
    assert words and remedy and "\n" not in words + remedy and not (words + remedy).endswith(".")


def test_a_private_address_is_named_as_it_is_typed() -> None:
    remedy = remedy_of(
        "forbidden_address", "forbidden_address: 10.0.0.7 is not public (private); to crawl it"
    )
    assert "'fetch.allowed_networks=[10.0.0.7]'" in remedy


def test_pages_that_robots_txt_forbids_are_counted_under_the_name_of_their_outcome() -> None:
    assert Kind.DISALLOWED.name.lower() == DISALLOWED
