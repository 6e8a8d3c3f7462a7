"""`crawlctl emr plan`: what would be started, what it costs, and what to look at before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from crawlctl.cli import run
from crawlctl.pipeline.runners.emr.plan.cluster import Choice, ClusterPlan, Fleet, plan_of
from crawlctl.pipeline.runners.emr.plan.cost import estimate, hourly
from crawlctl.pipeline.runners.emr.plan.prices import Instance, Prices, load_prices
from crawlctl.tests.pipeline.runners.emr.settings import filled_in

if TYPE_CHECKING:
    from pathlib import Path

PRICES = Prices(
    date="2000-01",
    source="made up",
    region="us-east-1",
    spot_fraction=0.5,
    disk_gb_month=0.73,  # a thousandth of a dollar an hour
    address_hour=0.25,
    instances={
        "small": Instance(2, 8, "x86_64", 1.0, 0.5),
        "large": Instance(8, 32, "arm64", 3.0, 1.0),
    },
)


def cluster(*fleets: Fleet, root: int = 0) -> ClusterPlan:
    request = {"Instances": {"InstanceGroups": []}, "BootstrapActions": [], "EbsRootVolumeSize": root}
    options = {
        "region": "us-east-1",
        "cloud_tmp_dir": "s3://bucket/tmp/",
        "bootstrap": [],
        "python_bin": ["python3.11"],
        "pool_clusters": False,
    }
    made = plan_of(request, options)
    return ClusterPlan(**{**vars(made), "fleets": fleets})


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(["emr", "plan", *arguments]) == code
    printed = capsys.readouterr()
    return printed.err if code else printed.out


def planned(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str, **changes: Any) -> Any:
    path = folder / "emr.conf"
    path.write_text(yaml.safe_dump(filled_in(**changes)))
    return json.loads(shown(capsys, "--conf", str(path), "--json", *arguments))


def test_a_node_costs_its_machine_the_surcharge_its_disk_and_its_address() -> None:
    assert PRICES.hourly("small", 1000, is_spot=False) == pytest.approx(1.0 + 0.5 + 1.0 + 0.25)
    assert PRICES.hourly("small", 1000, is_spot=True) == pytest.approx(0.5 + 0.5 + 1.0 + 0.25)


def test_an_hour_is_cheapest_with_the_cheapest_types_and_dearest_without_spot() -> None:
    master = Fleet("master", (Choice("small", 1, 0),), 1, 0)
    core = Fleet("core", (Choice("large", 4, 0), Choice("small", 1, 0)), 0, 4)
    price = hourly(cluster(master, core), PRICES)
    assert price is not None
    assert price.lowest == pytest.approx(1.75 + min(1.5 + 1.0 + 0.25, 4 * 1.25))
    assert price.typical == pytest.approx(1.75 + 1.5 + 1.0 + 0.25)
    assert price.highest == pytest.approx(1.75 + max(3.0 + 1.0 + 0.25, 4 * 1.75))
    assert price.surcharge == pytest.approx(0.5 + 1.0)


def test_capacity_is_rounded_up_to_whole_instances_and_each_has_a_root_disk() -> None:
    core = Fleet("core", (Choice("large", 4, 500),), 5, 0)
    price = hourly(cluster(core, root=500), PRICES)
    assert price is not None and price.typical == pytest.approx(2 * (3.0 + 1.0 + 1.0 + 0.25))


def test_a_type_without_a_price_is_left_out_and_a_fleet_of_them_has_none() -> None:
    known = Fleet("core", (Choice("other", 1, 0), Choice("small", 1, 0)), 1, 0)
    unknown = Fleet("core", (Choice("other", 1, 0),), 1, 0)
    price = hourly(cluster(known), PRICES)
    assert price is not None and price.lowest == price.highest == pytest.approx(1.75)
    assert hourly(cluster(unknown), PRICES) is None
    assert estimate(cluster(unknown), PRICES, pages=1, hosts=1, delay=1, pages_per_round=1) is None


def test_a_crawl_takes_what_its_hosts_or_its_cores_allow() -> None:
    core = Fleet("core", (Choice("small", 1, 0),), 4, 0)
    common = {"pages": 3_600_000, "pages_per_round": 1_000_000}
    slow = estimate(cluster(core), PRICES, **common, hosts=100, delay=1.0)
    quick = estimate(cluster(core), PRICES, **common, hosts=1_000_000, delay=1.0)
    assert slow is not None and quick is not None
    assert (slow.rounds, slow.worker_cores, slow.worker_memory_gb) == (
        4,
        8,
        4 * PRICES.instances["small"].memory_gb,
    )
    assert slow.is_bound_by_hosts and not quick.is_bound_by_hosts
    assert slow.hours - quick.hours == pytest.approx(10 - 1)  # 3.6 M x 8 ms on 8 cores are an hour
    assert slow.dollars == pytest.approx(slow.hours * 4 * 1.75)


def test_our_settings_filled_in_give_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(tmp_path, capsys)
    assert told["warnings"] == []
    assert told["cluster"]["release"] == "emr-7.13.0"
    assert told["cluster"]["pool"] == "crawlctl"
    assert (told["cluster"]["idle_minutes"], told["cluster"]["idle_script_minutes"]) == (10, 30)
    assert [fleet["role"] for fleet in told["cluster"]["fleets"]] == ["master", "core"]
    assert 0 < told["hourly"]["lowest"] <= told["hourly"]["typical"] <= told["hourly"]["highest"]


def test_our_settings_as_they_are_are_told_to_have_placeholders(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "--pages", "1000000")
    assert "warning: placeholders are left in cloud_log_dir, cloud_tmp_dir" in told
    assert "1 on demand + 3 spot: m6g.xlarge or m7g.xlarge" in told
    assert "ends after 10 min by EMR, 30 min by a script" in told
    assert "from memory: check them at AWS" in told
    assert "a crawl    1,000,000 pages, 10 rounds: " in told


GROUPS = [
    {"InstanceRole": "MASTER", "InstanceCount": 1, "InstanceType": "m5.xlarge", "Market": "SPOT"},
    {"InstanceRole": "CORE", "InstanceCount": 2, "InstanceType": "m6g.xlarge"},
]


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"iam_service_role": None}, "iam_service_role and iam_instance_profile must both be set"),
        ({"tags": {}}, "the tag for-use-with-amazon-emr-managed-policies: 'true' is missing"),
        ({"subnet": None}, "no subnet is set"),
        ({"pool_clusters": False}, "pool_clusters is off"),
        ({"extra_cluster_params": {}}, "only a script on the master ends an idle cluster"),
        ({"instance_fleets": None, "instance_groups": GROUPS}, "the master is a spot instance"),
        ({"instance_fleets": None, "instance_type": "m5.xlarge"}, "there are no workers"),
        (
            {
                "instance_fleets": None,
                "instance_groups": GROUPS,
                "upload_archives": ["s3://b/env.tar.gz#env"],
            },
            "instances of x86 and of Graviton",
        ),
        ({"release_label": "emr-6.15.0"}, "emr-6.15.0 has no Python 3.11"),
        ({"python_bin": "python3"}, "python_bin is python3: name python3.11"),
        ({"python_bin": "python3.10"}, "python_bin is python3.10: name python3.11, crawlctl needs 3.11"),
        ({"python_bin": None}, "python_bin is not set"),
        ({"instance_fleets": None, "instance_type": "x9.large"}, "there is no price for x9.large"),
        ({"region": "eu-west-1"}, "prices are those of us-east-1, not of eu-west-1"),
        ({"cloud_tmp_dir": None}, "placeholders are left in cloud_tmp_dir"),
    ],
)
def test_what_is_likely_to_go_wrong_is_warned_of(
    changes: dict[str, Any], warning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = planned(tmp_path, capsys, **changes)["warnings"]
    assert any(line.startswith(warning) for line in told), told


def test_a_table_of_ones_own_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = yaml.safe_load((load_prices.__globals__["OURS"]).read_text())
    for instance in table["instances"].values():
        instance["ec2"] = 0
        instance["emr"] = 1
    table.update(address_hour=0, disk_gb_month=0)
    (tmp_path / "prices.yaml").write_text(yaml.safe_dump(table))
    told = planned(tmp_path, capsys, "--prices", str(tmp_path / "prices.yaml"))
    assert told["hourly"]["typical"] == told["hourly"]["surcharge"] == 5  # nodes


def test_a_table_or_settings_that_cannot_be_read_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.yaml").write_text("date: 1\n")
    assert "see conf/emr-prices.yaml" in shown(capsys, "--prices", str(tmp_path / "prices.yaml"), code=2)
    assert "none.conf does not exist" in shown(capsys, "--conf", str(tmp_path / "none.conf"), code=2)
    (tmp_path / "emr.conf").write_text("runners: {emr: {region: [}}")
    assert "correct the settings of the runner" in shown(capsys, "--conf", str(tmp_path / "emr.conf"), code=2)


def test_our_prices_are_dated_and_agree_with_what_amazon_says_of_the_types() -> None:
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    prices = load_prices()
    for name, instance in prices.instances.items():
        known = INSTANCE_TYPES[name]
        assert known["VCpuInfo"]["DefaultVCpus"] == instance.cores, name
        assert known["MemoryInfo"]["SizeInMiB"] == instance.memory_gb * 1024, name
        assert known["ProcessorInfo"]["SupportedArchitectures"] == [instance.architecture], name
        assert instance.emr == pytest.approx(instance.ec2 / 4, rel=0.02), name
    assert prices.date < "2027"
