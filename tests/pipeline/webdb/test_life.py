from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import Pace, RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR, Duration
from crawlctl.pipeline.webdb.life import (
    LOST,
    MAX_REASON_CHARS,
    MAX_VALIDATOR_CHARS,
    let_in,
    next_state,
    shut_out,
)
from crawlctl.pipeline.webdb.records import NEVER, Kind, Outcome, Status, WebEntry

KEY = b"example.org https://example.org/page"
START = 1_800_000_000
POLICY = RecrawlSettings(jitter=0)
NEW = WebEntry(Status.UNFETCHED, next_due=START, score=0.0, depth=1, first_seen=START)


def after(
    entry: WebEntry, kind: Kind, wait: int = DAY, settings: RecrawlSettings = POLICY, **changes: Any
) -> WebEntry:
    when = max(entry.last_tried, START) + wait
    return next_state(entry, Outcome(kind, when, **changes), when, settings, KEY)


def fetched(signature: bytes = b"v1", **changes: Any) -> WebEntry:
    return after(NEW, Kind.FETCHED, code=200, signature=signature, **changes)


def wait_of(entry: WebEntry) -> int:
    return entry.next_due - entry.last_tried


def test_the_first_fetch_records_the_document() -> None:
    entry = fetched(etag='"v1"', last_modified="yesterday", canonical="https://example.org/")
    assert entry.status is Status.FETCHED
    assert entry.last_tried == entry.last_fetched == entry.last_changed == START + DAY
    assert (entry.signature, entry.code) == (b"v1", 200)
    assert entry.validators == ('"v1"', "yesterday")
    assert entry.canonical == "https://example.org/"
    assert entry.interval == wait_of(entry) == 7 * DAY


def test_a_changed_page_is_visited_sooner() -> None:
    entry = after(fetched(), Kind.FETCHED, signature=b"v2")
    assert entry.status is Status.FETCHED
    assert entry.last_changed == entry.last_fetched == START + 2 * DAY
    assert entry.interval == int(0.8 * 7 * DAY)


@pytest.mark.parametrize("changes", [{"kind": Kind.NOT_MODIFIED}, {"kind": Kind.FETCHED, "signature": b"v1"}])
def test_an_unchanged_page_is_visited_later(changes: dict[str, Any]) -> None:
    entry = after(fetched(), **changes)
    assert entry.status is Status.UNCHANGED
    assert (entry.last_changed, entry.last_fetched) == (START + DAY, START + 2 * DAY)
    assert entry.interval == 846_720  # 1.4 × 7 d


@pytest.mark.parametrize("signature", [b"v1", b"v2"])
def test_a_page_with_links_left_over_is_due_at_once_and_keeps_its_pace(signature: bytes) -> None:
    first = fetched(etag='"v1"', links_taken=50)
    assert (wait_of(first), first.interval, first.links_taken) == (0, 7 * DAY, 50)
    assert first.validators == ("", "")
    failed = after(first, Kind.FAILED)
    assert failed.links_taken == 50 and wait_of(failed) > 0
    last = after(failed, Kind.FETCHED, signature=signature, etag='"v2"')
    assert (wait_of(last), last.interval, last.links_taken) == (7 * DAY, 7 * DAY, 0)
    assert last.validators == ('"v2"', "")


@pytest.mark.parametrize("kind", [Kind.MOVED, Kind.FOUND, Kind.DISALLOWED])
def test_links_left_over_are_forgotten_with_the_page(kind: Kind) -> None:
    assert after(fetched(links_taken=50), kind).links_taken == 0


def test_content_without_a_signature_counts_as_changed() -> None:
    assert after(fetched(b""), Kind.FETCHED).status is Status.FETCHED


def test_a_304_keeps_the_validators_it_does_not_replace() -> None:
    entry = after(fetched(etag='"v1"', last_modified="yesterday"), Kind.NOT_MODIFIED, etag='"v2"')
    assert entry.validators == ('"v2"', "yesterday")
    assert after(entry, Kind.NOT_MODIFIED, last_modified="today").validators == ('"v2"', "today")


@pytest.mark.parametrize("status", set(Status) - {Status.FETCHED, Status.UNCHANGED, Status.DUPLICATE})
def test_a_304_that_confirms_nothing_is_a_failure(status: Status) -> None:
    entry = after(replace(NEW, status=status, last_tried=START), Kind.NOT_MODIFIED)
    assert (entry.status, entry.tries, entry.last_fetched) == (status, 1, 0)


CONTENT_WITHOUT_DOCUMENT = [
    (Kind.DUPLICATE, {"canonical": "https://example.org/first"}),
    (Kind.DUPLICATE, {"canonical": "https://example.org/named", "target": "https://example.org/named"}),
    (Kind.NOINDEX, {"reason": "noindex"}),
]


