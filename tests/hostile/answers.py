"""Servers that are hostile in what they answer: statuses, redirects, endless webs, headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.tests.hostile.catalogue import ROOT, hostile, page
from crawlctl.tests.pipeline.http.bad_manners import PAGE, whole

if TYPE_CHECKING:
    from crawlctl.tests.hostile.catalogue import Ask

MANY = 30


def number_in(path: str) -> int:
    found = re.search(r"\d+", path)
    return int(found[0]) if found else 0


def index(name: str, status: bytes, path: str, headers: bytes = b"") -> bytes:
    """Return a root that links to many pages, each of which answers with a status."""
    if path == ROOT:
        return page(name, *(f"/{name}{number}" for number in range(MANY)))
    return whole(b"", headers, status)


@hostile("status 500", pages=tuple(f"/shop{number}" for number in (0, 1, 2, 3, 4, 5, 8)))
def some_pages_fail(ask: Ask) -> bytes:
    """Fail for two pages of ten: the others must be fetched all the same."""
    if ask.path == ROOT:
        return page("shop", *(f"/shop{number}" for number in range(9)))
    if number_in(ask.path) in (6, 7):
        return whole(b"", status=b"500 Internal Server Error")
    return page(ask.path[1:])


@hostile("forbidden 401|forbidden 403")
def everything_is_forbidden(ask: Ask) -> bytes:
    status = b"401 Unauthorized" if number_in(ask.path) % 2 else b"403 Forbidden"
    return index("members", status, ask.path)


@hostile("status 429")
def too_many_requests(ask: Ask) -> bytes:
    return index("limit", b"429 Too Many Requests", ask.path, b"Retry-After: 1\r\n")


@hostile("status 503")
def retry_in_the_year_9999(ask: Ask) -> bytes:
    never = b"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n"
    return index("closed", b"503 Service Unavailable", ask.path, never)


@hostile("redirected 302")
def endless_redirects(ask: Ask) -> bytes:
    step = number_in(ask.path) + 1
    return whole(b"", b"Location: /hop%d\r\n" % step, b"302 Found")


@hostile("redirected 200 meta refresh")
def endless_refreshes(ask: Ask) -> bytes:
    step = number_in(ask.path) + 1
    return page("refresh", head=f'<meta http-equiv="refresh" content="0; url=/again{step}">')


@hostile("redirects to itself")
def redirects_to_itself(ask: Ask) -> bytes:
    return whole(b"", b"Location: " + ask.path.encode() + b"\r\n", b"301 Moved Permanently")


@hostile("duplicate 200", pages=("/dead",))
def canonical_loop(ask: Ask) -> bytes:
    """Name in the place of each page the next one, which names the first again, or a dead one."""
    targets = {"/": "/loop1", "/loop1": "/loop2", "/loop2": "/", "/dead": "/gone"}
    if ask.path not in targets:
        return whole(b"", status=b"404 Not Found")
    return page(
        f"loop {ask.path}",
        *targets,
        text=ask.path * 50,
        head=f'<link rel=canonical href="{targets[ask.path]}">',
    )


@hostile(r"/calendar/\d+ fetched 200")
def endless_calendar(ask: Ask) -> bytes:
    day = number_in(ask.path)
    return page(f"day {day}", f"/calendar/{day + 1}", f"/calendar/{day + 1000}?view=week")


@hostile("/a/ fetched 200")
def trap_of_folders(ask: Ask) -> bytes:
    return page("deep " + ask.path, *(f"{ask.path.rstrip('/')}/{name}/" for name in ("a", "b", "c")))


@hostile("fetched 200")
def session_in_each_link(ask: Ask) -> bytes:
    step = number_in(ask.path) + 1
    links = (f"/list{number}?PHPSESSID={step:032x}" for number in range(5))
    return page("session", *links)


@hostile("fetched 200|duplicate 200")
def soft_404s(ask: Ask) -> bytes:
    """Say of every page that it was not found, with status 200."""
    return page("Sorry", *(f"{ask.path.rstrip('/')}/{number}" for number in range(5)), text="not found " * 30)


@hostile("fetched 200", host="wild.localhost", logged=True)
def wildcard_subdomains(ask: Ask) -> bytes:
    """Answer for any name below this host, and link to ever more of them."""
    name, _, port = ask.host.partition(":")
    links = (f"http://w{number}.{name[-60:].lstrip('.')}:{port}/" for number in range(20))
    return page("wild " + name, *links)


@hostile("fetched 200")
def terminal_escapes(ask: Ask) -> bytes:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202etxt.exe"
    return page(f"escape {evil}", "/plain", text=f"words {evil} " * 20)


@hostile("headers_too_large")
def header_bomb(ask: Ask) -> bytes:
    lines = b"".join(b"X-Bomb-%d: %s\r\n" % (number, b"b" * 500) for number in range(400))
    return whole(PAGE, lines)


@hostile(r"/lie\d fetched 200")
def lying_charset(ask: Ask) -> bytes:
    if ask.path == ROOT:
        return page("lies", *(f"/lie{number}" for number in range(4)))
    encoding = ("utf-16", "utf-7", "utf-8", "koi8-r")[number_in(ask.path) % 4]
    body = "<title>Привет</title><p>Привет, мир".encode(encoding)
    kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x-lies\r\n"
    return kind + b"Content-Length: %d\r\n\r\n" % len(body) + body
