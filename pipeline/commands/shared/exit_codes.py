"""Turns the result or the exception of a command into an exit code and at most one line on stderr.

This is the only place that reports failures: a command only raises an error. Errors that click finds in the
command line are turned into exit codes by group.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import EXIT_ERROR, EXIT_INTERRUPTED, CrawlctlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.commands.shared.session import Session

STOPPED = "stopped; everything that was saved is kept: run the same command to go on"


def exit_code_of(action: Callable[[], object], session: Session) -> int:
    """Run an action and return its exit code; every expected failure is one line on stderr.

    The commands that the line names have the store of the session, if a flag names one.
    """
    try:
        result = action()
        return result if isinstance(result, int) else 0
    except CrawlctlError as err:
        from crawlctl.pipeline.commands.shared.remedies import with_store

        return _report(with_store(str(err), session.store_words), err.exit_code)
    except KeyboardInterrupt:
        return _report(STOPPED, EXIT_INTERRUPTED)
    except SystemExit as err:
        from crawlctl.pipeline.processes.signals import Terminated

        if not isinstance(err, Terminated):  # click ends commands such as --help by this exception
            raise
        return _report(STOPPED, err.exit_code)
    except BrokenPipeError:  # the program that reads the output has ended
        return EXIT_ERROR
    except OSError as err:
        return _report(_what_failed(err), EXIT_ERROR)


def _what_failed(err: OSError) -> str:
    if err.filename is None:
        return f"the output cannot be written: {err.strerror}; check where it goes, and the free space there"
    return f"{err.filename}: {err.strerror}; check the path, its permissions and the free space"


def _report(message: str, exit_code: int) -> int:
    """Print one line on stderr, without passwords, and return the exit code."""
    from crawlctl.pipeline.config.secrets import masked

    say(f"crawlctl: {masked(message)}", err=True)
    return exit_code