@pytest.mark.parametrize(("kind", "changes"), CONTENT_WITHOUT_DOCUMENT)
def test_a_304_leaves_content_without_a_document_as_it_was(kind: Kind, changes: dict[str, Any]) -> None:
    before = after(NEW, kind, signature=b"v1", etag='"v1"', **changes)
    entry = after(before, Kind.NOT_MODIFIED, code=304)
    assert entry.last_fetched == entry.last_tried == START + 2 * DAY
    assert entry.interval > before.interval
    kept = ("status", "canonical", "redirect_to", "signature", "etag", "reason", "last_changed", "tries")
    assert [getattr(entry, field) for field in kept] == [getattr(before, field) for field in kept]
    assert entry.validators == ('"v1"', "")


def test_what_a_rule_of_ours_excludes_is_not_confirmed_by_the_validators_of_before() -> None:
    entry = after(fetched(etag='"v1"'), Kind.EXCLUDED, reason="scope")
    assert (entry.etag, entry.validators) == ('"v1"', ("", ""))
    assert after(entry, Kind.NOT_MODIFIED).tries == 1


def test_a_noindex_page_that_failed_since_is_fetched_whole() -> None:
    entry = after(after(NEW, Kind.NOINDEX, etag='"v1"'), Kind.FAILED)
    assert (entry.status, entry.validators) == (Status.EXCLUDED, ("", ""))


def test_a_redirecting_page_is_asked_for_without_the_validators_of_what_stood_there() -> None:
    assert after(fetched(etag='"v1"'), Kind.FOUND, target="https://example.org/new").validators == ("", "")


def test_a_host_may_have_a_pace_of_its_own() -> None:
    settings = RecrawlSettings(
        jitter=0, hosts={"example.org": Pace(minimum=Duration(DAY), maximum=Duration(DAY))}
    )
    first = after(NEW, Kind.FETCHED, settings=settings, signature=b"v1")
    assert first.interval == after(first, Kind.NOT_MODIFIED, settings=settings).interval == DAY


def test_a_duplicate_has_no_document_and_may_become_one() -> None:
    entry = after(
        fetched(etag='"v1"'), Kind.DUPLICATE, signature=b"v1", canonical="https://example.org/first"
    )
    assert (entry.status, entry.canonical) == (Status.DUPLICATE, "https://example.org/first")
    again = after(entry, Kind.FETCHED, signature=b"v1")
    assert again.status is Status.FETCHED, "the index has to take it in"
    assert again.interval > entry.interval


def test_a_noindex_page_is_excluded_but_visited_at_its_own_pace() -> None:
    entry = after(fetched(), Kind.NOINDEX, signature=b"v2")
    assert (entry.status, entry.interval) == (Status.EXCLUDED, int(0.8 * 7 * DAY))
    assert after(entry, Kind.NOINDEX, signature=b"v2").interval > entry.interval


@pytest.mark.parametrize("kind", [Kind.MOVED, Kind.FOUND])
def test_a_redirect_records_its_target(kind: Kind) -> None:
    entry = after(fetched(), kind, code=302, target="https://example.org/new")
    assert (entry.status, entry.redirect_to) == (Status.REDIRECTED, "https://example.org/new")
    assert entry.last_fetched == START + DAY, "no content came"
    back = after(entry, Kind.FETCHED, signature=b"v1")
    assert (back.status, back.redirect_to, back.interval) == (Status.FETCHED, "", 7 * DAY)


def test_a_temporary_redirect_is_followed_at_the_pace_of_its_target() -> None:
    first = after(NEW, Kind.FOUND, target="https://example.org/monday")
    moved = after(first, Kind.FOUND, target="https://example.org/tuesday")
    still = after(moved, Kind.FOUND, target="https://example.org/tuesday")
    assert [first.interval, moved.interval] == [7 * DAY, int(0.8 * 7 * DAY)]
    assert still.interval > moved.interval


def test_a_permanent_redirect_is_at_rest() -> None:
    entry = after(NEW, Kind.MOVED, target="https://example.org/new")
    again = after(entry, Kind.MOVED, target="https://example.org/new")
    assert [entry.interval, again.interval] == [14 * DAY, 21 * DAY]


@pytest.mark.parametrize(
    ("kind", "code", "status"), [(Kind.GONE, 404, Status.GONE), (Kind.FORBIDDEN, 403, Status.FORBIDDEN)]
)
def test_a_live_page_is_asked_once_more_before_its_document_goes(
    kind: Kind, code: int, status: Status
) -> None:
    doubted = after(fetched(), kind, code=code, reason="Not Found")
    assert (doubted.status, doubted.tries, doubted.code, doubted.reason) == (
        Status.FETCHED,
        1,
        code,
        "Not Found",
    )
    assert wait_of(doubted) == DAY
    sure = after(doubted, kind, code=code)
    assert (sure.status, sure.tries, sure.interval) == (status, 0, 14 * DAY)
    assert after(doubted, Kind.FETCHED, code=200, signature=b"v1").status is Status.UNCHANGED


