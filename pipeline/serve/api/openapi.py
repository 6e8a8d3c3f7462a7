"""The description of the API in OpenAPI 3.1, made from the records of its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from crawlctl import __version__
from crawlctl.pipeline.search.query.operators import in_one_line
from crawlctl.pipeline.serve.api.api_types import (
    ApiDocument,
    ApiProblem,
    ApiSearch,
    ApiSimilar,
    ApiSites,
    ApiStatus,
    ApiSuggestions,
)
from crawlctl.pipeline.serve.api.problem_json import MEDIA_TYPE
from crawlctl.pipeline.serve.dialects.open_webui import WebuiPage, WebuiResult, WebuiSearch, WebuiUrls
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_CHARACTERS,
    MAX_LIMIT,
    MAX_RESULTS,
    PER_PAGE,
    SAFE,
    SAFES,
)
from crawlctl.pipeline.serve.searching.suggestions import MAX_SUGGESTIONS

_TYPES = (
    *(ApiSearch, ApiSuggestions, ApiDocument, ApiSimilar, ApiStatus, ApiSites, ApiProblem),
    *(WebuiSearch, WebuiResult, WebuiUrls, WebuiPage),
)
_PROBLEMS = {
    "400": "the request cannot be understood",
    "404": "there is no such page",
    "410": "the snapshot of the crawl that a cursor leads to is gone: search again without it",
    "414": "the address is too long",
    "421": "the server does not answer under this name",
    "429": "the client asks too often; Retry-After says when to ask again",
    "503": "the server is busy, or the index cannot be read; Retry-After says when to ask again",
}


def openapi() -> dict[str, Any]:
    """Return the description."""
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "crawlctl",
            "version": __version__,
            "description": "Searches the pages of a crawl. Answers change only with the snapshot of the "
            "crawl, which their ETag names.",
        },
        "paths": {
            "/api/search": _path("Search pages", _SEARCH, {"application/json": _ref(ApiSearch)}),
            "/api/document": _path(
                "Read a stored page",
                _DOCUMENT,
                {
                    "application/json": _ref(ApiDocument),
                    "text/plain": {"type": "string"},
                    "text/markdown": {"type": "string"},
                },
            ),
            "/api/suggest": _path(
                "Complete a query that is being typed", _SUGGEST, {"application/json": _ref(ApiSuggestions)}
            ),
            "/api/similar": _path(
                "List the pages with nearly the same text", _SIMILAR, {"application/json": _ref(ApiSimilar)}
            ),
            "/api/open-webui/search": _posted("Search, as Open WebUI asks", WebuiSearch, WebuiResult),
            "/api/open-webui/load": _posted("Read pages, as Open WebUI asks", WebuiUrls, WebuiPage),
            "/api/status": _path("Say what can be searched", (), {"application/json": _ref(ApiStatus)}),
            "/api/sites": _path("List the hosts", _SITES, {"application/json": _ref(ApiSites)}),
        },
        "components": {"schemas": schemas},
    }


def _path(summary: str, parameters: tuple[dict[str, Any], ...], forms: dict[str, Any]) -> dict[str, Any]:
    """Return the description of an address that is read with GET."""
    unchanged = {"description": "the crawl has not changed since the ETag in If-None-Match"}
    responses = {"200": _answer(forms), "304": unchanged, **_problems()}
    return {"get": {"summary": summary, "parameters": list(parameters), "responses": responses}}


def _posted(summary: str, asked: type[msgspec.Struct], each: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the description of an address that is asked with POST and answers with a list."""
    body = {"required": True, "content": {"application/json": {"schema": _ref(asked)}}}
    answer = _answer({"application/json": {"type": "array", "items": _ref(each)}})
    responses = {"200": answer, **_problems(), "413": _problem("the body is too large")}
    return {"post": {"summary": summary, "requestBody": body, "responses": responses}}


def _answer(forms: dict[str, Any]) -> dict[str, Any]:
    return {"description": "the answer", "content": {form: {"schema": one} for form, one in forms.items()}}


def _problems() -> dict[str, Any]:
    return {status: _problem(meaning) for status, meaning in _PROBLEMS.items()}


def _problem(meaning: str) -> dict[str, Any]:
    return {"description": meaning, "content": {MEDIA_TYPE: {"schema": _ref(ApiProblem)}}}


def _ref(record: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{record.__name__}"}


def _parameter(name: str, meaning: str, schema: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": meaning, "required": required, "schema": schema}


def _number(low: int, high: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "default": default}


_SEARCH = (
    _parameter(
        "q",
        f"the query; {in_one_line()}",
        {"type": "string", "minLength": 1, "maxLength": MAX_CHARACTERS},
        required=True,
    ),
    _parameter("limit", "the largest number of results", _number(1, MAX_LIMIT, PER_PAGE)),
    _parameter(
        "offset",
        f"results to leave out at the beginning; none is shown after the first {MAX_RESULTS:,}",
        _number(0, MAX_RESULTS - 1, 0),
    ),
    _parameter(
        "cursor",
        "where the next results begin and in which snapshot, as `next` of an answer has it; not with offset",
        {"type": "string"},
    ),
    _parameter(
        "sort",
        "the best or the latest pages first",
        {"type": "string", "enum": ["score", "date"], "default": "score"},
    ),
    _parameter(
        "safe",
        "which pages safe search leaves out, by the lists of the operator",
        {"type": "string", "enum": [*SAFES], "default": SAFE},
    ),
)
_SUGGEST = (
    _parameter("q", "what is typed so far", {"type": "string", "maxLength": MAX_CHARACTERS}),
    _parameter("limit", "the largest number of suggestions", _number(1, MAX_SUGGESTIONS, MAX_SUGGESTIONS)),
)
_SIMILAR = (_parameter("url", "the URL of the page", {"type": "string", "minLength": 1}, required=True),)
_DOCUMENT = (
    *_SIMILAR,
    _parameter(
        "format",
        "json: all that is known; text: its text; markdown: with headings, lists, tables and links",
        {"type": "string", "enum": ["json", "text", "markdown"], "default": "json"},
    ),
)
_SITES = (
    _parameter("limit", "the largest number of hosts", _number(1, MAX_RESULTS, MAX_LIMIT)),
    _parameter("offset", "hosts to leave out at the beginning", _number(0, 999_999, 0)),
)
