from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.runners.spark import spark_switches, split_lines
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.few_packages import FEW_PACKAGES
from crawlctl.tests.hadoop.crawls import Crawl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Load = Callable[[str], Any]

pytestmark = pytest.mark.slow


def test_each_line_becomes_a_file_in_order(tmp_path: Path) -> None:
    for name, text in (("a", "one\ntwo\n"), ("b", "three")):
        (tmp_path / name).write_text(text)
    split_lines([str(tmp_path / "a"), str(tmp_path / "b")], tmp_path / "lines")
    written = sorted((tmp_path / "lines").iterdir())
    assert [path.read_text() for path in written] == ["one\n", "two\n", "three"]


def test_spark_stays_on_this_machine_and_in_its_folder(tmp_path: Path) -> None:
    switches = spark_switches(tmp_path, 3)
    assert switches[:4] == ["--spark-master", "local[3]", "--spark-tmp-dir", str(tmp_path)]
    assert f"spark.local.dir={tmp_path}" in switches


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "local-cluster[2,1,1024]"])
def test_a_cluster_of_spark_is_refused_before_any_work(
    master: str, job: Load, tmp_path: Path, scratch: Path
) -> None:
    (tmp_path / "input").write_text("a\n")
    settings = RunnerSettings(
        name="spark", tmp_dir=str(scratch), options=("--spark-master", master, "--spark-submit-bin", "false")
    )
    with pytest.raises(ConfigError, match=r"nodes would lack what crawlctl needs; use --runner hadoop"):
        run_job(job("line_a_task.LineATask"), [tmp_path / "input"], settings=settings)
    assert list(scratch.iterdir()) == []


def test_packed_output_is_refused_since_spark_writes_text(job: Load, tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "input").write_text("[0, '']\n")
    settings = RunnerSettings(name="spark", tmp_dir=str(scratch), options=("--spark-submit-bin", "false"))
    with pytest.raises(
        ConfigError, match=r"output of Shards is packed bytes.*; use --runner forked or hadoop"
    ):
        run_job(job("shards.Shards"), [tmp_path / "input"], settings=settings)
    assert list(scratch.iterdir()) == []


@pytest.fixture
def spark() -> None:
    pytest.importorskip("pyspark", reason="pyspark (the interop extra) is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")


@pytest.mark.integration
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(600)
def test_spark_gives_what_the_others_give_and_leaves_nothing_behind(
    job: Load, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    monkeypatch.setattr(tempfile, "tempdir", None)
    source = tmp_path / "input"
    source.write_text("to be or not to be\n")
    settings = RunnerSettings(name="spark", workers=2, tmp_dir=str(scratch))
    result = run_job(job("word_count.WordCount"), [source], settings=settings)
    assert sorted(result.output) == [(1, ["not", "or"]), (2, ["be", "to"])]
    assert result.counters.groups == {"counts": {"different": 2}, "words": {"different": 4, "lines": 1}}
    assert list(scratch.iterdir()) == list(elsewhere.iterdir()) == []


@pytest.mark.integration
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(1200)
def test_a_round_of_a_crawl_is_the_same_on_spark(tmp_path: Path) -> None:
    with demo_web(packages=FEW_PACKAGES) as web:
        for name in ("forked", "spark"):
            folder = tmp_path / name
            Crawl.prepare(folder, str(folder / "crawl"), web.seeds, {"name": name, "workers": 2}, {})
            command = [
                sys.executable,
                "-m",
                "crawlctl.cli",
                "run",
                "--iterations",
                "1",
                "--seed",
                "seeds.txt",
            ]
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
            assert list((folder / "scratch").iterdir()) == []
    on_spark, forked = (crawled(open_store(str(tmp_path / name / "crawl"))) for name in ("spark", "forked"))
    assert len(forked.documents) > 0
    assert_same(on_spark, forked)
