from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.state.leases.probe import require_exclusive_create

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.store.base import Store


def test_a_good_store_passes_and_keeps_no_trace(store: Store) -> None:
    require_exclusive_create(store)
    assert list(store.list()) == []


def test_a_server_that_ignores_the_condition_is_refused(
    new_s3_store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_s3_store()
    put = store.client().put_object
    monkeypatch.setattr(store.client(), "put_object", lambda IfNoneMatch, **rest: put(**rest))  # noqa: N803
    with pytest.raises(StoreUnavailable, match="use one that honours If-None-Match"):
        require_exclusive_create(store)
    assert list(store.list()) == []
