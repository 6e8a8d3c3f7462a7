"""The files that explain the settings say what settings.py says."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest
import yaml

from crawlctl.pipeline.config.load import default_of, load_config, setting_types
from crawlctl.pipeline.config.reference import (
    DOCUMENT,
    YAML_FILE,
    all_settings,
    document,
    type_name,
    yaml_file,
)
from crawlctl.pipeline.config.settings import EVERYDAY, OWN_SECTIONS, AtLeastOne, Config, RankSettings, Share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEYS = [key for key, _ in setting_types(Config)]
SETTINGS = list(all_settings())


@pytest.mark.parametrize(("path", "content"), [(YAML_FILE, yaml_file), (DOCUMENT, document)])
def test_the_generated_files_are_up_to_date(path: Path, content: Callable[[], str]) -> None:
    hint = f"{path.name} is out of date; run python -m crawlctl.pipeline.config.reference"
    assert path.read_text(encoding="utf-8") == content(), hint


@pytest.mark.parametrize(
    "page", [YAML_FILE, DOCUMENT, DOCUMENT.with_name("crawling.md")], ids=attrgetter("name")
)
def test_the_sections_that_a_crawl_owns_are_named_together(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    names = r"`?,? (?:and )?`?".join(OWN_SECTIONS)
    assert re.search(rf"\b{names}\b", text)


def test_the_yaml_file_as_shipped_sets_nothing() -> None:
    assert yaml.safe_load(YAML_FILE.read_text(encoding="utf-8")) is None


def test_without_its_comment_signs_the_yaml_file_sets_every_default(tmp_path: Path) -> None:
    lines = YAML_FILE.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "all.yaml"
    path.write_text("\n".join(line[1:] for line in lines if re.match("#[^ #]", line)), encoding="utf-8")
    loaded = load_config({}, {}, path)
    assert {origin.source for origin in loaded.origins} == {str(path)}
    assert {origin.key: origin.value for origin in loaded.origins} == {key: default_of(key) for key in KEYS}


def test_the_document_has_a_row_for_every_setting() -> None:
    rows = re.findall(r"^\| `([a-z0-9_.]+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted(KEYS)


def test_everyday_settings_exist_and_come_first() -> None:
    found = re.findall(r"^#([a-z0-9_.]+): ", YAML_FILE.read_text(encoding="utf-8"), re.M)
    everyday = {one.key for one in SETTINGS if one.is_everyday}
    assert all(any(key == name or key.startswith(name + ".") for key in KEYS) for name in EVERYDAY)
    assert set(found[: len(everyday)]) == everyday


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_explained_in_whole_sentences(key: str) -> None:
    text = next(one.text for one in SETTINGS if one.key == key)
    assert text[0].isupper() or text.startswith("`crawlctl")
    assert text.endswith((".", "}}"))
    assert "…" not in (text[0], text[-1])


def test_types_are_named_with_their_bounds() -> None:
    kinds = dict(setting_types(RankSettings))
    assert type_name(kinds["damping"]) == "number from 0 to 0.99"
    assert type_name(kinds["every"]) == "whole number, 0 or more, or null"
    assert type_name(kinds["memory"]) == "size"
    assert type_name(Share) == "number above 0, up to 1"
    assert type_name(tuple[AtLeastOne, ...]) == "list"
