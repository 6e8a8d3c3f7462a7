"""Tells the options of commands in a pasted text, such as `python -m venv`, from words that are excluded.

Both are written with a minus. A word with a minus is an option if it has only one letter or digit (`git
commit -a`, `kill -9`), because hardly anybody excludes so little. Behind the name of a well-known command
other words are options too: those of at most four letters (`tar -xzf`), and those with capitals, digits or
signs (`gcc -O2 -Wall -std=c++17`). All other words with a minus are excluded, as in `jaguar -car`.
"""

from __future__ import annotations

# Commands that are often pasted with options of several letters. Left out are commands that are ordinary
# words too (cat, find, make, sort) and languages: `cat -dog` and `java -cup` exclude a word.
_NAMES = """
    apt-get awk chmod chown clang clang++ cp curl df docker du egrep g++ gcc git grep gunzip gzip ln ls
    mkdir mv npm ps rm rsync scp sed ssh tar unzip wget xargs
"""
COMMANDS = frozenset(_NAMES.split())
_MOST_LETTERS = 4  # the longest common one is `tar -xzvf`


def is_option(word: str, *, behind_command: bool) -> bool:
    """Return whether a word, typed with a minus before it, is the option of a command."""
    if len(word) == 1:
        return word.isascii() and word.isalnum()
    is_lower_case = word.isascii() and word.isalpha() and word.islower()
    return behind_command and word.isascii() and (not is_lower_case or len(word) <= _MOST_LETTERS)
