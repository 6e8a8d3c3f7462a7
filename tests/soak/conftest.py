"""What several soak tests need: the S3 server of the tests of stores, and a run that was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.pipeline.store.conftest import _environment_of_servers, versitygw_endpoint
from crawlctl.tests.soak.recording import Recording, record
from crawlctl.tests.soak.small_web import small_web

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["_environment_of_servers", "recording", "versitygw_endpoint"]


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with small_web() as sites:
        yield record(sites, tmp_path_factory.mktemp("recording"))
