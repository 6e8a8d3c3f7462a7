"""EMR for tests: moto's, which keeps clusters and steps but runs nothing, with someone who runs the steps.

moto knows neither fleets nor how to cancel a step; both are added to it here, after the API reference of EMR.
"""

from __future__ import annotations

import json
import threading
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.emr.models import emr_backends
from moto.emr.responses import ElasticMapReduceResponse
from moto.server import ThreadedMotoServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Takes the ids of cluster and step and the arguments, and returns the exit code of the step.
    RunStep = Callable[["Emr", str, str, list[str]], int]

ACCOUNT, REGION = "123456789012", "us-east-1"
OPEN = ("PENDING", "RUNNING")


class Emr:
    """A region of EMR: what was asked of it, and a thread that takes its steps one after the other."""

    def __init__(self, endpoint: str, run_step: RunStep) -> None:
        self.endpoint = endpoint
        self.requests: list[dict[str, Any]] = []  # of RunJobFlow
        self.refusal: tuple[str, str] | None = None  # what RunJobFlow answers instead: code and message
        self.errors: list[str] = []
        self.cancelled: list[str] = []
        self._run_step = run_step
        self._ended = threading.Event()

    @property
    def clusters(self) -> dict[str, Any]:
        """The clusters of the region, by their id."""
        found: dict[str, Any] = emr_backends[ACCOUNT][REGION].clusters
        return found

    def states(self) -> list[str]:
        """The states of all clusters."""
        return [cluster.state for cluster in self.clusters.values()]

    def steps(self) -> list[Any]:
        """The steps of all clusters, in the order they came."""
        return [step for cluster in self.clusters.values() for step in cluster.steps]

    def end_cluster(self, cluster: Any, reason: str, state: str = "TERMINATED_WITH_ERRORS") -> None:
        """Let a cluster end, and its open steps with it."""
        cluster.last_state_change_reason = reason
        cluster.state = state
        for step in cluster.steps:
            if step.state in OPEN:
                step.state = "CANCELLED"

    def work(self) -> None:
        """Run steps until the test is over."""
        while not self._ended.wait(0.05):
            # moto lists a cluster before it has finished making it.
            for cluster in [one for one in list(self.clusters.values()) if hasattr(one, "steps")]:
                try:
                    self._take_step(cluster)
                except Exception:  # it would be lost in this thread
                    self.errors.append(traceback.format_exc())
                    self.end_cluster(cluster, "the test could not run the step")

    def stop(self) -> None:
        """Take no further steps."""
        self._ended.set()

    def _take_step(self, cluster: Any) -> None:
        step = next((step for step in cluster.steps if step.state in OPEN), None)
        if step is None:
            # One that has just been made gets its step in a moment; EMR takes minutes to start it anyway.
            if cluster.steps and cluster.state == "RUNNING":
                cluster.state = "WAITING" if cluster.keep_job_flow_alive_when_no_steps else "TERMINATED"
            return
        step.state = "RUNNING"
        step.start()
        code = self._run_step(self, cluster.id, step.id, list(step.args))
        if step.state == "RUNNING":  # it may have been cancelled
            step.state = "FAILED" if code else "COMPLETED"


@contextmanager
def emr_service(run_step: RunStep) -> Iterator[Emr]:
    """Serve EMR (and moto's S3) on a free port while the block runs."""
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    emr = Emr(f"http://{host}:{port}", run_step)
    emr.clusters.clear()
    worker = threading.Thread(target=emr.work, name="emr", daemon=True)
    with _completed(emr):
        worker.start()
        try:
            yield emr
        finally:
            emr.stop()
            worker.join(60)
            server.stop()


@contextmanager
def _completed(emr: Emr) -> Iterator[None]:
    """Give moto's EMR what it lacks."""
    run_job_flow = ElasticMapReduceResponse.run_job_flow

    def run(self: Any) -> Any:
        asked = json.loads(self.body)
        if emr.refusal:
            raise _Refused(*emr.refusal)
        answer = run_job_flow(self)
        emr.requests.append(asked)
        cluster = list(emr.clusters.values())[-1]
        for application in cluster.applications:
            application.version = "3.4.2"
        cluster.fleets = asked["Instances"].get("InstanceFleets", [])
        cluster.ec2_subnet_id = next(iter(asked["Instances"].get("Ec2SubnetIds", ())), None)
        return answer

    def list_instance_fleets(self: Any) -> Any:
        cluster = emr.clusters[json.loads(self.body)["ClusterId"]]
        return ActionResult({"InstanceFleets": [_described(fleet) for fleet in cluster.fleets]})

    def cancel_steps(self: Any) -> Any:
        asked = json.loads(self.body)
        for step in emr.clusters[asked["ClusterId"]].steps:
            if step.id in asked["StepIds"] and step.state in OPEN:
                step.state = "CANCELLED"
                emr.cancelled.append(step.id)
        told = [{"StepId": one, "Status": "SUBMITTED"} for one in asked["StepIds"]]
        return ActionResult({"CancelStepsInfoList": told})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ElasticMapReduceResponse, "run_job_flow", run)
        patch.setattr(ElasticMapReduceResponse, "list_instance_fleets", list_instance_fleets, raising=False)
        patch.setattr(ElasticMapReduceResponse, "cancel_steps", cancel_steps, raising=False)
        yield


class _Refused(ServiceException):
    """An error of EMR's own."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def _described(fleet: dict[str, Any]) -> dict[str, Any]:
    """Return a fleet as EMR describes one that has all it asked for."""
    types = []
    for config in fleet["InstanceTypeConfigs"]:
        disks = config.get("EbsConfiguration", {}).get("EbsBlockDeviceConfigs", [])
        types.append(
            {
                "InstanceType": config["InstanceType"],
                "WeightedCapacity": config.get("WeightedCapacity", 1),
                "EbsBlockDevices": [{"VolumeSpecification": disk["VolumeSpecification"]} for disk in disks],
            }
        )
    return {
        "Id": f"if-{fleet['InstanceFleetType']}",
        "InstanceFleetType": fleet["InstanceFleetType"],
        "ProvisionedOnDemandCapacity": fleet.get("TargetOnDemandCapacity", 0),
        "ProvisionedSpotCapacity": fleet.get("TargetSpotCapacity", 0),
        "InstanceTypeSpecifications": types,
    }
