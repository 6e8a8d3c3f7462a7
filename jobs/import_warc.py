"""ImportWarc: makes the pages of web archives part of the crawl, as a round that fetched them would.

    input    one line per task: ImportOrder as JSON, which names some archives
    output   manifest lines of the runs that the task saved

It is a job because archives are read side by side. It has no reducers: an archive has pages of any host, and
the task writes one run per partition. A replay of the crawl's own archive is the same job, with other rules
for which records are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import LineJob
from crawlctl.pipeline.imports.order import ImportOrder
from crawlctl.pipeline.imports.replay_choice import choice_of
from crawlctl.pipeline.imports.task import Importer
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTERS = "import"


class ImportWarc(LineJob[ImportOrder]):
    """Reads some archives per map task."""

    ORDER = ImportOrder

    def import_archives(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Import the archives of one order: (none, manifest line)."""
        from crawlctl.pipeline.index.building.builder import RunBuilder

        order = decode_order(line, self.ORDER)
        progress = ProgressFile(order.fetch.progress, order.number)
        store = open_store(order.fetch.store)
        importer = Importer(order.fetch, store, RunBuilder, choice_of(store, order))

        def report(done: int) -> None:
            progress.write(Progress(done, len(order.archives)))
            archives, pages = len(order.archives), importer.counts["pages"]
            self.set_status(f"{done:,} of {counted(archives, 'archive')}, {counted(pages, 'page')}")

        importer.run(order.archives, report, order.sizes)
        progress.close()
        self.count_all(COUNTERS, importer.counts)
        yield from self.emit_files(importer.saved)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper=self.import_archives)]


if __name__ == "__main__":
    ImportWarc.run()
