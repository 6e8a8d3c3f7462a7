"""Warnings about a planned cluster: what may fail, or cost more than it should."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.runners.emr.options import placeholders
from crawlctl.pipeline.runners.emr.plan.cluster import MASTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlctl.pipeline.runners.emr.plan.cluster import ClusterPlan
    from crawlctl.pipeline.runners.emr.plan.prices import Prices

POLICY_TAG = "for-use-with-amazon-emr-managed-policies"
OLDEST_RELEASE = (7, 1)  # the first with Python 3.11, according to AWS
SHORT_OF_PYTHON = ("python", "python3", "python3.7", "python3.8", "python3.9", "python3.10")


def warnings_of(cluster: ClusterPlan, options: Mapping[str, Any], prices: Prices) -> Iterator[str]:
    """Yield a line per thing to check before the cluster is started."""
    if found := sorted(set(placeholders(options))):
        yield f"placeholders are left in {', '.join(found)}: fill in the outputs of the stack"
    yield from _of_roles(cluster)
    yield from _of_idling(cluster)
    yield from _of_nodes(cluster, options, prices)
    yield from _of_python(cluster)
    yield from _of_prices(cluster, prices)


def _of_roles(cluster: ClusterPlan) -> Iterator[str]:
    if not cluster.service_role or not cluster.instance_profile:
        yield "iam_service_role and iam_instance_profile must both be set: run refuses to have roles made"
    if cluster.tags.get(POLICY_TAG) != "true":
        yield f"the tag {POLICY_TAG}: 'true' is missing, which AWS's policy for service roles demands"
    if not cluster.subnets:
        yield "no subnet is set: EMR takes one of the default network, and jobs may not share clusters there"


def _of_idling(cluster: ClusterPlan) -> Iterator[str]:
    if cluster.pool is None:
        yield "pool_clusters is off: every job starts a cluster of its own, several a round"
    elif cluster.idle_minutes is None and cluster.idle_script_minutes is None:
        yield "nothing ends an idle cluster: set AutoTerminationPolicy in extra_cluster_params"
    elif cluster.idle_minutes is None:
        yield "only a script on the master ends an idle cluster: set AutoTerminationPolicy too"


def _of_nodes(cluster: ClusterPlan, options: Mapping[str, Any], prices: Prices) -> Iterator[str]:
    for fleet in cluster.fleets:
        if fleet.role == MASTER and not fleet.on_demand:
            yield "the master is a spot instance: when it is taken away, the cluster and its jobs are gone"
    if not any(fleet.role != MASTER for fleet in cluster.fleets):
        yield "there are no workers: all tasks run on the master"
    if options["upload_archives"] and len(_architectures(cluster, prices)) > 1:
        yield "instances of x86 and of Graviton: a packed environment fits one of them only"


def _architectures(cluster: ClusterPlan, prices: Prices) -> set[str]:
    types = {choice.type for fleet in cluster.fleets for choice in fleet.choices}
    return {prices.instances[one].architecture for one in types & prices.instances.keys()}


def _of_python(cluster: ClusterPlan) -> Iterator[str]:
    version = re.match(r"emr-(\d+)\.(\d+)", cluster.release or "")
    if version and tuple(map(int, version.groups())) < OLDEST_RELEASE:
        yield f"{cluster.release} has no Python 3.11: take emr-7.1.0 or later"
    if cluster.python is None or cluster.python in SHORT_OF_PYTHON:
        yield f"python_bin is {cluster.python or 'not set'}: name python3.11, crawlctl needs 3.11 or later"


def _of_prices(cluster: ClusterPlan, prices: Prices) -> Iterator[str]:
    unknown = {choice.type for fleet in cluster.fleets for choice in fleet.choices} - prices.instances.keys()
    if unknown:
        yield f"there is no price for {', '.join(sorted(unknown))}: add it to a copy of conf/emr-prices.yaml"
    if prices.region != cluster.region:
        yield f"prices are those of {prices.region}, not of {cluster.region}"
