"""The folders of a store and the names of the files in them.

    snapshots/00000042.json                          a snapshot: all live files, one line each
    lease/00000017.json                              a record of the lease
    <kind>/<partition>/<round>-<attempt>[/data …]    a data file, which never changes
    rounds/<round>/…                                 the journal of a round (journal.py)
    live/<number>-<owner>.json                       what the running command does now (live/live_status.py)
    copies/<snapshot>…                               which snapshot was copied here (copies/copy_records.py)

The 16 hex digits of the attempt are random, so that two attempts of a task never write the same file. (They
come from os.urandom. The module `secrets` uses it too, but would load OpenSSL into every query.)
"""

from __future__ import annotations

import os
import re
import time

from crawlctl.pipeline.state import kinds

# The two files of a MapFile.
DATA = "data"
INDEX = "index"
# The file beside them in a layer of the WebDB (webdb/extract).
EXTRACT = "extract"
# The key of the kind in the header of a SequenceFile; with it `crawlctl dump` needs no manifest.
KIND_KEY = "crawlctl.kind"

SNAPSHOTS = "snapshots"
LEASE = "lease"
PROBE = "probe"
ROUNDS = "rounds"
COPIES = "copies"
LIVE = "live"

# Every constant of kinds.py is the folder of a kind, and so is the journal.
DATA_KINDS = tuple(sorted({ROUNDS, *(kind for name, kind in vars(kinds).items() if name.isupper())}))

# `crawlctl gc` deletes nothing outside these folders: a bucket may also hold files of other programs.
TOP_FOLDERS = (*DATA_KINDS, COPIES, LEASE, LIVE, PROBE, SNAPSHOTS)

_NUMBERED = re.compile(r"(?:lease|snapshots)/(\d{8,})\.json")
_GOAL = re.compile(r"rounds/\d{8,}/goal-(\d{8,})-(\d+)")
_TAIL_REPORT = re.compile(r"rounds/\d{8,}/tail-(\d{5,})-([0-9a-f]{16})-(idle|work)")
_SPENT = re.compile(r"rounds/\d{8,}/spent-([0-9a-f]{16})-([a-z]+)-(\d+)-(\d+)")
_LIVE = re.compile(r"live/(\d{8,})-([0-9a-f]+)\.json")
_RUN = re.compile(r"rounds/\d{8,}/fetch-(\d{5,})-[0-9a-f]{24}\.json")
_STEP = re.compile(r"rounds/\d{8,}/[a-z]+(?:-[0-9a-z]+)*\.json")
_DATA_FILE = re.compile(rf"(?:{'|'.join(DATA_KINDS)})/\d{{5,}}/\d{{8,}}-[0-9a-f]{{16}}(?:[./].+)?")
_PROBE = re.compile(r"probe/[0-9a-f]+")
# The names of all files that a snapshot may do without; a run's manifest has the form of a step's.
_COLLECTED = (_DATA_FILE, _STEP, _TAIL_REPORT, _GOAL, _SPENT, _LIVE, _PROBE)


def data_name(kind: str, partition: int, round_number: int, suffix: str = "") -> str:
    """Return a new, unique name for a data file.

    A MapFile is two files: take one name without a suffix and append /data and /index.
    """
    if kind not in DATA_KINDS:
        raise ValueError(f"no kind of data is called {kind!r}; add it to state/kinds.py")
    return f"{kind}/{partition:05d}/{round_number:08d}-{os.urandom(8).hex()}{suffix}"


def round_of(name: str) -> int:
    """Return the round in the name of a data file."""
    return int(name.split("/")[2].partition("-")[0])


def written_together(name: str) -> str:
    """Return the beginning of the name of a data file that the files of its segment or MapFile share."""
    return "/".join(name.split("/")[:3])


def attempt_of(name: str) -> str:
    """Return partition, round and attempt in the name of a data file; the files of a run share them."""
    return "/".join(name.split("/")[1:3])


def component_of(name: str) -> str:
    """Return which file of its segment or MapFile a data file is: the end of its name."""
    return name.split("/")[3]


def round_folder(round_number: int) -> str:
    """Return the prefix of the names of all files in the journal of a round."""
    return f"{ROUNDS}/{round_number:08d}/"


def step_name(round_number: int, step: str) -> str:
    """Return the name of the record which says that a step of a round is done."""
    return f"{round_folder(round_number)}{step}.json"


