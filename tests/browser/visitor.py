"""A visitor of the search page in a browser, and all that the page does behind the visitor's back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Request, Route


# What the browser says of a frame within a copy, without the address of the copy: the policy of our own pages
# names frames, that of copies does not.
FRAME_IN_COPY = "'frame-src' was not explicitly set"


class Visitor:
    """One visitor with a profile of its own. Every wait ends after a few seconds."""

    def __init__(self, browser: Browser, address: str, options: dict[str, Any]) -> None:
        self._address = address
        self._context = browser.new_context(**options)
        self._context.set_default_timeout(10_000)
        self.page = self._context.new_page()
        self.foreign: list[str] = []  # requests to other origins that reached the network
        self.asked: list[str] = []  # texts for which suggestions were asked
        self.faults: list[str] = []  # errors of scripts, and dialogs that a script has opened
        self.blocked: list[str] = []  # what the copy of a page wanted to do, and the browser did not let it
        self.page.on("requestfinished", self._on_request)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.on("console", self._on_console)

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(f"{self._address}/"):
            self.foreign.append(request.url)

    def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type != "error" or "Failed to load resource" in message.text:
            return
        places = (message.text, message.location["url"])
        is_of_copy = any("/cached/page?" in place for place in places) or FRAME_IN_COPY in message.text
        (self.blocked if is_of_copy else self.faults).append(message.text)

    def go(self, path: str) -> None:
        """Open a page of the server."""
        self.page.goto(self._address + path)

    @property
    def path(self) -> str:
        """The path and the query of the page that is shown."""
        return str(self.page.url).removeprefix(self._address)

    @property
    def box(self) -> Locator:
        """The search box."""
        return self.page.locator("#q")

    def search(self, text: str) -> None:
        """Type a query, and press Enter."""
        self.box.fill(text)
        self.box.press("Enter")
        self.page.wait_for_url("**/search?**")

    def texts(self, selector: str) -> list[str]:
        """Return the texts of some elements, with single blanks."""
        return [" ".join(text.split()) for text in self.page.locator(selector).all_text_contents()]

    def answer_suggestions(self, *texts: str) -> None:
        """Let the server suggest some texts, whatever is typed."""
        suggestions = [{"text": text, "kind": "word"} for text in texts]

        def answer(route: Route) -> None:
            self.asked.append(route.request.url.partition("?q=")[2])
            route.fulfill(json={"suggestions": suggestions})

        self.page.route("**/api/suggest?q=*", answer)

    def leave(self) -> None:
        """Close the profile; nothing may have happened that the visitor did not ask for."""
        self._context.close()
        assert self.faults == [], self.faults
        assert self.foreign == [], self.foreign
