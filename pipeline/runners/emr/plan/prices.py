"""The price table of EC2 instances and EMR."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

import crawlctl
from crawlctl.pipeline.config.locations import read_yaml
from crawlctl.pipeline.errors import ConfigError

OURS = Path(crawlctl.__file__).parent / "conf" / "emr-prices.yaml"
HOURS_PER_MONTH = 730


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instance type; prices in dollars per hour."""

    cores: int
    memory_gb: int
    architecture: Literal["arm64", "x86_64"]
    ec2: float
    emr: float


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list prices of a region on a date, in dollars, and the source of these prices."""

    date: str
    source: str
    region: str
    spot_fraction: float
    disk_gb_month: float
    address_hour: float
    instances: dict[str, Instance]

    def hourly(self, kind: str, disk_gb: int, *, is_spot: bool) -> float:
        """Return the cost of a node per hour, with its disk and its address."""
        instance = self.instances[kind]
        machine = instance.ec2 * (self.spot_fraction if is_spot else 1.0)
        disk = disk_gb * self.disk_gb_month / HOURS_PER_MONTH
        return machine + instance.emr + disk + self.address_hour


def load_prices(path: Path | None = None) -> Prices:
    """Return the price table in a file, or the table that comes with crawlctl."""
    source = path or OURS
    try:
        return msgspec.convert(read_yaml(source), Prices)
    except msgspec.ValidationError as err:
        raise ConfigError(f"{source}: {err}; see conf/emr-prices.yaml for the form of a price table") from err
