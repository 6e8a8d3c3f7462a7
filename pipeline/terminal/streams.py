"""Standard streams that are always open, and that print a question mark for a character they lack.

A program may be started with closed streams (`crawlctl status >&-`). Python then has None in their place. The
next file that is opened would get the number of the stream, and printed text would end up in this file.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

STDIN, STDOUT, STDERR = 0, 1, 2


def prepare_streams() -> None:
    """Open streams in place of closed ones: empty input, an output that fails, errors are dropped.

    Characters that the encoding of the output lacks, as in the C locale, are printed as question marks.
    """
    if sys.stdin is None:
        _open_as(STDIN, os.O_RDONLY)
        sys.stdin = open(STDIN, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        _open_as(STDOUT, os.O_RDONLY)  # writing to it fails, so that lost output is an error
        sys.stdout = open(STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        _open_as(STDERR, os.O_WRONLY)
        sys.stderr = open(STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if stream.errors in ("strict", "surrogateescape") and isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def flushed(code: int, failure: int) -> int:
    """Flush all output and return the exit code: `code`, or `failure` if it was 0 and output was lost.

    After a failure further output is dropped. Otherwise Python would try to write it again at its end, and
    print an error.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or failure
            _lead_nowhere(stream.fileno())
    return code


def _open_as(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


def _lead_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
