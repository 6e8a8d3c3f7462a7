"""Text of strangers, made fit for a terminal, a log and whoever reads our JSON.

Titles, URLs, anchors, headers and file names are written by others, and a terminal obeys some characters: the
controls below U+0020 and from U+007F to U+009F, and those that turn the direction of writing. All that Python
does not call printable is therefore replaced: these, line and paragraph separators, halves of characters, and
what cannot be seen. Two joiners stay, which are part of words in Persian and Hindi and of emoji.
"""

from __future__ import annotations

_JOINERS = "\u200c\u200d"


def blanked(text: str) -> str:
    """Return a text of the same length on one line, a blank in place of all but printable characters."""
    if text.isprintable():
        return text
    return "".join(one if _is_harmless(one) else " " for one in text)


def escaped(text: str, keep: str = "") -> str:
    r"""Return a text with escapes as Python writes them (\x9b, \u202e) for all but printable characters.

    Those in `keep`, such as line ends, are left as they are.
    """
    if _without(text, keep).isprintable():
        return text
    return "".join(
        one if one in keep or _is_harmless(one) else one.encode("unicode_escape").decode() for one in text
    )


def escaped_json(document: str) -> str:
    """Return a JSON document that means the same and has escapes for all but printable characters.

    Only strings can have such characters, but for the line ends of a document that is written over several.
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
