"""A small web of three hosts, and crawls of it that a test can make in a second or two."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.progress.display import Display
from crawlctl.tests.pipeline.fetch.crawl import settings
from crawlctl.tests.pipeline.fetch.site import FILLER, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.fetch.site import Site

HOSTS = 3
PAGES = 6
PARTITIONS = 2


@contextmanager
def small_web() -> Iterator[list[Site]]:
    """Serve three hosts that link to each other, with a redirect, a dead link and near duplicates."""
    with serving(HOSTS) as sites:
        for number, site in enumerate(sites):
            other = sites[(number + 1) % HOSTS].url("/")
            site.page("/", *(f"/{page}" for page in range(PAGES)), other, "/old", "/dead", title="home")
            for page in range(PAGES):
                words = f"leaf {page} of {site.host} " + " ".join(f"n{number}p{page}w{n}" for n in range(50))
                site.page(f"/{page}", "/", f"/deeper{page}", text=words)
                site.page(f"/deeper{page}", "/twin", text=f"below {words}")
            site.redirect("/old", "/0")
            site.page("/twin", text=f"{FILLER} {site.host}")
            for path, resource in site.resources.items():
                resource.headers["ETag"] = f'"{path}"'  # so that a later visit need not bring it again
        yield sites


def small_config(scratch: Path, **sections: dict[str, Any]) -> Config:
    """Return settings for a crawl in this process: no waiting, small runs."""
    usual: dict[str, dict[str, Any]] = {
        "politeness": {"patience": "1s"},
        "round": {"flush_pages": 4},
        "runner": {"name": "inline", "tmp_dir": str(scratch)},
    }
    return settings(**{**usual, **sections})


def crawl_all(store: Store, config: Config, seeds: list[str], iterations: int | None = None) -> None:
    """Crawl until nothing is due, or for some rounds, in this process."""
    work = Work(store, config, Display())
    run_rounds(work, iterations=iterations, partitions=PARTITIONS, seeds=seeds)
