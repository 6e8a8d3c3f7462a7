"""Uploads the package and its environment without running a job (`crawlctl package`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import ConfigError, StoreUnavailable
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.runners.shipping.crawlctl_zip import package_zip
from crawlctl.pipeline.runners.shipping.package_target import place

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerSettings


def ship_for_hadoop(settings: RunnerSettings) -> str:
    """Upload the package and the packed environment to the cluster; return a line on how to use them."""
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.runners.hadoop.runner import ENVIRONMENT, HadoopRunner
    from crawlctl.pipeline.runners.mrjob_log import captured_mrjob_log
    from crawlctl.pipeline.runners.switches import runner_switches

    with captured_mrjob_log() as mrjob_log, scratch_folder(settings.tmp_dir) as scratch:
        job = MRJob(runner_switches(msgspec.structs.replace(settings, name="hadoop"), None, scratch))
        runner = HadoopRunner(packages=settings.packages, **job._runner_kwargs())
        try:
            runner.place_package()
            uri = runner.place_environment()
        except OSError as err:  # for the program `hadoop`, if there is no WebHDFS
            said = mrjob_log.program_error or err
            raise StoreUnavailable(f"{runner.packages}: {said}; give --to a folder you may write") from err
    return (
        f"{uri} is in place; --runner hadoop finds it by itself, other jobs by "
        f"upload_archives: ['{uri}#{ENVIRONMENT}'] and python_bin: {runner.packed_python}"
    )


def ship_for_emr(settings: RunnerSettings) -> str:
    """Upload the package and a bootstrap script to S3; return a line on how to use them."""
    from crawlctl.pipeline.runners.shipping.bootstrap import bootstrap_script

    folder = settings.packages or ""
    if not folder.startswith("s3://"):
        other = f", not from {folder}" if folder else ""
        raise ConfigError(
            f"the nodes of EMR read packages from S3 only{other}; give --to s3://bucket/packages"
        )
    with scratch_folder(settings.tmp_dir) as scratch:
        place(package_zip(scratch), folder)
        uri = place(bootstrap_script(scratch), folder)
    return (
        f"{uri} is in place; name it in the conf file for EMR by bootstrap: ['sh {uri}#'], "
        f"and the folder in crawl.yaml by runner.packages: {folder}"
    )
