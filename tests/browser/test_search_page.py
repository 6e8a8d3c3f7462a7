"""What a stranger does with the search page in real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from crawlctl.tests.pipeline.serve.served_web import LOOP, NUMBERED, PLAIN, UNSPOKEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Route

    from crawlctl.tests.browser.visitor import Visitor

    Visit = Callable[..., Visitor]

pytestmark = pytest.mark.integration

NARROW = {"viewport": {"width": 320, "height": 640}}
DARK = {"color_scheme": "dark"}
PATHS = (
    "/",
    "/search?q=*",
    f"/search?q={UNSPOKEN}+site:many.example&page=2",
    "/search?q=asynchronus+loop",
    "/search?q=loop+lang:fr",
    "/search?q=loop+OR",
    "/why?q=loop&n=1",
    f"/cached?url={LOOP}",
    f"/cached?url={PLAIN}",
    "/help",
    "/about",
    "/nowhere",
)


def test_find(visit: Visit) -> None:
    visitor = visit()
    assert visitor.page.evaluate("document.activeElement.name") == "q", "one can type at once"
    visitor.search("asynchronous generator")
    title = visitor.page.locator(".result h3 a")
    assert title.get_attribute("href") == LOOP
    assert visitor.texts(".snippet mark") == ["asynchronous", "generator"]


def test_filter_and_back(visit: Visit) -> None:
    visitor = visit("/search?q=*", viewport={"width": 1100, "height": 800})
    visitor.page.get_by_role("link", name="docs.example", exact=True).click()
    visitor.page.wait_for_url("**site%3Adocs.example")
    assert visitor.box.input_value() == "* site:docs.example"
    assert set(visitor.texts(".host")) == {"docs.example"}
    visitor.page.locator(".chosen").get_by_role("link", name="Remove the filter site:docs.example").click()
    visitor.page.wait_for_url("**/search?q=%2A")


def test_more_of_a_site_and_the_next_page(visit: Visit) -> None:
    visitor = visit(f"/search?q={UNSPOKEN}")
    visitor.page.get_by_role("link", name="more on this site").click()
    visitor.page.get_by_role("link", name="Next ›").click()
    visitor.page.wait_for_url("**page=2")
    assert visitor.texts(".summary p")[0].startswith(f"{NUMBERED} pages match")


def test_open_the_cached_copy(visit: Visit) -> None:
    visitor = visit("/search?q=generator")
    visitor.page.get_by_role("link", name="Cached copy of result 1").click()
    copy = visitor.page.frame_locator("iframe")
    assert copy.get_by_role("heading", name="Running loops").is_visible()
    frame = visitor.page.frames[1]
    assert frame.title() == "The event loop", "its script, which gives it another title, has not run"
    assert "fetched 2023-11-14" in visitor.texts("main p")[0]


def test_see_why(visit: Visit) -> None:
    visitor = visit("/search?q=generator")
    visitor.page.get_by_role("link", name="Why result 1 was found").click()
    visitor.page.wait_for_url("**/why?**")
    assert "score: the sum of" in visitor.texts(".tree")[0]
    visitor.page.get_by_role("link", name="Back to the results").click()
    visitor.page.wait_for_url("**/search?q=generator")


def test_a_long_query_is_changed_by_buttons_as_a_short_one_is_by_links(visit: Visit) -> None:
    query = f"{UNSPOKEN} OR " + " OR ".join(["слово"] * 25)
    visitor = visit("/search?" + urlencode({"q": query}), viewport={"width": 1100, "height": 800})
    visitor.page.get_by_role("button", name="more on this site").click()
    visitor.page.wait_for_url("**site%3Amany.example")
    assert visitor.box.input_value() == f"({query}) site:many.example"
    visitor.page.get_by_role("button", name="Next ›").click()
    assert visitor.texts(".paging span") == ["Page 2"]
    visitor.page.get_by_role("button", name="Why result 11 was found").click()
    assert "score: the sum of" in visitor.texts(".tree")[0]
    visitor.page.go_back()
    visitor.page.get_by_role("button", name="Remove the filter site:many.example").first.click()
    visitor.page.wait_for_url(lambda address: "site" not in address)
    assert visitor.box.input_value() == f"({query})"


def test_change_the_order(visit: Visit) -> None:
    visitor = visit(f"/search?q={UNSPOKEN}")
    visitor.page.get_by_role("link", name="Latest first").click()
    visitor.page.wait_for_url("**sort=date")
    assert visitor.texts("[aria-label='Order of results'] [aria-current]") == ["Latest first"]
    visitor.search("loop")
    assert visitor.path == "/search?q=loop&sort=date", "the order stays for the next query"


def test_suggestions_are_a_combobox(visit: Visit) -> None:
    visitor = visit()
    visitor.answer_suggestions("loop", "loop <b>generator</b>")
    box, options = visitor.page.get_by_role("combobox"), visitor.page.get_by_role("option")
    box.press_sequentially("l", delay=10)
    visitor.page.wait_for_timeout(400)
    assert visitor.asked == [], "not under two characters"
    box.press_sequentially("oop", delay=10)
    options.nth(1).wait_for()
    assert visitor.asked == ["loop"], "once, after the last key"
    assert box.get_attribute("aria-expanded") == "true"
    assert visitor.texts("[role=option]") == ["loop", "loop <b>generator</b>"], "as text"
    box.press("ArrowDown")
    box.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    assert options.nth(1).get_attribute("aria-selected") == "true"
    assert box.input_value() == "loop <b>generator</b>"
    box.press("Escape")
    assert (box.input_value(), box.get_attribute("aria-expanded")) == ("loop", "false")
    box.press("ArrowDown")
    options.nth(1).wait_for()
    box.press("ArrowUp")
    box.press("Enter")
    visitor.page.wait_for_url("**/search?**")
    assert visitor.box.input_value() == "loop <b>generator</b>"


def test_a_suggestion_can_be_clicked(visit: Visit) -> None:
    visitor = visit("/help")
    visitor.answer_suggestions("generator")
    visitor.box.press_sequentially("gen")
    visitor.page.get_by_role("option", name="generator").click()
    visitor.page.wait_for_url("**/search?q=generator")


def test_an_unfinished_word_of_an_input_method_asks_for_nothing(visit: Visit) -> None:
    visitor = visit()
    visitor.answer_suggestions("東京")
    typed = "box => { box.value = 'とう'; box.dispatchEvent(new InputEvent('input', {isComposing: %s})) }"
    visitor.box.evaluate(typed % "true")
    visitor.page.wait_for_timeout(400)
    assert visitor.asked == []
    visitor.box.evaluate("box => box.dispatchEvent(new CompositionEvent('compositionend'))")
    visitor.page.get_by_role("option").wait_for()
    assert len(visitor.asked) == 1


def test_a_late_answer_for_an_earlier_text_is_not_shown(visit: Visit) -> None:
    visitor = visit()
    visitor.page.route("**/api/suggest?q=first", _unanswered)
    answer = {"suggestions": [{"text": "second of all", "kind": "title"}]}
    visitor.page.route("**/api/suggest?q=second", lambda route: route.fulfill(json=answer))
    with visitor.page.expect_event("requestfailed") as failed:
        visitor.box.fill("first")
        visitor.page.wait_for_timeout(400)
        visitor.box.fill("second")
        visitor.page.get_by_role("option").wait_for()
    assert failed.value.url.endswith("first") and "ABORTED" in (failed.value.failure or "")
    assert visitor.texts("[role=option]") == ["second of all title"]


def test_without_suggestions_one_can_search_all_the_same(visit: Visit) -> None:
    visitor = visit()
    visitor.page.route("**/api/suggest?q=*", lambda route: route.fulfill(status=503, body="{}"))
    visitor.box.press_sequentially("loop")
    visitor.page.wait_for_timeout(400)
    assert visitor.page.get_by_role("option").count() == 0
    visitor.box.press("Enter")
    visitor.page.wait_for_url("**/search?q=loop")


def _unanswered(_route: Route) -> None:
    """Leave a request without an answer."""


def test_a_query_under_way_rests_the_button_until_another_is_typed(visit: Visit) -> None:
    visitor = visit()
    button = visitor.page.get_by_role("button", name="Search")
    stay = "() => document.addEventListener('submit', event => event.preventDefault(), {once: true})"
    visitor.page.evaluate(stay)  # as if the answer never came
    visitor.box.fill("first")
    visitor.box.press("Enter")
    assert button.is_disabled()
    visitor.box.fill("loop")
    assert button.is_enabled()
    visitor.search("loop")
    assert visitor.texts(".result h3") == ["The event loop"]
    visitor.page.go_back()
    assert visitor.page.get_by_role("button", name="Search").is_enabled()


def test_another_query_ends_the_one_under_way(visit: Visit) -> None:
    visitor = visit()
    visitor.page.route("**/search?q=first", _unanswered)
    submit = "document.querySelector('[name=q]').value = '%s'; document.forms[0].requestSubmit()"
    with visitor.page.expect_event("requestfailed") as failed:
        visitor.page.evaluate(f"{submit % 'first'}; setTimeout(() => {{ {submit % 'loop'} }}, 300); null")
        visitor.page.locator(".result").wait_for()
    assert failed.value.url.endswith("first") and "ABORTED" in (failed.value.failure or "")


def test_keys(visit: Visit) -> None:
    visitor = visit(f"/search?q={UNSPOKEN}")
    focused = "document.activeElement.closest('.result')?.querySelector('h3').textContent"
    titles = visitor.texts(".result h3")
    press = visitor.page.keyboard.press
    press("j")
    assert visitor.page.evaluate(focused) == titles[0]
    press("j")
    assert visitor.page.evaluate(focused) == titles[1]
    press("k")
    assert visitor.page.evaluate(focused) == titles[0]
    visitor.page.route("https://many.example/**", _shown_here)
    press("Enter")
    visitor.page.wait_for_url("https://many.example/**")
    visitor.foreign.clear()  # this one was asked for
    visitor.page.go_back()
    press("/")
    assert visitor.page.evaluate("document.activeElement.name") == "q"
    press("j")
    assert visitor.box.input_value() == "j", "in the box a letter is a letter"
    press("Escape")
    assert visitor.box.input_value() == UNSPOKEN, "Esc leaves the box, with the query of these results"
    assert visitor.page.evaluate("document.activeElement.name") is None
    press("?")
    visitor.page.wait_for_url("**/help#keys")


def _shown_here(route: Route) -> None:
    route.fulfill(body="<title>elsewhere</title>", content_type="text/html")


def test_dark_where_the_visitor_likes_it_dark(visit: Visit) -> None:
    lightness = "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
    assert visit("/search?q=loop").page.evaluate(lightness) > 200
    assert visit("/search?q=loop", **DARK).page.evaluate(lightness) < 60


def test_no_page_is_wider_than_a_narrow_screen(visit: Visit) -> None:
    visitor = visit("/", **NARROW)
    for path in (*PATHS, "/search?q=hostile"):
        visitor.go(path)
        assert visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_on_a_narrow_screen_filters_open_with_a_touch(visit: Visit) -> None:
    visitor = visit("/search?q=*", **NARROW)
    link = visitor.page.get_by_role("link", name="docs.example", exact=True)
    assert not link.is_visible()
    visitor.page.get_by_text("Filters", exact=True).click()
    link.click()
    visitor.page.wait_for_url("**site%3Adocs.example")


def test_everything_works_without_javascript(visit: Visit) -> None:
    visitor = visit("/", java_script_enabled=False, viewport={"width": 1100, "height": 800})
    visitor.search("zebra")
    visitor.page.get_by_role("link", name="more on this site").click()
    visitor.page.get_by_role("link", name="Next ›").click()
    visitor.page.get_by_role("link", name="Latest first").click()
    assert visitor.path == f"/search?q={UNSPOKEN}+site%3Amany.example&sort=date"
    visitor.go("/search?q=*")
    visitor.page.get_by_role("link", name="text", exact=True).click()
    assert visitor.page.locator(".result h3 a").get_attribute("href") == PLAIN
    visitor.page.get_by_role("link", name="Why result 1 was found").click()
    visitor.page.get_by_role("link", name="Cached copy of result 1").click()
    assert "wombat" in visitor.texts("pre.text")[0]


def test_what_a_hostile_page_wrote_is_only_shown(visit: Visit) -> None:
    visitor = visit("/search?q=hostile")
    visitor.page.get_by_role("link", name="Why result 1 was found").click()
    visitor.page.go_back()
    visitor.page.get_by_role("link", name="Cached copy of result 1").click()
    visitor.page.frame_locator("iframe").get_by_role("heading").wait_for()
    assert any("script" in one for one in visitor.blocked) and any(
        "pixel.gif" in one for one in visitor.blocked
    )
    visitor.page.get_by_role("link", name="Text only").click()
    visitor.page.locator("pre.text").wait_for()


@pytest.mark.parametrize(
    ("scheme", "paths", "rules"), [("light", PATHS, {}), ("dark", PATHS[:4], {"runOnly": ["color-contrast"]})]
)
def test_no_fault_keeps_people_out(
    visit: Visit, axe: str, scheme: str, paths: tuple[str, ...], rules: dict[str, Any]
) -> None:
    """No serious or critical fault by axe-core, which goes by the WCAG; in the dark only colours differ."""
    visitor, found = visit("/", color_scheme=scheme, bypass_csp=True), list[str]()
    visitor.answer_suggestions("loop", "generator")
    for path in paths:
        visitor.go(path)
        if path == "/":
            visitor.box.press_sequentially("loo")
            visitor.page.get_by_role("option").first.wait_for()
            visitor.box.press("ArrowDown")
        visitor.page.evaluate(axe)
        report = visitor.page.evaluate("rules => axe.run(document, rules)", rules)
        found += [
            f"{path}: {fault['id']}: {fault['help']}: {fault['nodes'][0]['html']}"
            for fault in report["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
    assert not found, "\n".join(found)
