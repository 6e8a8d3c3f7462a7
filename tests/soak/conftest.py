"""The S3 server and the environment of the tests of stores, for the tests here too."""

from __future__ import annotations

from crawlctl.tests.pipeline.store.conftest import _environment_of_servers, versitygw_endpoint

__all__ = ["_environment_of_servers", "versitygw_endpoint"]
