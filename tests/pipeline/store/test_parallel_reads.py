from __future__ import annotations

from threading import Barrier, get_ident

import pytest

from crawlctl.pipeline.store.parallel_reads import ParallelReads


def test_reads_of_a_remote_store_run_at_the_same_time_and_stay_in_order() -> None:
    start = Barrier(3)

    def read(number: int) -> int:
        start.wait(10)
        return number * number

    parallel = ParallelReads(remote=True)
    assert parallel.map(read, iter([3, 1, 2])) == [9, 1, 4]
    parallel.close()
    assert bool(parallel)


def test_a_local_store_is_read_in_this_thread() -> None:
    parallel = ParallelReads(remote=False)
    assert parallel.map(lambda _: get_ident(), range(3)) == [get_ident()] * 3
    parallel.close()


def test_the_first_error_is_raised() -> None:
    parallel = ParallelReads(remote=True)
    with pytest.raises(ZeroDivisionError):
        parallel.map(lambda number: 1 // number, [1, 0])
    parallel.close()
