"""Checks the options of the EMR runner: all must be set, and no placeholder of conf/emr.conf left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACEHOLDER = "your-"
# Without them mrjob would look for a bucket of its own, and create roles with outdated policies of AWS.
DEMANDED = ("cloud_tmp_dir", "iam_service_role", "iam_instance_profile")
REMEDY = "copy conf/emr.conf, fill in the outputs of the stack (docs/emr.md) and name it by runner.conf_path"


def check_options(options: Mapping[str, Any]) -> None:
    """Raise an error for options with which no cluster can be started."""
    if options["cluster_id"]:
        absent = [] if options["cloud_tmp_dir"] else ["cloud_tmp_dir"]
    else:
        absent = [name for name in DEMANDED if not options[name]]
    if absent:
        raise ConfigError(f"the emr runner needs {', '.join(absent)}; {REMEDY}")
    if found := sorted(set(placeholders(options))):
        raise ConfigError(f"the emr runner has placeholders in {', '.join(found)}; {REMEDY}")


def placeholders(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of each option that still has a placeholder."""
    for name, value in options.items():
        if any(PLACEHOLDER in text for text in _texts(value)):
            yield name


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
