"""A crawl to copy, made once and never written to."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.copies.made_crawl import make_crawl

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    store = LocalStore(tmp_path_factory.mktemp("made") / "crawl")
    make_crawl(store, 4)
    return store


@pytest.fixture
def own_crawl(crawl: LocalStore, tmp_path: Path) -> LocalStore:
    """One that the test may write to."""
    shutil.copytree(crawl.root, tmp_path / "own")
    return LocalStore(tmp_path / "own")
