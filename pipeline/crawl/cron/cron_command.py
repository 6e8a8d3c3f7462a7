"""The shell command by which cron runs a crawl with the settings that are in force now.

Cron has an environment of its own, so flags and variables are written into the command. Secrets are not:
other users could read them in the crontab and in `ps`.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.locations import ENVIRONMENT_PREFIX
from crawlctl.pipeline.config.secrets import masked, shown_value
from crawlctl.pipeline.errors import EXIT_BUSY, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.config.load import Origin

# The variables by which clusters are found. Not the keys of AWS: they belong into ~/.aws/credentials.
CARRIED = (
    *("HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_USER_NAME", "JAVA_HOME", "CRAWLCTL_WEBHDFS"),
    *("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
)
DEFAULT_SOURCE = "default"  # the origin of a setting that the user has not set


def cron_command(origins: Sequence[Origin], options: Sequence[str], log: Path) -> str:
    """Return the shell command that runs `crawlctl run` with these options; a busy store is no failure."""
    words = [*_environment(), *_program(), *_switches(origins), "run", *options]
    folder, run, target = shlex.quote(str(Path.cwd())), shlex.join(words), shlex.quote(str(log))
    return f"cd {folder} && {run} >> {target} 2>&1; code=$?; [ $code -eq {EXIT_BUSY} ] || exit $code"


def _environment() -> list[str]:
    """Return the words that set the variables of the command."""
    found = [f"{name}={os.environ[name]}" for name in CARRIED if os.environ.get(name)]
    for variable in found:
        if masked(variable) != variable:
            raise _has_secret(variable.partition("=")[0], "name the server without it, by HADOOP_CONF_DIR")
    return ["env", *found] if found else []


def _switches(origins: Sequence[Origin]) -> Iterator[str]:
    """Yield the switches that give the command the same settings."""
    given = [one for one in origins if one.source.startswith(("--", ENVIRONMENT_PREFIX))]
    files = {one.source for one in origins if one not in given} - {DEFAULT_SOURCE}
    yield from (f"--config={Path(name).absolute()}" for name in sorted(files))
    for one in given:
        if one.key != "store":
            plain = msgspec.to_builtins(one.value, enc_hook=str)
            if shown_value(one.key, plain) != plain:
                raise _has_secret(one.key, f"move it from {one.source} into crawl.yaml (chmod 600)")
            text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
            yield f"--set={one.key}={text}"


def _has_secret(name: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"{name} has a password, which the crontab and `ps` would show to others; {remedy}, "
        "then run `crawlctl schedule add` again"
    )


def _program() -> list[str]:
    """Return how to start crawlctl from anywhere: its script, or else the interpreter that runs now."""
    script = Path(sys.executable).with_name("crawlctl")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "crawlctl.cli"]
