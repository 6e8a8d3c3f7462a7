"""Captures the log of mrjob: it is used to explain failures, and shown only at debug level."""

from __future__ import annotations

import logging
import re
import warnings
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

KEPT_MESSAGES = 500
PROBABLE_CAUSE = "Probable cause of failure:"
# Of Hadoop's client, if a job failed before its tasks.
COMPLAINT = re.compile(r"(?:Error Launching job : |failed with state \w+ due to: )(.+)", re.DOTALL)
NO_ANSWER = re.compile(r"Retrying connect to server: (\S+?)\. Already tried 3 time")
STDERR = "STDERR: "
APPLICATION_ID = re.compile(r"\bapplication_\d+_\d+\b")


class MrjobLog(logging.Handler):
    """The last messages of mrjob and of the Hadoop client it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: deque[str] = deque(maxlen=KEPT_MESSAGES)
        self.program_error = ""  # the error of the first call of the program `hadoop` that failed

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self.messages.append(message)
        log.debug("%s", message)
        if record.levelno >= logging.ERROR and message.startswith(STDERR) and not self.program_error:
            self.program_error = message.removeprefix(STDERR).strip()
        if found := NO_ANSWER.search(message):
            log.warning("%s does not answer; Hadoop's client goes on trying, Ctrl-C stops it", found[1])

    def probable_cause(self) -> str:
        """Return the cause that mrjob found in the logs of a failed step, empty if none."""
        found = [message for message in self.messages if PROBABLE_CAUSE in message]
        return found[-1].partition(PROBABLE_CAUSE)[2].strip() if found else ""

    def complaint(self) -> str:
        """Return why Hadoop's client gave up a job, empty if it did not."""
        found = [match[1] for message in self.messages if (match := COMPLAINT.search(message))]
        return found[-1].strip() if found else ""

    def application(self) -> str | None:
        """Return the id of the YARN application that was started last."""
        ids = [match for message in self.messages for match in APPLICATION_ID.findall(message)]
        return ids[-1] if ids else None


@contextmanager
def captured_mrjob_log() -> Iterator[MrjobLog]:
    """Keep mrjob's log messages and warnings off the user's terminal while the block runs."""
    logger, handler = logging.getLogger("mrjob"), MrjobLog()
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.DEBUG if log.isEnabledFor(logging.DEBUG) else logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            # Written for older Pythons: datetime.utcnow and files left to the garbage collector.
            for category in (DeprecationWarning, ResourceWarning):
                warnings.filterwarnings("ignore", category=category, module=r"mrjob\.")
            yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