def test_another_answer_in_between_asks_again() -> None:
    doubted = after(after(fetched(), Kind.GONE, code=404), Kind.FAILED, code=503)
    assert after(doubted, Kind.GONE, code=404).status is Status.FETCHED


def test_a_page_that_says_gone_with_the_code_it_always_had_is_asked_again_too() -> None:
    doubted = after(fetched(), Kind.GONE, code=200, reason="says not found")
    assert doubted.status is Status.FETCHED
    assert after(doubted, Kind.GONE, code=200).status is Status.GONE


def test_a_410_and_a_page_never_live_are_believed_at_once() -> None:
    assert after(fetched(), Kind.GONE, code=410).status is Status.GONE
    assert after(NEW, Kind.GONE, code=404).status is Status.GONE
    assert after(NEW, Kind.FORBIDDEN, code=401).status is Status.FORBIDDEN


@pytest.mark.parametrize(
    ("kind", "status"), [(Kind.DISALLOWED, Status.FORBIDDEN), (Kind.EXCLUDED, Status.EXCLUDED)]
)
def test_robots_and_our_own_rules_count_at_once(kind: Kind, status: Status) -> None:
    entry = after(fetched(), kind, reason="/private/")
    assert (entry.status, entry.reason, entry.interval) == (status, "/private/", 14 * DAY)


def test_a_gone_page_that_returns_starts_anew() -> None:
    gone = after(after(fetched(), Kind.GONE, code=410), Kind.GONE, code=404)
    assert gone.interval == 21 * DAY
    back = after(gone, Kind.FETCHED, signature=b"v1")
    assert (back.status, back.interval) == (Status.FETCHED, 7 * DAY)


