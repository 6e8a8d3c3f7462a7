"""Crawls of the demo web as a user would run them, by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.urls.hosts import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb

PARTITIONS = 3
# No budget is ever reached, nothing waits, and no round follows what it finds: a round fetches all that is
# known, in whatever order.
SETTINGS: dict[str, Any] = {
    "partitions": PARTITIONS,
    "fetch": {"contact": "test@example.org", "allowed_networks": ["127.0.0.0/8"]},
    "politeness": {"delay": 0, "response_factor": 0.1, "connections_per_host": 2, "patience": "1s"},
    "scope": {"max_new_urls_per_page": 100_000},
    "round": {"follow_outlinks": False},
}


def filled_partitions(web: DemoWeb) -> list[int]:
    """Return the partitions that the hosts of a web fall into."""
    return sorted({partition_of(site.host, PARTITIONS) for site in web.sites})


@dataclass(frozen=True)
class Crawl:
    """A folder with a crawl.yaml and seeds, in which crawlctl is run."""

    folder: Path
    store: str
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def prepare(
        cls,
        folder: Path,
        store: str,
        seeds: Iterable[str],
        runner: dict[str, Any],
        environment: dict[str, str],
        **settings: Any,
    ) -> Crawl:
        """Write what the commands read."""
        scratch = folder / "scratch"
        scratch.mkdir(parents=True)
        chosen = {"store": store, "runner": {"tmp_dir": str(scratch), **runner}}
        (folder / "crawl.yaml").write_text(json.dumps({**SETTINGS, **settings, **chosen}))
        (folder / "seeds.txt").write_text("".join(f"{url}\n" for url in seeds))
        return cls(folder, store, environment)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Begin the crawl, or go on with it, while the block runs; what it says is in `log`."""
        with self.log.open("ab") as log:
            run = subprocess.Popen(
                self._command("--verbose", "run", "--until-empty", "--seed", "seeds.txt"),
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        with run:
            try:
                yield run
            finally:
                run.terminate()  # where the test has failed, it must not go on

    def wait(self, run: subprocess.Popen[bytes]) -> None:
        """Wait for a run that has to end well."""
        assert run.wait() == 0, "\n".join(self.log.read_text().splitlines()[-60:])

    def finish(self) -> None:
        """Run the crawl to its end."""
        with self.running() as run:
            self.wait(run)

    @property
    def seeds(self) -> list[str]:
        """The URLs with which the crawl began."""
        return (self.folder / "seeds.txt").read_text().split()

    @property
    def log(self) -> Path:
        """What the runs have said."""
        return self.folder / "log"

    def answer(self, *words: str) -> list[tuple[str, float]]:
        """Return the pages a query finds, with their scores."""
        told = subprocess.run(
            self._command("query", "--json", *words),
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            check=True,
        )
        return [(page["url"], page["score"]) for page in json.loads(told.stdout)["pages"]]

    def _command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "crawlctl.cli", *args]
