"""Finds and reads the settings file, and finds out the store without loading all settings.

A query needs only the store. Loading all settings would take a quarter of the time of a small query.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENVIRONMENT_PREFIX = "CRAWLCTL_"
CONFIG_VARIABLE = "CRAWLCTL_CONFIG"
STORE_VARIABLE = "CRAWLCTL_STORE"
WEBHDFS_VARIABLE = "CRAWLCTL_WEBHDFS"  # the address of a cluster, which is not a setting of the crawl
DEFAULT_FILES = ("crawl.yaml", "conf/crawl.yaml")

DEFAULT_STORE = "crawl"


def settings_file(environment: Mapping[str, str]) -> Path | None:
    """Return the settings file that CRAWLCTL_CONFIG names, else the first of DEFAULT_FILES that exists."""
    found = environment.get(CONFIG_VARIABLE) or next(filter(os.path.isfile, DEFAULT_FILES), None)
    if found is None:
        return None
    from pathlib import Path

    return Path(found)


def only_store(environment: Mapping[str, str], path: Path | None = None) -> str | None:
    """Return the store, or None if all settings must be loaded to find it out.

    All settings must be loaded if the file does not name a store, because the name `store` may be misspelt,
    and if a CRAWLCTL_ variable is set that this module does not know, because it must be checked.
    """
    variables = {name for name in environment if name.startswith(ENVIRONMENT_PREFIX)}
    if not variables <= {CONFIG_VARIABLE, STORE_VARIABLE, WEBHDFS_VARIABLE}:
        return None
    if STORE_VARIABLE in variables:
        return environment[STORE_VARIABLE]
    file = path or settings_file(environment)
    if file is None:
        return DEFAULT_STORE
    named = read_yaml(file).get("store")
    return named if isinstance(named, str) else None


def read_yaml(path: Path) -> Mapping[str, Any]:
    """Return the mapping in a YAML file; an empty file is an empty mapping."""
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read ({err.strerror}); check --config and {CONFIG_VARIABLE}"
        ) from err
    except ValueError as err:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(err).split())}; correct the file") from err
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: holds no settings; write lines such as 'partitions: 8'")
    return content


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text, or raise ValueError."""
    import yaml

    try:
        # Both loaders are safe. The one in C takes a tenth of the time; PyYAML may be built without it.
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError as err:
        raise ValueError(str(err)) from err
