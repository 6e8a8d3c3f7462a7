"""The settings, their types and defaults.

To add one: give it a field here with its default, and a commented line in conf/crawl.yaml that says what it
does and which values make sense; a test compares the two.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.fetch import FetchSettings
from crawlctl.pipeline.config.focus import FocusSettings
from crawlctl.pipeline.config.index import IndexSettings
from crawlctl.pipeline.config.locations import DEFAULT_STORE
from crawlctl.pipeline.config.parse import ParseSettings
from crawlctl.pipeline.config.politeness import PolitenessSettings
from crawlctl.pipeline.config.rank import RankSettings
from crawlctl.pipeline.config.recrawl import RecrawlSettings
from crawlctl.pipeline.config.round import RoundSettings
from crawlctl.pipeline.config.runner import RunnerSettings
from crawlctl.pipeline.config.scope import BudgetSettings, ScopeSettings, SitemapSettings
from crawlctl.pipeline.config.section import AtLeastOne, Section
from crawlctl.pipeline.config.units import Duration

# A whole name, or the beginning of one and a star.
ParameterPattern = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^*]*\*?$")]


class UrlSettings(Section, frozen=True):
    """What makes two URLs the same page."""

    strip_parameters: tuple[ParameterPattern, ...] = ()


class LeaseSettings(Section, frozen=True):
    """How long a run may be silent before another one may take its place."""

    ttl: Duration = Duration(120)


class GcSettings(Section, frozen=True):
    """What `crawlctl gc` leaves in place."""

    keep_snapshots: AtLeastOne = 2
    min_age: Duration = Duration(3600)


class Config(Section, frozen=True):
    """Everything that can be set."""

    store: str = DEFAULT_STORE
    partitions: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    urls: UrlSettings = UrlSettings()
    scope: ScopeSettings = ScopeSettings()
    budgets: BudgetSettings = BudgetSettings()
    sitemaps: SitemapSettings = SitemapSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetch: FetchSettings = FetchSettings()
    parse: ParseSettings = ParseSettings()
    round: RoundSettings = RoundSettings()
    recrawl: RecrawlSettings = RecrawlSettings()
    rank: RankSettings = RankSettings()
    focus: FocusSettings = FocusSettings()
    index: IndexSettings = IndexSettings()
    runner: RunnerSettings = RunnerSettings()
    lease: LeaseSettings = LeaseSettings()
    gc: GcSettings = GcSettings()
