"""Against the crontab program of this machine; the table of whoever runs the tests is put back as it was."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("crontab", reason="python-crontab is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator

# Nothing of it ever runs: there is no 31st of February.
OTHERS = "# mine\nMAILTO=me@example.org\n0 0 31 2 * echo '# not a comment' 50\\%\n\n1 1 31 2 * true\n"
NEVER = "0 0 31 2 *"

pytestmark = pytest.mark.integration


def crontab(*arguments: str, table: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["crontab", *arguments], input=table, capture_output=True, text=True, check=False)


@pytest.fixture
def own_table(shell: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if shutil.which("crontab") is None:
        pytest.skip("there is no crontab program (on Debian and Ubuntu: apt install cron)")
    monkeypatch.setenv("CRAWLCTL_FETCH_CONTACT", "mailto:me@example.org")
    shell("init")
    shell("inject", "https://example.org/")
    Path("50% of it's seeds.txt").write_text("https://example.org/\n")
    before = crontab("-l")
    if before.returncode and "no crontab for" not in before.stderr.lower():
        pytest.skip(f"crontab may not be used: {before.stderr.strip()}")
    try:
        yield
    finally:
        if before.returncode:
            crontab("-r")
        else:
            crontab("-", table=before.stdout)


def test_lines_come_and_go_in_the_table_of_the_user(shell: Any, own_table: None) -> None:
    assert crontab("-", table=OTHERS).returncode == 0
    assert "cron does not run" in shell("schedule", "show")
    line = shell("schedule", "add", "--every", NEVER, "--seed", "50% of it's seeds.txt").strip()
    assert crontab("-l").stdout == f"{OTHERS}{line}\n"
    assert shell("schedule", "show").strip() == line
    assert shell.json("schedule", "add", "--every", NEVER)["changed"] is True
    assert crontab("-l").stdout.count("# crawlctl ") == 1
    assert shell.json("schedule", "remove")["changed"] is True
    assert crontab("-l").stdout == OTHERS


def test_a_user_without_a_table_gets_one(shell: Any, own_table: None) -> None:
    crontab("-r")
    assert shell.json("schedule", "show")["line"] is None
    assert shell.json("schedule", "remove")["changed"] is False
    line = shell("schedule", "add", "--every", NEVER)
    assert crontab("-l").stdout == line
    shell("schedule", "remove")
    assert crontab("-l").stdout == ""


def test_what_crontab_refuses_is_said_and_changes_nothing(
    shell: Any, own_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    crontab("-", table=OTHERS)
    monkeypatch.setattr("crawlctl.pipeline.crawl.cron.crontab.cron_line", lambda *_: "61 * * * * no minute")
    assert "crontab refused: " in shell("schedule", "add", code=1)
    assert crontab("-l").stdout == OTHERS
