from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.copies.require_apart import require_apart
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("other", ["crawl", "crawl/", "./crawl", "elsewhere/../crawl", "link"])
def test_a_folder_is_not_copied_to_itself(other: str, tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "crawl")
    with pytest.raises(ConfigError, match="the same store"):
        require_apart(LocalStore(tmp_path / "crawl"), open_store(f"{tmp_path}/{other}"))


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        ("/crawl", "/crawl/copy"),
        ("/crawl/copy", "/crawl"),
        ("s3://bucket/crawl", "s3://bucket/crawl/copy"),
        ("s3://bucket", "s3://bucket/crawl"),
        ("/", "/crawl"),
    ],
)
def test_a_copy_lies_neither_inside_its_source_nor_around_it(source: str, destination: str) -> None:
    with pytest.raises(ConfigError, match="lies inside"):
        require_apart(open_store(source), open_store(destination))


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        ("/crawl", "/crawl2"),
        ("/crawl", "s3://bucket/crawl"),
        ("s3://bucket/crawl", "s3://bucket/crawl2"),
        ("s3://bucket/crawl", "s3://other/crawl"),
    ],
)
def test_other_places_will_do(source: str, destination: str) -> None:
    require_apart(open_store(source), open_store(destination))
