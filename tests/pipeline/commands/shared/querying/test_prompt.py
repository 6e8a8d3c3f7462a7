"""The prompt of `crawlctl query` while the crawl goes on beside it."""

from __future__ import annotations

import os
import select
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.commands.shared.querying.prompt import LineCompleter
from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.terminal.width import columns
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.tests.pipeline.commands.conftest import Shell

OLD, NEW = "https://a.org/old", "https://a.org/new"


class Typing:
    """A standard input of which each line is a query, or something that happens before the next one."""

    def __init__(self, *lines: str | Callable[[], None]) -> None:
        self._lines = list(lines)

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        while self._lines:
            line = self._lines.pop(0)
            if isinstance(line, str):
                return f"{line}\n"
            line()
        return ""


@pytest.fixture
def crawl(shell: Shell) -> Shell:
    write_index(LocalStore(Path("crawl")), [[Page(OLD, "A loop", "one loop")]])
    return shell


def go_on() -> None:
    """Commit a snapshot with another page in the place of the one before."""
    made = write_index(LocalStore(Path("other")), [[Page(NEW, "A loop", "another loop")]])
    shutil.copytree("other", "crawl", ignore=shutil.ignore_patterns("snapshots"), dirs_exist_ok=True)
    store = LocalStore(Path("crawl"))
    commit(store, load_current(store), files=made.files, round_number=2)


def collect() -> None:
    assert run(["gc", "--keep", "1", "--min-age", "0"]) == 0


def make_anew() -> None:
    shutil.rmtree("crawl")
    write_index(LocalStore(Path("crawl")), [[Page(NEW, "A loop", "another loop")]])


def typed(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    *lines: str | Callable[[], None],
    options: tuple[str, ...] = (),
) -> list[str]:
    monkeypatch.setattr("sys.stdin", Typing(*lines))
    return [line for line in shell("query", "--urls", *options).splitlines() if line.startswith("https:")]


