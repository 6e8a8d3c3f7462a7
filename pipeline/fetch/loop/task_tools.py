"""Those who do the work of a fetch task, for the parts of it that need several of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

    from crawlctl.pipeline.clock import RunClock
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.fetch.heartbeat import Heartbeat
    from crawlctl.pipeline.fetch.loop.round_tail import Tail
    from crawlctl.pipeline.fetch.pages.page_reader import PageReader
    from crawlctl.pipeline.fetch.pages.sitemap_queue import Sitemaps
    from crawlctl.pipeline.fetch.save.run_buffer import RunBuffer
    from crawlctl.pipeline.fetch.select.validators import Validators
    from crawlctl.pipeline.http.engine import Engine
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
    from crawlctl.pipeline.politeness.rules_memory import RuleMemory
    from crawlctl.pipeline.text.guarded.guard import Guard


@dataclass(frozen=True)
class TaskTools:
    """Who fetches, parses, waits, asks, judges and saves."""

    config: Config
    clock: RunClock
    engine: Engine
    guard: Guard
    queue: PoliteQueue
    validators: Validators
    reader: PageReader
    sitemaps: Sitemaps
    rules: RuleMemory
    run: RunBuffer
    tail: Tail
    new_hosts: Set[bytes]  # of which URLs were found that the crawl did not know
    heartbeat: Heartbeat
