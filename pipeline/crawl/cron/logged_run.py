"""Runs a command for cron, and appends its output to a log file, each line with date and time.

    python -m crawlctl.pipeline.crawl.cron.logged_run LOG PROGRAM [ARGUMENT]...

The command runs in its own process, so the log gets everything: errors of Python at its start, the traceback
of an error inside crawlctl, and how a killed run ended. A file that would grow beyond MAX_BYTES is renamed to
LOG.1, the older ones to LOG.2 and so on; the oldest is deleted. If the crawl is in use by another run, this
is not a failure: cron must not send a mail about it.
"""

from __future__ import annotations

import logging
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.secrets import masked
from crawlctl.pipeline.errors import EXIT_BUSY
from crawlctl.pipeline.terminal.utc import UTC_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BYTES = 4 << 20
OLD_LOGS = 4  # how many old log files are kept, beside the current file
MAX_LINE = 10_000  # the most bytes of a line; the rest of a longer line becomes the next line
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str]) -> int:
    """Run the command that follows the name of the log file, and return its exit code."""
    name, *command = arguments
    with _log_file(Path(name)) as log:
        log.info("began: %s", masked(shlex.join(["crawlctl", *command[1:]])))
        started = time.monotonic()
        code = _run(command, log)
        log.info("ended with %s after %.0f s", _spelled(code), time.monotonic() - started)
    return 0 if code == EXIT_BUSY else code


def _run(command: Sequence[str], log: logging.Logger) -> int:
    """Run a command and log its lines; return its exit code, 128 + N after signal N, as a shell does."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        if child.stdout is None:
            raise AssertionError("Popen makes the pipe")
        for number in FORWARDED:
            signal.signal(number, lambda given, _frame: child.send_signal(given))
        for line in iter(lambda: child.stdout.readline(MAX_LINE), b""):  # type: ignore[union-attr]
            log.info("%s", line.decode(errors="replace").rstrip("\r\n"))
        code = child.wait()
    return code if code >= 0 else 128 - code


def _spelled(code: int) -> str:
    return (
        f"exit code {code} (the crawl was in use: no failure)" if code == EXIT_BUSY else f"exit code {code}"
    )


class _LogFile(RotatingFileHandler):
    """A log file of limited size. Lines that it cannot write go to standard error, which cron mails."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        sys.stderr.write(f"{self.baseFilename}: {sys.exc_info()[1]}; {record.getMessage()}\n")


@contextmanager
def _log_file(path: Path) -> Iterator[logging.Logger]:
    handler = _LogFile(path, maxBytes=MAX_BYTES, backupCount=OLD_LOGS, encoding="utf-8", delay=True)
    formatter = logging.Formatter("%(asctime)s %(message)s", UTC_FORMAT)
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    log = logging.Logger("cron", logging.INFO)
    log.addHandler(handler)
    try:
        yield log
    finally:
        handler.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
