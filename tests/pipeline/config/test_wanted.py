"""Errors of settings speak of settings: the key, what it wants with an example, and what was given."""

from __future__ import annotations

import re

import msgspec
import pytest

from crawlctl.pipeline.config.load import load_config, setting_types
from crawlctl.pipeline.config.settings import RUNNER_NAMES, Config, SiteRules
from crawlctl.pipeline.config.wanted import MAX_SHOWN, unknown_name
from crawlctl.pipeline.errors import ConfigError

TYPES = dict(setting_types(Config))
WRONG = ("nonsense", "-1", "[1, {}]", "{a: 1}", ".nan", "99999999999999999999999999")
SECRET = ("fetch.proxy", "runner.task_env", "runner.options")
JARGON = re.compile(
    r"Expected|schema|msgspec|\$|`(?:int|str|float|array|object|null)|Struct|tuple|validat", re.I
)


def complaint(key: str, text: str) -> str | None:
    try:
        load_config({}, {key: (text, "--set")})
    except ConfigError as err:
        return str(err)
    return None


@pytest.mark.parametrize("key", TYPES)
def test_a_wrong_value_is_named_with_what_is_wanted(key: str) -> None:
    messages = {text: message for text in WRONG if (message := complaint(key, text)) is not None}
    assert messages or TYPES[key] is str
    for text, message in messages.items():
        assert f"{key} must " in message
        assert not JARGON.search(message), message
        assert "\n" not in message
        shown = text if text in ("nonsense", "-1") else ""
        assert "***" in message if key in SECRET else shown in message, message


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("partitions", "0", "must be a whole number from 1 to 100000, such as 2, or null; '0' does not fit"),
        ("runner.name", "slurm", f"must be {', '.join(RUNNER_NAMES[:-1])} or spark; 'slurm' does not fit"),
        ("fetch.http2", "maybe", "must be true or false; 'maybe' does not fit"),
        ("fetch.timeout", "soon", "must be a duration: a number and "),
        ("fetch.max_body", "big", "must be a size: a number and B, KiB, MiB or GiB, such as 64KiB; 'big'"),
        ("scope.include", "a.org", "must be a list of texts in brackets, such as [one, two]; 'a.org'"),
        ("urls.strip_parameters", "[a*b]", "each with at most a * at its end, such as [utm_*, gclid]"),
        ("index.max_stale", "2", "must be a number above 0, up to 1, such as 1; '2' does not fit"),
        ("index.k1", "0", "must be a number above 0, such as 1; '0' does not fit"),
        ("runner.task_env", "a", "must be names with texts, such as {AWS_REGION: eu-west-1}; *** does"),
        ("recrawl.hosts", "{a.org: {grow: 0}}", "recrawl.hosts.*.grow must be 1 or more"),
        ("recrawl.pace.minimum", "100d", "must be above 0 and no more than maximum; '100d' does not fit"),
        ("recrawl.pace.grow", ".5", "recrawl.pace.grow must be 1 or more; '0.5' does not fit"),
    ],
)
def test_the_wanted_form_is_said_in_plain_words(key: str, text: str, message: str) -> None:
    assert message in str(complaint(key, text))


def test_a_long_value_is_cut() -> None:
    assert len(str(complaint("partitions", "x" * 10_000))) < 100 + 2 * MAX_SHOWN


@pytest.mark.parametrize(
    "key", ["partitions", "scope.include", "runner.options", "runner.task_env", "fetch.proxy"]
)
def test_no_password_is_shown(key: str) -> None:
    message = str(complaint(key, "http://anna:s3cret@proxy.example:99999999"))
    assert message != "None"
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a.org": {"contents": "main"}}, "'contents' is none of content, remove, title or fields"),
        (
            {"a.org": {"fields": {"price": {"select": "b"}}}},
            "'select' is none of css, attribute, meta, json_ld or kind",
        ),
        ({"a.org": "main"}, ""),
    ],
)
def test_a_strange_name_within_a_value_is_told_with_the_known_ones(value: object, said: str) -> None:
    kind = dict[str, SiteRules]
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, kind)
    assert unknown_name(str(caught.value), kind) == said
