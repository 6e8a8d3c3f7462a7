"""The request that `run --runner emr` would send to EMR, built without contacting AWS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yaml import YAMLError

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.runners.job_failures import named
from crawlctl.pipeline.runners.mrjob_log import captured_mrjob_log
from crawlctl.pipeline.runners.switches import conf_path, require_conf

with light_imports():
    from crawlctl.pipeline.runners.emr.runner import EmrRunner

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerSettings


class _Planner(EmrRunner):
    """A runner that builds the request and sends nothing."""

    def _set_cloud_tmp_dir(self) -> None:
        self._opts["cloud_tmp_dir"] = "s3://your-bucket/tmp/"  # a placeholder, for which there is a warning

    def _instance_profile(self) -> Any:
        return self._opts["iam_instance_profile"]

    def _service_role(self) -> Any:
        return self._opts["iam_service_role"]

    def _cluster_name_pooling_suffix(self) -> str:
        return ""  # mrjob would read files on S3 for their checksums

    def planned(self) -> dict[str, Any]:
        """Return the request that would start a cluster."""
        self._add_bootstrap_files_for_upload()
        return self._cluster_kwargs()


def planned_request(settings: RunnerSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of RunJobFlow, and the options of the runner that they are made from."""
    require_conf(settings)
    with captured_mrjob_log(), scratch_folder(settings.tmp_dir) as scratch:
        switches = ["-r", "emr", "--conf-path", str(conf_path(settings)), "--local-tmp-dir", str(scratch)]
        try:
            planner = _Planner(**MRJob([*switches, *settings.options])._runner_kwargs())
            request = planner.planned()
        except (ValueError, TypeError, KeyError, OSError, YAMLError) as err:
            place = conf_path(settings)
            raise ConfigError(f"{place}: {named(err)}; correct the settings of the runner") from err
        return request, dict(planner._opts)
