"""A store with a damaged file answers as before, or with one line that names the file."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from crawlctl.pipeline.crawl.changes.own_rules import change_now
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.own_settings import read_own_settings
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.stems import stem_in
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.soak.damage import DAMAGES, damaged_copy, flipped_bit
from crawlctl.tests.soak.effort import by_effort, chance
from crawlctl.tests.soak.power_cut import Disk
from crawlctl.tests.soak.small_web import crawl_all, small_config, small_web
from crawlctl.tests.soak.surfaces import answers, command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawlctl.tests.soak.damage import Damage
    from crawlctl.tests.soak.recording import Recording

pytestmark = [pytest.mark.soak, pytest.mark.integration, pytest.mark.timeout(by_effort(600, 7200))]

TRIALS = by_effort(1, 4)  # of each damage to each kind of file; a soak repeats them with other seeds
# Pages are visited again after a second or two; one that is gone is believed to be at the second visit.
OFTEN = {"pace": {"initial": "1s", "minimum": "1s"}, "confirm_after": "1s"}
SOON = 2.1
INLINED = 8  # documents of a list that lies beside its term
VISITS = 2
CHANGED = "scope.max_query_parameters"
KINDS = {
    "snapshot": r"snapshots/\d+\.json",
    "lease": r"lease/\d+\.json",
    "webdb": r"webdb/.*/data",
    "webdb index": r"webdb/.*/index",
    "hosts": r"hosts/.*",
    "settings": r"settings/.*",
    "docs": r"segments/.*/docs/data",
    "docs index": r"segments/.*/docs/index",
    "links": r"segments/.*/links",
    "terms": r"segments/.*/terms/data",
    "terms index": r"segments/.*/terms/index",
    "postings": r"segments/.*/postings",
    "columns": r"segments/.*/columns",
    "sketches": r"segments/.*/sketches",
    "dictionary": r"dictionary/.*/data",
    "dictionary index": r"dictionary/.*/index",
    "deleted": r"deleted/.*",
    "priors": r"priors/.*",
    "compared": r"compared/.*",
    "groups": r"groups/.*",
    "ranks": r"ranks/.*",
    "graph": r"graph/.*",
    "archive": r"pages/.*\.warc\.gz",
    "captures": r"captures/.*",
    "history": r"history/.*",
}


class Sound(NamedTuple):
    """A crawl nobody has damaged: its files that count, what it is asked and what it answers."""

    folder: Path
    files: tuple[str, ...]
    words: Sequence[str]
    urls: Sequence[str]
    told: dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work in an empty folder: `dump docs` means a folder of that name where there is one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, _elsewhere: None) -> Iterator[Sound]:
    folder = tmp_path_factory.mktemp("sound")
    store = LocalStore(folder / "crawl")
    with small_web() as sites:
        crawl_all(store, small_config(folder, recrawl=OFTEN), [site.url() for site in sites], iterations=4)
        sites[0].resources.pop("/twin")  # so that a document is marked as deleted
        for _ in range(VISITS):
            time.sleep(SOON)
            crawl_all(store, small_config(folder, recrawl=OFTEN), [], iterations=1)
    # So that an older snapshot has other settings.
    change_now(Work(store, small_config(folder, recrawl=OFTEN), Display()), {CHANGED: 19})
    snapshot = load_current(store)
    files = [file.name for file in snapshot.files if file.bytes]
    small = [f"snapshots/{snapshot.number:08d}.json", *(file.name for file in store.list("lease/"))]
    known = crawled(store)
    terms = sorted(known.postings)
    # All whose lists are too long to lie beside the term itself, and some others.
    chosen = {*terms[::9], *(term for term in terms if len(known.postings[term]) > INLINED)}
    words = sorted({stem_in(term).decode() for term in chosen} - {""})  # a keyword has no stem
    urls = sorted(known.webdb)[::4]
    yield Sound(store.root, (*files, *small), words, urls, answers(store.root, words, urls))


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_told_or_does_no_harm(sound: Sound, tmp_path: Path, kind: str, damage: Damage) -> None:
    for damaged in damaged_stores(sound, tmp_path, kind, damage):
        found = answers(damaged.folder, sound.words, sound.urls)
        assert not [told for told in found.values() if "Traceback" in told]
        wrong = wrong_answers(found, sound.told, damaged.name)
        assert not wrong, f"{damaged}: {len(wrong)} wrong, as {first_of(wrong)}"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("lease", "snapshot")])
def test_a_copy_finds_all_damage(sound: Sound, tmp_path: Path, kind: str) -> None:
    for trial, damaged in enumerate(damaged_stores(sound, tmp_path, kind, flipped_bit)):
        # Each into a folder of its own: an earlier copy may hold the file from when it was sound.
        copy = tmp_path / f"copy{trial}"
        told = command(tmp_path, "copy", str(damaged.folder), str(copy), store=False)
        assert is_error_about(told, damaged.name), f"{damaged}: {told[:300]}"


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("lease", "snapshot")])
def test_a_repaired_crawl_answers_as_before_or_says_what_it_has_lost(
    sound: Sound, tmp_path: Path, kind: str, damage: Damage
) -> None:
    for damaged in damaged_stores(sound, tmp_path, kind, damage):
        report = json.loads(command(damaged.folder, "check", "--repair", "--runner", "inline"))
        assert [one["file"] for one in report["unsound"]] == [damaged.name]
        assert report["repaired"], damaged
        assert not json.loads(command(damaged.folder, "check", "--runner", "inline"))["unsound"], damaged
        if kind == "settings":
            assert report["settings"] == {"snapshot": load_current(LocalStore(sound.folder)).number - 1}
            assert own_of(LocalStore(damaged.folder)) == own_of(LocalStore(sound.folder)) - {CHANGED}
        if not (report["rows_lost"] or report["documents_lost"]):
            after, before = crawled(LocalStore(damaged.folder)), crawled(LocalStore(sound.folder))
            assert after.documents == before.documents, damaged
            assert after.postings == before.postings, damaged


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("pattern", [r"rounds/.*\.json", r"lease/\d+\.json"], ids=["journal", "lease"])
def test_a_run_goes_on_after_damage_to_its_records_or_names_them(
    recording: Recording, tmp_path: Path, pattern: str, damage: Damage
) -> None:
    random = chance(f"{pattern} {damage.__name__}")
    written = [
        number
        for number, step in enumerate(recording.steps)
        if step.kind == "link" and re.fullmatch(pattern, step.other)
    ]
    for trial in range(TRIALS):
        number = random.choice(written)
        store = LocalStore(tmp_path / str(trial))
        Disk(recording.steps[: number + 1]).write_whole(store.root)
        record = store.root / recording.steps[number].other
        record.write_bytes(damage(record.read_bytes(), random))
        try:
            crawl_all(store, small_config(tmp_path), recording.seeds)
        except CrawlctlError as err:
            assert recording.steps[number].other in str(err)
        else:
            assert_same(crawled(store), recording.whole)


def own_of(store: LocalStore) -> set[str]:
    """Return the keys of the settings that a crawl keeps."""
    return set(read_own_settings(store, load_current(store)) or {})


class Damaged(NamedTuple):
    """A store with a damaged file."""

    folder: Path
    name: str
    change: str

    def __str__(self) -> str:
        return f"{self.name} {self.change}"


def damaged_stores(sound: Sound, place: Path, kind: str, damage: Damage) -> Iterator[Damaged]:
    """Yield copies of the sound store, in each of which one file of a kind is damaged."""
    random = chance(f"{kind} {damage.__name__}")
    names = [name for name in sound.files if re.fullmatch(KINDS[kind], name)]
    assert names, f"the crawl has no file of the kind {kind}"
    for _ in range(TRIALS):
        name = random.choice(names)
        data = (sound.folder / name).read_bytes()
        changed = damage(data, random)
        if changed != data:  # there may have been zeros before
            damaged_copy(sound.folder, place / "damaged", name, changed)
            yield Damaged(place / "damaged", name, where(data, changed))
            shutil.rmtree(place / "damaged")


def wrong_answers(found: dict[str, str], wanted: dict[str, str], name: str) -> dict[str, tuple[str, str]]:
    """Return what is neither answered as before nor with an error that names the file: found and wanted."""
    return {
        surface: (found[surface], wanted[surface])
        for surface in wanted
        if found[surface] != wanted[surface] and not is_error_about(found[surface], name)
    }


def first_of(wrong: dict[str, tuple[str, str]]) -> str:
    """Show where the first wrong answer begins to differ."""
    surface, (found, wanted) = next(iter(wrong.items()))
    pairs = enumerate(zip(found, wanted, strict=False))
    start = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(found), len(wanted)))
    start = max(0, start - 40)
    return f"{surface}: …{found[start : start + 120]!r} instead of …{wanted[start : start + 120]!r}"


def is_error_about(told: str, name: str) -> bool:
    if "Traceback" in told or not told.startswith("crawlctl:"):
        return False
    if name.startswith("snapshots/") and "is not there" in told:
        return True  # it names another file now, which the error names in turn
    if name.startswith("dictionary/") and "the dictionary does not have the segment" in told:
        return True
    return name.removesuffix("/data").removesuffix("/index") in told  # of a MapFile


def where(data: bytes, damaged: bytes) -> str:
    """Say which bytes differ."""
    if len(damaged) < len(data):
        return f"cut off at {len(damaged)} of {len(data)}"
    places = [place for place, (old, new) in enumerate(zip(data, damaged, strict=True)) if old != new]
    return f"changed in {places[:3]}… of {len(data)}"
