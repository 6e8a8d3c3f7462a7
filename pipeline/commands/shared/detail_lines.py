"""The details of a stored document as lines for people: dates, site, description, fields; all printable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.text.details.shown_details import date_remarks, shown_details

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord


def detail_lines(record: DocRecord) -> dict[str, str]:
    """Return the details that a document states about itself, by name; unknown details are left out."""
    shown = shown_details(record.details, record.last_modified, record.fetched_at)
    lines = {
        "dates": ", ".join(date_remarks(shown.published, shown.modified)),
        "site name": shown.site_name,
        "description": shown.description,
        "image": shown.image,
        "fields": "\n".join(
            f"{name}: {', '.join(map(str, values))}" for name, values in shown.fields.items()
        ),
        "left out": f"{counted(shown.repeated, 'character')} that most pages of the host have"
        if shown.repeated
        else "",
    }
    return {name: "\n".join(map(blanked, said.split("\n"))) for name, said in lines.items() if said}
