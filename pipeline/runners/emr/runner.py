"""EmrRunner: mrjob's EMR runner without its long waits and its unexpected side effects.

mrjob 0.7.4 sleeps ten minutes after every step of a pooled cluster, because by then the logs with the
counters may have reached S3. Here the runner does not wait after a successful step, and after a failed step
it waits only until its logs are there. mrjob creates missing buckets and roles, even under a misspelt name;
here they must exist. mrjob tags a cluster only after its creation, too late for roles that demand a tag. And
it lets the steps of an interrupted job continue; here they are cancelled.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from botocore.exceptions import BotoCoreError, ClientError

from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.runners.emr.errors import cluster_failed, explained, missing_bucket
from crawlctl.pipeline.runners.emr.options import check_options

with light_imports():
    from mrjob.emr import EMRJobRunner
    from mrjob.logs.bootstrap import _check_for_nonzero_return_code, _interpret_emr_bootstrap_stderr
    from mrjob.logs.step import _interpret_hadoop_jar_command_stderr
    from mrjob.logs.wrap import _cat_log_lines
    from mrjob.parse import parse_s3_uri
    from mrjob.step import StepFailedException

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A warning without a handler reaches the user as a plain line: the user must know of costs and waits.
log = logging.getLogger(__name__)

LOG_SECONDS = 600  # EMR copies logs to S3 every five minutes, and slowly
ACCEPTING = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
ENDING, ENDED = "TERMINATING", ("TERMINATED", "TERMINATED_WITH_ERRORS")


class EmrRunner(EMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs the steps of a job on an EMR cluster, from the pool or a new one."""

    _joined: ClassVar[tuple[str, str] | None] = None  # the cluster and pool of the last job of this process
    _client: Any = None
    _bootstrap_stderr = ""

    def _run(self) -> None:
        check_options(self._opts)
        try:
            self._check_buckets()
            super()._run()
        except (ClientError, BotoCoreError) as err:
            raise explained(err, self._opts["region"]) from err
        except (KeyboardInterrupt, SystemExit):
            self._cancel_steps()
            raise

    def _set_cloud_tmp_dir(self) -> None:
        """Raise an error instead of looking for a bucket of mrjob's own, or creating one."""
        check_options(self._opts)

    def _check_buckets(self) -> None:
        """Require both buckets; mrjob would create the bucket for files, and without the other lose logs."""
        client = self.fs.s3.make_s3_client()
        for option in ("cloud_tmp_dir", "cloud_log_dir"):
            bucket, _ = parse_s3_uri(self._opts[option])
            try:
                client.head_bucket(Bucket=bucket)
            except ClientError as err:
                if err.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    raise missing_bucket(bucket, option) from err
                raise

    def _cluster_kwargs(self, persistent: bool = False) -> dict[str, Any]:
        parameters: dict[str, Any] = super()._cluster_kwargs(persistent)
        tags = [{"Key": name, "Value": str(value)} for name, value in sorted(self._opts["tags"].items())]
        # With the request: the AWS policy for service roles lets a role start only clusters with its tag.
        parameters.setdefault("Tags", []).extend(tags)
        return parameters

    def make_emr_client(self) -> Any:
        """Return one client for all calls; mrjob makes a client per call, which takes long."""
        if self._client is None:
            self._client = super().make_emr_client()
        return self._client

    def _find_cluster(self) -> tuple[str | None, int | None]:
        """Use the cluster of the last job of this process, or else look in the pool.

        In the pool mrjob takes only clusters in the state WAITING, which our cluster reaches some time after
        its last step, and mrjob needs a lock that is ten seconds old. A step that is submitted earlier is
        queued.
        """
        pool = self._cluster_name_pooling_suffix()
        if self._joined and self._joined[1] == pool and self._accepts_steps(self._joined[0]):
            return self._joined[0], 1
        found: tuple[str | None, int | None] = super()._find_cluster()
        return found

    def _accepts_steps(self, cluster: str) -> bool:
        described = self.make_emr_client().describe_cluster(ClusterId=cluster)["Cluster"]
        return described["Status"]["State"] in ACCEPTING

    def _launch_emr_job(self) -> None:
        super()._launch_emr_job()
        if self._opts["pool_clusters"]:
            EmrRunner._joined = self._cluster_id, self._cluster_name_pooling_suffix()

    def _cmdenv(self) -> dict[str, str]:
        return {"AWS_DEFAULT_REGION": self._opts["region"], **super()._cmdenv()}

    def _create_cluster(self, persistent: bool = False) -> str:
        cluster: str = super()._create_cluster(persistent)
        log.warning("started cluster %s; it takes some minutes until its first step runs", cluster)
        return cluster

    def _cancel_steps(self) -> None:
        """Cancel the submitted steps; a pooled cluster stays until it has been idle long enough."""
        if not self._cluster_id:
            return
        # The process is about to exit: a service that does not answer must not delay it.
        with suppress(ClientError, BotoCoreError):
            if steps := self._open_steps():
                self.make_emr_client().cancel_steps(
                    ClusterId=self._cluster_id, StepIds=steps, StepCancellationOption="SEND_INTERRUPT"
                )
                log.warning("cancelled the job on cluster %s%s", self._cluster_id, self._what_stays())

    def _open_steps(self) -> list[str]:
        """Return our steps by asking EMR: the answer to the last submission may not have arrived."""
        listed = self.make_emr_client().list_steps(
            ClusterId=self._cluster_id, StepStates=["PENDING", "RUNNING"]
        )
        return [step["Id"] for step in listed["Steps"] if step["Name"].startswith(self._job_key)]

    def _what_stays(self) -> str:
        if not (self._opts["pool_clusters"] or self._opts["cluster_id"]):
            return ""  # mrjob ends it
        command = f"aws emr terminate-clusters --cluster-ids {self._cluster_id}"
        return f", which ends when it has been idle for a while, or at once by `{command}`"

    def _wait_for_step_to_complete(self, step_id: str, step_num: int | None = None) -> None:
        try:
            super()._wait_for_step_to_complete(step_id, step_num)
        except StepFailedException as err:
            cluster = self._describe_cluster()
            if cluster["Status"]["State"] in (*ENDED, ENDING):
                raise cluster_failed(cluster, self._opts["cloud_log_dir"], self._bootstrap_stderr) from err
            raise

    def _check_for_failed_bootstrap_action(self, cluster: Mapping[str, Any]) -> None:
        """Keep the output of the bootstrap script that failed."""
        reason = cluster["Status"]["StateChangeReason"].get("Message", "")
        place = _check_for_nonzero_return_code(reason)
        if place:
            found = _interpret_emr_bootstrap_stderr(self.fs, self._ls_bootstrap_stderr_logs(**place))
            self._bootstrap_stderr = "".join(
                error.get("task_error", {}).get("message", "") for error in found.get("errors", ())
            )

    def _pick_error(self, log_interpretation: dict[str, Any], step_type: str) -> Any:
        self._wait_for_logs_of(log_interpretation["step_id"], step_type)
        return super()._pick_error(log_interpretation, step_type)

    def _interpret_task_logs(
        self,
        log_interpretation: dict[str, Any],
        step_type: str,
        error_attempt_ids: Sequence[str] = (),
        partial: bool = True,
    ) -> None:
        """Read the logs of all containers if no history says which attempt ran in which."""
        if not log_interpretation.get("history", {}).get("attempt_to_container_id"):
            error_attempt_ids = ()
        super()._interpret_task_logs(log_interpretation, step_type, error_attempt_ids, partial)

    def _wait_for_logs_of(self, step_id: str, step_type: str) -> None:
        if not self._read_logs() or self.fs.can_handle_path("ssh:///"):
            return
        log.warning("a step failed; waiting for its logs to come to %s (Ctrl-C to skip)", self._s3_log_dir())
        deadline = time.monotonic() + LOG_SECONDS
        with suppress(KeyboardInterrupt):
            while not self._has_logs_of(step_id, step_type) and time.monotonic() < deadline:
                if self._describe_cluster()["Status"]["State"] in ENDED:
                    break
                time.sleep(self._opts["check_cluster_every"])

    def _has_logs_of(self, step_id: str, step_type: str) -> bool:
        step = self._get_step_log_interpretation({"step_id": step_id}, step_type)
        if not step or not step.get("application_id"):
            return bool(step)
        containers = f"{self._s3_log_dir()}containers/{step['application_id']}/"
        return bool(self.fs.exists(containers))

    def _get_step_log_interpretation(
        self, log_interpretation: Mapping[str, Any], step_type: str
    ) -> dict[str, Any] | None:
        """Read the log of the streaming client, which may be in one of two files."""
        step: dict[str, Any] | None = super()._get_step_log_interpretation(log_interpretation, step_type)
        if step and step.get("application_id"):
            return step
        for match in self._ls_step_stderr_logs(step_id=log_interpretation["step_id"]):
            found: dict[str, Any] = _interpret_hadoop_jar_command_stderr(
                _cat_log_lines(self.fs, match["path"])
            )
            if found.get("application_id"):
                return found
        return step

    def _wait_for_logs_on_s3(self) -> None:
        """Do not wait: the logs of a failed step are there already, and other logs are not needed."""
        if self._describe_cluster()["Status"]["State"] == ENDING:
            self._wait_for_cluster_to_terminate()  # a cluster copies its last logs when it ends
