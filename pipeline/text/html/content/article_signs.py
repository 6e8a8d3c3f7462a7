"""How a page says in its head that it is an article: Open Graph (og:type), and JSON-LD.

The type Article of JSON-LD is no sign: encyclopaedias and manuals give it to all their pages. A page that
lists several articles in JSON-LD is none itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TYPES = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"(?:\w*NewsArticle|BlogPosting)"')


def is_article_meta(name: str, content: str) -> bool:
    """Return whether a meta element, by its name or property, says that the page is an article."""
    if name == "og:type":
        return content.strip().lower() == "article"
    return name == "article:published_time"


def is_article_json_ld(scripts: Iterable[str]) -> bool:
    """Return whether the JSON-LD of a page is about one article."""
    return sum(len(_TYPES.findall(script)) for script in scripts) == 1
