"""What the answers of AWS to an EMR job mean, and what the user can do about each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.runners.job_failures import one_line
from crawlctl.pipeline.store.s3.errors import code_of, explain

if TYPE_CHECKING:
    from crawlctl.pipeline.errors import CrawlctlError

ROLES = "set iam_service_role and iam_instance_profile to the outputs of the stack (docs/emr.md)"
NETWORK = "set subnet and the security groups to the outputs of the stack (docs/emr.md)"
RELEASE = "set release_label and the instance types to some that EMR has in this region"
RIGHTS = "let the user run EMR and pass both roles: the policy OperatorPolicy of conf/emr-stack.yaml"
KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws/credentials"
GENERAL = "check the settings of the emr runner with `crawlctl emr plan`"

# Of calls to EMR: what is in the code or the message decides, the first that fits.
_REMEDIES = (
    (r"accessdenied|not authorized|unauthorizedoperation", RIGHTS),
    (r"instance ?profile|service ?role", ROLES),
    (r"unrecognizedclient|invalidclienttokenid|signature|expiredtoken", KEYS),
    (r"subnet|security ?group|vpc", NETWORK),
    (r"release ?label|instance type", RELEASE),
    (r"throttling|limitexceeded|quota", "wait for the limit of the account, or ask AWS to raise it"),
)
EMR_CALLS = re.compile(r"JobFlow|Cluster|Steps?$|Tags$|Instance(Fleets|Groups|s)$|BootstrapActions")


def explained(err: Exception, region: str) -> CrawlctlError:
    """Return our error for one of botocore that ended a job."""
    if isinstance(err, ClientError) and EMR_CALLS.search(err.operation_name):
        said = f"{err.response.get('Error', {}).get('Message') or 'refused'} ({code_of(err)})"
        remedy = next((text for pattern, text in _REMEDIES if re.search(pattern, said.lower())), GENERAL)
        return ConfigError(f"EMR in {region}: {one_line(said)}; {remedy}")
    return explain(err, f"AWS in {region}")


def missing_bucket(bucket: str, option: str) -> ConfigError:
    """Return the error for a bucket that is not there."""
    return ConfigError(f"there is no bucket {bucket}; create it by the stack (docs/emr.md) or mend {option}")
