from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.net.memory import Account, BodyBudget

RESERVE = 10
TRANSFERS = 8
POOL = 100
LIMIT = TRANSFERS * RESERVE + POOL
PATIENCE = 5.0


class Time:
    now = 0.0


def new_budget(time: Time | None = None) -> BodyBudget:
    moment = time or Time()
    budget = BodyBudget(LIMIT, TRANSFERS, PATIENCE, lambda: moment.now)
    # The tests reckon with a small reserve; the real one is half of the limit.
    budget.reserve, budget._pool = RESERVE, POOL
    return budget


class Body:
    """Wants its pieces one after the other, and waits where it is told to."""

    def __init__(self, budget: BodyBudget, pieces: list[int]) -> None:
        self.budget = budget
        self.pieces = pieces
        self.account = Account(self)

    @property
    def held(self) -> int:
        return self.account.held

    @property
    def is_paused(self) -> bool:
        return self.account.is_waiting

    def receive(self) -> None:
        if self.pieces and not self.is_paused and self.budget.take(self.pieces[0], self.account):
            self.pieces.pop(0)

    def resume(self) -> None:
        assert not self.is_paused
        self.receive()

    def end(self) -> None:
        self.pieces = []
        self.budget.release(self.account)


def test_half_of_the_memory_is_shared_out_among_the_transfers() -> None:
    assert BodyBudget(64 << 20, 256, PATIENCE).reserve == 128 << 10
    assert BodyBudget(64 << 20, 16, PATIENCE).reserve == 256 << 10


def test_within_the_budget_nobody_waits() -> None:
    budget = new_budget()
    bodies = [Body(budget, [60]), Body(budget, [60])]
    for body in bodies:
        body.receive()
    assert [body.held for body in bodies] == [60, 60]


def test_a_small_body_never_waits_whatever_the_large_ones_hold() -> None:
    budget = new_budget()
    large = [Body(budget, [90]) for _ in range(4)]
    for body in large:
        body.receive()
    assert [body.is_paused for body in large] == [False, False, True, True]
    small = Body(budget, [RESERVE - 1, 1])
    small.receive()
    small.receive()
    assert (small.held, small.is_paused) == (RESERVE, False)


def test_beyond_the_pool_one_goes_on_and_the_others_wait_for_it() -> None:
    budget = new_budget()
    big, late = Body(budget, [60, 60, 60]), Body(budget, [60])
    for body in (big, big, late, big):
        body.receive()
    assert (big.held, late.held, late.is_paused) == (180, 0, True)
    big.end()
    assert (budget.held, late.held) == (60, 60)


def test_those_that_wait_go_on_in_order_of_size() -> None:
    budget = new_budget()
    holder = Body(budget, [200])
    long, short = Body(budget, [10, 100]), Body(budget, [5, 100])
    for body in (holder, long, short, long, short):
        body.receive()
    assert long.is_paused and short.is_paused
    short.pieces, long.pieces = [90], [90]
    holder.end()
    assert [body.is_paused for body in (short, long)] == [False, False]
    assert (short.held, long.held) == (95, 100)


def test_one_that_gives_up_while_it_waits_is_forgotten() -> None:
    budget = new_budget()
    first, second = Body(budget, [150]), Body(budget, [60])
    first.receive()
    second.receive()
    second.end()
    assert budget.cut_at == math.inf
    first.end()
    assert (budget.held, second.held) == (0, 0)


def test_the_slowest_of_those_that_hold_the_pool_is_cut_off_when_others_wait_in_vain() -> None:
    time = Time()
    budget = new_budget(time)
    dripping, favourite, waiting = Body(budget, [90]), Body(budget, [60, 5]), Body(budget, [40])
    for body in (dripping, favourite, waiting):
        body.receive()
    assert waiting.is_paused
    time.now = PATIENCE - 1
    favourite.receive()
    assert budget.slowest() is None
    time.now = PATIENCE
    assert budget.slowest() is dripping
    assert budget.slowest() is None  # the next one has its time first
    dripping.end()
    assert (waiting.held, budget.cut_at) == (40, math.inf)


def test_nobody_is_cut_off_while_others_get_their_turn() -> None:
    time = Time()
    budget = new_budget(time)
    bodies = [Body(budget, [80]) for _ in range(10)]
    for body in bodies:
        body.receive()
    while any(body.is_paused for body in bodies):
        time.now += PATIENCE - 1
        assert budget.slowest() is None
        next(body for body in bodies if body.held).end()


@given(
    sizes=st.lists(st.lists(st.integers(0, 60), max_size=8), min_size=1, max_size=TRANSFERS),
    turns=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["receive", "end", "pass"])), max_size=80),
)
def test_the_budget_is_kept_small_ones_go_on_and_every_body_comes_through(
    sizes: list[list[int]], turns: list[tuple[int, str]]
) -> None:
    time = Time()
    budget = new_budget(time)
    bodies = [Body(budget, list(pieces)) for pieces in sizes]
    longest = max(sum(pieces) for pieces in sizes)
    for turn, what in turns:
        body = bodies[turn % len(bodies)]
        if what == "receive":
            body.receive()
        elif what == "end":
            body.end()
        else:
            time.now += 1
            slowest = budget.slowest()
            assert slowest is None or isinstance(slowest, Body)
            if slowest is not None:
                assert not slowest.is_paused and slowest.held > RESERVE
                slowest.end()
        assert budget.held == sum(body.held for body in bodies) <= LIMIT + longest
        assert all(body.held + body.pieces[0] > RESERVE for body in bodies if body.is_paused)
        assert any(body.held and not body.is_paused for body in bodies) or not any(
            body.is_paused for body in bodies
        )
        assert (budget.cut_at < math.inf) == any(body.is_paused for body in bodies)
    while missing := sum(len(body.pieces) for body in bodies):
        for body in bodies:
            body.receive()
            if not body.pieces:
                body.end()
        assert sum(len(body.pieces) for body in bodies) < missing
    for body in bodies:
        body.end()
    assert (budget.held, budget._pooled, len(budget._large)) == (0, 0, 0)
