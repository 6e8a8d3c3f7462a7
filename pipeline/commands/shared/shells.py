"""Completion in bash and zsh: click's scripts, changed so that words such as KEY=VALUE are completed too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from click.shell_completion import BashComplete, FishComplete, ZshComplete, add_completion_class

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem, ShellComplete

# If click changes its scripts, these replacements do nothing, and a blank follows KEY=.
_BASH_REPLY = "            COMPREPLY+=($value)\n"
_BASH_NO_BLANK = _BASH_REPLY + "            if [[ $value == *= ]]; then compopt -o nospace; fi\n"
_ZSH_ADD = "        compadd -U -V unsorted -a completions\n"
_ZSH_NO_BLANK = """\
        if [[ ${completions[1]} == *= ]]; then
            compadd -U -S '' -V unsorted -a completions
        else
            compadd -U -V unsorted -a completions
        fi
"""
_BREAKS = re.compile(r"[=:]+")


class BashShell(BashComplete):
    """bash breaks words at = and :, so that `--set a=b` arrives as four words; we put them together."""

    source_template: ClassVar[str] = BashComplete.source_template.replace(_BASH_REPLY, _BASH_NO_BLANK)

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the beginning of the word at the cursor."""
        args, incomplete = super().get_completion_args()
        words = _rejoined([*args, incomplete])
        self._kept = len(words[-1]) - len(_last_part(words[-1]))
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return a completion without the part of its word before the last = or :, which bash keeps."""
        return f"{item.type},{item.value[self._kept :]}"


class ZshShell(ZshComplete):
    """zsh without a blank behind KEY=."""

    source_template: ClassVar[str] = ZshComplete.source_template.replace(_ZSH_ADD, _ZSH_NO_BLANK)


SHELLS: dict[str, type[ShellComplete]] = {"bash": BashShell, "zsh": ZshShell, "fish": FishComplete}


def use_our_shells() -> None:
    """Let click complete with these classes."""
    for name, shell in SHELLS.items():
        add_completion_class(shell, name)


def _last_part(word: str) -> str:
    return _BREAKS.split(word)[-1]


def _rejoined(parts: list[str]) -> list[str]:
    """Return the words as the user typed them: a part of = or : belongs to the parts beside it."""
    words: list[str] = []
    is_open = False
    for part in parts:
        is_break = bool(_BREAKS.fullmatch(part))
        if words and (is_open or is_break):
            words[-1] += part
        else:
            words.append(part)
        is_open = is_break
    return words
