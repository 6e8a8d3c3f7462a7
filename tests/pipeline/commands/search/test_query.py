"""`crawlctl query` on a small index, as a terminal, a pipe and a script meet it."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.commands.shared.querying.query_run import joined
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.width import columns
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

# Each costs a query 2 ms or more; click, inspect (of typing_extensions and dataclasses) and pathlib most.
HEAVY = (
    *("numpy", "mrjob", "yaml", "boto3", "requests", "rich", "nltk", "click", "typing_extensions"),
    *("inspect", "dataclasses", "pathlib", "urllib.parse", "json", "logging", "asyncio", "email", "hashlib"),
    *("ssl", "socket", "tempfile", "shutil", "importlib.metadata", "importlib.resources"),
)
DAY = 86_400
PAGES = (
    Page(
        "https://a.org/loop",
        "The event loop",
        "An event loop runs callbacks. " * 3,
        fetched_at=20_000 * DAY,
    ),
    Page("https://a.org/old", "Old loops", "A loop of old.", fetched_at=10_000 * DAY),
    Page("https://b.org/twisted", "Twisted", "A twisted loop has an event.", fetched_at=15_000 * DAY),
    Page("https://b.org/\x1b[31m", "Red \x1b[31mloop\x07", "Some\x1b]0;title\x07 loop \u202eevent"),
)
FRONTIER = (Page("https://c.org/unread", anchors=("a guide to trio",), language=""),)


@pytest.fixture
def found(shell: Shell) -> Shell:
    write_index(LocalStore(Path("crawl")), [PAGES[:2], PAGES[2:]], FRONTIER)
    return shell


def urls(shell: Shell, *arguments: str) -> list[str]:
    return shell("query", "--urls", *arguments).split("\n")[:-1]


def test_the_query_of_the_customer_finds_pages_with_both_words(found: Shell) -> None:
    assert set(urls(found, "AND", "event", "twisted")) == {"https://b.org/twisted"}


def test_a_page_is_shown_with_title_address_date_and_snippet(found: Shell) -> None:
    lines = found("query", "title:event", "callbacks").splitlines()
    assert lines[0] == "1. The event loop"
    assert lines[1:3] == ["   https://a.org/loop", "   visited 2024-10-04"]
    assert lines[3].startswith("   An event loop runs callbacks.")
    assert lines[-1] == "1–1 shown; 1 page matches"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("loop", "-twisted", "-red", "-old"), {"https://a.org/loop"}),
        (("-python", "twisted"), {"https://b.org/twisted"}),
        (("--", "-twisted", "old"), {"https://a.org/old"}),
        (("OR", "old", "event loop"), {"https://a.org/old", "https://a.org/loop"}),
        (("title:loop -red (old OR callbacks)",), {"https://a.org/loop", "https://a.org/old"}),
        (("twisted", "--limit", "1"), {"https://b.org/twisted"}),
    ],
)
def test_words_may_come_one_by_one_or_as_a_whole(
    found: Shell, arguments: tuple[str, ...], expected: set[str]
) -> None:
    assert set(urls(found, "--strict", *arguments)) == expected


def test_a_word_in_quotes_of_the_shell_is_a_phrase_beside_others() -> None:
    assert joined(["AND", "event loop", "x"]) == 'AND "event loop" x'
    assert joined(["event loop"]) == "event loop"
    assert joined(["x", "-in:author=donald knuth"]) == 'x -in:"author=donald knuth"'
    assert joined(["x", 'in:author="donald knuth"']) == 'x in:author="donald knuth"'
    assert joined(["a OR b", "(c d)", 'title:"e f"']) == 'a OR b (c d) title:"e f"'


def test_an_option_that_is_none_is_not_taken_for_a_word(found: Shell) -> None:
    assert "did you mean --limit?" in found("query", "--limt", "3", "loop", code=2)
    assert "'--urls" in found("query", "--json", "--urls", "x", code=2).replace("--json, --urls", "'--urls")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("-n", "3", "loop"),
            "no option -n; did you mean --limit? To exclude the word n write `NOT n`",
        ),
        (("loop", "-l"), "no option -l; did you mean --limit?"),
        (("loop", "-j"), "no option -j; did you mean --json?"),
        (("loop", "-z"), "no option -z; to exclude the word z write `NOT z`"),
        (("-3", "loop"), "no option -3; to exclude the word 3 write"),
        (("-n3", "loop"), "no option -n3; did you mean --limit 3? To exclude the word n3 write `NOT n3`"),
        (("loop", "-o20"), "no option -o20; did you mean --offset 20?"),
        (
            ("-limit", "3"),
            "no option -limit; did you mean --limit? To exclude the word limit write `NOT limit`",
        ),
        (("-limit=3", "loop"), "no option -limit=3; did you mean --limit=3?"),
        (("loop", "-store", "crawl"), "no option -store; did you mean --store?"),
    ],
)
def test_a_flag_with_one_minus_that_is_none_is_refused(
    words: tuple[str, ...], message: str, found: Shell
) -> None:
    assert message in found("query", *words, code=2)


def test_longer_words_are_excluded_and_short_ones_behind_two_minuses(found: Shell) -> None:
    everything = set(urls(found, "loop"))
    assert set(urls(found, "loop", "-nowhere")) == everything
    assert set(urls(found, "loop", "-x86", "-n3w", "-limits", "-vim")) == everything
    assert set(urls(found, "--", "loop", "-n")) == everything
    assert set(urls(found, "loop", "NOT", "n")) == everything
    assert "Search the crawled pages" in found("query", "loop", "-h")
    assert found("query", "--count", "loop", "-v") == found("query", "--count", "loop")


def test_pages_can_be_counted_and_paged_through(found: Shell) -> None:
    assert found("query", "--count", "loop") == "4\n"
    every = urls(found, "loop")
    assert [urls(found, "loop", "--limit", "1", "--offset", str(number))[0] for number in range(4)] == every
    assert "4 pages match; give a smaller --offset" in found("query", "loop", "--offset", "4", code=2)


def test_the_latest_pages_come_first_on_demand(found: Shell) -> None:
    assert urls(found, "loop", "--sort", "date", "--limit", "2") == [
        "https://a.org/loop",
        "https://b.org/twisted",
    ]


def test_partial_matches_follow_and_are_marked(found: Shell) -> None:
    printed = found("query", "twisted", "callbacks")
    assert printed.startswith("Pages that have some of the words:")
    assert "1970" not in printed
    assert "0 pages match, 2 more have some of the words" in printed
    assert "1–1 shown; 0 pages match, 1 more has some of the words" in found("query", "callbacks", "trees")
    assert found("query", "twisted", "callbacks", "--strict") == "No page matches.\n"
    assert found("query", "AND", "twisted", "callbacks") == "No page matches.\n"


def test_pages_not_fetched_are_found_and_marked(found: Shell) -> None:
    printed = found("query", "trio")
    assert "(no title)\n   https://c.org/unread\n   not fetched yet" in printed


def test_a_star_lists_all_pages_that_were_fetched(found: Shell) -> None:
    every = urls(found, "*")
    assert sorted(every) == sorted(blanked(page.url) for page in PAGES)
    assert found("query", "--count", "*") == "4\n"
    assert [urls(found, "*", "--limit", "1", "--offset", str(number))[0] for number in range(4)] == every
    assert found.json("query", "*", "--limit", "2")["total"] == 4
    assert "1–2 shown; 4 pages match" in found("query", "*", "--limit", "2")
    assert "0.000 *: selects, does not rank" in found("query", "*", "--explain", "--limit", "1")


def test_a_star_goes_with_other_operators(found: Shell) -> None:
    assert set(urls(found, "*", "site:a.org")) == {"https://a.org/loop", "https://a.org/old"}
    assert urls(found, "* NOT event") == ["https://a.org/old"]
    assert urls(found, "*", "-site:a.org", "NOT", "red") == ["https://b.org/twisted"]
    assert urls(found, "*", "loop", "NOT", "event") == ["https://a.org/old"]
    assert "or a * for all pages, as in: * NOT word" in found("query", "NOT event", code=2)


def test_a_star_shows_the_pages_with_the_highest_rank_first(shell: Shell) -> None:
    ranks = {"low": 1, "high": 255, "middle": 100, "none": 0}
    pages = [Page(f"https://a.org/{name}", name, prior=prior) for name, prior in ranks.items()]
    write_index(LocalStore(Path("crawl")), [pages[:2], pages[2:]])
    assert urls(shell, "*") == [f"https://a.org/{name}" for name in ("high", "middle", "low", "none")]


def test_json_says_all_that_is_known(found: Shell) -> None:
    answer = found.json("query", "twisted", "loop", "--limit", "1")
    page = answer["pages"][0]
    assert (answer["query"], answer["total"]) == ("twisted loop", 1)
    assert (page["url"], page["fetched_at"], page["number"]) == ("https://b.org/twisted", 15_000 * DAY, 1)
    start, end = page["snippet"]["spans"][0]
    assert page["snippet"]["text"][start:end] == "twisted"
    assert found.json("query", "trio")["pages"][0]["fetched"] is False


@pytest.mark.parametrize("form", [(), ("--urls",), ("--count",), ("--json",)])
@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("loop foo:bar", "foo: is no field"),
        ("site:www.a.org loop", "no page is on www.a.org; searched on a.org"),
        ("loop || twisted", "|| is read as OR"),
        ("THE LOOP WILL NOT EVENT", "AND, OR and NOT are read as words"),
        ("head -n 3 loop", "-n is read as the word n"),
        ("loop -m twisted", "-m is read as the word m"),
    ],
)
def test_every_form_of_output_says_what_was_changed(
    found: Shell, form: tuple[str, ...], query: str, notice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--json" in form:
        assert notice in found.json("query", query)["notices"][0]
        return
    capsys.readouterr()
    assert run(["query", *form, query]) == 0
    assert capsys.readouterr().err.startswith(notice)


PAGE_FIELDS = {
    *("number", "url", "title", "snippet", "score", "fetched_at", "last_modified", "language"),
    *("partial", "fetched", "similar", "details", "explanation", "anchor"),
}


@pytest.mark.parametrize("arguments", [("loop",), ("loop", "--explain"), ("trio",), ("twisted", "callbacks")])
def test_json_has_every_field_always(found: Shell, arguments: tuple[str, ...]) -> None:
    answer = found.json("query", *arguments)
    assert answer.keys() == {
        "query",
        "total",
        "partial",
        "pages",
        "notices",
        "unknown",
        "suggestions",
        "facets",
    }
    for page in answer["pages"]:
        assert page.keys() == PAGE_FIELDS
        assert page["details"].keys() == {
            *("description", "site_name", "image", "published", "modified", "fields", "repeated", "type")
        }
        assert (page["explanation"] is None) == ("--explain" not in arguments)


def test_matches_are_counted_by_their_values(found: Shell) -> None:
    printed = found("query", "loop", "--facets")
    assert printed.splitlines()[-4:] == [
        "site      a.org 2 · b.org 2",
        "language  en 4",
        "type      unknown 4",
        "year      unknown 4",
    ]
    facets = found.json("query", "loop", "--facets")["facets"]
    assert facets[0] == {
        "name": "site",
        "counts": [{"value": "a.org", "count": 2}, {"value": "b.org", "count": 2}],
        "complete": True,
    }
    assert "exclude --facets" in found("query", "loop", "--facets", "--count", code=2)
    assert "No page matches." in found("query", "nowhere", "--facets")


def test_scores_are_explained(found: Shell) -> None:
    printed = found("query", "loop -old", "--limit", "1", "--explain")
    assert printed.startswith("read as: loop NOT old\n")
    assert " score: the sum of" in printed
    assert "explanation" in found.json("query", "loop", "--explain")["pages"][0]


def test_nothing_of_a_page_can_steer_the_terminal(found: Shell) -> None:
    for arguments in (("red",), ("red", "--urls"), ("red", "--explain")):
        printed = found("query", *arguments)
        assert printed.replace("\n", "").isprintable()
    assert blanked("a\u202eb\x9b1m\u200d") == "a b 1m\u200d"


def test_errors_of_the_query_are_shown_with_a_caret(found: Shell) -> None:
    assert found("query", "loop OR OR x", code=2).splitlines()[1:] == ["  loop OR OR x", "          ^"]
    assert "at most 1,000" in found("query", *["a"] * 10_000, code=2)
    assert "longer than 64 kB" in found("query", "a " * 500_000, code=2)


def test_what_is_missing_is_said_with_what_to_do(shell: Shell) -> None:
    assert "crawlctl run https://… --store" in shell("query", "loop", code=1)
    shell("init")
    assert "`crawlctl run`" in shell("query", "loop", code=1)


def test_damaged_postings_are_one_line(found: Shell) -> None:
    store = LocalStore(Path("crawl"))
    for entry in load_current(store).files:
        if entry.kind == "dictionary" and entry.name.endswith("/data"):
            path = Path("crawl", entry.name)
            path.write_bytes(path.read_bytes()[: entry.bytes // 2] + b"\xff" * (entry.bytes // 2))
    message = found("query", "loop", code=1)
    assert message.count("\n") == 1
    assert "damaged at byte" in message


def test_a_prompt_answers_line_by_line_and_outlives_errors(
    found: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("twisted\nOR\nloop\n\n"))
    lines = urls(found, "--limit", "2")
    assert lines[0] == "https://b.org/twisted"
    assert sorted(lines[1:]) == sorted(page.url.replace("\x1b", " ") for page in PAGES)


@pytest.mark.timeout(60)
def test_a_terminal_sees_bold_words_and_keeps_a_history(found: Shell, tmp_path: Path) -> None:
    terminal, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "crawlctl.cli", "query", "--limit", "1"]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment)
    os.close(other)
    try:
        read_until(terminal, b"query> ")
        os.write(terminal, b"callbacks\n")
        seen = read_until(terminal, b"query> ")
        os.write(terminal, b"\x04")
        with suppress(OSError):  # how Linux says that nobody writes to it any more
            while os.read(terminal, 4096):
                pass
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert b"\x1b[1mcallbacks\x1b[0m" in seen
    assert (tmp_path / "crawlctl" / "history").read_text().splitlines()[-1] == "callbacks"


def read_until(terminal: int, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        seen += os.read(terminal, 4096)
    return seen


@pytest.mark.parametrize("words", [("AND", "event", "loop"), ("event", "loop"), ("--urls", '"event loop"')])
def test_a_query_imports_nothing_heavy(found: Shell, words: tuple[str, ...]) -> None:
    code = (
        "import sys, crawlctl.cli\n"
        f"for name in {HEAVY!r}: sys.modules.pop(name, None)\n"  # which what starts Python may have loaded
        f"assert crawlctl.cli.run(['query', *{words!r}]) == 0\n"
        f"sys.exit(', '.join(set({HEAVY!r}) & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "https://a.org/loop" in result.stdout


def test_msgspec_does_without_typing_extensions_only_while_it_is_imported(found: Shell) -> None:
    code = (
        "import sys, crawlctl.cli\n"
        "assert crawlctl.cli.run(['query', '--count', 'loop']) == 0\n"
        "import typing_extensions, msgspec\n"
        "assert msgspec.json.decode(b'[1]', type=typing_extensions.Annotated[list[int], 'x']) == [1]"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


MAIN = "import crawlctl.cli; crawlctl.cli.main()"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("AND", "event", "loop"), 0), (("loop", "OR"), 2), (("--store", "nowhere", "loop"), 1)],
)
def test_a_process_that_ends_at_once_has_said_everything(
    found: Shell, arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", MAIN, "query", *arguments]
    # Readline, which pytest imports, puts $COLUMNS into the environment of the process behind Python's back.
    environment = {**os.environ}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    run(["query", *arguments])
    expected = capsys.readouterr()
    assert (result.returncode, result.stdout, result.stderr) == (code, expected.out, expected.err)


@pytest.mark.parametrize("options", [(), ("--verbose",)], ids=["plain", "by click"])
def test_a_reader_that_goes_away_is_no_error_message(found: Shell, options: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", MAIN, *options, "query", "loop"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which Linux has")
@pytest.mark.parametrize("options", [(), ("--verbose",)], ids=["plain", "by click"])
def test_output_that_cannot_be_written_is_said(found: Shell, options: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", MAIN, *options, "query", "loop"]
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "No space left on device" in result.stderr


def test_a_terminal_without_the_characters_gets_question_marks(found: Shell) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", MAIN, "query", "callbacks"]
    printed = subprocess.run(command, capture_output=True, env=environment, check=True).stdout
    assert printed.endswith(b"1?1 shown; 1 page matches\n")


def test_a_settings_file_is_heeded(found: Shell) -> None:
    Path("crawl").rename("elsewhere")
    Path("crawl.yaml").write_text("store: elsewhere\n")
    assert len(json.loads(found("query", "--json", "loop"))["pages"]) == 4


def test_no_line_of_an_answer_is_wider_than_the_terminal(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    title = "A loop with a title that is far too long for one line of a narrow terminal"
    pages = [Page(f"https://a.org/{number}", title, "one loop " * 30) for number in range(12)]
    write_index(LocalStore(Path("crawl")), [pages])
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(columns, shell("query", "--offset", "10", "loop").splitlines())) <= 40
    lines = shell("query", "loop").splitlines()
    assert max(map(columns, lines)) <= 40
    assert lines[:2] == ["1. A loop with a title that is far too", "   long for one line of a narrow"]
