"""Checks that a run would start, before cron gets its line: nobody reads error messages at night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError, NotACrawl
from crawlctl.pipeline.http.curl_options import user_agent
from crawlctl.pipeline.runners.switches import require_conf
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.urls.seeds import read_seeds

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.store.base import Store


def require_ready(config: Config, store: Store, seed_file: Path | None, log: Path) -> None:
    """Raise the error with which a run of cron would end: no contact, no crawl, a bad seed file, no log."""
    user_agent(config.fetch)
    require_conf(config.runner)
    if seed_file is not None:
        read_seeds(seed_file, config.urls.strip_parameters).require_all_good()
    _require_crawl(store, seed_file)
    _require_log(log)


def _require_crawl(store: Store, seed_file: Path | None) -> None:
    try:
        snapshot = load_current(store)
    except NotACrawl as error:
        if seed_file is None:
            raise NotACrawl(
                f"{store.uri} holds no crawl, so cron would have nothing to run; begin one with "
                f"`crawlctl run --seed FILE --store {store.uri}`, or give the line its seeds with --seed FILE"
            ) from error
        return
    if seed_file is None and not any(entry.records for entry in snapshot.files_of(WEBDB)):
        raise ConfigError(
            f"{store.uri} has no URLs yet, so cron would have nothing to run; add some with "
            f"`crawlctl inject URL --store {store.uri}`, or give the line its seeds with --seed FILE"
        )


def _require_log(log: Path) -> None:
    if not log.parent.is_dir() or log.is_dir():
        what = "is a folder" if log.is_dir() else "lies in a folder that does not exist"
        raise ConfigError(f"--log {log} {what}; name a file in a folder that exists")
    # Only opening the file shows whether it can be written.
    try:
        with log.open("ab"):
            pass
    except OSError as error:
        raise ConfigError(f"--log {log}: {error.strerror}; name a file that you may write") from error
