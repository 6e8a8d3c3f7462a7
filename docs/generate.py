"""Writes the parts of the documentation that follow from the code: `python docs/generate.py`.

* docs/commands.md: what `--help` prints for each command.
* docs/searching.md: the table of operators, between `<!-- operators -->` and `<!-- end -->`.
* ARCHITECTURE.md: the file map of each folder, between `<!-- files: FOLDER -->` and `<!-- end -->`. Each line
  has the name of a module and the first line of its docstring.
* ARCHITECTURE.md: the list of folders, between `<!-- folders -->` and `<!-- end -->`, each with its question.

tests/test_docs.py fails where a file is not up to date.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import click

from crawlctl.cli import COMMANDS, commands
from crawlctl.pipeline.search.query.operators import markdown_table

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
REFERENCE = ROOT / "docs" / "commands.md"
SEARCHING = ROOT / "docs" / "searching.md"
OPERATORS = re.compile(r"(<!-- operators -->\n).*?(<!-- end -->)", re.DOTALL)
FILE_MAP = re.compile(r"(<!-- files: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
FOLDERS = re.compile(r"(<!-- folders -->\n).*?(<!-- end -->)", re.DOTALL)
HELP_WIDTH = 100  # columns
HEAD = """# Commands

<!-- Generated from `crawlctl COMMAND --help` by docs/generate.py. -->

By what they are for. Commands that print results take `--json`. The options of all commands (`--store`,
`--set`, `--config`, `--verbose`) stand before or after the command; what stands later wins.
"""


def command_reference() -> str:
    """Return docs/commands.md: the help of crawlctl, and then of each command and subcommand."""
    group = commands()
    context = click.Context(
        group, info_name="crawlctl", max_content_width=HELP_WIDTH, **group.context_settings
    )
    sections = [_section(group, context)]
    for name in COMMANDS:
        sections += _sections_of(group.get_command(context, name), name, context)
    return HEAD + "".join(sections)


def _sections_of(command: click.Command | None, name: str, parent: click.Context) -> list[str]:
    if command is None:
        raise LookupError(f"{name} is listed and not there")
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=HELP_WIDTH, **command.context_settings
    )
    sections = [_section(command, context)]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            sections += _sections_of(command.get_command(context, child), child, context)
    return sections


def _section(command: click.Command, context: click.Context) -> str:
    return f"\n## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


def file_map(folder: str) -> str:
    """Return the lines of a file map: the modules of a folder, each with the first line of its docstring."""
    rows = [(path.stem, first_line(path)) for path in modules_of(ROOT / folder)]
    width = max(len(name) for name, _ in rows)
    return "".join(f"    {name:{width}}  {sentence}\n" for name, sentence in rows)


def folder_list() -> str:
    """Return the lines of the list of folders: each folder of `pipeline/`, and `jobs/`, with its question."""
    folders = sorted(path.parent for path in (ROOT / "pipeline").glob("*/__init__.py"))
    rows = [
        (f"{path.relative_to(ROOT)}/", first_line(path / "__init__.py")) for path in [ROOT / "jobs", *folders]
    ]
    width = max(len(name) for name, _ in rows)
    return "".join(f"    {name:{width}}  {question}\n" for name, question in rows)


def modules_of(folder: Path) -> list[Path]:
    """Return the modules of a folder, without its sub-folders."""
    return [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]


def first_line(path: Path) -> str:
    """Return the first line of the docstring of a module, without its full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].removesuffix(".")


def architecture() -> str:
    """Return ARCHITECTURE.md with its list of folders and its file maps brought up to date."""

    def filled(match: re.Match[str]) -> str:
        return f"{match[1]}\n{file_map(match[2])}\n{match[3]}"

    text = FILE_MAP.sub(filled, ARCHITECTURE.read_text(encoding="utf-8"))
    return FOLDERS.sub(lambda match: f"{match[1]}\n{folder_list()}\n{match[2]}", text)


def searching() -> str:
    """Return docs/searching.md with its table of operators brought up to date."""
    table = markdown_table()
    return OPERATORS.sub(
        lambda match: f"{match[1]}\n{table}\n\n{match[2]}", SEARCHING.read_text(encoding="utf-8")
    )


def main() -> int:
    """Write all files."""
    SEARCHING.write_text(searching(), encoding="utf-8")
    REFERENCE.write_text(command_reference(), encoding="utf-8")
    ARCHITECTURE.write_text(architecture(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
