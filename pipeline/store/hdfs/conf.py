"""Reads the Hadoop configuration of this machine: core-site.xml and hdfs-site.xml."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SITES = ("core-site.xml", "hdfs-site.xml")
USUAL_FOLDER = Path("/etc/hadoop/conf")
LONGEST_CHAIN = 20  # properties that refer to each other; Hadoop has the same limit

_REFERENCE = re.compile(r"\$\{([^{}$\s]+)\}")


def conf_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of Hadoop's configuration, or None if there is none."""
    if given := environment.get("HADOOP_CONF_DIR"):
        return Path(given)
    home = environment.get("HADOOP_HOME")
    folders = [Path(home, "etc", "hadoop")] if home else []
    return next((one for one in (*folders, USUAL_FOLDER) if (one / SITES[0]).is_file()), None)


class HadoopConf:
    """The properties of core-site.xml and hdfs-site.xml; where both set one, hdfs-site.xml wins."""

    def __init__(self, properties: Mapping[str, str], environment: Mapping[str, str] | None = None) -> None:
        self._properties = properties
        self._environment = environment or {}

    def get(self, name: str, default: str = "") -> str:
        """Return a property, with ${…} replaced by the properties and variables they name."""
        value = self._properties.get(name, default)
        for _ in range(LONGEST_CHAIN):
            resolved = _REFERENCE.sub(self._resolve, value)
            if resolved == value:
                break
            value = resolved
        return value.strip()

    def names(self, name: str) -> tuple[str, ...]:
        """Return the items of a property that is a comma-separated list."""
        return tuple(part.strip() for part in self.get(name).split(",") if part.strip())

    def _resolve(self, reference: re.Match[str]) -> str:
        name = reference[1]
        if name.startswith("env."):
            variable, _, default = name.removeprefix("env.").partition("-")
            return self._environment.get(variable.rstrip(":"), default)
        return self._properties.get(name, reference[0])


def read_conf(environment: Mapping[str, str] = os.environ) -> HadoopConf:
    """Return the configuration of this machine, empty if it has none."""
    folder = conf_folder(environment)
    if folder is None:
        return HadoopConf({})
    if not folder.is_dir():
        raise ConfigError(f"HADOOP_CONF_DIR names {folder}, which is not a folder; correct or unset it")
    properties: dict[str, str] = {}
    for site in SITES:
        properties.update(_properties(folder / site))
    return HadoopConf(properties, environment)


def _properties(path: Path) -> Iterator[tuple[str, str]]:
    try:
        root = ElementTree.fromstring(path.read_bytes())  # noqa: S314 - a file of the administrator, not of a stranger
    except FileNotFoundError:
        return
    except OSError as err:
        raise ConfigError(f"{path}: {err.strerror}; let this user read Hadoop's configuration") from err
    except ElementTree.ParseError as err:
        raise ConfigError(f"{path} is not valid XML: {err}; correct the file") from err
    for element in root.iter("property"):
        name, value = element.findtext("name"), element.findtext("value")
        if name and value is not None:
            yield name.strip(), value
