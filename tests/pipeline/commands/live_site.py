"""A crawl of one site on loopback, through the command line, with the real fetch job."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.fetch.site import Site

SETTINGS = """
partitions: 2
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 0, response_factor: 0, patience: 0s}
rank: {every: null}
runner: {name: inline}
"""
PATHS = ("/", "/docs/", "/docs/one", "/docs/two", "/blog/one", "/blog/two")


class LiveCrawl:
    """The commands of a crawl in the current folder, and the site that it crawls."""

    def __init__(self, shell: Shell, site: Site) -> None:
        self.shell = shell
        self.site = site

    def __call__(self, *arguments: str, code: int = 0) -> str:
        return self.shell(*arguments, code=code)

    def json(self, *arguments: str) -> Any:
        return self.shell.json(*arguments)

    def found(self, *words: str) -> set[str]:
        """Return the paths of the pages that a query finds."""
        query = ("query", "--urls", "--strict", "--limit", "100", *(words or ("page",)))
        return {url.removeprefix(self.site.url("")) for url in self.shell(*query).splitlines()}

    def asked_by(self, *arguments: str) -> list[str]:
        """Return the paths that the site is asked for during a command."""
        self.site.asked.clear()
        self.shell(*arguments)
        return sorted(self.site.pages_asked())

    def why(self, path: str, *settings: str) -> Any:
        return self.json(*settings, "explain", "--no-links", self.site.url(path))


@pytest.fixture(scope="module")
def crawled_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Site]]:
    """A folder with a crawl of all pages of a site, in one round, and the site; each test gets a copy."""
    folder = tmp_path_factory.mktemp("live")
    with serving(1) as (site,), pytest.MonkeyPatch.context() as patch:
        for path in PATHS:
            site.page(path, *PATHS, ETag=f'"{path}"')
        (folder / "crawl.yaml").write_text(SETTINGS)
        (folder / "seed.txt").write_text("".join(f"{site.url(path)}\n" for path in PATHS))
        patch.chdir(folder)
        assert run(["run", "--seed", "seed.txt"]) == 0
        patch.undo()
        yield folder, site


@pytest.fixture
def live(crawled_site: tuple[Path, Site], shell: Shell) -> Iterator[LiveCrawl]:
    folder, site = crawled_site
    shutil.copytree(folder, ".", dirs_exist_ok=True)
    resources = deepcopy(site.resources)
    site.asked.clear()
    site.conditions.clear()
    yield LiveCrawl(shell, site)
    site.resources = resources


@contextmanager
def stopped_before_the_merge() -> Iterator[None]:
    """Let rounds stop when their pages are fetched; the round stays open."""

    def stop(*_arguments: object, **_named: object) -> None:
        raise CrawlctlError("stopped by the test")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawlctl.pipeline.crawl.rounds.merge_webdb", stop)
        yield
