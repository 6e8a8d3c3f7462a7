"""Recognises pages with the same or nearly the same text as an earlier page of the task.

Pages without new text do not raise the budgets of their site (select/site_budgets.py). The result is used for
nothing else, because it depends on the order in which pages arrive. The WebDB merge keeps one of several
equal pages (webdb/merge/leaders.py). Nearly equal pages are all kept, because a search must find the words in
which they differ.
"""

from __future__ import annotations

from crawlctl.pipeline.text.likeness.fingerprint import similarity, sketch_keys

_MAX_PAGES = 200_000  # per task, at about a kilobyte each; the oldest are dropped first
_MAX_COMPARED = 8  # pages per key of a sketch


class Lookalikes:
    """The pages of a task by signature and sketch; pages with similarity ≥ `threshold` are lookalikes."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._exact: dict[bytes, str] = {}
        self._sketches: dict[str, bytes] = {}
        self._by_key: dict[tuple[int, int], list[str]] = {}

    def find(self, url: str, signature: bytes, sketch: bytes) -> str | None:
        """Return the URL of an earlier page with the same text; if there is none, remember this page."""
        if not signature:
            return None
        first = self._exact.setdefault(signature, url)
        if first != url:
            return first
        return self._near(url, sketch) if sketch else None

    def add(self, url: str, signature: bytes, sketch: bytes = b"") -> None:
        """Remember a page of an earlier run."""
        self.find(url, signature, sketch)

    def _near(self, url: str, sketch: bytes) -> str | None:
        bands = list(enumerate(sketch_keys(sketch)))
        candidates = dict.fromkeys(other for band in bands for other in self._by_key.get(band, ()))
        for other in candidates:
            known = self._sketches.get(other)
            if known and other != url and similarity(known, sketch) >= self._threshold:
                return other
        self._sketches[url] = sketch
        for band in bands:
            sharing = self._by_key.setdefault(band, [])
            if len(sharing) < _MAX_COMPARED:
                sharing.append(url)
        self._forget_earliest()
        return None

    def _forget_earliest(self) -> None:
        if len(self._sketches) > _MAX_PAGES:
            url = next(iter(self._sketches))
            for band in enumerate(sketch_keys(self._sketches.pop(url))):
                sharing = self._by_key.get(band, [])
                if url in sharing:
                    sharing.remove(url)
                if not sharing:
                    self._by_key.pop(band, None)
