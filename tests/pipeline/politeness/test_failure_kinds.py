from __future__ import annotations

import pytest

from crawlctl.pipeline.politeness.failure_kinds import kind_of


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("status 503", "status 503"),
        ("status 503: busy", "status 503"),
        ("status 200: too_slow: a large body", "too_slow"),
        ("timeout: after 60 s", "timeout"),
        ("robots: robots.txt answered with status 503", "robots"),
        ("timeout", "timeout"),
        ("\x9b31m", "other errors"),
        ("", "other errors"),
        ("words of a stranger " * 9, "other errors"),
    ],
)
def test_there_are_only_few_kinds(reason: str, kind: str) -> None:
    assert kind_of(reason) == kind
