"""The details of a stored document as lines for people: dates, site, description, fields; all printable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.text.details.shown_details import date_remarks, shown_details

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.config.settings import SiteRules
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord


def detail_lines(record: DocRecord, sites: Mapping[str, SiteRules]) -> dict[str, str]:
    """Return the details that a document states about itself, by name; unknown details are left out.

    `sites` are the rules for sites: they say which fields are dates.
    """
    shown = shown_details(record.details, record.last_modified, record.fetched_at)
    rules = sites.get(record.details.site)
    fields = rules.fields if rules else {}
    dates = {name for name, field in fields.items() if field.kind == "date"}
    lines = {
        "dates": ", ".join(date_remarks(shown.published, shown.modified)),
        "site name": shown.site_name,
        "description": shown.description,
        "image": shown.image,
        "fields": "\n".join(
            f"{name}: {', '.join(_value(value, is_date=name in dates) for value in values)}"
            for name, values in shown.fields.items()
        ),
        "left out": f"{counted(shown.repeated, 'character')} that most pages of the host have"
        if shown.repeated
        else "",
    }
    return {name: "\n".join(map(blanked, said.split("\n"))) for name, said in lines.items() if said}


def _value(value: str | int | float, *, is_date: bool) -> str:
    return utc(value) if is_date and isinstance(value, int) else str(value)
