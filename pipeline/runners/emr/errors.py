"""Errors of EMR: for each answer of AWS and each end of a cluster, what the user can do about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from crawlctl.pipeline.errors import ConfigError, JobFailed
from crawlctl.pipeline.runners.job_failures import one_line
from crawlctl.pipeline.store.s3.errors import code_of, explain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.errors import CrawlctlError

ROLES = "set iam_service_role and iam_instance_profile to the outputs of the stack (docs/emr.md)"
NETWORK = "set subnet and the security groups to the outputs of the stack (docs/emr.md)"
RELEASE = "set release_label and the instance types to some that EMR has in this region"
RIGHTS = "let the user run EMR and pass both roles: the policy OperatorPolicy of conf/emr-stack.yaml"
KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws/credentials"
GENERAL = "check the settings of the emr runner with `crawlctl emr plan`"

# Of calls to EMR: the first pattern that fits the code or the message decides.
_REMEDIES = (
    (r"accessdenied|not authorized|unauthorizedoperation", RIGHTS),
    (r"instance ?profile|service ?role", ROLES),
    (r"unrecognizedclient|invalidclienttokenid|signature|expiredtoken", KEYS),
    (r"subnet|security ?group|vpc", NETWORK),
    (r"release ?label|instance type", RELEASE),
    (r"throttling|limitexceeded|quota", "wait for the limit of the account, or ask AWS to raise it"),
)
# Of a cluster that ended before its steps: the first word that is in the reason decides.
_CLUSTER_REMEDIES = (
    ("bootstrap", "read what it wrote to stderr below {logs}, under node/…/bootstrap-actions/"),
    ("capacity", "name more instance types in the fleets, or another subnet, and run the command again"),
    ("spot", "name more instance types in the fleets, or fewer spot instances, and run the command again"),
    ("limit", "ask AWS for a higher limit of vCPUs, or make the fleets smaller"),
    ("user request", "run the command again to go on"),
    ("master", "it was stopped while it had work; run the command again to go on"),
)
_CLUSTER_GENERAL = "look for the reason below {logs}, and run the command again"

EMR_CALLS = re.compile(r"JobFlow|Cluster|Steps?$|Tags$|Instance(Fleets|Groups|s)$|BootstrapActions")


def explained(err: Exception, region: str) -> CrawlctlError:
    """Return our error for an error of botocore that ended a job."""
    if isinstance(err, ClientError) and EMR_CALLS.search(err.operation_name):
        said = f"{err.response.get('Error', {}).get('Message') or 'refused'} ({code_of(err)})"
        remedy = next((text for pattern, text in _REMEDIES if re.search(pattern, said.lower())), GENERAL)
        return ConfigError(f"EMR in {region}: {one_line(said)}; {remedy}")
    return explain(err, f"AWS in {region}")


def missing_bucket(bucket: str, option: str) -> ConfigError:
    """Return the error for a bucket that does not exist."""
    return ConfigError(
        f"there is no bucket {bucket}; create it by the stack (docs/emr.md) or correct {option}"
    )


def cluster_failed(cluster: Mapping[str, Any], logs: str, stderr: str = "") -> JobFailed:
    """Return the error for a cluster that ended before its steps; `stderr` comes from a failed set-up."""
    status = cluster["Status"]
    reason = status["StateChangeReason"].get("Message") or status["State"]
    remedy = next((text for word, text in _CLUSTER_REMEDIES if word in reason.lower()), _CLUSTER_GENERAL)
    where = f"{logs}{cluster['Id']}/"
    last_line = (stderr.strip().splitlines() or [""])[-1]
    said = f"{one_line(reason)}: {one_line(last_line)}" if last_line else one_line(reason)
    return JobFailed(f"cluster {cluster['Id']} ended: {said}; {remedy.format(logs=where)}", stderr)
