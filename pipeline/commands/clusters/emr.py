"""`crawlctl emr`: show which machines a crawl on Amazon EMR would start, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlGroup,
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    say,
    takes_setting,
)
from crawlctl.pipeline.commands.shared.completing import complete_file
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.runners.emr.plan.cluster import ClusterPlan, Fleet
    from crawlctl.pipeline.runners.emr.plan.cost import CrawlEstimate, Hourly
    from crawlctl.pipeline.runners.emr.plan.prices import Prices

SHOWN_COMMAND = 90


@click.group("emr", cls=CrawlctlGroup)
def command() -> None:
    """Plan a crawl on Amazon EMR before it costs anything.

    \b
    Example:
      crawlctl emr plan --conf emr.conf
    """


@command.command("plan")
@takes_setting(
    "--conf",
    key="runner.conf_path",
    metavar="FILE",
    shell_complete=complete_file,
    help="The mrjob configuration file (setting runner.conf_path).",
)
@click.option("--prices", "price_file", type=click.Path(path_type=Path), help="Use another table of prices.")
@click.option("--pages", type=click.IntRange(min=1), help="Estimate the cost of a crawl of this many pages.")
@click.option(
    "--hosts",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="How many hosts the pages are on.",
)
@json_option
@pass_session
def plan(session: Session, *, price_file: Path | None, pages: int | None, hosts: int, as_json: bool) -> None:
    """Print the machines of `run --runner emr` and their cost per hour.

    This does not contact AWS. The prices come from a table with a date (conf/emr-prices.yaml): check them.

    \b
    Example:
      crawlctl emr plan --conf emr.conf --pages 1000000 --hosts 500
    """
    from crawlctl.pipeline.runners.emr.plan.cluster import plan_of
    from crawlctl.pipeline.runners.emr.plan.cost import estimate, hourly
    from crawlctl.pipeline.runners.emr.plan.prices import load_prices
    from crawlctl.pipeline.runners.emr.plan.request import planned_request
    from crawlctl.pipeline.runners.emr.plan.warnings import warnings_of

    session.flag("runner.name", "emr", "emr plan")
    config, prices = session.given.config, load_prices(price_file)
    request, options = planned_request(config.runner)
    cluster = plan_of(request, options)
    price, expected = hourly(cluster, prices), None
    if pages is not None:
        delay, most = float(config.politeness.delay), config.round.max_pages
        expected = estimate(cluster, prices, pages=pages, hosts=hosts, delay=delay, pages_per_round=most)
    warnings = list(warnings_of(cluster, options, prices))
    if as_json:
        fields = {"cluster": cluster, "hourly": price, "prices_of": prices.date, "crawl": expected}
        print_json({**fields, "warnings": warnings})
        return
    print_fields({**dict(_of_cluster(cluster)), **dict(_of_cost(price, expected, prices))})
    for warning in warnings:
        say(f"warning: {warning}")


def _of_cluster(cluster: ClusterPlan) -> Iterator[tuple[str, object]]:
    yield "release", f"{cluster.release}, {cluster.python or 'no python_bin'}"
    yield "region", f"{cluster.region}, {', '.join(cluster.subnets) or 'no subnet'}"
    for fleet in cluster.fleets:
        yield fleet.role, _of_fleet(fleet)
    yield "roles", f"{cluster.service_role} (EMR), {cluster.instance_profile} (nodes)"
    yield "files", f"{cluster.tmp_dir} (jobs), {cluster.log_dir} (logs)"
    yield "bootstrap", "\n".join(map(_shortened, cluster.bootstrap)) or "none"
    yield "pool", cluster.pool or "none: a cluster for each job"
    yield "idle", _of_idling(cluster)


def _shortened(command: str) -> str:
    return command if len(command) <= SHOWN_COMMAND else command[: SHOWN_COMMAND - 2] + " …"


def _of_fleet(fleet: Fleet) -> str:
    types = " or ".join(
        choice.type if choice.weight == 1 else f"{choice.type} (counts {choice.weight})"
        for choice in fleet.choices
    )
    parts = ((fleet.on_demand, "on demand"), (fleet.spot, "spot"))
    wanted = " + ".join(f"{capacity} {market}" for capacity, market in parts if capacity)
    disks = " or ".join(map(str, sorted({choice.disk_gb for choice in fleet.choices})))
    return f"{wanted}: {types}; disk {disks} GB"


def _of_idling(cluster: ClusterPlan) -> str:
    if cluster.pool is None:
        return "ends with its job"
    if cluster.idle_minutes is None and cluster.idle_script_minutes is None:
        return "never ends by itself"
    ways = ((cluster.idle_minutes, "EMR"), (cluster.idle_script_minutes, "a script"))
    return "ends after " + ", ".join(f"{minutes:g} min by {who}" for minutes, who in ways if minutes)


def _of_cost(
    price: Hourly | None, crawl: CrawlEstimate | None, prices: Prices
) -> Iterator[tuple[str, object]]:
    if price is None:
        yield "an hour", "not known: the price table lacks all types of a fleet"
        return
    span = f"${price.lowest:.2f} to ${price.highest:.2f} by types and spot market"
    yield "an hour", f"${price.typical:.2f}, of it ${price.surcharge:.2f} for EMR itself ({span})"
    yield (
        "prices",
        f"of {prices.date} in {prices.region}, {prices.source}: check them at AWS; without S3",
    )
    if crawl is not None:
        workers = f"{counted(crawl.worker_cores, 'core')} with {crawl.worker_memory_gb} GB"
        bound = "the politeness of its hosts" if crawl.is_bound_by_hosts else "these cores"
        took = f"{crawl.hours:.1f} h, ${crawl.dollars:.2f} on {workers}, bound by {bound}"
        yield "a crawl", f"{counted(crawl.pages, 'page')}, {counted(crawl.rounds, 'round')}: {took}"
