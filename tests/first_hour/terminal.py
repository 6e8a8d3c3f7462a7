"""A shell as a person uses it: interactive, with a terminal for its input, one command after the other.

Only an interactive zsh takes # for a word and not for the start of a comment, and only commands that are
typed one by one leave the input to a program that asks for it. The output goes to a file, not to the
terminal, so programs print plain lines.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import subprocess
import termios
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SHELLS = {
    "bash": ["bash", "--noprofile", "--norc", "--noediting", "-i"],
    "zsh": ["zsh", "-f", "-i", "+o", "zle", "+o", "prompt_cr", "+o", "prompt_sp"],
}
_ENDED = re.compile(r"@@ended (\d+)@@")
_SECONDS = 400.0  # of one command, at most
END_OF_INPUT = "\x04"
CTRL_C = "\x03"


@dataclass(frozen=True)
class Done:
    """What a command has printed, on both outputs, and its exit code."""

    output: str
    code: int


class Terminal:
    """An interactive shell that waits for commands; it remembers folders, variables and jobs between them."""

    def __init__(self, keyboard: int, log: Path) -> None:
        self._keyboard = keyboard
        self._log = log

    def type(self, command: str, answers: str = "") -> Done:
        """Type a command, and what it asks for; return what it has done."""
        begin = self._log.stat().st_size
        self._send(f"{command}\n{answers}")
        return self._ended(command, begin)

    def type_and_stop(self, command: str, is_time: Callable[[], bool]) -> Done:
        """Type a command, press Ctrl-C when it is time, and return what it has done."""
        begin = self._log.stat().st_size
        self._send(f"{command}\n")
        self._wait(is_time, command, begin)
        self._send(CTRL_C)
        return self._ended(command, begin)

    def _ended(self, command: str, begin: int) -> Done:
        self._send('echo "@@ended $?@@"\n')
        self._wait(lambda: bool(_ENDED.search(self._read(begin))), command, begin)
        output, code, _ = _ENDED.split(self._read(begin), maxsplit=1)
        return Done(output, int(code))

    def _wait(self, is_time: Callable[[], bool], command: str, begin: int) -> None:
        until = time.monotonic() + _SECONDS
        while not is_time():
            assert time.monotonic() < until, f"{command} does not end: {self._read(begin)}"
            time.sleep(0.02)

    def _send(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    def _read(self, begin: int) -> str:
        return self._log.read_bytes()[begin:].decode(errors="replace")


@contextmanager
def terminal(shell: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Open a shell in a folder; skip the test where the shell is not installed."""
    if shutil.which(shell) is None:
        if os.environ.get("REQUIRE_INTEGRATION"):
            pytest.fail(f"{shell} is not installed")
        pytest.skip(f"{shell} is not installed (on Debian and Ubuntu: apt install {shell})")
    keyboard, screen = pty.openpty()
    _without_echo(screen)
    log = folder / ".output"
    with log.open("wb") as output:
        process = subprocess.Popen(
            SHELLS[shell],
            cwd=folder,
            env={**environment, "PS1": "", "PS2": "", "HISTFILE": "/dev/null"},
            stdin=screen,
            stdout=output,
            stderr=output,
            preexec_fn=_own_terminal,  # noqa: PLW1509  # it is two system calls
        )
    try:
        yield Terminal(keyboard, log)
    finally:
        _end(process)
        os.close(screen)
        os.close(keyboard)


def _without_echo(screen: int) -> None:
    attributes = termios.tcgetattr(screen)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(screen, termios.TCSANOW, attributes)


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the shell, and all that it has started and left behind: they have the same session."""
    lines = subprocess.run(["ps", "-eo", "pid=,sess="], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        pid, session = map(int, line.split())
        if session == process.pid and pid != process.pid:
            with suppress(ProcessLookupError):
                os.kill(pid, 15)
    process.kill()
    process.wait(60)
