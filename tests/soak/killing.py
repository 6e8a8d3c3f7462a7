"""Commands that are killed in a chosen phase, and the life of a crawl that is made of such commands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

SECONDS = 240  # for one command, however slow the machine is

# What a command says when a phase begins; of one that says nothing the phase is the command.
RUN_PHASES = {
    "fetch": r"round \d+, fetch: ",
    "webdb merge": r"round \d+, merge: ",
    "index merge": r"round \d+, index: ",
    "rank graph": r"ranking, graph",
    "rank solution": r"ranking, ranks",
    "rank publish": r"ranking, publish",
    "groups": r"ranking, publish",  # they follow at once
}
# How long after its beginning a phase is killed at most, in seconds.
WIDTH = {"fetch": 0.8, "webdb merge": 0.25, "index merge": 0.25, "groups": 0.3, "copy": 0.5}
USUAL_WIDTH = 0.1
AFTER = {"groups": 0.1}  # and how long at least


@dataclass(frozen=True)
class Command:
    """A command line, and the phases in which it can be killed."""

    arguments: tuple[str, ...]
    phases: tuple[str, ...]


@dataclass
class Life:
    """The commands of a crawl, one after the other, each repeated until it comes to its end.

    `after_kill` looks at the store after each kill; `hits` counts the kills by phase.
    """

    folder: Path
    commands: Sequence[Command]
    chance: random.Random
    after_kill: Callable[[], None]
    hits: Counter[str] = field(default_factory=Counter)

    def live(self) -> None:
        """Go through all commands, and kill each once in each of its phases.

        A kill that comes late may find the command in a later phase, or at its end; then there is nothing
        left to kill in the phases between.
        """
        for command in self.commands:
            for phase in command.phases:
                self._kill_in(command, phase)
            finish(self.folder, command.arguments)

    def _kill_in(self, command: Command, phase: str) -> None:
        started = start(self.folder, command.arguments)
        reached = wait_for(started, RUN_PHASES.get(phase, ""))
        if reached:
            time.sleep(AFTER.get(phase, 0) + self.chance.uniform(0, WIDTH.get(phase, USUAL_WIDTH)))
            self._kill(started)
        complaints = drain(started)
        if started.returncode == -signal.SIGKILL:
            self.hits[phase] += 1
        else:
            assert started.returncode == 0, complaints
        self.after_kill()

    def _kill(self, started: subprocess.Popen[str]) -> None:
        """Kill the driver alone, as when memory runs out, or its whole session, as when a machine stops."""
        if self.chance.random() < 0.5:
            started.kill()
        else:
            os.killpg(started.pid, signal.SIGKILL)


def start(folder: Path, arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command of crawlctl in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "crawlctl.cli", *arguments],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def wait_for(started: subprocess.Popen[str], phase: str) -> bool:
    """Wait until a command says that a phase begins; return False when it has ended before."""
    guard = threading.Timer(SECONDS, started.kill)
    guard.start()
    assert started.stderr is not None
    try:
        # Without words of its own a phase begins when the modules are imported.
        return any(re.match(phase, line) for line in started.stderr) if phase else pause_for(started)
    finally:
        guard.cancel()


def pause_for(started: subprocess.Popen[str]) -> bool:
    """Wait as long as Python needs to import a command; return whether it is still at work."""
    time.sleep(IMPORTS)
    return started.poll() is None


IMPORTS = 0.35


def drain(started: subprocess.Popen[str]) -> str:
    """Wait for the end of a command, and return the rest of what it says."""
    complaints = started.communicate(timeout=SECONDS)[1]
    return complaints[-2000:]


def finish(folder: Path, arguments: Sequence[str]) -> None:
    """Let a command come to its end."""
    started = start(folder, arguments)
    complaints = drain(started)
    assert started.returncode == 0, complaints
