from __future__ import annotations

from pathlib import Path

import pytest

from crawlctl.pipeline.config.load import load_config
from crawlctl.pipeline.config.locations import only_store
from crawlctl.pipeline.errors import ConfigError

FILES = {
    "": "",
    "named": "store: s3://bucket/named\npartitions: 3\n",
    "quoted": "{'store': \"quoted folder\"}\n",
    "unnamed": "partitions: 3\n",
    "misspelt": "stoer: elsewhere\n",
    "number": "store: 7\n",
}


@pytest.mark.parametrize("content", [None, *FILES])
@pytest.mark.parametrize(
    "environment", [{}, {"CRAWLCTL_STORE": "variable"}, {"CRAWLCTL_PARTITIONS": "3"}, {"HOME": "/"}]
)
def test_the_store_alone_is_the_store_of_all_settings(
    content: str | None, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("crawl.yaml").write_text(FILES[content])
    found = only_store(environment)
    try:
        expected = load_config(environment, {}).config.store
    except ConfigError:
        # A variable goes before what a file says, be that right or wrong.
        assert found in (None, environment.get("CRAWLCTL_STORE"))
    else:
        assert found in (None, expected)


def test_it_can_be_told_where_nothing_else_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert only_store({}) == "crawl"
    Path("other.yaml").write_text(FILES["named"])
    assert only_store({"CRAWLCTL_CONFIG": "other.yaml"}) == "s3://bucket/named"
    assert only_store({}, Path("other.yaml")) == "s3://bucket/named"
    assert only_store({"CRAWLCTL_STORE": "x", "CRAWLCTL_STOER": "y"}) is None


@pytest.mark.parametrize("content", [b"store: [", b"\xff", b"- a list\n"])
def test_a_file_that_holds_no_settings_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "crawl.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError):
        only_store({}, path)
