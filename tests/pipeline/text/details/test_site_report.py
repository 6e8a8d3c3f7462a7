from __future__ import annotations

from msgspec.structs import replace

from crawlctl.pipeline.config.settings import FieldRule, SiteRules
from crawlctl.pipeline.text.details.site_report import site_report
from crawlctl.pipeline.text.details.site_rules import version_of
from crawlctl.pipeline.text.documents.page import PageDetails

URL = "https://a.example/x"
RULES = SiteRules(content="main", fields={"price": FieldRule(css="b")})
SITES = {"a.example": RULES}
READ = PageDetails(site="a.example", site_version=version_of(RULES))


def line(details: PageDetails | None, sites: dict[str, SiteRules] = SITES) -> str:
    found = site_report(sites, URL, details)
    return found.line() if found else ""


def test_rules_and_what_they_matched() -> None:
    said = "a.example: content main, fields price"
    assert line(READ) == said
    assert line(replace(READ, unmatched=("fields.price", "content"))) == (
        f"{said}; content matches nothing, so all of the page counts; "
        "nothing in the page matches fields.price"
    )


def test_a_page_that_other_rules_or_none_have_read() -> None:
    for details in (None, PageDetails(), replace(READ, site_version="00000000")):
        assert line(details).endswith("; the page was not read by these rules so far")
    assert line(READ, {}) == "the page was read by rules for a.example that are no longer set"
    assert line(PageDetails(), {}) == ""


def test_a_page_that_is_not_looked_up() -> None:
    found = site_report(SITES, URL, None, is_looked_up=False)
    assert found is not None and found.line() == "a.example: content main, fields price"
