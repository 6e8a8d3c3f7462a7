from __future__ import annotations

import msgspec
import pytest

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration, decode_unit
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.http.curl_options import conditions, content_codings, user_agent
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Request

SETTINGS = FetchSettings(contact="https://example.org/bot")


def test_the_user_agent_says_how_to_reach_us() -> None:
    agent = user_agent(msgspec.structs.replace(SETTINGS, agent="examplebot"))
    assert agent.startswith("examplebot/")
    assert agent.endswith(" (+https://example.org/bot)")


def test_we_offer_only_codings_that_can_be_undone() -> None:
    codings = content_codings().split(", ")
    assert codings[:2] == ["gzip", "deflate"]
    assert set(codings) <= {"gzip", "deflate", "br", "zstd"}


@pytest.mark.parametrize(
    ("request_", "headers"),
    [
        (Request("http://a/"), []),
        (Request("http://a/", etag='"x"'), ['If-None-Match: "x"']),
        (Request("http://a/", last_modified="then"), ["If-Modified-Since: then"]),
        (Request("http://a/", etag="", last_modified=""), []),
        (Request("http://a/", etag='"x"\r\nCookie: a'), []),
        (Request("http://a/", etag='"\u20ac"'), []),
        (Request("http://a/", etag="x" * 2000), []),
    ],
)
def test_only_validators_that_fit_a_header_are_sent(request_: Request, headers: list[str]) -> None:
    assert conditions(request_) == headers


def test_settings_are_written_with_units() -> None:
    settings = msgspec.convert(
        {"timeout": "2m", "max_body": "16M"}, FetchSettings, dec_hook=decode_unit, strict=False
    )
    assert (settings.timeout.whole, settings.max_body) == (120, 16 << 20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contact": ""}, "fetch.contact is not set"),
        ({"agent": "bot\r\nX: y"}, "printable ASCII"),
        ({"languages": "en\n"}, "fetch.languages"),
        ({"proxy": "socks5://127.0.0.1:1080"}, "fetch.proxy"),
        ({"proxy": "socks5://anna:secret@127.0.0.1"}, r"'socks5://anna:\*\*\*@127.0.0.1' is no"),
        ({"proxy": "http://anna:gehäim@127.0.0.1"}, r"'http://anna:\*\*\*@127.0.0.1': not printable"),
        ({"resolve": ("example.com=192.0.2.7",)}, "fetch.resolve"),
        ({"timeout": Duration(0)}, "wait forever"),
        ({"ca_file": "no-such.pem"}, "fetch.ca_file"),
        ({"allowed_networks": ("10.0.0.0/33",)}, "fetch.allowed_networks"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_at_once(change: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Engine(msgspec.structs.replace(SETTINGS, **change))
