from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.text.guarded.fair_queue import SLOW, FairQueue
from crawlctl.tests.effort import examples

HOSTS = st.sampled_from("abcd")
ADD = st.tuples(st.just("add"), HOSTS, st.floats(0, 2))
OTHERS = st.tuples(st.sampled_from(["take", "answer", "drop"]), HOSTS, st.just(0.0))


@settings(max_examples=examples(200))
@given(st.lists(st.one_of(ADD, OTHERS), max_size=60))
def test_the_host_with_the_least_cpu_time_that_may_have_one_more_goes_first(
    steps: list[tuple[str, str, float]],
) -> None:
    queue: FairQueue[tuple[str, int, float]] = FairQueue(2)
    waiting: dict[str, list[tuple[str, int, float]]] = {host: [] for host in "abcd"}
    used: Counter[str] = Counter()
    in_pipe: Counter[str] = Counter()
    pipe: list[tuple[str, int, float]] = []
    for number, (step, host, seconds) in enumerate(steps):
        if step == "add":
            item = (host, number, seconds)
            queue.add(host, item)
            waiting[host].append(item)
        elif step == "drop":
            assert queue.drop(host) == waiting[host]
            waiting[host] = []
        elif step == "answer" and pipe:
            name, _, took = pipe.pop(0)
            in_pipe[name] -= 1
            queue.charge(name, took)
            used[name] += took  # type: ignore[assignment]
        elif step == "take":
            taken = queue.take(in_pipe)
            able = [name for name in "abcd" if waiting[name] and not in_pipe[name]]
            least = min((used[name] for name in "abcd" if waiting[name]), default=0)
            if taken is None:
                assert all(used[name] > least for name in able) or not able
                continue
            assert taken == waiting[taken[0]].pop(0), "those of one host stay in their order"
            assert in_pipe[taken[0]] < 2
            assert all(used[taken[0]] <= used[name] for name in able)
            in_pipe[taken[0]] += 1
            pipe.append(taken)
        assert len(queue) == sum(map(len, waiting.values()))


def test_hosts_of_equal_use_take_turns() -> None:
    queue: FairQueue[str] = FairQueue(4)
    for host in "aaabbb":
        queue.add(host, host)
    assert [queue.take({}) for _ in range(7)] == ["a", "b", "a", "b", "a", "b", None]


def test_a_slow_host_has_one_document_in_the_pipe_until_it_is_quick_again() -> None:
    queue: FairQueue[str] = FairQueue(4)
    for _ in range(9):
        queue.add("a", "a")
    queue.charge("a", 5 * SLOW)
    assert queue.take({"a": 1}) is None
    for _ in range(9):
        queue.charge("a", 0.0)
    assert queue.take({"a": 3}) == "a" and queue.take({"a": 4}) is None