def test_the_next_query_is_answered_by_the_newest_snapshot(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(crawl, monkeypatch, "loop", go_on, "loop", "loop") == [OLD, NEW, NEW]


def test_after_gc_the_prompt_answers_on(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(crawl, monkeypatch, "loop", go_on, collect, "loop", "another") == [OLD, NEW, NEW]


def test_a_prompt_that_was_opened_before_gc_and_asked_after_it_answers(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(crawl, monkeypatch, go_on, collect, "loop") == [NEW]


def test_a_crawl_made_anew_in_the_same_place_is_seen(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(crawl, monkeypatch, "loop", make_anew, "loop") == [OLD, NEW]


def test_more_of_an_answer_comes_from_the_same_snapshot_while_it_is_there(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [Page(f"https://a.org/{number}", "A loop", "one loop") for number in range(3)]
    write_index(LocalStore(Path("crawl")), [pages])
    found = typed(shell, monkeypatch, "loop", go_on, "", "", options=("--limit", "1"))
    assert sorted(found) == [page.url for page in pages]


def test_files_that_vanish_under_a_query_make_it_look_again(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = typed(crawl, monkeypatch, "loop", go_on, collect, "", "loop", options=("--limit", "1"))
    assert found == [OLD, NEW], "there is no second page, and nothing fails"


def test_the_user_is_told_that_the_crawl_has_moved_on(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Typing("loop", go_on, "loop", "loop"))
    assert run(["query", "--urls"]) == 0
    assert capsys.readouterr().err.count("the crawl has moved on, this is snapshot 3") == 1


def test_a_crawl_that_is_gone_is_one_line_and_ends_nothing(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.stdin", Typing("loop", lambda: shutil.rmtree("crawl"), "loop", make_anew_again, "loop")
    )
    assert run(["query", "--urls"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == [OLD, NEW]
    assert "holds no crawl" in printed.err


def make_anew_again() -> None:
    write_index(LocalStore(Path("crawl")), [[Page(NEW, "A loop", "another loop")]])


class Terminal:
    """A prompt in a pseudo-terminal: what is typed, and what the screen shows until the next prompt."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.process, self._screen = os.forkpty()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(environment)
            command = [sys.executable, "-m", "crawlctl", "query", *arguments]
            os.execv(sys.executable, command)
        self.greeting = self.shown()

    def shown(self, until: str = "query> ", patience: float = 60) -> str:
        """Return what is printed until a text, until the end, or until nothing comes for some seconds."""
        seen = b""
        while not seen.decode(errors="replace").replace("\x1b[?2004h", "").endswith(until):
            if not select.select([self._screen], [], [], patience)[0]:
                break
            try:
                seen += os.read(self._screen, 4096)
            except OSError:  # the program has ended
                break
        return seen.decode(errors="replace").replace("\r\n", "\n")

    def type(self, keys: str) -> str:
        """Type keys and return what is shown until the next prompt."""
        os.write(self._screen, keys.encode(errors="surrogateescape"))
        return self.shown()

    def clear(self, keys: str) -> str:
        """Type keys, then Ctrl-C until there is a prompt: readline may see a signal late."""
        os.write(self._screen, keys.encode())
        seen = self.shown(keys)
        for _ in range(10):
            os.write(self._screen, b"\x03")
            seen += self.shown(patience=3)
            if seen.endswith("query> "):
                break
        return seen

    def end(self, keys: str) -> int:
        """Type the last keys and return the exit code."""
        self.type(keys)
        os.close(self._screen)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.fixture
def many(shell: Shell, tmp_path: Path) -> Path:
    pages = [Page(f"https://a.org/{number}", "A loop", "one loop") for number in range(12)]
    pages += [Page(f"https://a.org/tree{number}", "A tree", "a tree") for number in range(10)]
    write_index(LocalStore(Path("crawl")), [pages])
    return tmp_path


def test_the_prompt_greets_helps_shows_more_and_ends(many: Path) -> None:
    terminal = Terminal(many, XDG_STATE_HOME=str(many / "state"), TERM="dumb")
    assert "22 pages. Type words to search for; help explains more, exit or Ctrl-D ends." in terminal.greeting
    assert "an empty line" in terminal.type("help\n")
    assert "no more pages" in terminal.type("\n")
    assert "An empty line shows more." in terminal.type("loop\n")
    last = terminal.type("\n")
    assert "11–12 shown" in last
    assert "An empty line" not in last
    assert "no more pages; type another query, or exit" in terminal.type("\n")
    all_ten = terminal.type("tree\n")
    assert "1–10 shown; 10 pages match" in all_ten and "An empty line" not in all_ten
    assert terminal.end("exit\n") == 0
    assert "loop" in (many / "state" / "crawlctl" / "history").read_text()


@pytest.mark.parametrize("width", [40, 80])
def test_the_help_of_the_prompt_fits_the_terminal(many: Path, width: int) -> None:
    terminal = Terminal(many, TERM="dumb", HOME=str(many), COLUMNS=str(width))
    helped = terminal.type("help\n").splitlines()
    assert width / 2 < max(map(columns, helped)) <= width
    assert terminal.end("exit\n") == 0


def test_ctrl_c_clears_the_line_and_errors_end_nothing(many: Path) -> None:
    terminal = Terminal(many, TERM="dumb", HOME=str(many))
    assert "Traceback" not in terminal.clear("half a que")
    assert "crawlctl: " in terminal.type("-only\n")
    assert "Traceback" not in terminal.type("\udcff\udcfe loop\n")
    assert "1–10 shown" in terminal.type("loop\n")
    assert terminal.end("\x04") == 0


def test_words_of_the_prompt_are_queries_in_a_pipe(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(crawl, monkeypatch, "exit", "help", "loop") == [OLD]


def test_tab_offers_what_begins_like_the_line_and_is_silent_about_failures() -> None:
    completer = LineCompleter(lambda line: [f"{line}hon", "Python", f"{line}\x1b"])
    assert [completer("pyt", number) for number in range(3)] == ["python", "pyt ", None]

    def fail(_line: str) -> list[str]:
        raise StoreError("the store is gone")

    assert LineCompleter(fail)("pyt", 0) is None
