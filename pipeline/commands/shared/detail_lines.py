"""The details of a stored document as lines for people: dates, site, description, fields; all printable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.text.details.shown_details import date_remarks, shown_details

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord


def detail_lines(record: DocRecord) -> dict[str, str]:
    """Return what a document states about itself, by name, without what is unknown."""
    shown = shown_details(record.details, record.last_modified, record.fetched_at)
    lines = {
        "dates": ", ".join(date_remarks(shown.published, shown.modified)),
        "site name": shown.site_name,
        "description": shown.description,
        "image": shown.image,
        "fields": "\n".join(_field(name, values) for name, values in shown.fields.items()),
    }
    return {name: "\n".join(map(blanked, said.split("\n"))) for name, said in lines.items() if said}


def _field(name: str, values: list[str | int | float]) -> str:
    return f"{name}: {', '.join(str(value) for value in values)}"
