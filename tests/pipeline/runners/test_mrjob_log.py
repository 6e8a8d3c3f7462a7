from __future__ import annotations

import logging
import warnings

import pytest

from crawlctl.pipeline.runners.mrjob_log import KEPT_MESSAGES, captured_mrjob_log


def test_the_probable_cause_is_what_mrjob_said_last() -> None:
    with captured_mrjob_log() as captured:
        assert captured.probable_cause() == ""
        logging.getLogger("mrjob.hadoop").error("\nProbable cause of failure:\n\nfirst\n\n")
        logging.getLogger("mrjob.hadoop").error("\nProbable cause of failure:\n\nsecond\nline\n\n")
    assert captured.probable_cause() == "second\nline"


def test_the_application_is_the_one_submitted_last() -> None:
    with captured_mrjob_log() as captured:
        assert captured.application() is None
        logging.getLogger("mrjob.logs.step").info("Submitted application application_1_0001")
        logging.getLogger("mrjob.logs.step").info("The url to track: http://rm/proxy/application_1_0002/")
        logging.getLogger("mrjob.logs.step").info("map 100% reduce 0%")
    assert captured.application() == "application_1_0002"


def test_the_complaint_is_why_the_client_gave_up() -> None:
    step = logging.getLogger("mrjob.logs.step")
    with captured_mrjob_log() as captured:
        assert captured.complaint() == ""
        step.info("  Job job_1_0001 failed with state FAILED due to: Application failed 2 times\nfor this")
    assert captured.complaint() == "Application failed 2 times\nfor this"


def test_the_first_error_of_a_program_is_kept() -> None:
    step = logging.getLogger("mrjob.fs.hadoop")
    with captured_mrjob_log() as captured:
        step.info("STDERR: WARN util.NativeCodeLoader")
        step.error("STDERR: ls: Connection refused")
        step.error("STDERR: rm: Connection refused")
    assert captured.program_error == "ls: Connection refused"


def test_a_resource_manager_that_does_not_answer_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with captured_mrjob_log():
        for tried in range(8):
            logging.getLogger("mrjob.logs.step").info(
                "Retrying connect to server: rm/10.0.0.1:8032. Already tried %d time(s); retry policy is",
                tried,
            )
    assert [record.getMessage() for record in caplog.records] == [
        "rm/10.0.0.1:8032 does not answer; Hadoop's client goes on trying, Ctrl-C stops it"
    ]


def test_the_log_of_a_long_job_does_not_grow_without_end() -> None:
    with captured_mrjob_log() as captured:
        for number in range(KEPT_MESSAGES + 10):
            logging.getLogger("mrjob").info("message %d", number)
    assert len(captured.messages) == KEPT_MESSAGES
    assert captured.messages[-1] == f"message {KEPT_MESSAGES + 9}"


def test_warnings_of_mrjob_are_dropped_and_those_of_others_are_not() -> None:
    with captured_mrjob_log():
        warnings.warn_explicit("old", DeprecationWarning, "runner.py", 1, module="mrjob.runner")
        with pytest.raises(DeprecationWarning):
            warnings.warn_explicit("old", DeprecationWarning, "other.py", 1, module="other")
