from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.hdfs import conf as hdfs_conf
from crawlctl.pipeline.store.hdfs.conf import HadoopConf, read_conf

if TYPE_CHECKING:
    from pathlib import Path


def site(**properties: str) -> str:
    lines = (f"<property><name>{n}</name><value>{v}</value></property>" for n, v in properties.items())
    return f"<?xml version='1.0'?>\n<configuration>{''.join(lines)}</configuration>"


@pytest.fixture(autouse=True)
def _nothing_in_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs_conf, "USUAL_FOLDER", tmp_path / "usual")


def test_both_files_are_read_and_the_second_overrides(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(site(a="1", b=" spaced \n"))
    (tmp_path / "hdfs-site.xml").write_text(site(a="2"))
    conf = read_conf({"HADOOP_CONF_DIR": str(tmp_path)})
    assert (conf.get("a"), conf.get("b"), conf.get("c"), conf.get("c", "d")) == ("2", "spaced", "", "d")


def test_a_folder_without_files_says_nothing(tmp_path: Path) -> None:
    assert read_conf({"HADOOP_CONF_DIR": str(tmp_path)}).get("fs.defaultFS") == ""
    assert read_conf({}).get("fs.defaultFS") == ""


@pytest.mark.parametrize("place", ["home/etc/hadoop", "usual"])
def test_without_the_variable_the_usual_places_are_looked_at(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "core-site.xml").write_text(site(a="found"))
    assert read_conf({"HADOOP_HOME": str(tmp_path / "home")}).get("a") == "found"


def test_references_are_resolved_and_loops_end() -> None:
    conf = HadoopConf(
        {"host": "nn.example", "web": "${host}:${port}", "port": "${env.PORT:-9870}", "loop": "${loop}x"},
        {},
    )
    assert conf.get("web") == "nn.example:9870"
    assert HadoopConf({"port": "${env.PORT}"}, {"PORT": "1"}).get("port") == "1"
    assert conf.get("loop").startswith("${loop}x")
    assert conf.get("none", "${host}") == "nn.example"


def test_a_list_is_parted_by_commas() -> None:
    assert HadoopConf({"names": " a, b ,,c"}).names("names") == ("a", "b", "c")


def test_a_variable_that_names_no_folder_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"HADOOP_CONF_DIR names .*nowhere, which is not a folder; correct"):
        read_conf({"HADOOP_CONF_DIR": str(tmp_path / "nowhere")})


def test_a_file_that_is_not_xml_is_explained(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text("<configuration><property>")
    with pytest.raises(ConfigError, match=r"core-site.xml is not valid XML: .*; correct the file"):
        read_conf({"HADOOP_CONF_DIR": str(tmp_path)})
