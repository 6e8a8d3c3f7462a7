"""`crawlctl explain`: what is known about a URL and why it was or was not fetched."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.common import (
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    store_option,
)

if TYPE_CHECKING:
    from crawlctl.pipeline.run.explanation import Explanation

TIMES = ("next_due", "first_seen", "last_tried", "last_fetched", "last_changed")


@click.command("explain")
@click.argument("url")
@store_option
@json_option
@pass_session
def command(session: Session, url: str, as_json: bool) -> None:
    """Tell why a URL was or was not fetched.

    \b
    Example:
      crawlctl explain https://docs.python.org/3/library/
    """
    from crawlctl.pipeline.net.canonical import canonical
    from crawlctl.pipeline.run.explanation import explain_url
    from crawlctl.pipeline.store.snapshots import load_current

    config, store, now = session.config, session.store(), time.time()
    wanted = canonical(url, config.urls.strip_parameters)
    explanation = explain_url(store, load_current(store), config, wanted, now)
    if as_json:
        print_json(_plain(explanation))
    else:
        print_fields(_lines(explanation, now))


def _plain(explanation: Explanation) -> dict[str, Any]:
    """Return all that is known as a JSON document."""
    from msgspec.structs import asdict

    entry, host, robots = explanation.entry, explanation.host, explanation.robots
    known = None if entry is None else {**asdict(entry), "status": entry.status.name.lower()}
    if known is not None:
        known["signature"] = known["signature"].hex()
    return {
        "url": explanation.url,
        "why": explanation.why,
        "partition": explanation.partition,
        "known": known is not None,
        **(known or {}),
        "exclusion": explanation.exclusion,
        "robots": None if robots is None else vars(robots),
        "host": None if host is None else {**asdict(host), "robots": sorted(host.robots)},
    }


def _lines(explanation: Explanation, now: float) -> dict[str, object]:
    """Return what a person wants to know, without what is empty."""
    from crawlctl.pipeline.run.explanation import NOT_READ, utc

    robots, host, entry = explanation.robots, explanation.host, explanation.entry
    lines: dict[str, object] = {"url": explanation.url, "why": explanation.why}
    if entry is not None:
        lines["status"] = entry.status.name.lower()
        lines |= {name: utc(getattr(entry, name)) for name in TIMES if getattr(entry, name)}
        if entry.next_due <= now:
            lines["next_due"] = f"{lines.get('next_due', '')} (due now)".strip()
        lines |= {"depth": entry.depth, "source": entry.source or "a seed"}
        details = ("code", "reason", "tries", "redirect_to", "canonical")
        lines |= {name: getattr(entry, name) for name in details if getattr(entry, name)}
    lines["scope"] = explanation.exclusion or "inside"
    lines["robots.txt"] = NOT_READ
    if robots is not None:
        verdict = "allowed" if robots.allowed else "forbidden"
        place = f", line {robots.line}" if robots.line else ""
        lines["robots.txt"] = f"{verdict} ({robots.rule}{place}; read {utc(robots.read_at)})"
    if host is not None:
        lines["host"] = f"{host.pages} pages answered, {host.failures} failures in a row"
        if host.not_before > now:
            lines["host"] = f"{lines['host']}; not to be asked before {utc(host.not_before)}"
    return {name: str(value) for name, value in lines.items()}
