"""Against a crontab program that keeps its table in a file, and lines that are run as cron would run them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crontab", reason="python-crontab is not installed")

OTHERS = "# mine\nMAILTO=me@example.org\n*/5 * * * * echo '# not a comment' 50\\%\n\n@weird this line\n"
CRONTAB = """#!/bin/sh
case "$1" in
  -l) if [ -f "$TABLE" ]; then cat "$TABLE"; else echo "no crontab for $USER" >&2; exit 1; fi ;;
  -) cat > "$TABLE" ;;
  *) echo "usage" >&2; exit 2 ;;
esac
"""


@pytest.fixture
def table(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(CRONTAB)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TABLE", str(tmp_path / "table"))
    return tmp_path / "table"


def ours(table: Path) -> list[str]:
    return [line for line in table.read_text().splitlines() if "# crawlctl " in line]


def test_a_line_is_added_once_replaced_and_removed(shell: Any, table: Path) -> None:
    assert "cron does not run" in shell("schedule", "show")
    printed = shell("schedule", "add", "--every", "6h").strip()
    assert ours(table) == [printed]
    assert shell.json("schedule", "add", "--every", "6h")["changed"] is False
    assert shell("schedule", "show").strip() == printed
    shell("schedule", "add", "--every", "30 4 * * 1-5", "--until-empty")
    (line,) = ours(table)
    assert line.startswith("30 4 * * 1-5 cd ")
    assert "--until-empty" in line
    assert shell.json("schedule", "remove")["changed"] is True
    assert shell.json("schedule", "remove")["changed"] is False
    assert table.read_text() == ""


def test_lines_of_others_and_of_other_stores_stay_as_they_are(shell: Any, table: Path) -> None:
    table.write_text(OTHERS)
    shell("schedule", "add", "--store", "one")
    shell("schedule", "add", "--store", "two")
    assert table.read_text().startswith(OTHERS)
    assert len(ours(table)) == 2
    shell("schedule", "remove", "--store", "one")
    assert [f"{Path.cwd()}/two" in line for line in ours(table)] == [True]
    shell("schedule", "remove", "--store", "two")
    assert table.read_text() == OTHERS


def run_as_cron(line: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Do what cron does: five fields away, \\% is %, the rest to sh in a bare environment and elsewhere."""
    command = line.split(None, 5)[5].replace("\\%", "%")
    return subprocess.run(
        ["/bin/sh", "-c", command], env=environment, cwd="/", capture_output=True, check=False
    )


def test_the_line_runs_from_anywhere_with_the_same_settings(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Path("it's 100% odd; $(rm) é")
    odd.mkdir()
    monkeypatch.chdir(odd)
    Path("crawl.yaml").write_text("partitions: 3\n")
    Path("seed file.txt").write_text("# none yet\n")
    monkeypatch.setenv("CRAWLCTL_URLS_STRIP_PARAMETERS", "[utm_*, 'a b']")
    shell("--set", "gc.min_age=2h", "schedule", "add", "--seed", "seed file.txt", "--iterations", "2")
    (line,) = ours(table)
    done = run_as_cron(line, {"PATH": "/usr/bin:/bin"})
    assert (done.stdout, done.stderr) == (b"", b"")
    assert done.returncode == 2
    assert Path("crawl.log").read_text().startswith(f"crawlctl: {Path.cwd()}/seed file.txt: contains no URL")


def test_a_store_in_use_is_quiet_and_no_failure(shell: Any, table: Path) -> None:
    from crawlctl.pipeline.state.lease import hold_lease
    from crawlctl.pipeline.store.open import open_store

    shell("init")
    shell("schedule", "add", "--log", "logs.txt")
    with hold_lease(open_store("crawl"), 60, "run"):
        done = run_as_cron(ours(table)[0], {"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "in use by `crawlctl run`" in Path("logs.txt").read_text()


def test_flags_and_variables_are_written_into_the_line(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("crawl.yaml").write_text("lease: {ttl: 5m}\n")
    monkeypatch.setenv("CRAWLCTL_FETCH_CONTACT", "mailto:me@example.org")
    line = shell("--set", "round.max_pages=5", "schedule", "add").strip()
    assert f"--config={Path.cwd()}/crawl.yaml" in line
    assert "--set=fetch.contact=mailto:me@example.org" in line
    assert "--set=round.max_pages=5" in line
    assert "lease" not in line


def test_what_names_a_cluster_is_written_into_the_line_and_keys_are_not(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/opt/my conf")
    monkeypatch.setenv("CRAWLCTL_WEBHDFS", "http://namenode:9870")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    line = shell("schedule", "add").strip()
    assert " env 'HADOOP_CONF_DIR=/opt/my conf' " in line
    assert " CRAWLCTL_WEBHDFS=http://namenode:9870 " in line
    assert "secret" not in line


PROXY = "http://anna:s3cret@proxy.example:3128"


def test_a_password_in_the_settings_file_stays_there(shell: Any, table: Path) -> None:
    Path("crawl.yaml").write_text(f"fetch: {{proxy: '{PROXY}'}}\n")
    line = shell("schedule", "add").strip()
    assert f"--config={Path.cwd()}/crawl.yaml" in line
    assert "s3cret" not in table.read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fetch.proxy", PROXY),
        ("fetch.proxy", "http://s3cret@proxy.example"),
        ("runner.task_env", '{"AWS_SECRET_ACCESS_KEY": "s3cret"}'),
        ("runner.options", '["--cmdenv", "MY_PASSWORD=s3cret"]'),
    ],
)
def test_a_password_that_cron_would_show_is_refused_with_the_remedy(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    told = shell("--set", f"{key}={value}", "schedule", "add", code=2)
    assert f"{key} has a password" in told
    assert "into crawl.yaml" in told
    monkeypatch.setenv(f"CRAWLCTL_{key.replace('.', '_').upper()}", value)
    told += shell("schedule", "add", code=2)
    assert "s3cret" not in told
    assert not table.exists()


def test_a_password_in_the_address_of_a_cluster_is_refused_too(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAWLCTL_WEBHDFS", "https://anna:s3cret@gateway.example")
    told = shell("schedule", "add", code=2)
    assert "CRAWLCTL_WEBHDFS has a password" in told
    assert "s3cret" not in told


def test_a_line_written_by_hand_is_shown_without_its_password(shell: Any, table: Path) -> None:
    shell("schedule", "add")
    table.write_text(table.read_text().replace(" run ", f" --set=fetch.proxy={PROXY} run "))
    assert "anna:***@proxy" in shell("schedule", "show")
    assert "s3cret" not in str(shell.json("schedule", "show"))


@pytest.mark.parametrize("every", ["7m", "0", "90s", "5h", "2d", "* * * *", "61 * * * *", "@reboot", "soon"])
def test_what_cron_cannot_count_is_a_usage_error(shell: Any, table: Path, every: str) -> None:
    assert "30 4 * * *" in shell("schedule", "add", "--every", every, code=2)
    assert not table.exists()


def test_without_cron_the_error_says_what_to_install(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "install cron" in shell("schedule", "show", code=1)


def test_a_refusal_of_cron_is_passed_on(shell: Any, table: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "crontab").write_text("#!/bin/sh\necho 'you are not allowed' >&2\nexit 1\n")
    assert "you are not allowed" in shell("schedule", "add", code=1)
