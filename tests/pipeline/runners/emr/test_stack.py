"""conf/emr-stack.yaml is a template that CloudFormation takes, and gives no more rights than are needed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
import yaml
from moto import mock_aws

import crawlctl
from crawlctl.pipeline.runners.emr.options import placeholders
from crawlctl.tests.pipeline.runners.emr.settings import CONF

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = Path(crawlctl.__file__).parent / "conf" / "emr-stack.yaml"
STACK = "crawlctl"


@pytest.fixture(scope="module")
def outputs() -> Iterator[dict[str, str]]:
    """What the stack gives back when it is created; the services it is made of are moto's."""
    with pytest.MonkeyPatch.context() as patch, mock_aws(config={"iam": {"load_aws_managed_policies": True}}):
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("cloudformation")
        body = TEMPLATE.read_text()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*not supported by moto")  # the policy of the bucket
            client.create_stack(StackName=STACK, TemplateBody=body, Capabilities=["CAPABILITY_NAMED_IAM"])
        (stack,) = client.describe_stacks(StackName=STACK)["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        yield {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


@pytest.mark.slow
def test_the_linter_of_cloudformation_finds_nothing() -> None:
    from cfnlint.api import lint_all

    found = [match for match in lint_all(TEMPLATE.read_text()) if match.rule.id[0] in "EW"]
    assert found == []


def test_the_outputs_fill_in_all_placeholders(outputs: dict[str, str]) -> None:
    ours = yaml.safe_load(CONF.read_text())["runners"]["emr"]
    given = yaml.safe_load(outputs["Conf"])
    assert set(given) == {*placeholders(ours), "region"}
    parameters = ours["extra_cluster_params"] | given["extra_cluster_params"]
    assert list(placeholders({**ours, **given, "extra_cluster_params": parameters})) == []
    assert given["cloud_tmp_dir"] == f"s3://{outputs['BucketName']}/tmp/"


def test_the_bucket_is_closed_encrypted_and_cleans_up_after_killed_jobs(outputs: dict[str, str]) -> None:
    client, bucket = boto3.client("s3"), outputs["BucketName"]
    written = resources()["Bucket"]
    assert list(written["Properties"]["PublicAccessBlockConfiguration"].values()) == [True] * 4
    (rule,) = client.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    rules = written["Properties"]["LifecycleConfiguration"]["Rules"]
    assert {rule["Prefix"] for rule in rules if "ExpirationInDays" in rule} == {"tmp/", "logs/"}
    assert [rule["AbortIncompleteMultipartUpload"] for rule in rules if "ExpirationInDays" not in rule]
    assert written["DeletionPolicy"] == "Retain"


def test_the_nodes_may_use_the_bucket_and_nothing_else_of_ours(outputs: dict[str, str]) -> None:
    iam, profile = boto3.client("iam"), yaml.safe_load(outputs["Conf"])["iam_instance_profile"]
    (role,) = iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
    assert role["RoleName"] == profile  # EMR finds the one by the other
    assert iam.list_attached_role_policies(RoleName=profile)["AttachedPolicies"] == []
    bucket = f"arn:aws:s3:::{outputs['BucketName']}"
    theirs = "arn:aws:s3:::us-east-1.elasticmapreduce/*"
    for name in iam.list_role_policies(RoleName=profile)["PolicyNames"]:
        for statement in statements(iam.get_role_policy(RoleName=profile, PolicyName=name)):
            assert all(one.startswith("s3:") and "*" not in one for one in actions(statement))
            assert statement["Resource"] in (bucket, f"{bucket}/*", theirs)


def test_the_service_role_has_the_policy_of_aws_and_may_pass_the_role_of_the_nodes(
    outputs: dict[str, str],
) -> None:
    iam, given = boto3.client("iam"), yaml.safe_load(outputs["Conf"])
    (policy,) = resources()["ServiceRole"]["Properties"]["ManagedPolicyArns"]
    assert policy["Fn::Sub"].endswith("/service-role/AmazonEMRServicePolicy_v2")
    (name,) = iam.list_role_policies(RoleName=given["iam_service_role"])["PolicyNames"]
    (statement,) = statements(iam.get_role_policy(RoleName=given["iam_service_role"], PolicyName=name))
    assert statement["Action"] == "iam:PassRole"
    assert statement["Resource"].endswith(f"role/{given['iam_instance_profile']}")


def test_what_the_service_role_uses_has_the_tag_its_policy_asks_for(outputs: dict[str, str]) -> None:
    ec2, given = boto3.client("ec2"), yaml.safe_load(outputs["Conf"])
    tagged = {
        found["ResourceId"]
        for found in ec2.describe_tags()["Tags"]
        if (found["Key"], found["Value"]) == ("for-use-with-amazon-emr-managed-policies", "true")
    }
    assert {*given["subnet"], *given["extra_cluster_params"].values()} <= tagged


def test_nobody_reaches_the_nodes_but_nodes(outputs: dict[str, str]) -> None:
    groups = set(yaml.safe_load(outputs["Conf"])["extra_cluster_params"].values())
    for group in boto3.client("ec2").describe_security_groups(GroupIds=sorted(groups))["SecurityGroups"]:
        assert len(group["IpPermissions"]) == 3  # TCP, UDP and ICMP
        for rule in group["IpPermissions"]:
            assert rule["IpRanges"] == []
            assert {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} == groups


def test_the_operator_may_call_all_that_the_runner_calls() -> None:
    written = resources()["OperatorPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    allowed = {action for statement in written for action in actions(statement)}
    calls = ("RunJobFlow", "ListClusters", "DescribeCluster", "DescribeStep", "AddJobFlowSteps", "AddTags")
    more = ("RemoveTags", "ListInstanceFleets", "ListInstanceGroups", "ListSteps", "CancelSteps")
    assert {f"elasticmapreduce:{call}" for call in (*calls, *more, "TerminateJobFlows")} <= allowed
    assert {"iam:PassRole", "s3:PutObject", "s3:GetObject", "s3:ListBucket"} <= allowed
    assert not any("*" in action for action in allowed)


def statements(policy: Any) -> list[dict[str, Any]]:
    """The statements of a policy, which moto keeps as whatever CloudFormation made of it."""
    document = policy["PolicyDocument"]
    read: dict[str, Any] = yaml.safe_load(document) if isinstance(document, str) else document
    found: list[dict[str, Any]] = read["Statement"]
    return found


def actions(statement: dict[str, Any]) -> list[str]:
    named = statement["Action"]
    return named if isinstance(named, list) else [named]


def resources() -> dict[str, Any]:
    """The resources as they are written, with functions as plain values."""
    from cfnlint.decode import decode

    template, _ = decode(str(TEMPLATE))
    found: dict[str, Any] = json.loads(json.dumps(template, default=str))["Resources"]
    return found


def test_release_and_instance_types_are_some_that_emr_has() -> None:
    ours = yaml.safe_load(CONF.read_text())["runners"]["emr"]
    with mock_aws():
        client = boto3.client("emr", region_name="us-east-1")
        assert ours["release_label"] in client.list_release_labels()["ReleaseLabels"]
        found = client.list_supported_instance_types(ReleaseLabel=ours["release_label"])
        known = {one["Type"] for one in found["SupportedInstanceTypes"]}
    fleets = ours["instance_fleets"]
    assert {one["InstanceType"] for fleet in fleets for one in fleet["InstanceTypeConfigs"]} <= known
