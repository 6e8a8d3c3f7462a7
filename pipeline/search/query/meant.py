"""Decides which operators of a query a person meant, before the grammar sees them.

People paste titles, questions and lines of code. So the following are read as words, or left out, with a
notice:

* AND, OR and NOT in a text that is all in capitals, and the signs in it. A query of operators looks
  different: its words are not capitals, or operators stand between all of them (`TLS AND HTTP`), or one
  stands at the beginning.
* `&&` and `||` that do not stand between two things to search for.
* The minus of the option of a command (command_options.py), as in `python -m venv`.
* A field at the end, as in `see also URL:`.
* A filter with a value that it does not take, as in `python type:error`. A wrong value of `site:` is an
  error, because nobody writes `site:` in ordinary text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crawlctl.pipeline.search.query.command_options import COMMANDS, is_option
from crawlctl.pipeline.search.query.filters import FILTERS
from crawlctl.pipeline.search.query.lexer import (
    AND,
    BLANK,
    CLOSE,
    END,
    FIELD,
    LEAVES,
    MINUS,
    NOT,
    OPEN,
    OR,
    PHRASE,
    PLUS,
    SIGNS,
    SYMBOLS,
    WORD,
    Token,
    shortened,
)
from crawlctl.pipeline.search.query.tree import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_WORDS = 4  # the fewest words in capitals that count as a text; fewer words are more likely acronyms
_LEAST_WORDS_AND_PARENTHESES = 8  # the same for texts with parentheses, which both queries and texts have
_IN_TEXT = frozenset({*KEYWORDS, PLUS, WORD, PHRASE, BLANK, OPEN, CLOSE, END})
_ENDS = frozenset({*LEAVES, CLOSE})
_BEGINNINGS = frozenset({*LEAVES, OPEN, FIELD, NOT, PLUS})


def meant(tokens: Sequence[Token], notices: list[str]) -> list[Token]:
    """Return the tokens, with operators that were not meant replaced by words; add notices."""
    found = _with_options_as_words(_with_fields_as_words(tokens, notices), notices)
    if _is_text_in_capitals(found):
        found = [_as_word(token) for token in found if token.text not in SIGNS]
        notices.append(
            "AND, OR and NOT are read as words, since all words are in capitals; "
            "to use them as operators write the other words in small letters"
        )
    if any(token.text in SYMBOLS for token in found):
        found = _with_symbols(found, notices)
    return found


def _with_fields_as_words(tokens: Sequence[Token], notices: list[str]) -> list[Token]:
    """Return the tokens, with fields that have no usable value replaced by words."""
    found: list[Token] = []
    for token in tokens:
        field = found[-1] if found and found[-1].kind == FIELD else None
        if field is not None and token.kind in (END, CLOSE) and len(found) > 1:
            notices.append(f"{field.text}: has nothing behind it, so searched as a word")
            found[-1] = Token(WORD, field.text, field.at)
        elif field is not None and token.kind in LEAVES and (fault := _fault_of(field, token)):
            notices.append(f"{fault}; {shortened(token.text)} is none, so searched as words")
            kind = WORD if len(token.text.split()) == 1 else PHRASE
            found[-1] = Token(kind, f"{field.text}:{token.text}", field.at)
            continue
        found.append(token)
    return found


def _with_options_as_words(tokens: Sequence[Token], notices: list[str]) -> list[Token]:
    """Return the tokens, with each sign and word that are the option of a command replaced by one word."""
    found: list[Token] = []
    behind_command = False
    for token in tokens:
        has_minus = bool(found) and found[-1].text == MINUS and found[-1].at == token.at - len(MINUS)
        if has_minus and token.kind == WORD and is_option(token.text, behind_command=behind_command):
            option, name = f"{MINUS}{token.text}", shortened(token.text)
            found[-1] = Token(WORD, option, found[-1].at)
            notices.append(
                f"{shortened(option)} is read as the word {name}; to exclude the word write NOT {name}"
            )
            continue
        behind_command |= token.text in COMMANDS
        found.append(token)
    return found


def _fault_of(field: Token, value: Token) -> str:
    """Return the message that says which values a filter takes, if it refuses this value; else ""."""
    if field.text not in FILTERS or field.text == "site":
        return ""
    try:
        FILTERS[field.text].read(value.text)
    except ValueError as err:
        return str(err)
    return ""


def _is_text_in_capitals(tokens: Sequence[Token]) -> bool:
    kinds = {token.kind for token in tokens}
    if not any(_is_keyword(token) for token in tokens) or not kinds <= _IN_TEXT:
        return False
    words = [token.text for token in tokens if token.kind in (WORD, PHRASE)]
    in_capitals = [word for word in words if word.isupper()]
    least = _LEAST_WORDS_AND_PARENTHESES if OPEN in kinds else _LEAST_WORDS
    if len(in_capitals) < least or any(word.upper() != word for word in words):
        return False
    return tokens[0].kind not in (AND, OR) and _has_neighbours(tokens)


def _has_neighbours(tokens: Sequence[Token]) -> bool:
    """Return whether two words stand side by side without an operator between them."""
    between = [token.kind for token in tokens if token.kind not in (BLANK, OPEN, CLOSE)]
    return any(kind in (WORD, PHRASE) and after in (WORD, PHRASE) for kind, after in pairwise(between))


def _with_symbols(tokens: Sequence[Token], notices: list[str]) -> list[Token]:
    """Return the tokens, with each && and || that joins nothing replaced by a blank."""
    found: list[Token] = []
    for token, after in zip(tokens, (*tokens[1:], tokens[-1]), strict=True):
        if token.text not in SYMBOLS or token.kind not in KEYWORDS:
            found.append(token)
        elif found and found[-1].kind in _ENDS and after.kind in _BEGINNINGS:
            notices.append(f"{token.text} is read as {token.kind}")
            found.append(token)
        else:
            found.append(Token(BLANK, token.text, token.at))
    return found


def _is_keyword(token: Token) -> bool:
    return token.kind in KEYWORDS and token.kind == token.text


def _as_word(token: Token) -> Token:
    return Token(WORD, token.text, token.at) if _is_keyword(token) else token
