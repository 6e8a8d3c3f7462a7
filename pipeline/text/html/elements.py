"""Tables of HTML elements: which are shown, which start a new line, which have no end tag."""

from __future__ import annotations

# Marks the end of a block in the text; str.split takes it for white space.
BREAK = "\x1e"

_BLOCKS = """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu
    nav ol optgroup option p plaintext pre search section summary table tbody tfoot thead tr ul xmp
"""
_APART = "audio button canvas embed iframe img input meter object progress select svg td textarea th video"
_NEVER_SHOWN = "annotation-xml audio canvas datalist desc head noembed noframes noscript object rp video"
_VOID = """
    area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr
"""

BLOCKS = frozenset(_BLOCKS.split())
# Elements that separate words but do not start a new line.
APART = frozenset(_APART.split())
NEVER_SHOWN = frozenset(_NEVER_SHOWN.split())
NOT_ENTERED = frozenset(("iframe", "script", "style", "template", "title"))
EMPHASIS = frozenset(("b", "dt", "em", "strong"))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# Texts of the permalinks that documentation generators put behind headings and definitions.
PERMALINKS = frozenset(("\u00b6", "\uf0c1"))
VOID = frozenset(_VOID.split())
