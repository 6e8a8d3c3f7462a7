from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)

from crawlctl.pipeline.errors import MissingFile, StoreUnavailable
from crawlctl.pipeline.store.s3.errors import explain, is_absent, is_conflict, is_taken, is_unanswered

URL = "http://s3.example"


def answer(status: int, code: str, message: str = "Something\nis wrong.") -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "PutObject")


@pytest.mark.parametrize(
    ("err", "remedy"),
    [
        (answer(404, "NoSuchBucket"), "create the bucket"),
        (answer(403, "AccessDenied"), "let the user or role list the bucket"),
        (answer(403, "403"), "let the user or role list the bucket"),
        (answer(403, "InvalidAccessKeyId"), "AWS_ACCESS_KEY_ID"),
        (answer(403, "SignatureDoesNotMatch"), "the secret is wrong"),
        (answer(400, "ExpiredToken"), "sign in again"),
        (answer(403, "RequestTimeTooSkewed"), "set the clock"),
        (answer(301, "PermanentRedirect"), "AWS_REGION"),
        (answer(400, "AuthorizationHeaderMalformed"), "AWS_REGION"),
        (answer(500, "InternalError"), "again later"),
        (answer(503, "SlowDown"), "again later"),
        (answer(429, "TooManyRequests"), "again later"),
        (answer(507, "QuotaExceeded"), "crawlctl gc"),
        (answer(501, "NotImplemented"), "conditional writes"),
        (answer(418, "Teapot"), "check the bucket and the endpoint"),
        (NoCredentialsError(), "AWS_ACCESS_KEY_ID"),
        (EndpointConnectionError(endpoint_url=URL), "AWS_ENDPOINT_URL_S3"),
        (ConnectTimeoutError(endpoint_url=URL), "check the network"),
        (ReadTimeoutError(endpoint_url=URL), "check the network"),
        (SSLError(endpoint_url=URL, error=Exception("self-signed")), "AWS_CA_BUNDLE"),
        (BotoCoreError(), "check the network"),
    ],
)
def test_each_error_is_one_line_with_a_place_and_a_remedy(err: Exception, remedy: str) -> None:
    ours = explain(err, "s3://bucket/name")
    assert type(ours) is StoreUnavailable
    message = str(ours)
    assert message.startswith("s3://bucket/name: ")
    assert remedy in message
    assert "\n" not in message


@pytest.mark.parametrize("code", ["NoSuchKey", "404"])
def test_an_absent_object_is_a_missing_file(code: str) -> None:
    assert isinstance(explain(answer(404, code), "s3://bucket/name"), MissingFile)
    assert is_absent(answer(404, code))


def test_an_absent_bucket_is_not_a_missing_file() -> None:
    assert not is_absent(answer(404, "NoSuchBucket"))


def test_the_answers_of_a_conditional_write_are_told_apart() -> None:
    taken, meeting = answer(412, "PreconditionFailed"), answer(409, "ConditionalRequestConflict")
    assert (is_taken(taken), is_conflict(taken), is_unanswered(taken)) == (True, False, False)
    assert (is_taken(meeting), is_conflict(meeting), is_unanswered(meeting)) == (False, True, False)
    for lost in (answer(500, "InternalError"), ReadTimeoutError(endpoint_url=URL)):
        assert (is_taken(lost), is_conflict(lost), is_unanswered(lost)) == (False, False, True)
    assert not is_unanswered(EndpointConnectionError(endpoint_url=URL))
    assert not is_unanswered(NoCredentialsError())
