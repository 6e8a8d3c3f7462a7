"""The crawlctl command: its group, global options, and how errors become exit codes.

A command is a file in pipeline/commands, imported when it is asked for, and everything heavy is imported
inside its function: the help of a tool that is typed many times a day must not wait for boto3.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import click

from crawlctl.pipeline.commands.common import Session
from crawlctl.pipeline.errors import EXIT_ERROR, CrawlctlError, JobFailed

# In the order data flows through them.
COMMANDS = (
    "demo",
    "init",
    "inject",
    "run",
    "import-warc",
    "merge",
    "rank",
    "query",
    "schedule",
    "status",
    "explain",
    "dump",
    "gc",
    "config",
    "completion",
    "version",
)

EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands are modules, imported when named and listed in data-flow order."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"crawlctl.pipeline.commands.{cmd_name.replace('-', '_')}")
        return cast("click.Command", module.command)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with --verbose the traceback of a failed task precedes the error."""
        try:
            return super().invoke(ctx)
        except CrawlctlError as err:
            failure = err if isinstance(err, JobFailed) else err.__cause__
            if ctx.params["verbose"] and isinstance(failure, JobFailed):
                click.echo(failure.task_traceback, err=True)
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    help="Settings file (default: crawl.yaml, conf/crawl.yaml).",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override one setting; may be repeated."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show what the libraries log, and tracebacks of failed tasks."
)
@click.pass_context
def cli(ctx: click.Context, path: Path | None, settings: tuple[str, ...], verbose: bool) -> None:
    """Crawl, index, rank and search a set of sites.

    Exit codes: 0 done, 1 error, 2 wrong usage or configuration, 75 the store is busy, 130 interrupted.

    \b
    Example:
      crawlctl init && crawlctl inject seed.txt && crawlctl status
    """
    if verbose:
        import logging

        logging.basicConfig(level=logging.DEBUG)
    ctx.obj = Session(path, settings)


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code; every expected failure is one line on stderr."""
    try:
        result: Any = cli.main(arguments, prog_name="crawlctl", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as err:
        err.show()
        return err.exit_code
    except CrawlctlError as err:
        return _report(str(err), err.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _report("interrupted; run the command again to go on", EXIT_INTERRUPTED)
    except OSError as err:
        return _report(
            f"{err.filename or 'output'}: {err.strerror}; check the path, its permissions and the free space",
            EXIT_ERROR,
        )


def _report(message: str, exit_code: int) -> int:
    """Print one line on stderr and return the exit code."""
    click.echo(f"crawlctl: {message}", err=True)
    return exit_code


if __name__ == "__main__":
    main()
