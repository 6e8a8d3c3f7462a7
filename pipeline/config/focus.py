"""The settings of a focused crawl: what its pages should be about."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import Section


class FocusSettings(Section, frozen=True):
    """What makes a page relevant; with nothing set, all pages are alike."""

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # URLs of pages that are what is wanted
    domains: tuple[str, ...] = ()  # of which all pages are wanted
    # A relevant page comes before others that have up to so many times its rank.
    weight: Annotated[float, msgspec.Meta(ge=0)] = 1000.0
