"""Against a crontab program that keeps its table in a file, and lines that are run as cron would run them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crontab", reason="python-crontab is not installed")

from crawlctl.pipeline.crawl.cron.crontab import tags_of

SEED = "http://127.0.0.1:8999/"  # a private address, which a run refuses at once
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
    monkeypatch.setenv("CRAWLCTL_FETCH_CONTACT", "mailto:me@example.org")
    shell("init")
    shell("inject", SEED)
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
    for name in ("one", "two"):
        shell("init", "--store", name)
        shell("inject", SEED, "--store", name)
    shell("schedule", "add", "--store", "one")
    shell("schedule", "add", "--store", "two")
    assert table.read_text().startswith(OTHERS)
    assert len(ours(table)) == 2
    shell("schedule", "remove", "--store", "one")
    assert [f"{Path.cwd()}/two" in line for line in ours(table)] == [True]
    shell("schedule", "remove", "--store", "two")
    assert table.read_text() == OTHERS


def run_as_cron(line: str) -> subprocess.CompletedProcess[bytes]:
    """Do what cron does: five fields away, \\% is %, the rest to sh in a bare environment and elsewhere."""
    command = line.split(None, 5)[5].replace("\\%", "%")
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/", "LOGNAME": "me", "SHELL": "/bin/sh"}
    return subprocess.run(["/bin/sh", "-c", command], env=bare, cwd="/", capture_output=True, check=False)


def logged(name: str) -> list[str]:
    """The lines of a log without the date and time that each of them begins with."""
    lines = Path(name).read_text().splitlines()
    for line in lines:
        assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC ", line), line
    return [line.split(" UTC ", 1)[1] for line in lines]


def test_the_line_runs_from_anywhere_with_the_same_settings(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Path("it's 100% odd; $(rm) é")
    odd.mkdir()
    monkeypatch.chdir(odd)
    Path("crawl.yaml").write_text("partitions: 3\n")
    Path("seed file.txt").write_text("http://127.0.0.1/\n")
    monkeypatch.setenv("CRAWLCTL_URLS_STRIP_PARAMETERS", "[utm_*, 'a b']")
    shell("--set", "gc.min_age=2h", "schedule", "add", "--seed", "seed file.txt", "--iterations", "2")
    (line,) = ours(table)
    Path("seed file.txt").write_text("# none any more\n")
    done = run_as_cron(line)
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 2)
    began, error, ended = logged("crawl.log")
    assert began.startswith("began: crawlctl '--config=/")
    assert error.startswith(f"crawlctl: {Path.cwd()}/seed file.txt: contains no URL")
    assert ended.startswith("ended with exit code 2 after ")


def test_a_store_in_use_is_quiet_and_no_failure(shell: Any, table: Path) -> None:
    from crawlctl.pipeline.state.leases.lease import hold_lease
    from crawlctl.pipeline.store.open import open_store

    shell("schedule", "add", "--log", "logs.txt")
    with hold_lease(open_store("crawl"), 60, "run"):
        done = run_as_cron(ours(table)[0])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    _, said, ended = logged("logs.txt")
    assert "in use by `crawlctl run`" in said
    assert ended.startswith("ended with exit code 75 (the crawl was in use: no failure)")


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--store", "nothing here"], "nothing here holds no crawl", 1),
        (["--seed", "missing.txt"], "missing.txt: No such file or directory", 2),
        (["--seed", "bad.txt"], "bad.txt: 1 problem", 2),
        (["--seed", "empty.txt"], "empty.txt: contains no URL", 2),
        (["--log", "no folder/crawl.log"], "lies in a folder that does not exist", 2),
        (["--log", "bin"], "is a folder", 2),
    ],
)
def test_what_a_run_would_fail_with_is_said_before_the_line_is_written(
    shell: Any, table: Path, arguments: list[str], said: str, code: int
) -> None:
    Path("bad.txt").write_text("https://good.example/\nhttp//bad\n")
    Path("empty.txt").write_text("# none yet\n")
    assert said in shell("schedule", "add", *arguments, code=code)
    assert not table.exists()


def test_a_crawl_without_urls_has_nothing_to_run(shell: Any, table: Path) -> None:
    shell("init", "--store", "new")
    told = shell("schedule", "add", "--store", "new", code=2)
    assert (
        "new has no URLs yet, so cron would have nothing to run; add some with `crawlctl inject URL" in told
    )
    assert not table.exists()


def test_a_store_has_one_line_however_its_folder_is_named(shell: Any, table: Path) -> None:
    Path("link").symlink_to("crawl")
    Path("other").mkdir()
    for name in ("crawl", "other/../crawl", "link"):
        shell("schedule", "add", "--store", name)
    assert len(ours(table)) == 1
    assert shell("schedule", "show").strip() == ours(table)[0]


def test_a_line_that_an_older_release_wrote_for_a_linked_folder_is_found(shell: Any, table: Path) -> None:
    Path("link").symlink_to("crawl")
    line = shell("schedule", "add").strip()
    older, mark = line.split(" # ")[0], tags_of(str(Path("link").absolute()))[1]
    table.write_text(f"{older} # {mark}\n")
    assert mark in shell("schedule", "show", "--store", "link")
    shell("schedule", "add", "--store", "link")
    assert len(ours(table)) == 1 and mark not in table.read_text()


def test_without_a_contact_no_line_is_written(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRAWLCTL_FETCH_CONTACT")
    assert "fetch.contact is not set" in shell("schedule", "add", code=2)
    assert not table.exists()


def test_a_line_with_seeds_makes_its_crawl_itself(shell: Any, table: Path) -> None:
    Path("seed.txt").write_text("http://127.0.0.1:8999/\n")
    shell("schedule", "add", "--store", "new", "--seed", "seed.txt")
    run_as_cron(ours(table)[0])
    assert any("making a crawl" in line for line in logged("crawl.log"))
    assert shell.json("status", "--store", "new")["urls"] == 1


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


def test_settings_of_the_crawl_are_variables_of_the_line_so_that_a_run_does_not_set_them_again(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAWLCTL_SCOPE_MAX_DEPTH", "3")
    Path("seed.txt").write_text("https://a.org/\n")
    new = ("--store", "new", "--set", "scope.include=[a.org]")
    line = shell(*new, "schedule", "add", "--seed", "seed.txt").strip()
    assert """ 'CRAWLCTL_SCOPE_INCLUDE=["a.org"]' CRAWLCTL_SCOPE_MAX_DEPTH=3 """ in line
    assert "--set=scope" not in line
    line = shell("schedule", "add").strip()
    assert "SCOPE" not in line and "the crawl" not in line
    told = shell("--set", "scope.max_depth=5", "schedule", "add", code=2)
    assert "crawlctl config set scope.max_depth=5" in told


def test_what_names_a_cluster_is_written_into_the_line_and_keys_are_not(
    shell: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/opt/my conf")
    monkeypatch.setenv("CRAWLCTL_WEBHDFS", "http://namenode:9870")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    line = shell("schedule", "add").strip()
    assert " env " in line and " 'HADOOP_CONF_DIR=/opt/my conf' " in line
    assert " CRAWLCTL_WEBHDFS=http://namenode:9870 " in line
    assert "secret" not in line
    assert " PATH=" not in line, "a run on this machine starts no other programs"
    assert f" PATH={os.environ['PATH']} " in shell("--set", "runner.name=hadoop", "schedule", "add")


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
