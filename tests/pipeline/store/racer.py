"""A process for the tests of races: works on a store as it is told on standard input.

racer.py create URI    each line is a name: create it, print 1 if it is ours
racer.py lease URI     `take` prints held or busy; `drop` gives it back and prints dropped
racer.py commit URI    writes a data file and commits a snapshot, prints its number, and so on until killed
racer.py fork-lease URI  holds a lease, forks a child that leaves the block, and prints who holds it then
racer.py fork URI      reads a file, then again in four forked children at once, and prints ok
"""

from __future__ import annotations

import os
import sys
import uuid

from crawlctl.pipeline.errors import StoreBusy
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.leases.lease import Lease, hold_lease
from crawlctl.pipeline.state.leases.lease_records import latest_record
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.open import open_store


def create(uri: str) -> None:
    store = open_store(uri)
    print("ready", flush=True)
    for line in sys.stdin:
        data = f"{uuid.uuid4().hex}".encode()
        won = store.create(line.strip(), data)
        print(int(won), data.decode(), flush=True)


def lease(uri: str) -> None:
    store = open_store(uri)
    held = Lease(store, 60, "race")
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "take":
            held = Lease(store, 60, "race")
            try:
                held.acquire()
                print("held", flush=True)
            except StoreBusy:
                print("busy", flush=True)
        else:
            held.release()
            print("dropped", flush=True)


def commit_for_ever(uri: str) -> None:
    store = open_store(uri)
    current = load_current(store)
    print("ready", flush=True)
    while True:
        name = data_name("webdb", 0, current.round + 1, "/data")
        with store.write(name) as sink:
            for _ in range(2):
                sink.write(os.urandom(700_000))
        entry = FileEntry("webdb", 0, name, sink.bytes, 1, sink.checksum)
        current = commit(store, current, files=[*current.files[-3:], entry], round_number=current.round + 1)
        print(current.number, flush=True)


def fork(uri: str) -> None:
    store = open_store(uri)
    names = [file.name for file in store.list("docs/")]
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            right = all(store.read(name).decode() == name for name in names[number:] * 3)
            os._exit(0 if right else 1)
        children.append(child)
    wrong = [child for child in children if os.waitpid(child, 0)[1] != 0]
    print("wrong" if wrong or len(names) < 4 else "ok", flush=True)


def fork_lease(uri: str) -> None:
    store = open_store(uri)
    with hold_lease(store, 60, "run") as held:
        child = 0
        try:
            child = os.fork()
            if child == 0:
                held.check()
                raise SystemExit  # and so out of the with block
            os.waitpid(child, 0)
        finally:
            if child == 0:
                print("child left", flush=True)
        held.check()
        _, record = latest_record(store)
        print("parent holds" if record and not record.released else "parent lost it", flush=True)


if __name__ == "__main__":
    roles = {
        "create": create,
        "lease": lease,
        "commit": commit_for_ever,
        "fork": fork,
        "fork-lease": fork_lease,
    }
    roles[sys.argv[1]](sys.argv[2])
