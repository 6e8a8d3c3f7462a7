from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.crawl.history.estimated_cost import estimated_dollars
from crawlctl.pipeline.runners.emr.plan import request
from crawlctl.pipeline.runners.emr.plan.cluster import plan_of
from crawlctl.pipeline.runners.emr.plan.cost import hourly
from crawlctl.pipeline.runners.emr.plan.prices import load_prices
from crawlctl.pipeline.runners.emr.plan.request import planned_request
from crawlctl.tests.pipeline.runners.emr.settings import write_conf

if TYPE_CHECKING:
    from pathlib import Path


def test_only_emr_has_a_price() -> None:
    assert estimated_dollars(RunnerSettings(name="forked"), 3600) is None
    assert estimated_dollars(RunnerSettings(name="hadoop"), 3600) is None


def test_an_hour_on_emr_costs_what_the_plan_says(tmp_path: Path) -> None:
    runner = RunnerSettings(name="emr", conf_path=str(write_conf(tmp_path)), tmp_dir=str(tmp_path))
    price = hourly(plan_of(*planned_request(runner)), load_prices())
    assert price is not None
    assert estimated_dollars(runner, 3600) == pytest.approx(price.typical, abs=1e-4)
    assert estimated_dollars(runner, 900) == pytest.approx(price.typical / 4, abs=1e-4)


def test_a_plan_that_cannot_be_read_has_no_price_and_stops_nothing(tmp_path: Path) -> None:
    runner = RunnerSettings(name="emr", conf_path=str(tmp_path / "missing.conf"))
    assert estimated_dollars(runner, 3600) is None


def test_an_mrjob_whose_inner_parts_have_changed_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(runner: RunnerSettings) -> None:
        raise AttributeError("'EMRJobRunner' object has no attribute '_cluster_kwargs'")

    monkeypatch.setattr(request, "planned_request", fail)
    assert estimated_dollars(RunnerSettings(name="emr"), 3600) is None
