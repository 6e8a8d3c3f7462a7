"""ClusterPlan: the cluster that a request to EMR describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MASTER = "master"
IDLE_SCRIPT = "idle timeout"  # the name mrjob gives its bootstrap action


@dataclass(frozen=True)
class Choice:
    """An instance type that EMR may choose, the capacity that one instance counts for, and its disk."""

    type: str
    weight: int
    disk_gb: int


@dataclass(frozen=True)
class Fleet:
    """The nodes of one role in the cluster; capacities are sums of the weights of instances."""

    role: str
    choices: tuple[Choice, ...]
    on_demand: int
    spot: int


@dataclass(frozen=True)
class ClusterPlan:
    """The cluster that would be started; a field that is not set is None."""

    release: str | None
    region: str
    fleets: tuple[Fleet, ...]
    service_role: str | None
    instance_profile: str | None
    subnets: tuple[str, ...]
    tmp_dir: str
    log_dir: str | None
    root_disk_gb: int | None
    bootstrap: tuple[str, ...]
    python: str | None
    pool: str | None
    idle_minutes: float | None  # minutes without work until EMR ends the cluster
    idle_script_minutes: float | None  # the same, until a script on the master ends it
    tags: Mapping[str, str]


def plan_of(request: Mapping[str, Any], options: Mapping[str, Any]) -> ClusterPlan:
    """Return the cluster of a RunJobFlow request and of the options that it was made from."""
    instances = request["Instances"]
    fleets = instances.get("InstanceFleets")
    policy = request.get("AutoTerminationPolicy") or {}
    return ClusterPlan(
        release=request.get("ReleaseLabel"),
        region=options["region"],
        fleets=tuple(map(_fleet, fleets) if fleets else map(_group, instances["InstanceGroups"])),
        service_role=request.get("ServiceRole"),
        instance_profile=request.get("JobFlowRole"),
        subnets=tuple(instances.get("Ec2SubnetIds") or filter(None, [instances.get("Ec2SubnetId")])),
        tmp_dir=options["cloud_tmp_dir"],
        log_dir=request.get("LogUri"),
        root_disk_gb=request.get("EbsRootVolumeSize"),
        bootstrap=tuple(options["bootstrap"]),
        python=(options["python_bin"] or [None])[0],
        pool=options["pool_name"] if options["pool_clusters"] else None,
        idle_minutes=policy["IdleTimeout"] / 60 if policy.get("IdleTimeout") else None,
        idle_script_minutes=_idle_script(request),
        tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", ())},
    )


def _fleet(fleet: Mapping[str, Any]) -> Fleet:
    return Fleet(
        role=fleet["InstanceFleetType"].lower(),
        choices=tuple(
            Choice(config["InstanceType"], config.get("WeightedCapacity", 1), _disk(config))
            for config in fleet["InstanceTypeConfigs"]
        ),
        on_demand=fleet.get("TargetOnDemandCapacity", 0),
        spot=fleet.get("TargetSpotCapacity", 0),
    )


def _group(group: Mapping[str, Any]) -> Fleet:
    count, is_spot = group["InstanceCount"], group.get("Market") == "SPOT"
    choice = Choice(group["InstanceType"], 1, _disk(group))
    return Fleet(group["InstanceRole"].lower(), (choice,), 0 if is_spot else count, count if is_spot else 0)


def _disk(config: Mapping[str, Any]) -> int:
    devices = config.get("EbsConfiguration", {}).get("EbsBlockDeviceConfigs", ())
    return sum(one["VolumeSpecification"]["SizeInGB"] * one.get("VolumesPerInstance", 1) for one in devices)


def _idle_script(request: Mapping[str, Any]) -> float | None:
    for action in request["BootstrapActions"]:
        if action["Name"] == IDLE_SCRIPT:
            return float(action["ScriptBootstrapAction"]["Args"][0]) / 60
    return None
