from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.outcomes import has_content, host_status, is_our_fault, outcome_of
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, FetchError, Request, Truncation
from crawlctl.pipeline.webdb.records import Kind

URL = "http://a/"


def answer(status: int = 0, error: ErrorKind | None = None, **fields: object) -> Answer:
    failure = FetchError(error, "why") if error else None
    return Answer(request=Request(URL), url=URL, started=1000.7, status=status, error=failure, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_every_error_of_the_engine_has_an_outcome_with_its_reason(kind: ErrorKind) -> None:
    outcome = outcome_of(answer(error=kind), 2)
    assert outcome.kind in (Kind.FAILED, Kind.EXCLUDED)
    assert outcome.reason == f"{kind.value}: why" and outcome.depth == 2 and outcome.fetched_at == 1000


@pytest.mark.parametrize(
    "status", [*range(200, 227), *range(300, 309), *range(400, 452), *range(500, 512), 999]
)
def test_every_status_is_content_or_has_an_outcome(status: int) -> None:
    one = answer(status)
    assert has_content(one) == (status in (200, 203))
    if not has_content(one):
        assert outcome_of(one, 0).code == status


def test_a_page_that_broke_off_is_a_failure() -> None:
    broken = answer(200, ErrorKind.RESET, truncated=Truncation.DISCONNECT)
    assert not has_content(broken) and outcome_of(broken, 0).kind is Kind.FAILED


def test_our_own_bounds_exclude_and_do_not_fail() -> None:
    assert outcome_of(answer(error=ErrorKind.FORBIDDEN_ADDRESS), 0).kind is Kind.EXCLUDED
    assert outcome_of(answer(200, ErrorKind.UNWANTED_TYPE), 0).kind is Kind.EXCLUDED


def test_a_reason_is_kept_without_what_steers_terminals() -> None:
    error = FetchError(ErrorKind.UNWANTED_TYPE, "image/\x9b31m\x1b[2J\u202egif")
    kept = outcome_of(replace(answer(200), error=error), 0).reason
    assert kept == "unwanted_type: image/\\x9b31m\\x1b[2J\\u202egif"


def test_a_redirect_keeps_its_target_and_the_wait_asked_for() -> None:
    moved = outcome_of(answer(308, redirect="http://b/", retry_after=9), 0)
    assert (moved.kind, moved.target, moved.retry_after) == (Kind.MOVED, "http://b/", 9)


def test_an_unmodified_page_brings_its_new_validators() -> None:
    asked = Request(URL, etag='"1"')
    outcome = outcome_of(replace(answer(304, headers=(("etag", '"2"'),)), request=asked), 0)
    assert (outcome.kind, outcome.etag) == (Kind.NOT_MODIFIED, '"2"')
    assert outcome_of(answer(404, headers=(("etag", '"2"'),)), 0).etag == ""


def test_a_304_that_nobody_asked_for_is_a_failure() -> None:
    outcome = outcome_of(answer(304), 0)
    assert outcome.kind is Kind.FAILED and "304" in outcome.reason
    by_date = replace(answer(304), request=Request(URL, last_modified="Tue, 03 Nov 2026 11:22:33 GMT"))
    assert outcome_of(by_date, 0).kind is Kind.NOT_MODIFIED


def test_a_host_that_broke_off_did_not_answer() -> None:
    assert host_status(answer(200)) == 200
    assert host_status(answer(200, ErrorKind.UNWANTED_TYPE)) == 200
    assert host_status(answer(200, ErrorKind.TIMEOUT)) is None
    assert host_status(answer(error=ErrorKind.FORBIDDEN_ADDRESS)) is None


def test_a_host_is_not_blamed_for_what_was_broken_off_by_us() -> None:
    assert is_our_fault(answer(error=ErrorKind.INTERNAL))
    assert not is_our_fault(answer(error=ErrorKind.RESET))
    assert not is_our_fault(answer(200, ErrorKind.INTERNAL)), "then the host has answered"
