"""Where settings are looked for, and how a file of them is read.

To load them all takes a quarter of the time of a small query, which needs but the store; so that alone can be
found out here, as long as nothing is set that would have to be checked.
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
WEBHDFS_VARIABLE = "CRAWLCTL_WEBHDFS"  # the way to a cluster, not a setting of the crawl
USUAL_PLACES = ("crawl.yaml", "conf/crawl.yaml")

DEFAULT_STORE = "crawl"


def settings_file(environment: Mapping[str, str]) -> Path | None:
    """Return the file named by the environment, or else the first that lies in a usual place."""
    found = environment.get(CONFIG_VARIABLE) or next(filter(os.path.isfile, USUAL_PLACES), None)
    if found is None:
        return None
    from pathlib import Path

    return Path(found)


def only_store(environment: Mapping[str, str], path: Path | None = None) -> str | None:
    """Return the store where that can be told without the other settings, else None.

    A file that does not name it may have misspelt it, and a variable that we do not look at here as well.
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
    """Return the mapping a YAML file holds; an empty file is an empty mapping."""
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read ({err.strerror}); check --config and {CONFIG_VARIABLE}"
        ) from err
    except ValueError as err:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(err).split())}; mend the file") from err
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: holds no settings; write lines such as 'partitions: 8'")
    return content


def parse_yaml(text: str) -> Any:
    """Return what a text means as YAML, or raise ValueError; by libyaml where PyYAML was built with it."""
    import yaml

    try:
        # Both are safe ones; libyaml takes a tenth of the time.
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError as err:
        raise ValueError(str(err)) from err
