from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.load import load_config
from crawlctl.pipeline.config.own_layer import (
    OWN_SOURCE,
    Difference,
    changed_by_flags,
    difference_line,
    layered,
    own_keys,
    own_values,
    set_command,
    typed_own,
    with_own,
)
from crawlctl.pipeline.config.settings import Config, is_own
from crawlctl.pipeline.config.units import MINUTE, Duration
from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def loaded(tmp_path: Path, yaml: str, flags: dict[str, tuple[str, str]] | None = None) -> Any:
    path = tmp_path / "crawl.yaml"
    path.write_text(yaml)
    return load_config({}, flags or {}, path)


def test_the_layers_of_an_owned_setting_are_default_crawl_flag(tmp_path: Path) -> None:
    given = loaded(tmp_path, "scope.max_depth: 9\ngc.min_age: 2h\n", {"scope.max_url_length": ("9", "--set")})
    found, _ = layered(given, {"scope.max_depth": 3, "scope.max_url_length": 5}, {"scope.max_url_length"})
    sources = {one.key: (one.value, one.source) for one in found.origins}
    assert sources["scope.max_depth"] == (3, OWN_SOURCE)
    assert sources["scope.max_url_length"] == (9, "--set")
    assert sources["scope.include"] == ((), "default")
    assert sources["gc.min_age"] == (120 * MINUTE, str(tmp_path / "crawl.yaml"))
    assert (found.config.scope.max_depth, found.config.scope.max_url_length) == (3, 9)


def test_what_a_file_says_differently_is_a_difference_unless_a_flag_decides(tmp_path: Path) -> None:
    yaml = "scope: {max_depth: 9, max_url_length: 5, max_path_segments: 20}\n"
    given = loaded(tmp_path, yaml, {"scope.max_url_length": ("7", "--set")})
    _, differences = layered(given, {"scope.max_path_segments": 20}, {"scope.max_url_length"})
    assert differences == (Difference("scope.max_depth", 9, str(tmp_path / "crawl.yaml"), 20),)


def test_flags_that_differ_from_the_crawl_are_changes(tmp_path: Path) -> None:
    flags = {
        "scope.max_depth": ("3", "--set"),
        "scope.max_url_length": ("9", "--set"),
        "gc.min_age": ("1s", "--set"),
    }
    given = loaded(tmp_path, "", flags)
    own = {"scope.max_depth": 3}
    assert changed_by_flags(layered(given, own, flags)[0], own, flags) == {"scope.max_url_length": 9}


def test_one_line_names_one_difference() -> None:
    one = Difference("scope.include", ("a.org",), "crawl.yaml", ("b.org",))
    assert difference_line([one]) == (
        "crawl.yaml: scope.include is [a.org], but the crawl's own setting is [b.org], which counts; "
        "to change it: crawlctl config set 'scope.include=[a.org]'"
    )


def test_one_line_names_all_differences() -> None:
    differences = [
        Difference("scope.include", ("a.org",), "crawl.yaml", ("b.org",)),
        Difference("recrawl.rest", Duration(60), "CRAWLCTL_RECRAWL_REST", Duration(120)),
        Difference("scope.max_depth", 3, "crawl.yaml", 20),
    ]
    assert difference_line(differences, ["--store", "my crawl"]) == (
        "crawl.yaml: scope.include is [a.org] (the crawl's own: [b.org]), scope.max_depth is 3 (the crawl's "
        "own: 20); CRAWLCTL_RECRAWL_REST: recrawl.rest is 1min (the crawl's own: 2min); the crawl's own "
        "settings count; to change them: crawlctl config set --store 'my crawl' 'scope.include=[a.org]' "
        "recrawl.rest=1min scope.max_depth=3"
    )


def test_long_and_secret_values_are_not_printed_as_a_command() -> None:
    many = tuple(f"host{number}.example.org" for number in range(50))
    line = difference_line([Difference("scope.include", many, "crawl.yaml", ())])
    assert line.endswith("crawlctl config edit")
    assert len(line) < 250
    assert set_command({"scope.include": ["https://me:secret@a.org/"]}) == "crawlctl config edit"


def test_the_command_of_a_remedy_means_the_value_that_was_given() -> None:
    (*_, last) = shlex.split(set_command({"scope.include": ["*.a.org", "it's {b}"]}))
    key, _, text = last.partition("=")
    assert load_config({}, {key: (text, "--set")}).config.scope.include == ("*.a.org", "it's {b}")


def test_a_crawl_owns_its_sections_but_not_the_memory_of_a_machine() -> None:
    assert is_own("scope.include") and is_own("index.weights.title") and is_own("recrawl.pace.minimum")
    assert not any(map(is_own, ("index.memory", "store", "partitions", "fetch.contact", "rank.damping")))
    assert {key.partition(".")[0] for key in own_keys()} == {
        *("urls", "scope", "budgets", "parse", "sites", "recrawl", "focus", "index", "search")
    }


def test_only_values_that_differ_from_the_defaults_are_own_values() -> None:
    assert own_values(Config()) == {}
    assert own_values(with_own(Config(), {"scope.max_depth": 20, "scope.include": ["a"]})) == {
        "scope.include": ["a"]
    }


def test_an_own_setting_that_is_unknown_here_says_how_to_go_on() -> None:
    with pytest.raises(ConfigError, match=r"upgrade it.* or remove .* crawlctl config unset scope.new"):
        typed_own({"scope.new": 1})
