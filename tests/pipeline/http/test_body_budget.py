from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.http import body_budget as memory
from crawlctl.pipeline.http.body_budget import Account, BodyBudget

RESERVE = 10
TRANSFERS = 8
POOL = 112  # an eighth of it, 14, is for trickles
LIMIT = TRANSFERS * RESERVE + POOL
PATIENCE = 5.0


class Time:
    now = 0.0


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reckon with bytes where it is kilobytes in earnest."""
    monkeypatch.setattr(memory, "_TRICKLE", 4)
    monkeypatch.setattr(memory, "_FAIR_SPEED", 1)


def new_budget(time: Time | None = None) -> BodyBudget[Body]:
    moment = time or Time()
    budget: BodyBudget[Body] = BodyBudget(LIMIT, TRANSFERS, PATIENCE, lambda: moment.now)
    # The tests reckon with a small reserve; the real one is half of the limit.
    budget.reserve, budget._pool = RESERVE, POOL
    return budget


class Body:
    """Wants its pieces one after the other, and waits where it is told to."""

    def __init__(self, budget: BodyBudget[Body], pieces: list[int]) -> None:
        self.budget = budget
        self.pieces = pieces
        self.account = Account(self)
        self.is_paused = False

    @property
    def held(self) -> int:
        return self.account.held

    def receive(self) -> None:
        if not self.pieces or self.is_paused:
            return
        self.is_paused = not self.budget.take(self.pieces[0], self.account)
        if not self.is_paused:
            self.pieces.pop(0)

    def resume(self) -> None:
        assert self.is_paused
        self.is_paused = False
        self.receive()

    def end(self) -> None:
        self.pieces = []
        self.budget.release(self.account)


def test_half_of_the_memory_is_shared_out_among_the_transfers() -> None:
    many: BodyBudget[Body] = BodyBudget(64 << 20, 256, PATIENCE)
    few: BodyBudget[Body] = BodyBudget(64 << 20, 16, PATIENCE)
    assert (many.reserve, few.reserve) == (128 << 10, 256 << 10)


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
    assert budget._pooled == 80  # of the first; the second is the favourite
    small = Body(budget, [RESERVE - 1, 1])
    small.receive()
    small.receive()
    assert (small.held, small.is_paused) == (RESERVE, False)


def test_beyond_the_pool_one_goes_on_and_the_others_wait_for_it() -> None:
    budget = new_budget()
    first, big, late = Body(budget, [100]), Body(budget, [60, 60, 60]), Body(budget, [60])
    for body in (first, big, big, late, big):
        body.receive()
    assert (big.held, late.held, late.is_paused) == (180, 0, True)
    big.end()
    assert (budget.held, late.held) == (160, 60)


def test_those_that_wait_go_on_in_order_of_size() -> None:
    budget = new_budget()
    first, favourite = Body(budget, [100]), Body(budget, [200])
    long, short = Body(budget, [10, 100]), Body(budget, [5, 100])
    for body in (first, favourite, long, short, long, short):
        body.receive()
    assert [body.is_paused for body in (short, long)] == [True, True]
    favourite.end()
    assert [body.is_paused for body in (short, long)] == [False, True]


def test_one_that_misses_little_goes_first() -> None:
    budget = new_budget()
    holder, long, short = (Body(budget, [200]) for _ in range(3))
    for body in (holder, long, short):
        body.receive()
    long.account.missing, short.account.missing = 1000, 200
    holder.end()
    assert (short.held, long.is_paused) == (200, True)


def test_bodies_that_drip_show_although_the_pool_is_full() -> None:
    time = Time()
    budget = new_budget(time)
    drips = [Body(budget, [30, 1, 1]) for _ in range(4)]
    favourite, waiting = Body(budget, [50, 5]), Body(budget, [50])
    for body in (*drips, favourite, waiting, *drips):
        body.receive()
    time.now = PATIENCE
    favourite.receive()
    assert not any(body.is_paused for body in drips)
    assert set(budget.to_cut_off()) == set(drips)


def test_who_lets_others_try_in_vain_gains_no_time_by_it() -> None:
    time = Time()
    budget = new_budget(time)
    large = [Body(budget, [80]) for _ in range(3)]
    decoy = Body(budget, [11])
    for body in (decoy, *large):
        body.receive()
    time.now = PATIENCE - 1
    decoy.end()
    assert budget.cut_at == PATIENCE


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
    assert not budget.to_cut_off()
    time.now = PATIENCE
    assert budget.to_cut_off() == [dripping]
    assert not budget.to_cut_off()  # the next one has its time first
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
        assert not budget.to_cut_off()
        assert budget._favourite is not None
        budget._favourite.owner.end()


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
            for slow in budget.to_cut_off():
                assert not slow.is_paused
                assert slow.held > RESERVE
                slow.end()
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
