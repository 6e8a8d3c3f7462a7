from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.store.local.store import LocalStore

COLD = """
import sys
from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.store.open import open_store

index = open_index(open_store(sys.argv[1]))
for query in ("red tree", '"red tree" -house', "title:tr* OR 1..9 site:example"):
    find(index, parse(query), explain=True)
heavy = {"boto3", "mrjob", "numpy", "yaml"} & sys.modules.keys()
sys.exit(f"imports {heavy}" if heavy else 0)
"""


def test_a_process_that_answers_one_query_imports_nothing_heavy(store: LocalStore) -> None:
    write_index(store, [[Page("http://a.example/", title="a tree", text="red tree 7", prior=3)]])
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(store.root)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
