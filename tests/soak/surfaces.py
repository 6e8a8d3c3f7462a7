"""All that a crawl can be asked, and what it answers: the surfaces on which damage could show."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

from crawlctl.cli import run
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.search.answer.find import SearchOptions, find, top_documents
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.manifest import open_whole
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawlctl.pipeline.search.open.searcher import Searcher

TABLES = ("webdb", "hosts", "docs", "postings", "links", "terms", "dictionary")
RANKS = ("url", "host", "domain")
MANY = 1000


def answers(folder: Path, words: Sequence[str], urls: Sequence[str]) -> dict[str, str]:
    """Return what a store answers on each surface: its output, or the error behind "crawlctl:".

    What raises anything but an error of ours is a defect, and raises here too.
    """
    told = {f"dump {table}": command(folder, "dump", table) for table in TABLES}
    told |= {f"rank {by}": command(folder, "rank", "--show", "--by", by, "--top", "1000") for by in RANKS}
    told |= {f"explain {url}": command(folder, "explain", url) for url in urls}
    told |= {f"show {url}": command(folder, "show", "--headers", url) for url in urls[::4]}
    told["status"] = _lasting(command(folder, "status"))
    told["archives"] = archives(LocalStore(folder))
    told |= dict(queries(LocalStore(folder), words))
    return told


def _lasting(status: str) -> str:
    """Return what `status` prints without what is due, which time changes, and without the size on disk."""
    found = json.loads(status) if status.startswith("{") else {}
    return json.dumps(_but(found, "due", "next_due", "disk_bytes")) if found else status


def _but(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def command(folder: Path, *arguments: str, store: bool = True) -> str:
    """Run a command on the store in a folder, in this process; return its output or its error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*arguments, "--json", *(("--store", str(folder)) if store else ())])
    if code == 0:
        return out.getvalue().replace(str(folder), "STORE")
    return next(
        (line for line in err.getvalue().splitlines() if line.startswith("crawlctl:")), err.getvalue()
    )


def archives(store: LocalStore) -> str:
    """Return the type, the URL and a digest of each record in the archives of a crawl."""
    told = []
    try:
        for entry in load_current(store).files_of("pages"):
            for record in WarcReader(open_whole(store, entry)):
                told.append(f"{record.type} {record.url} {hashlib.sha256(record.read()).hexdigest()}")
    except CrawlctlError as err:
        return f"crawlctl: {err}"
    return "\n".join(told)


def queries(store: LocalStore, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what each word and some phrases find, by the evaluator of numpy and by the one without."""
    phrases = [f'"{first} {second}"' for first, second in zip(words[::7], words[1::7], strict=False)]
    texts = (*words, *phrases)
    for name, evaluate in (("vector", vector), ("plain", plain)):
        try:
            index = open_index(store)
        except CrawlctlError as err:
            yield from ((f"{name} {text}", f"crawlctl: {err}") for text in texts)
            continue
        yield from ((f"{name} {text}", asked(index, evaluate, text)) for text in texts)
        index.close()


def asked(index: Searcher, evaluate: Callable[[Searcher, str], str], text: str) -> str:
    try:
        return evaluate(index, text)
    except CrawlctlError as err:
        return f"crawlctl: {err}"


def vector(index: Searcher, text: str) -> str:
    found = [
        [(hit.url, hit.title, hit.text, hit.score, hit.fetched_at, hit.language, hit.similar) for hit in hits]
        for hits in (
            find(index, parse(text), SearchOptions(limit=MANY, sort=sort)).hits for sort in ("score", "date")
        )
    ]
    return json.dumps(found, default=str)


def plain(index: Searcher, text: str) -> str:
    plan = plan_query(parse(text), index)
    page = top_documents(index, plan, PlainEvaluator(index.reader, plan), SearchOptions(limit=MANY))
    records = index.records(folded.ranked.document for folded, _ in page.documents)
    ranked = [
        (record.url, folded.ranked, part)
        for record, (folded, part) in zip(records, page.documents, strict=True)
    ]
    return json.dumps([ranked, page.total, page.partial], default=str)
