"""The shell command by which cron runs a crawl with the settings that are used now.

Cron has an environment of its own (HOME, a short PATH, nothing else), so flags, variables and absolute paths
are written into the command. The time before it, the other half of the line, is made in crontab.py. Secrets
are not written: other users could read them in the crontab and in `ps`.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.load import variable_of
from crawlctl.pipeline.config.locations import ENVIRONMENT_PREFIX
from crawlctl.pipeline.config.own_layer import DEFAULT_SOURCE, OWN_SOURCE
from crawlctl.pipeline.config.secrets import masked, shown_value
from crawlctl.pipeline.config.settings import CLUSTER_RUNNERS, is_own
from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.config.load import Origin

LOGGED_RUN = "crawlctl.pipeline.crawl.cron.logged_run"
# The variables by which Python finds crawlctl, and crawlctl finds temporary folders and clusters. The keys of
# AWS are not among them: they belong in ~/.aws/credentials.
CARRIED = (
    *("PYTHONPATH", "TMPDIR", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
    *("HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_USER_NAME", "JAVA_HOME", "CRAWLCTL_WEBHDFS"),
    *("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
)
PROGRAMS_BY_PATH = "PATH"  # the variable by which the runners of clusters find their programs


def cron_command(origins: Sequence[Origin], options: Sequence[str], log: Path) -> str:
    """Return the shell command that runs `crawlctl run` with these options, with its output in a log file.

    Errors before the log is open (such as a Python that no longer exists) are appended to the log as they
    are.
    """
    logged = [sys.executable, "-m", LOGGED_RUN, str(log)]
    words = [*_environment(origins), *logged, *_program(), *_switches(origins), "run", *options]
    folder, run, target = shlex.quote(str(Path.cwd())), shlex.join(words), shlex.quote(str(log))
    return f"cd {folder} && {run} >> {target} 2>&1"


def _environment(origins: Sequence[Origin]) -> list[str]:
    """Return the words that set the variables of the command.

    Settings that belong to the crawl are written as variables, not as flags. A flag would change the crawl at
    each run, and so undo later changes of the user; a variable is used only if the run makes the crawl.
    """
    is_cluster = any(one.key == "runner.name" and one.value in CLUSTER_RUNNERS for one in origins)
    names = (*CARRIED, PROGRAMS_BY_PATH) if is_cluster else CARRIED
    found = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    found += [f"{variable_of(one.key)}={_text(one)}" for one in origins if _is_given(one) and is_own(one.key)]
    for variable in found:
        if masked(variable) != variable:
            raise _has_secret(variable.partition("=")[0], "name the server without it, by HADOOP_CONF_DIR")
    return ["env", *found] if found else []


def _switches(origins: Sequence[Origin]) -> Iterator[str]:
    """Yield the command line switches that give the command the same settings."""
    files = {one.source for one in origins if not _is_given(one)} - {DEFAULT_SOURCE, OWN_SOURCE}
    yield from (f"--config={Path(name).absolute()}" for name in sorted(files))
    for one in origins:
        if _is_given(one) and one.key != "store" and not is_own(one.key):
            yield f"--set={one.key}={_text(one)}"


def _is_given(one: Origin) -> bool:
    """Return whether a value comes from a flag or an environment variable, which cron would not have."""
    return one.source.startswith(("--", ENVIRONMENT_PREFIX))


def _text(one: Origin) -> str:
    """Return a value as the text of a flag or variable; raise if it holds a secret."""
    plain = msgspec.to_builtins(one.value, enc_hook=str)
    if shown_value(one.key, plain) != plain:
        raise _has_secret(one.key, f"move it from {one.source} into crawl.yaml (chmod 600)")
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _has_secret(name: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"{name} has a password, which the crontab and `ps` would show to others; {remedy}, "
        "then run `crawlctl schedule add` again"
    )


def _program() -> list[str]:
    """Return how to start crawlctl from anywhere: its script, or else the interpreter that runs now."""
    script = Path(sys.executable).with_name("crawlctl")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "crawlctl.cli"]
