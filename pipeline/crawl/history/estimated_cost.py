"""The estimated cost of a step of work on EMR, in dollars; elsewhere the cost is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerSettings

_HOUR = 3600


def estimated_dollars(runner: RunnerSettings, seconds: float) -> float | None:
    """Return the cost of the runner's machines for this time, in dollars; None if unknown, or not EMR.

    Idle machines between two commands, and S3, are not included.
    """
    price = _dollars_per_hour(runner) if runner.name == "emr" else None
    return None if price is None else round(price * seconds / _HOUR, 4)


def _dollars_per_hour(runner: RunnerSettings) -> float | None:
    """Return the typical price of the cluster per hour; errors in its plan are reported by other code."""
    from crawlctl.pipeline.runners.emr.plan.cluster import plan_of
    from crawlctl.pipeline.runners.emr.plan.cost import hourly
    from crawlctl.pipeline.runners.emr.plan.prices import load_prices
    from crawlctl.pipeline.runners.emr.plan.request import planned_request

    try:
        price = hourly(plan_of(*planned_request(runner)), load_prices())
    except Exception:  # the plan uses inner parts of mrjob, and no error of an estimate may stop a commit
        return None
    return None if price is None else price.typical
