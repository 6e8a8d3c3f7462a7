"""How what a command does becomes an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import EXIT_ERROR, CrawlctlError

if TYPE_CHECKING:
    from collections.abc import Callable

EXIT_INTERRUPTED = 130


def exit_code_of(action: Callable[[], object]) -> int:
    """Run something and return the exit code; every expected failure is one line on stderr."""
    try:
        result = action()
        return result if isinstance(result, int) else 0
    except CrawlctlError as err:
        return _report(str(err), err.exit_code)
    except KeyboardInterrupt:
        return _report("interrupted; run the command again to go on", EXIT_INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has seen enough
        return EXIT_ERROR
    except OSError as err:
        return _report(
            f"{err.filename or 'output'}: {err.strerror}; check the path, its permissions and the free space",
            EXIT_ERROR,
        )


def _report(message: str, exit_code: int) -> int:
    """Print one line on stderr, without passwords, and return the exit code."""
    from crawlctl.pipeline.config.secrets import masked

    say(f"crawlctl: {masked(message)}", err=True)
    return exit_code
