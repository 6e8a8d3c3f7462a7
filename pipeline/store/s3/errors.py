"""Turns the errors of botocore into ours, each with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
)

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.store.base import missing

if TYPE_CHECKING:
    from crawlctl.pipeline.errors import StoreError

S3Error = (ClientError, BotoCoreError)

_KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws/credentials"
_RIGHTS = "let the user or role list the bucket, and get, put and delete objects in it"
_REGION = "set AWS_REGION to the region of the bucket"
_BUCKET = "create the bucket, or correct the name in --store"
_LATER = "the service fails or is overloaded; run the command again later"
_REACH = "check the network, AWS_ENDPOINT_URL_S3 and AWS_REGION, then run the command again"
_CLOCK = "set the clock of this machine"
_GENERAL = "check the bucket and the endpoint, then run the command again"

# A HEAD request is answered without a body, so its code is only the HTTP status.
_BY_CODE = {
    "NoSuchBucket": _BUCKET,
    "InvalidBucketName": _BUCKET,
    "AccessDenied": _RIGHTS,
    "AllAccessDisabled": _RIGHTS,
    "AccountProblem": _RIGHTS,
    "403": f"{_RIGHTS}; {_KEYS}",
    "InvalidAccessKeyId": _KEYS,
    "XAdminUserNotFound": _KEYS,  # a code of versitygw
    "SignatureDoesNotMatch": f"{_KEYS} (the secret is wrong)",
    "ExpiredToken": "the session token has run out; sign in again",
    "InvalidToken": "the session token is not valid; sign in again",
    "TokenRefreshRequired": "the session token has run out; sign in again",
    "RequestTimeTooSkewed": _CLOCK,
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "301": _REGION,
    "400": f"{_KEYS}; {_REGION}",
    "InternalError": _LATER,
    "ServiceUnavailable": _LATER,
    "SlowDown": _LATER,
    "InvalidObjectState": "the object is archived; restore it from Glacier first",
    "NotImplemented": "this S3 service lacks something a store needs; use one with conditional writes",
    "EntityTooLarge": "the service takes no file of that size; use another one",
    "QuotaExceeded": "the bucket is full; raise its quota or run `crawlctl gc`",
}

_BY_CLASS: tuple[tuple[type[BotoCoreError], str], ...] = (
    (NoCredentialsError, f"no credentials were found; {_KEYS}"),
    (PartialCredentialsError, _KEYS),
    (CredentialRetrievalError, _KEYS),
    (ProfileNotFound, "check AWS_PROFILE and ~/.aws/config"),
    (ParamValidationError, _BUCKET),
    (SSLError, "check the https certificate of the endpoint, or set AWS_CA_BUNDLE to the one that signed it"),
    (ProxyConnectionError, "check HTTPS_PROXY and HTTP_PROXY"),
    (EndpointConnectionError, _REACH),
    (ConnectTimeoutError, _REACH),
    (ReadTimeoutError, _REACH),
    (ConnectionClosedError, _REACH),
)


def code_of(err: Exception) -> str:
    """Return the S3 error code of an answer, or "" if no answer came."""
    return str(err.response.get("Error", {}).get("Code", "")) if isinstance(err, ClientError) else ""


def status_of(err: Exception) -> int:
    """Return the HTTP status of an answer, or 0 if no answer came."""
    if not isinstance(err, ClientError):
        return 0
    return int(err.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def is_taken(err: Exception) -> bool:
    """Tell whether a conditional write was refused because the name exists."""
    return status_of(err) == 412 or code_of(err) == "PreconditionFailed"


def is_conflict(err: Exception) -> bool:
    """Tell whether a conditional write met another write of the same name and may be tried again."""
    return code_of(err) in {"ConditionalRequestConflict", "OperationAborted"}


def is_unanswered(err: Exception) -> bool:
    """Tell whether the service may have carried out the request although no good answer came."""
    return status_of(err) >= 500 or isinstance(err, ReadTimeoutError | ConnectionClosedError)


def is_absent(err: Exception) -> bool:
    """Tell whether an object does not exist; after a HEAD request the bucket may be missing instead."""
    return code_of(err) in {"NoSuchKey", "404", "NotFound"}


def no_bucket(where: str) -> StoreUnavailable:
    """Return the error for a bucket that does not exist."""
    return StoreUnavailable(f"{where}: the bucket does not exist; {_BUCKET}")


def explain(err: Exception, where: str) -> StoreError:
    """Return our error for an error of botocore."""
    if is_absent(err):
        return missing(where)
    if isinstance(err, ClientError):
        said = f"{err.response.get('Error', {}).get('Message') or 'refused'} ({code_of(err)})"
        remedy = _BY_CODE.get(code_of(err), _LATER if status_of(err) >= 429 else _GENERAL)
    else:
        said = str(err)
        remedy = next((text for kind, text in _BY_CLASS if isinstance(err, kind)), _REACH)
    return StoreUnavailable(f"{where}: {' '.join(said.split()).rstrip('.')}; {remedy}")
