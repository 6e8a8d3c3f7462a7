from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.extract.part_extract import extract_of
from crawlctl.pipeline.webdb.extract.review_rows import review_block
from crawlctl.pipeline.webdb.merge.leaders import signatures
from crawlctl.pipeline.webdb.merge.review import Review, review
from crawlctl.pipeline.webdb.records import Kind, Outcome
from crawlctl.tests.pipeline.webdb.extract.made_parts import NOW, Table, histories, keys, made_part

if TYPE_CHECKING:
    from crawlctl.pipeline.formats.sequencefile.block_body import Block

outcomes = st.dictionaries(
    keys,
    st.builds(
        Outcome,
        kind=st.sampled_from([kind for kind in Kind if kind is not Kind.DUPLICATE]),
        fetched_at=st.just(NOW),
        signature=st.binary(max_size=1),
        named=st.just("") | keys.map(url_of_key),
    ),
    max_size=5,
)


def reviewed(blocks: list[Block], outcomes: list[tuple[bytes, Outcome]]) -> Review:
    return review(blocks, outcomes, now=NOW, settings=RecrawlSettings())


@given(histories, outcomes)
def test_what_the_rows_say_is_what_all_rows_say(
    history: list[tuple[Table, bool]], round_: dict[bytes, Outcome]
) -> None:
    """Verdicts on pages that nothing leads to may be missing: they were given when those pages changed."""
    with TemporaryDirectory() as folder:
        part, _ = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if part is None or extract is None:
            return
        found = sorted(round_.items())
        block = review_block(extract, found, signatures(found)[0], [])
        some, every = reviewed([block], found), reviewed(list(part.blocks()), found)
        assert some.leaders == every.leaders
        seen = {hash(key) for key in (*block.keys, *round_)}
        assert some.verdicts == {page: verdict for page, verdict in every.verdicts.items() if page in seen}


@given(histories)
def test_if_all_pages_have_changed_all_verdicts_are_found(history: list[tuple[Table, bool]]) -> None:
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if part is None or extract is None:
            return
        one = [(sorted(table)[0], Outcome(Kind.GONE, NOW))]
        block = review_block(extract, one, (), table)
        assert (block.keys, block.values) == (sorted(table), [table[key] for key in sorted(table)])
