"""PageRank as in textbooks on MapReduce, to compare ours with: one record per link, one job per iteration.

Reads and writes lines of JSON: a node, its rank, and the nodes it links to. The rank of pages without links
is passed on in the next iteration, through an option.
"""

from __future__ import annotations

from mrjob.job import MRJob
from mrjob.protocol import JSONProtocol

DAMPING = 0.85


class TextbookPageRank(MRJob):
    """One iteration."""

    INPUT_PROTOCOL = JSONProtocol

    def configure_args(self):
        super().configure_args()
        self.add_passthru_arg("--nodes", type=int)
        self.add_passthru_arg("--lost", type=float, default=0.0)

    def mapper(self, node, value):
        rank, links = value
        yield node, ["links", links]
        for target in links:
            yield target, ["rank", rank / len(links)]
        if not links:
            self.increment_counter("textbook", "lost", round(rank * 1e15))

    def reducer(self, node, values):
        rank, links = 0.0, []
        for what, value in values:
            if what == "links":
                links = value
            else:
                rank += value
        yield node, [(1 - DAMPING + DAMPING * self.options.lost) / self.options.nodes + DAMPING * rank, links]


if __name__ == "__main__":
    TextbookPageRank.run()
