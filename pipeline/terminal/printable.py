"""Makes text from strangers safe to print on a terminal, in a log and in JSON.

Titles, URLs, anchors, headers and file names are written by strangers, and a terminal obeys some characters:
the controls below U+0020 and from U+007F to U+009F, and characters that turn the direction of writing. So all
characters that Python does not call printable are replaced: these, line and paragraph separators, lone
surrogates and invisible characters. Two joiners stay, because they are part of words in Persian and Hindi and
of emoji.
"""

from __future__ import annotations

_JOINERS = "\u200c\u200d"


def blanked(text: str) -> str:
    """Return a text of the same length, with a blank for each character that is not printable."""
    if text.isprintable():
        return text
    return "".join(one if _is_harmless(one) else " " for one in text)


def escaped(text: str, keep: str = "") -> str:
    r"""Return a text with Python's escapes (\x9b, \u202e) for characters that are not printable.

    Characters in `keep`, such as line ends, are left as they are.
    """
    if _without(text, keep).isprintable():
        return text
    return "".join(
        one if one in keep or _is_harmless(one) else one.encode("unicode_escape").decode() for one in text
    )


def escaped_json(document: str) -> str:
    """Return a JSON document of the same meaning, with escapes for characters that are not printable.

    In JSON only strings can contain such characters, apart from the line ends between values, which stay.
    """
    if _without(document, "\n").isprintable():
        return document
    return "".join(one if one == "\n" or _is_harmless(one) else _json_escape(one) for one in document)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in _JOINERS


def _without(text: str, characters: str) -> str:
    for one in characters:
        text = text.replace(one, "")
    return text


def _json_escape(character: str) -> str:
    halves = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{halves[at : at + 4]}" for at in range(0, len(halves), 4))
