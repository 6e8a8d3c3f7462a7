from __future__ import annotations

import os
import signal
from typing import Any

import msgspec
import pytest

from crawlctl.pipeline.config.settings import SiteRules
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.details import site_check
from crawlctl.pipeline.text.details.site_check import check_sites


def check(key: str = "a.org", **rules: Any) -> None:
    check_sites(msgspec.convert({"b.org": {"content": "main"}, key: rules}, dict[str, SiteRules]))


def test_sound_rules_pass() -> None:
    check(
        content="main, [role=main]",
        remove='a[href^="/x" i]:not(.y)',
        title="h1",
        fields={
            "price": {"css": "#p > b", "attribute": "title", "kind": "number"},
            "day": {"meta": "date", "kind": "date"},
            "brand": {"json_ld": "brand.name"},
        },
    )
    check_sites({})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"content": "main >"}, r"^sites: a\.org: content: 'main >' cannot be used: it is no CSS selector"),
        ({"remove": "p::before"}, r"a\.org: remove: 'p::before'"),
        ({"title": " "}, r"a\.org: title: ' '"),
        ({"title": "x" * 501}, r"a\.org: title: 'x{79}…' cannot be used: it is longer than 500 characters"),
        ({"title": "\x1b["}, r"a\.org: title: '\\\\x1b\['"),
        ({"fields": {"n": {"css": "["}}}, r"a\.org: fields\.n\.css: '\['"),
        ({"fields": {"Price": {"css": "p"}}}, r"a\.org: fields\.Price is no name for a field"),
        ({"fields": {"title": {"css": "p"}}}, r"fields\.title is no name for a field"),
        ({"fields": {"n": {}}}, "needs one source: css, meta or json_ld; it has 0"),
        ({"fields": {"n": {"css": "p", "meta": "x"}}}, "it has 2"),
        ({"fields": {"n": {"meta": "x", "attribute": "y"}}}, "attribute goes with css only"),
        ({"fields": {"n": {"json_ld": "a..b"}}}, r"json_ld is 'a\.\.b', which is no path"),
        ({"fields": {f"n{number}": {"css": "p"} for number in range(21)}}, "more than 20 fields"),
    ],
)
def test_a_rule_that_cannot_be_used_is_named(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        check(**rules)
    assert "\n" not in str(caught.value)


def test_a_key_that_is_no_site_is_named() -> None:
    with pytest.raises(ConfigError, match="'no site' is neither a host"):
        check("no site", content="main")


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGSEGV, "lexbor crashes"), (signal.SIGPROF, "takes more than 2s of CPU time")],
)
def test_a_selector_that_brings_lexbor_down_is_refused(
    monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    monkeypatch.setattr(site_check, "_tried", lambda *_: os.kill(os.getpid(), number))
    with pytest.raises(ConfigError, match=rf"b\.org: content: 'main' cannot be used: .*{reason}"):
        check()
