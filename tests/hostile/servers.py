"""All hostile servers: importing this fills the catalogue."""

from __future__ import annotations

from crawlctl.tests.hostile import answers, documents, robots_and_sitemaps, transport
from crawlctl.tests.hostile.catalogue import CATALOGUE

__all__ = ["CATALOGUE", "answers", "documents", "robots_and_sitemaps", "transport"]