def test_a_failing_page_keeps_its_document_until_the_limit() -> None:
    entry = fetched(etag='"v1"')
    waits = []
    for tries in range(1, POLICY.retry_limit):
        entry = after(entry, Kind.FAILED, code=503, reason="busy")
        assert (entry.status, entry.tries, entry.validators) == (Status.FETCHED, tries, ('"v1"', ""))
        waits.append(wait_of(entry) // HOUR)
    assert waits == [1, 4, 16, 64, 72]
    assert entry.interval == 7 * DAY
    recovered = after(entry, Kind.NOT_MODIFIED)
    assert (recovered.status, recovered.tries, recovered.reason) == (Status.UNCHANGED, 0, "")
    assert recovered.interval > 7 * DAY
    failed = after(entry, Kind.FAILED)
    assert (failed.status, failed.tries, wait_of(failed)) == (Status.FAILED, POLICY.retry_limit, 14 * DAY)
    assert wait_of(after(failed, Kind.FAILED)) == 21 * DAY
    assert after(failed, Kind.FETCHED, signature=b"v1").status is Status.FETCHED


def test_failures_between_do_not_shorten_the_rest_of_a_gone_page() -> None:
    gone = after(NEW, Kind.GONE, code=404)
    failing = after(gone, Kind.FAILED, code=503)
    assert (failing.status, failing.interval) == (Status.GONE, 14 * DAY)
    assert after(failing, Kind.GONE, code=404).interval == 21 * DAY


@pytest.mark.parametrize("kind", Kind)
def test_retry_after_is_honoured_whatever_the_answer(kind: Kind) -> None:
    settings = RecrawlSettings(jitter=0.9)
    assert wait_of(after(NEW, kind, settings=settings, retry_after=100 * DAY)) == 100 * DAY
    assert wait_of(after(NEW, kind, settings=settings, retry_after=10**15)) == settings.rest_maximum.whole


def test_what_a_server_sends_is_bounded() -> None:
    entry = fetched(
        etag="e" * (MAX_VALIDATOR_CHARS + 1), last_modified="m" * MAX_VALIDATOR_CHARS, reason="r" * 9999
    )
    assert entry.validators == ("", "m" * MAX_VALIDATOR_CHARS)
    assert len(entry.reason) == MAX_REASON_CHARS


def test_a_clock_that_runs_ahead_does_not_put_a_page_out_of_reach() -> None:
    entry = next_state(
        NEW, Outcome(Kind.FETCHED, START + 3650 * DAY, signature=b"v1"), START + 1, POLICY, KEY
    )
    assert entry.last_fetched == START + 1
    assert entry.next_due == START + 1 + 7 * DAY


def test_jitter_brings_a_visit_forward_but_leaves_the_interval_alone() -> None:
    entry = after(NEW, Kind.FETCHED, settings=RecrawlSettings(), signature=b"v1")
    assert entry.interval == 7 * DAY
    assert 0.9 * 7 * DAY < wait_of(entry) < 7 * DAY


steps = st.lists(st.tuples(st.integers(-DAY, 400 * DAY), st.from_type(Outcome)), max_size=30)


@given(steps)
def test_no_history_breaks_the_rules_of_an_entry(steps: list[tuple[int, Outcome]]) -> None:
    settings = RecrawlSettings()
    entry, now = NEW, START
    for gap, changes in steps:
        now += gap
        outcome = replace(changes, fetched_at=now)
        after = next_state(entry, outcome, now, settings, KEY)
        assert next_state(after, outcome, now, settings, KEY) == after, "an outcome applied twice"
        assert after.last_fetched >= entry.last_fetched
        assert after.last_tried == max(entry.last_tried, now if now > entry.last_tried else 0)
        assert after.last_changed <= after.last_fetched <= after.last_tried
        if after is not entry:
            at_once = outcome.links_taken or outcome.kind in LOST
            assert (0 if at_once else 1) <= after.next_due - now <= settings.rest_maximum
            check_interval(after, settings)
        assert (after.first_seen, after.depth, after.score) == (entry.first_seen, entry.depth, entry.score)
        entry = after


@pytest.mark.parametrize("kind", sorted(LOST))
def test_what_damage_has_cost_is_fetched_at_once_and_as_a_whole(kind: Kind) -> None:
    live = after(NEW, Kind.FETCHED, signature=b"v1", etag="e", last_modified="m")
    later = live.last_tried + 1
    entry = next_state(live, Outcome(kind, later), later, RecrawlSettings(), KEY)
    assert entry.validators == ("", "")
    assert entry.is_due(later)
    assert entry.live == (kind is Kind.RECORD_LOST)


def check_interval(entry: WebEntry, settings: RecrawlSettings) -> None:
    if entry.live or entry.status is Status.DUPLICATE:
        assert settings.pace.minimum <= entry.interval <= settings.pace.maximum
    elif entry.status is Status.UNFETCHED:
        assert entry.interval == 0
    else:
        assert settings.pace.minimum <= entry.interval <= settings.rest_maximum
    assert (entry.status is Status.FAILED) == (entry.tries >= settings.retry_limit)
    assert not entry.live or entry.last_fetched > 0


def test_what_our_rules_exclude_rests_and_is_no_failure() -> None:
    """As an address that the operator has not allowed is."""
    changes = Outcome(Kind.EXCLUDED, START, reason="forbidden_address: 127.0.0.1 is not allowed")
    entry = next_state(NEW, changes, START, RecrawlSettings(jitter=0), KEY)
    assert (entry.status, entry.tries, entry.reason) == (Status.EXCLUDED, 0, changes.reason)
    assert entry.next_due - START == RecrawlSettings().rest.whole


def test_an_imported_page_outside_the_scope_is_never_due_and_keeps_its_document() -> None:
    imported = Outcome(Kind.FETCHED, 20, 200, imported="warc:old.warc.gz", is_outside=True)
    entry = next_state(WebEntry(Status.UNFETCHED, 1, 0.0, 1, 1), imported, START, POLICY, KEY)
    assert (entry.status, entry.next_due, entry.source) == (Status.FETCHED, NEVER, "warc:old.warc.gz")
    kept = next_state(entry, Outcome(Kind.KEPT, 30, reason="scope.include: …"), START, POLICY, KEY)
    assert (kept.live, kept.tries, kept.source) == (True, 0, "warc:old.warc.gz")
    assert 30 < kept.next_due <= 30 + POLICY.rest.whole


@given(st.from_type(WebEntry), st.from_type(Outcome))
def test_outcomes_from_before_a_change_of_the_scope_do_not_undo_it(entry: WebEntry, outcome: Outcome) -> None:
    shut = shut_out(entry, "scope.exclude: the rule x", now=50)  # all times of the records are before
    assert (shut.status, shut.live, shut.validators) == (Status.EXCLUDED, False, ("", ""))
    assert next_state(shut, outcome, START, POLICY, KEY) is shut
    inside = let_in(shut, now=60)
    assert (inside.status, inside.is_due(60), inside.validators) == (Status.UNFETCHED, True, ("", ""))
    assert next_state(inside, outcome, START, POLICY, KEY) is inside
    fetched = next_state(inside, Outcome(Kind.FETCHED, 60, 200), START, POLICY, KEY)
    assert fetched.status is Status.FETCHED
