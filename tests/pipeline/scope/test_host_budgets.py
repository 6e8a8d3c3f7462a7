from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import BudgetSettings
from crawlctl.pipeline.scope.host_budgets import DomainCount, HostBudgets

SMALL = BudgetSettings(hosts_per_domain=4, pages_per_new_host=3)


def admitted(budgets: HostBudgets, domain: str, count: int) -> list[bool]:
    return [budgets.admit(f"h{number}.{domain}") is None for number in range(count)]


def test_a_domain_has_so_many_hosts_to_begin_with() -> None:
    budgets = HostBudgets(SMALL)
    assert admitted(budgets, "example.org", 6) == [True] * 4 + [False] * 2
    assert admitted(budgets, "example.com", 2) == [True] * 2
    assert str(budgets.admit("new.example.org")) == (
        "budgets.hosts_per_domain: example.org has 4 hosts and 0 useful pages in this partition"
    )


def test_hosts_taken_up_stay_taken_up() -> None:
    budgets = HostBudgets(SMALL)
    admitted(budgets, "example.org", 6)
    assert admitted(budgets, "example.org", 4) == [True] * 4


def test_useful_pages_earn_a_domain_more_hosts() -> None:
    budgets = HostBudgets(SMALL)
    admitted(budgets, "example.org", 4)
    for _ in range(6):
        budgets.useful("h0.example.org")
    assert admitted(budgets, "example.org", 9) == [True] * 6 + [False] * 3


def test_hosts_and_pages_of_earlier_rounds_count() -> None:
    before = DomainCount()
    before.hosts, before.useful = 5, 9
    budgets = HostBudgets(SMALL, 1, {"example.org": before}, {"old.example.org"}.__contains__)
    assert budgets.admit("old.example.org") is None
    assert admitted(budgets, "example.org", 3) == [True] * 2 + [False]


def test_each_partition_has_its_part_of_the_start() -> None:
    assert sum(admitted(HostBudgets(SMALL, 3), "example.org", 9)) == 2
    assert sum(admitted(HostBudgets(SMALL, 100), "example.org", 9)) == 1


def test_links_to_hosts_of_other_partitions_may_be_as_many_as_a_domain_has_in_all() -> None:
    budgets = HostBudgets(SMALL, 4, is_own=lambda host: host.startswith("h0."))
    assert admitted(budgets, "example.org", 7) == [True] * 5 + [False] * 2
    assert budgets.admit("h0.example.com") is None


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=80))
def test_a_domain_never_has_more_hosts_than_it_has_earned(events: list[tuple[bool, int]]) -> None:
    budgets = HostBudgets(SMALL)
    hosts: set[int] = set()
    useful = 0
    for is_page, number in events:
        if is_page:
            useful += 1
            budgets.useful(f"h{number}.example.org")
        elif budgets.admit(f"h{number}.example.org") is None:
            hosts.add(number)
        else:
            assert number not in hosts
            assert len(hosts) == 4 + useful // 3
        assert len(hosts) <= 4 + useful // 3
