"""Estimates what a cluster costs per hour, and a whole crawl."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.runners.emr.plan.cluster import MASTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.runners.emr.plan.cluster import Choice, ClusterPlan, Fleet
    from crawlctl.pipeline.runners.emr.plan.prices import Prices

# Measured (bench/README.md): fetch, parse, archive, index and WebDB take 7.9 CPU-s per 1,000 pages of real
# documentation. With smaller pages a whole crawl took 6.2 CPU-s, with index merges, ranks and groups.
CPU_SECONDS_A_PAGE = 0.008
# Not measured on EMR: the start of a cluster, and the time of a step besides its work.
START_SECONDS = 600
STEP_SECONDS = 60
STEPS_A_ROUND = 3  # fetch, WebDB, index
STEPS_AT_THE_END = 5  # ranks and near duplicates


@dataclass(frozen=True)
class Hourly:
    """Dollars per hour: with the cheapest types, the first types named, the most expensive without spot."""

    lowest: float
    typical: float
    highest: float
    surcharge: float  # the share of EMR itself in the typical price


@dataclass(frozen=True)
class CrawlEstimate:
    """The time and cost of a crawl of `pages` pages."""

    pages: int
    rounds: int
    worker_cores: int
    worker_memory_gb: int
    hours: float
    dollars: float
    is_bound_by_hosts: bool


def hourly(cluster: ClusterPlan, prices: Prices) -> Hourly | None:
    """Return the price per hour, None if the table has no type of some fleet."""
    known = [
        [choice for choice in fleet.choices if choice.type in prices.instances] for fleet in cluster.fleets
    ]
    if not all(known):
        return None
    root = cluster.root_disk_gb or 0

    def of(choose: Callable[[list[float]], float], *, is_spot: bool) -> float:
        return sum(
            choose([_price(fleet, choice, root, prices, is_spot=is_spot) for choice in choices])
            for fleet, choices in zip(cluster.fleets, known, strict=True)
        )

    return Hourly(
        lowest=of(min, is_spot=True),
        typical=of(lambda costs: costs[0], is_spot=True),
        highest=of(max, is_spot=False),  # if there is no spot instance anywhere
        surcharge=sum(
            count(capacity, choices[0]) * prices.instances[choices[0].type].emr
            for fleet, choices in zip(cluster.fleets, known, strict=True)
            for capacity in (fleet.on_demand, fleet.spot)
        ),
    )


def _price(fleet: Fleet, choice: Choice, root: int, prices: Prices, *, is_spot: bool) -> float:
    disk = choice.disk_gb + root
    firm = count(fleet.on_demand, choice) * prices.hourly(choice.type, disk, is_spot=False)
    return firm + count(fleet.spot, choice) * prices.hourly(choice.type, disk, is_spot=is_spot)


def count(capacity: int, choice: Choice) -> int:
    """Return how many instances have this capacity together."""
    return math.ceil(capacity / choice.weight)


def estimate(
    cluster: ClusterPlan, prices: Prices, *, pages: int, hosts: int, delay: float, pages_per_round: int
) -> CrawlEstimate | None:
    """Estimate a crawl whose pages are spread evenly over hosts, with one request per host and `delay`."""
    price, (cores, memory_gb) = hourly(cluster, prices), _of_workers(cluster, prices)
    if price is None or not cores:
        return None
    rounds = math.ceil(pages / pages_per_round)
    computing, waiting = pages * CPU_SECONDS_A_PAGE / cores, pages / hosts * delay
    steps = rounds * STEPS_A_ROUND + STEPS_AT_THE_END
    hours = (START_SECONDS + steps * STEP_SECONDS + max(computing, waiting)) / 3600
    dollars = hours * price.typical
    return CrawlEstimate(pages, rounds, cores, memory_gb, hours, dollars, waiting > computing)


def _of_workers(cluster: ClusterPlan, prices: Prices) -> tuple[int, int]:
    """Return the cores and the gigabytes of memory of all workers together."""
    workers = [fleet for fleet in cluster.fleets if fleet.role != MASTER] or cluster.fleets
    nodes = [
        (count(fleet.on_demand + fleet.spot, fleet.choices[0]), prices.instances[fleet.choices[0].type])
        for fleet in workers
        if fleet.choices[0].type in prices.instances
    ]
    cores = sum(number * instance.cores for number, instance in nodes)
    return cores, sum(number * instance.memory_gb for number, instance in nodes)
