"""The estimated cost of a step of work on EMR, in dollars; elsewhere the cost is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerSettings

_HOUR = 3600


def estimated_dollars(runner: RunnerSettings, seconds: float) -> float | None:
    """Return what the machines of the runner cost in this time; None if it is unknown, or not EMR.

    Machines that idle between two commands are not in it, and neither is S3.
    """
    price = _dollars_per_hour(runner) if runner.name == "emr" else None
    return None if price is None else round(price * seconds / _HOUR, 4)


def _dollars_per_hour(runner: RunnerSettings) -> float | None:
    """Return the typical price of the cluster; what is wrong with its plan is said elsewhere."""
    from crawlctl.pipeline.runners.emr.plan.cluster import plan_of
    from crawlctl.pipeline.runners.emr.plan.cost import hourly
    from crawlctl.pipeline.runners.emr.plan.prices import load_prices
    from crawlctl.pipeline.runners.emr.plan.request import planned_request

    try:
        price = hourly(plan_of(*planned_request(runner)), load_prices())
    except Exception:  # the plan asks inner parts of mrjob, and no error of an estimate may stop a commit
        return None
    return None if price is None else price.typical
