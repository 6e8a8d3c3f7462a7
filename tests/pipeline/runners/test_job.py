from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import ConfigError, CorruptFile, JobFailed, StoreBusy
from crawlctl.pipeline.runners.job import run_job

if TYPE_CHECKING:
    from collections.abc import Callable

    Load = Callable[[str], Any]

IN_PROCESS = ("inline", "forked")
ON_THIS_MACHINE = ("inline", "forked", "local")


def lines(tmp_path: Path, *text: str) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in text))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("runner", ON_THIS_MACHINE)
def test_two_steps_with_a_combiner_give_the_same_everywhere(
    runner: Any, job: Load, tmp_path: Path, scratch: Path
) -> None:
    first = lines(tmp_path, "to be or not to be", "that is the question")
    second = tmp_path / "more.txt"
    second.write_text("to be is to do")  # no newline at its end
    settings = RunnerSettings(name=runner, workers=2, tmp_dir=str(scratch))
    result = run_job(job("word_count.WordCount"), [first, second], settings=settings)
    assert sorted(result.output) == [
        (1, ["do", "not", "or", "question", "that", "the"]),
        (2, ["is"]),
        (3, ["be"]),
        (4, ["to"]),
    ]
    assert result.counters.groups == {"counts": {"different": 4}, "words": {"different": 9, "lines": 3}}
    assert result.counters.get("words", "lines") == 3
    assert result.seconds > 0
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("runner", ON_THIS_MACHINE)
def test_a_line_is_a_task_when_the_input_format_says_so(runner: Any, job: Load, tmp_path: Path) -> None:
    source = lines(tmp_path, "a", "b", "c", "d", "e")
    result = run_job(job("line_a_task.LineATask"), [source], settings=RunnerSettings(name=runner, workers=1))
    assert [value for _, value in result.output] == [["a"], ["b"], ["c"], ["d"], ["e"]]
    assert [key for key, _ in result.output] == ["0", "1", "2", "3", "4"]
    assert result.counters.group("tasks") == {"finished": 5}


@pytest.mark.slow
@pytest.mark.parametrize("runner", ON_THIS_MACHINE)
def test_packed_values_reach_their_shard_unharmed_and_sorted(runner: Any, job: Load, tmp_path: Path) -> None:
    values = [b"", b"\r", b"a\tb\n", b"\\n", bytes(range(256)), b"\xff" * 3, b"\\", b"end\r\n"]
    records = [(shard, value) for shard in (0, 2, 10, 11) for value in values]
    source = lines(tmp_path, *(json.dumps([shard, value.hex()]) for shard, value in reversed(records)))
    result = run_job(
        job("shards.Shards"), [source], settings=RunnerSettings(name=runner), args=["--reducers", "3"]
    )
    assert sorted(result.output) == sorted(records)
    for shard in (0, 2, 10, 11):
        got = [value for key, value in result.output if key == shard]
        assert got == sorted(values, key=escaped_order)
    assert result.counters.group("reduce tasks") == {"with 1 groups": 2, "with 2 groups": 1}


def escaped_order(value: bytes) -> bytes:
    from crawlctl.jobs.shared.shards import escaped

    return escaped(value)


@pytest.mark.slow
@pytest.mark.parametrize("runner", ON_THIS_MACHINE)
@pytest.mark.parametrize("place", ["mapper", "reducer"])
def test_a_failure_names_the_task_and_carries_its_traceback(
    runner: Any, place: str, job: Load, tmp_path: Path, scratch: Path
) -> None:
    source = lines(tmp_path, "good", "bad")
    settings = RunnerSettings(name=runner, workers=1, tmp_dir=str(scratch))
    with pytest.raises(JobFailed) as caught:
        run_job(job("failing.Failing"), [source], settings=settings, args=["--fail-in", place])
    message = str(caught.value)
    assert message.startswith(f"Failing failed: {place} 0 in step 1 of 1 raised ValueError: a bad line; ")
    assert "--verbose" in message and "\n" not in message
    assert 'raise ValueError("a bad line")' in caught.value.task_traceback
    assert caught.value.task_traceback.rstrip().endswith("ValueError: a bad line")
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("runner", IN_PROCESS)
def test_our_own_errors_are_raised_again_as_they_are(runner: Any, job: Load, tmp_path: Path) -> None:
    source = lines(tmp_path, "bad")
    settings = RunnerSettings(name=runner)
    with pytest.raises(StoreBusy, match="another run holds the store; wait for it") as busy:
        run_job(job("failing.Failing"), [source], settings=settings, args=["--how", "busy"])
    with pytest.raises(CorruptFile) as corrupt:
        run_job(job("failing.Failing"), [source], settings=settings, args=["--how", "corrupt"])
    assert (corrupt.value.name, corrupt.value.offset) == ("part-1", 17)
    for error in (busy.value, corrupt.value):
        assert isinstance(error.__cause__, JobFailed)
        assert "mapper 0 in step 1 of 1" in str(error.__cause__)
        assert "self.fail()" in error.__cause__.task_traceback


@pytest.mark.parametrize("runner", IN_PROCESS)
def test_an_exception_that_cannot_be_pickled_is_still_told(runner: Any, job: Load, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match="raised Unportable: first second; ") as caught:
        run_job(
            job("failing.Failing"),
            [lines(tmp_path, "bad")],
            settings=RunnerSettings(name=runner),
            args=["--how", "unportable"],
        )
    assert "Unportable: first\nsecond" in caught.value.task_traceback


@pytest.mark.parametrize("runner", IN_PROCESS)
def test_sys_exit_in_a_task_is_a_failure_of_the_job(runner: Any, job: Load, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match="raised SystemExit: gave up; "):
        run_job(
            job("failing.Failing"),
            [lines(tmp_path, "bad")],
            settings=RunnerSettings(name=runner),
            args=["--how", "sys.exit"],
        )


