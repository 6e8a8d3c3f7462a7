"""ImportWarc: makes the pages of web archives part of the crawl, as a round that fetched them would.

Reads one line a task, which names some archives, and emits the manifest of the runs the task saved. Map-only:
a page belongs to the partition of its host, but what is sent there is the name of a run and not the page.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import SILENCE_MILLISECONDS
from crawlctl.pipeline.imports.task import Importer, decode_import
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.store.open import open_store

with light_imports():
    from mrjob.protocol import BytesValueProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTERS = "import"


class ImportWarc(MRJob):
    """A task for some archives; a line of output for each file of its runs."""

    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    INPUT_PROTOCOL = BytesValueProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol
    JOBCONF = MappingProxyType(
        {
            "mapreduce.input.lineinputformat.linespermap": "1",
            "mapreduce.task.timeout": str(SILENCE_MILLISECONDS),
            "stream.map.input.ignoreKey": "true",
        }
    )

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Import some archives."""
        from crawlctl.pipeline.index.building.builder import RunBuilder

        if not line.strip():
            return
        order = decode_import(line)
        said = ProgressFile(order.fetch.progress, order.number)
        importer = Importer(order.fetch, open_store(order.fetch.store), RunBuilder)

        def tell(done: int) -> None:
            said.write(Progress(done, len(order.archives)))
            self.set_status(f"{done} of {len(order.archives)} archives, {importer.counts['pages']} pages")

        importer.run(order.archives, tell)
        said.close()
        for name, amount in importer.counts.items():
            self.increment_counter(COUNTERS, name, amount)
        for entry in importer.saved:
            yield None, encode_entry(entry)


if __name__ == "__main__":
    ImportWarc.run()