def run_name(round_number: int, partition: int) -> str:
    """Return a new name for the manifest of a run; within a partition the names sort by time."""
    moment = f"{time.time_ns():016x}{os.urandom(4).hex()}"
    return f"{round_folder(round_number)}fetch-{partition:05d}-{moment}.json"


def partition_of_run(name: str) -> int | None:
    """Return the partition in the name of a run's manifest, None for other files."""
    match = _RUN.fullmatch(name)
    return int(match[1]) if match else None


def tail_report_name(round_number: int, partition: int, deadline: float, *, has_work: bool) -> str:
    """Return the name of a tail report: a fetch task only waits or has ended (round_tail.py)."""
    said = "work" if has_work else "idle"
    return f"{round_folder(round_number)}tail-{partition:05d}-{_milliseconds(deadline)}-{said}"


def said_by_tail_report(name: str, deadline: float) -> tuple[int, bool] | None:
    """Return the partition of a tail report and whether it has work, None for other names and deadlines."""
    match = _TAIL_REPORT.fullmatch(name)
    if match is None or match[2] != _milliseconds(deadline):
        return None
    return int(match[1]), match[3] == "work"


def goal_name(round_number: int, last: int, asked: int) -> str:
    """Return the name of the file which says that a run of `asked` rounds ends with the round `last`."""
    return f"{goal_prefix(round_number)}{last:08d}-{asked}"


def goal_prefix(round_number: int) -> str:
    """Return the beginning of the names of goals in the journal of a round."""
    return f"{round_folder(round_number)}goal-"


def said_by_goal(name: str) -> tuple[int, int] | None:
    """Return the last round and the number of rounds in the name of a goal; None for other files."""
    match = _GOAL.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def spent_name(round_number: int, owner: str, step: str, seconds: float, cpu: float) -> str:
    """Return the name of the file that records the costs of a process for a step of a round."""
    spent = f"{round(seconds * 1000)}-{round(cpu * 1000)}"
    return f"{round_folder(round_number)}spent-{owner}-{step}-{spent}"


def said_by_spent(name: str) -> tuple[str, str, float, float] | None:
    """Return owner, step, seconds and CPU-seconds in the name of a record of costs; None for other files."""
    match = _SPENT.fullmatch(name)
    return (match[1], match[2], int(match[3]) / 1000, int(match[4]) / 1000) if match else None


def is_manifest_name(name: str) -> bool:
    """Return whether a file of the journal is a manifest; reports, goals and costs are empty files."""
    return not any(pattern.fullmatch(name) for pattern in (_TAIL_REPORT, _GOAL, _SPENT))


def may_be_garbage(name: str) -> bool:
    """Return whether crawlctl gives such names to files of data, the journal, live statuses or probes.

    Files with other names in our folders are those of other programs, or of the user.
    """
    return any(pattern.fullmatch(name) for pattern in _COLLECTED)


def _milliseconds(moment: float) -> str:
    return f"{round(moment * 1000):016x}"


def snapshot_name(number: int) -> str:
    """Return the name of a snapshot."""
    return f"{SNAPSHOTS}/{number:08d}.json"


def lease_name(number: int) -> str:
    """Return the name of a record of the lease."""
    return f"{LEASE}/{number:08d}.json"


def live_name(number: int, owner: str) -> str:
    """Return the name of the record of what a running command does; `owner` is the owner of its lease."""
    return f"{LIVE}/{number:08d}-{owner}.json"


def said_by_live(name: str) -> tuple[int, str] | None:
    """Return the number and the owner in the name of a live status; None for other files."""
    match = _LIVE.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def copy_name(number: int) -> str:
    """Return the name of the record of a copy that becomes a snapshot."""
    return f"{COPIES}/{number:08d}.json"


def copied_partition_name(number: int, partition: int) -> str:
    """Return the name of the manifest of a partition that a copy has finished."""
    return f"{COPIES}/{number:08d}/{partition:05d}.json"


def probe_name() -> str:
    """Return a new name for a file that tests a store (probe.py)."""
    return f"{PROBE}/{os.urandom(8).hex()}"


def number_of(name: str) -> int | None:
    """Return the number in the name of a snapshot or lease, None for other files."""
    match = _NUMBERED.fullmatch(name)
    return int(match[1]) if match else None
