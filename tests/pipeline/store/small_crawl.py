"""A small crawl by the command line, and what is in it that does not depend on when it was made."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.part import scan

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

# No budget is reached, so a round fetches all that is known, and nothing else; small runs leave something
# to be resumed.
CRAWL_YAML = """
partitions: 3
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 0, response_factor: 0, connections_per_host: 1, patience: 1s}
scope: {max_new_urls_per_page: 100000}
round: {flush_pages: 8, follow_outlinks: false}
"""
TIMES = {"next_due", "first_seen", "last_tried", "last_fetched", "last_changed"}
SECONDS = 240


def start(folder: Path, store: str, rounds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "crawlctl.cli", "run", "--seed", "seeds.txt"]
    return subprocess.Popen(
        [*command, "--iterations", str(rounds), "--store", store],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(run: subprocess.Popen[bytes]) -> None:
    complaints = run.communicate(timeout=SECONDS)[1]
    assert run.returncode == 0, complaints


def webdb(store: Store) -> dict[str, dict[str, object]]:
    snapshot = load_current(store)
    return {
        url: {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in TIMES}
        for partition in range(snapshot.partitions)
        for url, entry in scan(store, snapshot, partition)
    }


def query(folder: Path, store: str) -> list[tuple[object, ...]]:
    """Return the pages that answer a query, by what does not depend on when they were fetched."""
    command = [sys.executable, "-m", "crawlctl.cli", "query", "--json", "--store", store, "module", "class"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=SECONDS)
    return [(page["url"], page["title"], page["snippet"]) for page in json.loads(done.stdout)["pages"]]
