"""The live status in lines that fit."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.live.live_lines import death_sentence, live_lines, now_doing, silence_sentence
from crawlctl.pipeline.crawl.live.watch_views import WatchJson, WatchLines, view_for
from crawlctl.pipeline.processes.process_mark import ProcessMark, this_process
from crawlctl.pipeline.progress.task_file import HostProgress, UrlProgress
from crawlctl.pipeline.state.leases.lease_records import CLOCK_SKEW, LeaseRecord
from crawlctl.pipeline.state.live.live_status import LiveStatus, LiveView
from crawlctl.pipeline.terminal.width import columns

NOW = 1_700_000_000.0
HOLDER = LeaseRecord("ab", ProcessMark("vm", "boot", 42, "1"), "run", NOW - 60, NOW + 60)
STATUS = LiveStatus(
    command="run",
    published=NOW,
    every=1.0,
    step="round 3, fetch",
    unit="pages",
    done=120,
    total=400,
    per_second=12.5,
    eta=22.4,
    errors=3,
    failures={"timeout": 2, "dns": 1},
    hosts=tuple(
        HostProgress(f"host{number}.example", left=9, until=NOW + 30, reason="timeout\x1b[2J")
        for number in range(20)
    ),
    urls=(UrlProgress("https://slow.example/" + "x" * 300, NOW - 12),),
)


def view(**changes: Any) -> LiveView:
    return LiveView(HOLDER, replace(STATUS, **changes))


@pytest.mark.parametrize("room", [40, 80])
def test_everything_fits_the_terminal(room: int) -> None:
    lines = list(live_lines(view(), room, 100, NOW))
    assert max(map(columns, lines)) <= room
    assert any(line.startswith("round 3, fetch 120/400") for line in lines)
    assert sum(line.startswith("  host") for line in lines) == 20
    assert any(line.split()[:2] == ["12", "s"] for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert len(list(live_lines(view(), room, 10, NOW))) == 10


def test_a_command_without_a_sign_for_long_is_called_silent() -> None:
    here = LiveView(replace(HOLDER, process=this_process()), STATUS)
    assert not any("no sign" in line for line in live_lines(here, 80, 99, NOW + 2))
    assert "no sign for 0:00:04: the command or the store is slow" in live_lines(here, 80, 99, NOW + 4)


def test_the_clock_of_another_machine_may_be_slow() -> None:
    assert not any("no sign" in line for line in live_lines(view(), 80, 99, NOW + 2 + CLOCK_SKEW))
    assert any("no sign for about 0:01:00" in line for line in live_lines(view(), 80, 99, NOW + 60))


def test_a_suspended_command_may_go_on() -> None:
    sentence = silence_sentence(STATUS)
    assert sentence.startswith("no sign since 2023-11-14 22:13:20 UTC (round 3, fetch 120/400")
    assert "its process has not ended: it is suspended or hangs" in sentence


def test_between_steps_and_on_clusters_there_is_something_to_say_too() -> None:
    assert now_doing(LiveStatus(command="run", published=NOW, every=1.0)) == "between two steps"
    said = LiveStatus(command="run", published=NOW, every=1.0, said="ranking, graph")
    assert now_doing(said) == "between two steps: ranking, graph"
    silent = LiveStatus(
        command="run", published=NOW, every=10.0, step="fetch", unit="pages", total=9, is_silent=True
    )
    assert now_doing(silent) == "fetch 9 pages, under way"
    assert list(live_lines(LiveView(HOLDER), 80, 9, NOW))[-1] == "it has said nothing yet"


def test_a_death_has_a_time_and_a_way_on() -> None:
    sentence = death_sentence(STATUS)
    assert sentence.startswith("`crawlctl run` died at about 2023-11-14 22:13:20 UTC (round 3, fetch 120/400")
    assert sentence.endswith("type it again, it goes on from there")


def test_lines_come_with_each_step_and_from_time_to_time(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = WatchLines("crawlctl run", clock=lambda: now[0])
    for moment, step in ((1.0, "fetch"), (2.0, "fetch"), (3.0, "merge"), (20.0, "merge"), (21.0, "merge")):
        now[0] = moment
        lines.show(view(step=step))
    lines.show(LiveView())
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["crawlctl", "fetch", "merge", "merge", "the"]
    assert printed[-1] == "the command has ended; `crawlctl status` says how the crawl is now"


def test_json_is_a_line_per_change(capsys: pytest.CaptureFixture[str]) -> None:
    lines = WatchJson("crawlctl run")
    for one in (LiveView(HOLDER), LiveView(HOLDER), view(), view(), view(published=NOW + 1), LiveView()):
        lines.show(one)
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["state"] for line in printed] == ["starting", "running", "running", "ended"]
    assert printed[1]["status"]["hosts"][0]["host"] == "host0.example"
    assert printed[1]["status"]["urls"][0]["since"] == NOW - 12


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_drawn_anew_and_ends_with_what_became_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(time, "time", lambda: NOW)
    with view_for(as_json=False, again="crawlctl run") as shown:
        shown.show(view())
        shown.show(LiveView())
    drawn = terminal.getvalue()
    assert "round 3, fetch 120/400 pages" in drawn
    assert drawn.rstrip("\x1b[?25h\n\r ").endswith("says how the crawl is now")
