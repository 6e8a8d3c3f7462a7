"""A newcomer at a shell: types a command, and looks at its exit code and at what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.tests.first_hour.terminal import Done, Terminal

CONTACT = "export CRAWLCTL_FETCH_CONTACT=mailto:you@example.org"
NOTHING_FETCHED = 3
CTRL_C = 130


class NewUser:
    """Types commands into a terminal; each must end with the exit code that is expected."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def __call__(self, command: str, *, code: int = 0, answers: str = "") -> str:
        """Type a command and what it asks for; return what it prints, with its lines joined by one space.

        How lines are broken depends on the width of the terminal, which is no matter of these tests.
        """
        return self._looked_at(self._terminal.type(command, answers), command, code)

    def stops(self, command: str, is_time: Callable[[], bool]) -> str:
        """Type a command, press Ctrl-C when it is time; return what it prints."""
        return self._looked_at(self._terminal.type_and_stop(command, is_time), command, CTRL_C)

    def _looked_at(self, done: Done, command: str, code: int) -> str:
        assert done.code == code, f"{command}: {done.output}"
        assert "Traceback" not in done.output
        return " ".join(done.output.split())
