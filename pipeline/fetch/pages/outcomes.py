"""The outcome of a URL, decided by the status and error of its answer; the content is not looked at here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from crawlctl.pipeline.http.exchange import Answer

CONTENT = frozenset({200, 203})
NOT_MODIFIED = 304
_NO_CONTENT = frozenset({204, 205})
_KINDS = {
    NOT_MODIFIED: Kind.NOT_MODIFIED,
    300: Kind.FOUND,
    301: Kind.MOVED,
    302: Kind.FOUND,
    303: Kind.FOUND,
    307: Kind.FOUND,
    308: Kind.MOVED,
    401: Kind.FORBIDDEN,
    403: Kind.FORBIDDEN,
    404: Kind.GONE,
    410: Kind.GONE,
    451: Kind.FORBIDDEN,  # for legal reasons
}
# Errors of URLs that we refuse to request; the rules are the same for all URLs of a host.
REFUSED = frozenset({ErrorKind.BAD_URL, ErrorKind.UNSUPPORTED_SCHEME, ErrorKind.FORBIDDEN_ADDRESS})
# Errors because of our own limits; another try would end the same way.
_LIMITS = REFUSED | {ErrorKind.HEADERS_TOO_LARGE, ErrorKind.UNWANTED_TYPE}
# Errors of the host or the network, not of the page.
_OF_THE_HOST = frozenset(
    {
        ErrorKind.DNS,
        ErrorKind.PROXY,
        ErrorKind.REFUSED,
        ErrorKind.TIMEOUT,
        ErrorKind.TOO_SLOW,
        ErrorKind.STALLED,
        ErrorKind.TLS,
        ErrorKind.RESET,
    }
)

# Errors before a connection to the host is made. If all requests of a round end so, the network is down.
_NOT_REACHED = REFUSED | {ErrorKind.DNS, ErrorKind.PROXY, ErrorKind.REFUSED}


def has_content(answer: Answer) -> bool:
    """Return whether an answer holds a page that can be parsed."""
    return answer.error is None and answer.status in CONTENT


def outcome_of(answer: Answer, depth: int) -> Outcome:
    """Return the outcome of an answer that holds no page."""
    kind, reason = _judge(answer)
    return Outcome(
        kind,
        int(answer.started),
        code=answer.status,
        etag=answer.header("etag") or "" if kind is Kind.NOT_MODIFIED else "",
        last_modified=answer.header("last-modified") or "" if kind is Kind.NOT_MODIFIED else "",
        retry_after=answer.retry_after or 0,
        target=answer.redirect or "" if kind in (Kind.FOUND, Kind.MOVED) else "",
        reason=escaped(reason),
        depth=depth,
    )


def _judge(answer: Answer) -> tuple[Kind, str]:
    if answer.error is not None:
        kind = Kind.EXCLUDED if answer.error.kind in _LIMITS else Kind.FAILED
        return kind, reason_of_failure(answer)
    if answer.redirect == answer.url:
        return Kind.FAILED, "it redirects to itself"
    if answer.status == NOT_MODIFIED and not (answer.request.etag or answer.request.last_modified):
        return Kind.FAILED, "status 304 for a request without conditions"
    if answer.status in _NO_CONTENT:
        return Kind.EXCLUDED, f"status {answer.status}: no content"
    kind = _KINDS.get(answer.status, Kind.FAILED)
    if kind in (Kind.FOUND, Kind.MOVED) and answer.redirect is None:
        return Kind.FAILED, f"status {answer.status} without a target"
    return kind, "" if kind is not Kind.FAILED else f"status {answer.status}"


def reason_of_failure(answer: Answer) -> str:
    """Return the kind and the sentence of the error of an answer, empty if it has none."""
    return f"{answer.error.kind.value}: {escaped(answer.error.reason)}" if answer.error is not None else ""


def is_reached(answer: Answer) -> bool:
    """Return whether a connection to the host was made, even if the request failed later."""
    return answer.error is None or answer.error.kind not in _NOT_REACHED


def is_our_fault(answer: Answer) -> bool:
    """Return whether a request failed by an error on our side, before the host could answer."""
    return answer.error is not None and answer.error.kind is ErrorKind.INTERNAL and not answer.status


def host_status(answer: Answer) -> int | None:
    """Return the status that the host answered, None if it did not answer properly."""
    if answer.error is not None and answer.error.kind in _OF_THE_HOST:
        return None
    return answer.status or None
