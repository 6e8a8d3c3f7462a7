from __future__ import annotations

import pytest

from crawlctl.pipeline.config.edit_text import edit_text, read_edited
from crawlctl.pipeline.config.own_layer import own_keys
from crawlctl.pipeline.errors import ConfigError

OWN = {"scope.include": ["*.example.org", "regex:/a: b/"], "recrawl.pace.minimum": "2h"}


def test_the_text_holds_every_setting_of_the_crawl_and_reads_back_the_same() -> None:
    text = edit_text(OWN, "crawl")
    assert read_edited(text) == OWN
    assert [key for key in own_keys() if f"\n{key}: " not in text and f"\n#{key}: " not in text] == []
    assert "\nscope.include: ['*.example.org', 'regex:/a: b/']\n" in text
    assert "fetch." not in "".join(line for line in text.splitlines() if not line.startswith("# "))


def test_all_defaults_without_their_comment_signs_are_no_settings() -> None:
    text = edit_text({}, "crawl")
    uncommented = "\n".join(line.removeprefix("#") for line in text.splitlines() if not line.startswith("# "))
    assert read_edited(uncommented) == {}
    assert read_edited(text) == read_edited("") == {}


def test_sections_may_be_blocks() -> None:
    assert read_edited("scope:\n  max_depth: 3\n") == {"scope.max_depth": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scope.max_depth: 3\nscope.max_deph: 3\n", "line 2: unknown setting scope.max_deph; did you mean"),
        ("\nscope.max_depth: many\n", "line 2: scope.max_depth must be a whole number"),
        ("scope.max_depth: 3\n\nfetch.contact: me\n", "line 3: fetch.contact is no setting of the crawl"),
        (
            "scope.max_depth: 3\nscope:\n  max_depth: 4\n",
            "line 3: scope.max_depth is set twice, first on line 1",
        ),
        ("scope.include: [a.org\n\nscope.max_depth: 3\n", "line 3: not valid YAML"),
        ("scope: 3\n", "line 1: scope is a section"),
        ("- a\n", "line 1: no settings"),
        (
            "scope.max_depth: 2\nrecrawl.pace.minimum: 900d\nscope.max_url_length: 9\n",
            "line 2: recrawl.pace.minimum must be above 0",
        ),
        ("scope.max_depth: \x01\n", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_edited(text)
    assert message in str(raised.value)


def test_settings_that_fit_only_together_are_taken_in_any_order() -> None:
    text = "recrawl.pace.minimum: 100d\nrecrawl.pace.maximum: 200d\n"
    assert read_edited(text) == {"recrawl.pace.minimum": "100d", "recrawl.pace.maximum": "200d"}


def test_a_setting_that_this_release_does_not_know_is_shown_until_it_is_removed() -> None:
    text = edit_text({"scope.from_the_future": [1]}, "crawl")
    with pytest.raises(ConfigError, match=r"line \d+: unknown setting scope\.from_the_future"):
        read_edited(text)