@pytest.mark.parametrize(
    ("how", "told"),
    [("kill", "was killed by SIGKILL in each of 3 tries; most likely"), ("exit", "left with exit code 3; ")],
)
@pytest.mark.parametrize("place", ["mapper", "reducer"])
def test_a_worker_that_dies_is_named_with_the_likely_reason(
    how: str, told: str, place: str, job: Load, tmp_path: Path, scratch: Path
) -> None:
    settings = RunnerSettings(workers=2, tmp_dir=str(scratch))
    source = lines(tmp_path, "good", "bad")
    with pytest.raises(JobFailed, match=told) as caught:
        run_job(job("failing.Failing"), [source], settings=settings, args=["--fail-in", place, "--how", how])
    assert f"{place} 0 in step 1 of 1" in str(caught.value)
    assert ("memory" in str(caught.value)) == (how == "kill")
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_a_local_task_that_is_killed_is_told_too(job: Load, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"mapper 0 in step 1 of 1 was killed by SIGKILL; .*memory"):
        run_job(
            job("failing.Failing"),
            [lines(tmp_path, "bad")],
            settings=RunnerSettings(name="local", workers=1),
            args=["--how", "kill"],
        )


@pytest.mark.slow
def test_a_local_task_finds_the_shipped_package_and_a_clean_environment(
    job: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    settings = RunnerSettings(name="local", workers=1, task_env={"CRAWLCTL_TEST": "seen = yes"})
    source = lines(tmp_path, "PYTHONUNBUFFERED", "CRAWLCTL_TEST")
    told = dict(run_job(job("where.Where"), [source], settings=settings).output)
    assert Path(told["package"]).parent.parent.suffix == ".zip"
    assert told["PYTHONUNBUFFERED"] == ""
    assert told["CRAWLCTL_TEST"] == "seen = yes"


@pytest.mark.slow
def test_a_local_job_leaves_no_lock_in_the_folder_all_users_share(job: Load, tmp_path: Path) -> None:
    locks = set(Path("/tmp").glob("wrapper.lock.line_a_task.*"))
    run_job(job("line_a_task.LineATask"), [lines(tmp_path, "a")], settings=RunnerSettings(name="local"))
    assert set(Path("/tmp").glob("wrapper.lock.line_a_task.*")) == locks


def test_a_missing_input_is_named(job: Load, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.txt"
    with pytest.raises(JobFailed, match=rf"{missing} does not exist.*; check the input"):
        run_job(job("word_count.WordCount"), [missing], settings=RunnerSettings())


def test_a_job_without_input_does_not_wait_for_the_terminal(job: Load) -> None:
    with pytest.raises(ValueError, match="no input"):
        run_job(job("word_count.WordCount"), [], settings=RunnerSettings())


def test_a_conf_file_that_is_not_there_is_a_configuration_error(job: Load, tmp_path: Path) -> None:
    settings = RunnerSettings(conf_path=str(tmp_path / "none.conf"))
    with pytest.raises(ConfigError, match=r"none\.conf does not exist; correct runner\.conf_path"):
        run_job(job("word_count.WordCount"), [lines(tmp_path, "a")], settings=settings)


def test_settings_that_mrjob_cannot_take_are_configuration_errors(job: Load, tmp_path: Path) -> None:
    source = lines(tmp_path, "a")
    with pytest.raises(ConfigError, match=r"WordCount: .*--no-such-switch; correct the options"):
        run_job(job("word_count.WordCount"), [source], settings=RunnerSettings(options=("--no-such-switch",)))
    with pytest.raises(ConfigError, match=r"no scratch folder .*nowhere.*; set TMPDIR"):
        run_job(
            job("word_count.WordCount"), [source], settings=RunnerSettings(tmp_dir=str(tmp_path / "nowhere"))
        )


@pytest.mark.slow
@pytest.mark.parametrize("runner", ON_THIS_MACHINE)
def test_a_mapper_can_take_whole_files(runner: Any, job: Load, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.bin", "b.bin")]
    for path in files:
        path.write_bytes(path.name.encode() + b"\0\n\xff")
    result = run_job(job("whole_files.WholeFiles"), files, settings=RunnerSettings(name=runner))
    assert sorted(result.output) == [("a.bin", "612e62696e000aff"), ("b.bin", "622e62696e000aff")]


def test_the_users_own_mrjob_conf_is_not_read_but_the_one_we_are_given_is(
    job: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "own.conf"
    conf.write_text("runners: {forked: {cmdenv: {CRAWLCTL_TEST: from the file}}}")
    monkeypatch.setenv("MRJOB_CONF", str(conf))
    source = lines(tmp_path, "CRAWLCTL_TEST")
    plain = run_job(job("where.Where"), [source], settings=RunnerSettings())
    configured = run_job(job("where.Where"), [source], settings=RunnerSettings(conf_path=str(conf)))
    assert dict(plain.output)["CRAWLCTL_TEST"] is None
    assert dict(configured.output)["CRAWLCTL_TEST"] == "from the file"


def test_mrjob_is_silent_unless_we_debug(
    job: Load, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    source, settings = lines(tmp_path, "a"), RunnerSettings()
    with caplog.at_level(logging.INFO):
        run_job(job("line_a_task.LineATask"), [source], settings=settings)
    assert caplog.records == []
    with caplog.at_level(logging.DEBUG, logger="crawlctl"):
        run_job(job("line_a_task.LineATask"), [source], settings=settings)
    assert any("Running step 1 of 1" in record.getMessage() for record in caplog.records)
    assert logging.getLogger("mrjob").propagate and not logging.getLogger("mrjob").handlers
    assert capfd.readouterr() == ("", "")
