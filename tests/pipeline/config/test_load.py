from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawlctl.pipeline.config.load import load_config, setting_types, variable_of
from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.errors import ConfigError

SETTINGS = sorted(key for key, _ in setting_types(Config))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def source_of(key: str, **arguments: Any) -> tuple[object, str]:
    loaded = load_config(**{"environment": {}, "flags": {}, **arguments})
    return next((origin.value, origin.source) for origin in loaded.origins if origin.key == key)


def test_without_any_layer_every_value_is_the_default() -> None:
    loaded = load_config({}, {})
    assert loaded.config == Config()
    assert {origin.source for origin in loaded.origins} == {"default"}


def test_each_layer_overrides_the_one_before(empty_folder: Path) -> None:
    (empty_folder / "crawl.yaml").write_text("partitions: 8\ngc:\n  min_age: 2h\nlease: {ttl: 30s}\n")
    environment = {"CRAWLCTL_PARTITIONS": "16", "CRAWLCTL_GC_MIN_AGE": "3h", "HOME": "/nowhere"}
    loaded = load_config(environment, {"partitions": ("32", "--partitions")})
    config = loaded.config
    assert (config.partitions, config.gc.min_age.whole, config.lease.ttl.whole) == (32, 3 * 3600, 30)
    sources = {origin.key: origin.source for origin in loaded.origins}
    assert sources["partitions"] == "--partitions"
    assert sources["gc.min_age"] == "CRAWLCTL_GC_MIN_AGE"
    assert sources["lease.ttl"] == "crawl.yaml"
    assert sources["store"] == "default"


def test_the_file_named_by_the_environment_comes_before_the_usual_places(empty_folder: Path) -> None:
    (empty_folder / "crawl.yaml").write_text("partitions: 8")
    (empty_folder / "other.yaml").write_text("partitions: 9")
    assert source_of("partitions", environment={"CRAWLCTL_CONFIG": "other.yaml"}) == (9, "other.yaml")


def test_lists_can_be_given_by_environment() -> None:
    environment = {"CRAWLCTL_URLS_STRIP_PARAMETERS": "[utm_*, gclid]"}
    assert load_config(environment, {}).config.urls.strip_parameters == ("utm_*", "gclid")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partitons: 8", "crawl.yaml: unknown setting partitons; did you mean partitions?"),
        ("gc: {minage: 1h}", "crawl.yaml: unknown setting gc.minage; did you mean gc.min_age?"),
        ("frobnicate: 1", "'crawlctl config' lists them all"),
        ("recrawl: {min_interval: 1h}", "recrawl.min_interval; 'crawlctl config' lists them all"),
        ("recrawl: {pace: {min: 1h}}", "recrawl.pace.min; did you mean recrawl.pace.minimum?"),
        ("fetch: {delay: 1s}", "fetch.delay; did you mean politeness.delay?"),
        ("delay: 1s", "unknown setting delay; did you mean politeness.delay?"),
        ("partitions: many", "crawl.yaml: partitions must be a whole number from 1 to 100000"),
        ("partitions: 0", "crawl.yaml: partitions must be a whole number from 1 to 100000"),
        ("gc: {min_age: soon}", "crawl.yaml: gc.min_age must be a duration: a number and"),
        (
            "urls: {strip_parameters: [a*b]}",
            "crawl.yaml: urls.strip_parameters must be a list of names in brackets",
        ),
        ("gc: 3", "crawl.yaml: gc is a section; indent its settings below it"),
        ("- a\n- b", "crawl.yaml: holds no settings"),
        ("store: [", "crawl.yaml: not valid YAML"),
    ],
)
def test_errors_name_the_file_and_the_key(text: str, message: str, empty_folder: Path) -> None:
    (empty_folder / "crawl.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config({}, {})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_misspelt_variable_is_an_error() -> None:
    with pytest.raises(ConfigError, match="CRAWLCTL_PARTITONS; did you mean CRAWLCTL_PARTITIONS"):
        load_config({"CRAWLCTL_PARTITONS": "3"}, {})


def test_a_misspelt_flag_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"--set: unknown setting gc\.keep"):
        load_config({}, {"gc.keep": ("3", "--set")})


def test_a_named_file_that_is_missing_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot be read \(No such file"):
        load_config({}, {}, Path("nowhere.yaml"))


def test_no_two_settings_share_a_variable() -> None:
    assert len({variable_of(key) for key in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize("text", ["fetch.agent: a", "fetch: {agent: a}"])
def test_a_setting_may_be_written_in_its_section_or_with_its_whole_name(
    text: str, empty_folder: Path
) -> None:
    (empty_folder / "crawl.yaml").write_text(text)
    assert load_config({}, {}).config.fetch.agent == "a"


def test_a_setting_that_a_file_sets_in_both_ways_is_an_error(empty_folder: Path) -> None:
    (empty_folder / "crawl.yaml").write_text("fetch.agent: a\nfetch: {agent: b}\n")
    with pytest.raises(ConfigError, match=r"fetch\.agent is set twice; remove one"):
        load_config({}, {})
