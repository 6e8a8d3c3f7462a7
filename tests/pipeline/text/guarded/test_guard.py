from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Duration, Size
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    Parsed,
    ParseOutcome,
    ParseRules,
    parse_document,
)
from crawlctl.pipeline.text.documents.page import Link
from crawlctl.pipeline.text.documents.sniff import DocumentKind
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.tests.effort import examples
from crawlctl.tests.processes import is_alive

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK = ParseRules(ParseSettings(time_limit=Duration(1)))


def page(number: int) -> FetchedDocument:
    return FetchedDocument(f"http://example.com/{number}", f"<title>{number}</title>".encode(), "text/html")


def misbehave(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Do what the body says, in the helper."""
    if document.body == b"segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if document.body == b"exit":
        os._exit(3)
    if document.body == b"memory":
        bytearray(1 << 40)
    if document.body == b"raise":
        raise ValueError("no such page")
    while document.body == b"spin":
        pass
    end = time.thread_time() + 0.3
    while document.body == b"work" and time.thread_time() < end:
        pass
    return parse_document(document, rules)


def give_up(document: FetchedDocument, rules: ParseRules, cause: ParseOutcome, note: str = "") -> Parsed:
    return Parsed(cause, note=note, salvaged=True)


def bad(body: bytes) -> FetchedDocument:
    return FetchedDocument("http://example.com/bad", body, "text/html")


def children() -> set[str]:
    """Return our children, where the system has /proc to tell."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {child for task in tasks for child in task.read_text().split()}


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


def test_a_document_comes_back_parsed_as_without_a_guard() -> None:
    document = FetchedDocument(
        "http://example.com/", "<title>Grüße</title><a href=x>y</a>".encode(), "text/html"
    )
    with Guard() as guard:
        assert guard.parse(document) == parse_document(document, ParseRules())


def test_a_helper_is_started_though_nobody_reads_what_we_print(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    deaf = os.fdopen(writer, "w")
    print("a line", file=deaf)
    monkeypatch.setattr(sys, "stdout", deaf)
    with Guard() as guard:
        assert guard.parse(page(1)).page.title == "1"
    with suppress(BrokenPipeError):
        deaf.close()
    monkeypatch.setattr(sys, "stdout", None)
    with Guard() as guard:
        assert guard.parse(page(1)).page.title == "1"


def parse_all(guard: Guard, documents: list[FetchedDocument]) -> list[Parsed]:
    """Return what is in documents, in their order."""
    for number, document in enumerate(documents):
        guard.submit(document, number)
    found: dict[int, Parsed] = {}
    while len(guard):
        for tag, result, _ in guard.collect(10):
            assert isinstance(result, Parsed)
            found[tag] = result
    return [found[number] for number in range(len(documents))]


def test_every_answer_has_the_tag_of_its_document() -> None:
    with Guard() as guard:
        found = parse_all(guard, [page(number) for number in range(50)])
    assert [parsed.page.title for parsed in found] == [str(number) for number in range(50)]


@pytest.mark.slow
def test_a_host_with_slow_documents_does_not_hold_up_another() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        for _ in range(5):
            guard.submit(FetchedDocument("http://slow.example/", b"work", "text/html"), "slow")
        for number in range(20):
            guard.submit(page(number), "quick")
        order: list[str] = []
        while len(guard):
            order += [done.tag for done in guard.collect(10)]
    # At most the one that the helper is at comes first.
    assert order[1:21] == ["quick"] * 20
    assert len(order) == 25


def test_a_document_whose_answer_is_there_is_not_taken_away() -> None:
    with Guard() as guard:
        guard.submit(page(1), "parsed")
        time.sleep(0.5)  # the caller is busy, with saving a run for one
        assert guard.interrupt() == []
        assert [done.tag for done in guard.collect(10)] == ["parsed"]


def test_a_helper_is_started_beside_a_thousand_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("the system opens too few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, hard))
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
            large = FetchedDocument("http://example.com/", b"x" * (3 << 20), "text/plain")
            assert [parsed.outcome for parsed in parse_all(guard, [bad(b"segfault"), large])] == [
                ParseOutcome.CRASH,
                ParseOutcome.PARSED,
            ]


@pytest.mark.slow
def test_answers_tell_the_cpu_time_of_their_document() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        for body in (b"fine", b"work", b"spin"):
            guard.submit(bad(body), body)
        seconds: dict[bytes, float] = {}
        while len(guard):
            seconds.update((done.tag, done.seconds) for done in guard.collect(10))
    assert seconds[b"fine"] < 0.29 < seconds[b"work"] < seconds[b"spin"]


def test_documents_of_a_host_can_be_dropped() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        for number in range(5):
            guard.submit(FetchedDocument("http://slow.example/", b"work", "text/html"), number)
        guard.submit(page(7), 7)
        dropped = guard.drop("slow.example")
        tags: list[int] = []
        while len(guard):
            tags += [done.tag for done in guard.collect(10)]
    assert dropped == [1, 2, 3, 4] and sorted(tags) == [0, 7]


def test_documents_that_pile_up_are_parsed_by_as_many_helpers_as_there_are_cores_to_spare() -> None:
    def name_helper(document: FetchedDocument, rules: ParseRules) -> Parsed:
        return Parsed(ParseOutcome.PARSED, note=f"{os.getpid()} {document.url}")

    documents = [FetchedDocument(f"http://{number}.example.com/", b"") for number in range(40)]
    spare = [True, True]
    with Guard(parse=name_helper, more_helpers=lambda: bool(spare) and spare.pop()) as guard:
        for _ in range(3):
            guard._next_question = 0.0
            found = [parsed.note.split() for parsed in parse_all(guard, documents)]
            assert [url for _, url in found] == [document.url for document in documents]
        assert len(guard.lines) == len({helper for helper, _ in found}) == 3


def test_without_room_for_another_process_one_helper_parses_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise CrawlctlError("cannot start a process for parsing")

    with Guard(more_helpers=lambda: True) as guard:
        monkeypatch.setattr("crawlctl.pipeline.text.guarded.guard.start_helper", refuse)
        assert len(parse_all(guard, [page(number) for number in range(50)])) == 50
        assert len(guard.lines) == 1


def test_few_documents_are_left_to_one_helper() -> None:
    with Guard(more_helpers=lambda: True) as guard:
        parse_all(guard, [page(number) for number in range(8)])
        assert len(guard.lines) == 1


def test_a_slow_document_can_be_taken_from_the_helper() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        guard.submit(bad(b"spin"), "slow")
        guard.submit(page(1), "quick")
        assert guard.interrupt(60.0) == []
        time.sleep(0.3)
        assert guard.interrupt() == ["slow"]
        assert [done.tag for done in guard.collect(10)] == ["quick"]
        assert len(guard) == 0 and guard.interrupt(0.0) == []


def test_a_helper_killed_from_outside_costs_its_document_nothing() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        guard.submit(bad(b"work"), "killed")
        guard.submit(page(1), "beside it")
        time.sleep(0.1)
        os.kill(guard.lines[0].helper.pid, signal.SIGKILL)
        outcomes: list[ParseOutcome] = []
        while len(guard):
            outcomes += [done.result.outcome for done in guard.collect(10) if isinstance(done.result, Parsed)]
    assert outcomes == [ParseOutcome.PARSED] * 2


def test_a_document_whose_helpers_are_killed_each_time_is_salvaged() -> None:
    def die(document: FetchedDocument, rules: ParseRules) -> Parsed:
        os.kill(os.getpid(), signal.SIGKILL)
        return parse_document(document, rules)

    with Guard(QUICK, parse=die, salvage=give_up) as guard:
        found = guard.parse(page(1))
    assert (found.outcome, found.salvaged) == (ParseOutcome.MEMORY, True)


def test_an_answer_that_is_damaged_costs_its_document_alone() -> None:
    def garble(document: FetchedDocument, rules: ParseRules) -> Parsed:
        parsed = parse_document(document, rules)
        return b"nonsense" if document.body == b"garble" else parsed  # type: ignore[return-value]

    with Guard(QUICK, parse=garble) as guard:
        spoilt, whole = parse_all(guard, [bad(b"garble"), page(1)])
    assert spoilt.outcome is ParseOutcome.CRASH and "damaged" in spoilt.note
    assert whole.page.title == "1"


def test_a_sitemap_is_read_in_the_helper() -> None:
    body = b"<urlset><url><loc>http://example.com/a</loc></url></urlset>"
    with Guard() as guard:
        guard.submit(FetchedDocument("http://example.com/sitemap.xml", body), "map", is_sitemap=True)
        (done,) = guard.collect(10)
    assert isinstance(done.result, SitemapContent)
    assert [found.url for found in done.result.pages] == ["http://example.com/a"]


@pytest.mark.slow
def test_a_sitemap_that_ends_the_helper_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def spin(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("crawlctl.pipeline.text.guarded.helper.read_sitemap_body", spin)
    with Guard(QUICK) as guard:
        guard.submit(FetchedDocument("http://example.com/sitemap.xml", b"x"), "map", is_sitemap=True)
        (done,) = guard.collect(10)
    assert done.result == SitemapContent(problem="http://example.com/sitemap.xml: parse timeout")
    assert done.seconds > 0.5


def test_collecting_does_not_wait_unless_told_to() -> None:
    with Guard(QUICK, parse=misbehave) as guard:
        assert guard.collect() == []
        guard.submit(bad(b"spin"))
        assert guard.collect() == []
        assert len(guard) == 1


def test_large_documents_pass_both_ways_at_once() -> None:
    words = " ".join(f"word{number}" for number in range(150_000))
    with Guard() as guard:
        found = parse_all(
            guard,
            [
                FetchedDocument(f"http://example.com/{number}", words.encode(), "text/plain")
                for number in range(6)
            ],
        )
    assert [len(parsed.page.text) >> 10 for parsed in found] == [1023] * 6


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"segfault", ParseOutcome.CRASH),
        (b"exit", ParseOutcome.CRASH),
        (b"memory", ParseOutcome.MEMORY),
        (b"spin", ParseOutcome.TIMEOUT),
    ],
)
def test_a_document_that_ends_the_helper_is_blamed_and_no_other(body: bytes, outcome: ParseOutcome) -> None:
    documents = [page(1), bad(body), page(2), page(3)]
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        found = parse_all(guard, documents)
    assert [parsed.outcome for parsed in found] == [
        ParseOutcome.PARSED,
        outcome,
        ParseOutcome.PARSED,
        ParseOutcome.PARSED,
    ]
    assert [parsed.page.title for parsed in found] == ["1", "", "2", "3"]
    assert found[1].salvaged


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(
    st.lists(st.sampled_from([b"<p>fine", b"segfault", b"exit", b"memory", b"raise"]), max_size=12),
    st.booleans(),
)
def test_every_document_has_its_own_outcome(bodies: list[bytes], more: bool) -> None:
    outcomes = {b"<p>fine": ParseOutcome.PARSED, b"memory": ParseOutcome.MEMORY}
    with Guard(QUICK, parse=misbehave, salvage=give_up, more_helpers=lambda: more) as guard:
        found = parse_all(guard, [bad(body) for body in bodies])
    assert [parsed.outcome for parsed in found] == [outcomes.get(body, ParseOutcome.CRASH) for body in bodies]


def test_a_document_that_ends_two_helpers_is_given_up() -> None:
    def salvage(document: FetchedDocument, rules: ParseRules, cause: ParseOutcome, note: str = "") -> Parsed:
        os._exit(9)

    with Guard(QUICK, parse=misbehave, salvage=salvage) as guard:
        assert guard.parse(bad(b"segfault")) == Parsed(ParseOutcome.CRASH, DocumentKind.HTML)
        assert guard.parse(page(1)).outcome is ParseOutcome.PARSED


def test_an_exception_is_noted_and_the_helper_lives_on() -> None:
    with Guard(QUICK, parse=misbehave, salvage=give_up) as guard:
        found = guard.parse(bad(b"raise"))
        assert (found.outcome, found.note) == (ParseOutcome.CRASH, "ValueError: no such page")
        assert guard.parse(page(1)).outcome is ParseOutcome.PARSED


@pytest.mark.slow
def test_nested_elements_are_stopped_at_the_limit_and_salvaged() -> None:
    html = "<title>deep</title>" + "<div>" * 100_000 + "<a href=/x>y</a>"
    with Guard(ParseRules(ParseSettings(time_limit=Duration(2)))) as guard:
        found = guard.parse(FetchedDocument("http://example.com/", html.encode(), "text/html"))
    assert found.outcome is ParseOutcome.TIMEOUT
    assert found.outcome.value == "parse timeout"
    assert found.page.title == "deep"
    assert found.page.links == (Link("http://example.com/x", "y"),)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no limit of memory without /proc")
def test_memory_is_limited_on_top_of_what_the_starter_has() -> None:
    ballast = bytearray(200 << 20)
    rules = ParseRules(ParseSettings(memory_limit=Size(64 << 20)))

    def hoard(document: FetchedDocument, rules: ParseRules) -> Parsed:
        return Parsed(ParseOutcome.PARSED, note=str(len(bytearray(int(document.body)))))

    with Guard(rules, parse=hoard, salvage=give_up) as guard:
        assert guard.parse(bad(str(8 << 20).encode())).note == str(8 << 20)
        assert guard.parse(bad(str(256 << 20).encode())).outcome is ParseOutcome.MEMORY
    assert len(ballast) == 200 << 20


@pytest.mark.slow
def test_a_helper_retires_after_much_memory_without_blame() -> None:
    # So much that it shows beside what a helper has inherited from a large process.
    rules = ParseRules(ParseSettings(memory_limit=Size(768 << 20)))

    def hoard(document: FetchedDocument, rules: ParseRules) -> Parsed:
        return Parsed(ParseOutcome.PARSED, note=f"{os.getpid()} {len(bytearray(640 << 20))}")

    with Guard(rules, parse=hoard, salvage=give_up) as guard:
        found = parse_all(guard, [page(0)] * 4)
    assert [parsed.outcome for parsed in found] == [ParseOutcome.PARSED] * 4
    assert len({parsed.note for parsed in found}) == 4


def test_a_stopped_helper_is_killed_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlctl.pipeline.text.guarded.guard._CLOCK_FACTOR", 0.5)

    def stop(document: FetchedDocument, rules: ParseRules) -> Parsed:
        os.kill(os.getpid(), signal.SIGSTOP)
        return Parsed(ParseOutcome.PARSED)

    with Guard(QUICK, parse=stop, salvage=give_up) as guard:
        assert guard.parse(page(1)).outcome is ParseOutcome.TIMEOUT


def test_a_guard_with_documents_under_way_can_be_closed_twice() -> None:
    guard = Guard(QUICK, parse=misbehave)
    guard.submit(bad(b"spin"))
    guard.close()
    guard.close()


def test_one_document_is_not_mixed_up_with_others_under_way() -> None:
    with Guard() as guard:
        guard.submit(page(1))
        with pytest.raises(ValueError, match="collect them first"):
            guard.parse(page(2))


def test_the_helper_keeps_no_file_of_its_starter_open() -> None:
    reader, writer = os.pipe()
    with Guard() as guard:
        os.close(writer)
        assert os.read(reader, 1) == b""  # a helper that held the other end would make this wait for ever
        assert guard.parse(page(1)).page.title == "1"
    os.close(reader)


def test_the_helper_dies_with_its_starter() -> None:
    script = """
        import os
        from crawlctl.pipeline.text.documents.document import FetchedDocument
        from crawlctl.pipeline.text.guarded.guard import Guard
        guard = Guard()
        guard.parse(FetchedDocument("http://example.com/", b"x", "text/html"))
        print(guard.lines[0].helper.pid, flush=True)
        os.kill(os.getpid(), 9)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    helper = int(done.stdout)
    for _ in range(200):
        if not is_alive(helper):
            return
        time.sleep(0.05)
    pytest.fail("the helper outlived its starter by ten seconds")
