"""The documentation says what the code does: generated parts are up to date, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from crawlctl import cli
from crawlctl.pipeline.config.load import load_config
from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.history.history_row import HistoryRow
from crawlctl.pipeline.crawl.reports.crawl_status import CrawlStatus
from crawlctl.pipeline.crawl.reports.run_report import RunEnd, RunReport
from crawlctl.pipeline.crawl.reports.run_summary import summary_json
from crawlctl.pipeline.webdb.due import DueCounts

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "bench" / "README.md"])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HOW = "run `python docs/generate.py`"
MANUAL = sorted({ROOT / "README.md", *ROOT.glob("docs/*.md")} - {ROOT / "docs" / "commands.md"})
BLOCK = re.compile(r"^```\w*\n(.*?)^```$|((?:^    .+\n)+)", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^ *(?:\$ |[A-Z_]+=\S+ )*crawlctl (.+)$", re.MULTILINE)
INLINE = re.compile(r"`crawlctl ([^`]+)`")
QUOTED = re.compile(r"`([a-z_]+\.[a-z_.]+[a-z_])(?:: [^`]+|=[^`]+)?`")
SOURCES = [path for folder in ("pipeline", "jobs") for path in ROOT.glob(f"{folder}/**/*.*")]
FILE = re.compile(r"`([\w/]+(?:\.(?:py|html|css|js|xml)|/))`")
PYTHON_FILE = re.compile(r"(?<![\w./-])((?:[a-z_]+/)*[a-z_0-9]+\.py)\b")
IDENTIFIER = re.compile(r"`([A-Za-z_]+)(?:\.(\w+))?`")
MODULE = re.compile(r"`((?:pipeline|jobs|bench|conf)/[\w/]+\.[a-z]+|[a-z]+/[\w/]+\.py)`")


@cache
def generator() -> Any:
    """docs/generate.py as a module: the folder docs/ is not a package."""
    spec = importlib.util.spec_from_file_location("crawlctl_docs", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_is_what_help_prints() -> None:
    assert generator().REFERENCE.read_text(encoding="utf-8") == generator().command_reference(), HOW


def test_the_file_maps_are_up_to_date() -> None:
    assert generator().ARCHITECTURE.read_text(encoding="utf-8") == generator().architecture(), HOW


def test_the_manual_has_the_table_of_operators() -> None:
    text = generator().SEARCHING.read_text(encoding="utf-8")
    assert generator().OPERATORS.search(text)
    assert text == generator().searching(), HOW


def test_every_folder_with_modules_has_a_file_map() -> None:
    folders = {path.parent for path in [*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("jobs/**/*.py")]}
    wanted = {str(folder.relative_to(ROOT)) for folder in folders if generator().modules_of(folder)}
    mapped = {match[2] for match in generator().FILE_MAP.finditer((ROOT / "ARCHITECTURE.md").read_text())}
    assert mapped == wanted


def test_every_folder_states_its_question_in_one_sentence() -> None:
    for path in sorted([*ROOT.glob("pipeline/**/__init__.py"), *ROOT.glob("jobs/**/__init__.py")]):
        text = path.read_text(encoding="utf-8")
        assert re.match(r'""".+[?.]', text), f"{path.relative_to(ROOT)} needs a docstring"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_other_files_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        found = (page.parent / name) if name else page
        assert found.exists(), f"{page.name} links to {target}"
        if anchor and found.suffix == ".md":
            assert anchor in anchors_of(found), f"{page.name} links to {target}"


def anchors_of(page: Path) -> set[str]:
    """The anchors GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_every_command_in_the_manual_can_be_typed(page: Path) -> None:
    for line in commands_in(page.read_text(encoding="utf-8")):
        words = shlex.split(re.split(r" [|>;]|&&", line.replace("…", ""))[0], comments=True)
        # In a sentence a command or an option may stand without its arguments.
        with suppress(click.MissingParameter, click.BadOptionUsage):
            parse(cli.commands(), words)


def commands_in(text: str) -> list[str]:
    """The command lines in the blocks and sentences of a page, without the name of the program."""
    blocks = (fenced or indented for fenced, indented in BLOCK.findall(text))
    return [*(line for block in blocks for line in TYPED.findall(block)), *INLINE.findall(text)]


def parse(command: click.Command, words: list[str]) -> None:
    """Read the words of a command line, as the command and its subcommands would; run nothing."""
    if not isinstance(command, click.Group):
        command.make_context(command.name, list(words))
        return
    context = click.Context(command)
    rest = command.make_parser(context).parse_args(list(words))[1]
    if rest:
        _, subcommand, rest = command.resolve_command(context, rest)
        assert subcommand is not None
        parse(subcommand, rest)


RUN_FIELDS = tuple(summary_json(RunReport(), RunEnd(1, 0, DueCounts(0, 0, 0), None, None, None)))


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("Monitoring", CrawlStatus.__struct_fields__),
        ("Monitoring", RUN_FIELDS),
        ("The history of a crawl", HistoryRow.__struct_fields__),
    ],
    ids=["status", "run", "history"],
)
def test_the_manual_names_every_field_that_json_has(heading: str, fields: tuple[str, ...]) -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert set(fields) - named == set()


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_every_setting_in_the_manual_exists(page: Path) -> None:
    sections = set(Config.__struct_fields__)
    for name in QUOTED.findall(page.read_text(encoding="utf-8")):
        if name.partition(".")[0] in sections:
            assert exists(Config(), name.split(".")), f"{page.name} names the setting {name}"


def exists(settings: object, names: list[str]) -> bool:
    """Return whether a setting is there, by the names of its sections and its own."""
    return not names or (hasattr(settings, names[0]) and exists(getattr(settings, names[0]), names[1:]))


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_every_settings_file_in_the_manual_is_valid(page: Path, tmp_path: Path) -> None:
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if not block.startswith(("runners:", "engines:")):  # of mrjob, of SearXNG
            path = tmp_path / "crawl.yaml"
            path.write_text(block, encoding="utf-8")
            load_config({}, {}, path)


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_every_module_in_the_manual_exists(page: Path) -> None:
    for name in MODULE.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or (ROOT / "pipeline" / name).exists(), f"{page.name} names {name}"


def test_every_file_that_architecture_names_exists() -> None:
    names = FILE.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    files = [*SOURCES, *ROOT.glob("*.py"), *ROOT.glob("tests/*.py"), *ROOT.glob("bench/*.py")]
    known = "".join(f"/{path.relative_to(ROOT)}\n" for path in files)
    # A name may be the end of a path, since the text says in which folder it is.
    assert {name for name in names if f"/{name}{'' if name.endswith('/') else chr(10)}" not in known} == set()


def test_every_name_in_the_tables_of_what_to_change_is_in_the_code() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tables = text.partition("## Where do I change")[2].partition("\n## ")[0]
    words: set[str] = set()
    for path in [*SOURCES, ROOT / "cli.py"]:
        if path.suffix in {".py", ".html", ".css", ".js", ".xml"}:
            words |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    named = {part for match in IDENTIFIER.findall(tables) for part in match if part}
    assert named - words == set()


def test_every_module_that_a_module_names_exists() -> None:
    modules = [path for path in SOURCES if path.suffix == ".py"]
    outside = [
        *ROOT.glob("*.py"),
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("bench/*.py"),
        *ROOT.glob("docs/*.py"),
    ]
    known = "".join(f"/{path.relative_to(ROOT)}\n" for path in [*modules, *outside])
    for path in modules:
        for name in PYTHON_FILE.findall(path.read_text(encoding="utf-8")):
            assert f"/{name}\n" in known, f"{path.relative_to(ROOT)} names {name}"
