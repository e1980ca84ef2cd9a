"""What an API server answers when it says no, in its own words.

Upstream: apimachinery/pkg/api/errors/errors.go, apiserver/pkg/storage/errors.go (v1.36.4).
Differs:  nowhere a client can see.
"""

from __future__ import annotations

from berthing.api.decode import encode_value
from berthing.api.field_errors import quoted
from berthing.api.kinds import Kind
from berthing.api.meta import ApiObject, Status, StatusCause, StatusDetails

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Refused(Exception):  # noqa: N818  # it is an answer, and most often the right one
    """A request that is answered by a Status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status

    @property
    def body(self) -> bytes:
        """The Status as JSON."""
        return status_json(self.status)

    @property
    def headers(self) -> dict[str, str]:
        """What is told beside it: when to try again."""
        details = self.status.details
        seconds = details.retry_after_seconds if details else 0
        return {"retry-after": str(seconds)} if seconds else {}


def status_json(status: Status) -> bytes:
    """A Status as JSON, with its kind."""
    return b'{"kind":"Status","apiVersion":"v1","metadata":{},' + encode_value(status)[1:]


def success() -> bytes:
    """The Status of a request that has nothing to show for it."""
    return status_json(Status(status="Success", code=201))


def group_of(kind: Kind[ApiObject]) -> str:
    """The API group: empty for the core group."""
    return kind.api_version.rpartition("/")[0]


def qualified(kind: Kind[ApiObject]) -> str:
    """The resource with its group: `replicasets.apps`."""
    group = group_of(kind)
    return f"{kind.resource}.{group}" if group else kind.resource


def not_found(kind: Kind[ApiObject], name: str) -> Refused:
    """There is no such object."""
    message = f"{qualified(kind)} {quoted(name)} not found"
    return _failure(404, "NotFound", message, _details(kind, name))


def no_such_path() -> Refused:
    """Nothing is served there."""
    message = "the server could not find the requested resource"
    return _failure(404, "NotFound", message)


def already_exists(kind: Kind[ApiObject], name: str) -> Refused:
    """The name is taken."""
    message = f"{qualified(kind)} {quoted(name)} already exists"
    return _failure(409, "AlreadyExists", message, _details(kind, name))


def forbidden(kind: Kind[ApiObject], name: str, why: str) -> Refused:
    """Some rule of the cluster is against it."""
    message = f"{qualified(kind)} {quoted(name)} is forbidden: {why}"
    return _failure(403, "Forbidden", message, _details(kind, name))


def conflict(kind: Kind[ApiObject], name: str, why: str, *, subresource: str = "") -> Refused:
    """The object is not, or no longer, what the request takes it for."""
    resource = f"{qualified(kind)}/{subresource}" if subresource else qualified(kind)
    message = f"Operation cannot be fulfilled on {resource} {quoted(name)}: {why}"
    details = StatusDetails(
        name=name,
        group=group_of(kind),
        kind=f"{kind.resource}/{subresource}" if subresource else kind.resource,
    )
    return _failure(409, "Conflict", message, details)


def precondition_failed(
    kind: Kind[ApiObject], key: str, name: str, what: str, wanted: str, found: str
) -> Refused:
    """The object is not the one that is meant."""
    return conflict(
        kind,
        name,
        f"StorageError: invalid object, Code: 4, Key: /registry/{kind.resource}/{key}, "
        f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: "
        f"{wanted}, {what} in object meta: {found}",
    )


def expired(message: str) -> Refused:
    """What is asked about is too long ago."""
    return _failure(410, "Expired", message)


def too_large_version(wanted: int, current: int) -> Refused:
    """What is asked about has not happened yet."""
    cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    details = StatusDetails(causes=(cause,), retry_after_seconds=1)
    return _failure(504, "Timeout", message, details)


def bad_request(message: str) -> Refused:
    """The request makes no sense."""
    return _failure(400, "BadRequest", message)


def invalid(kind: Kind[ApiObject], name: str, field: str, error: str) -> Refused:
    """A field of the object is wrong; `error` says how, without the field."""
    group = group_of(kind)
    what = f"{kind.kind}.{group}" if group else kind.kind
    cause = StatusCause(reason="FieldValueInvalid", message=error, field=field)
    details = StatusDetails(name=name, group=group, kind=kind.kind, causes=(cause,))
    message = f"{what} {quoted(name)} is invalid: {field}: {error}"
    return _failure(422, "Invalid", message, details)


def method_not_allowed() -> Refused:
    """The resource is there, and this cannot be done to it."""
    message = "the server does not allow this method on the requested resource"
    return _failure(405, "MethodNotAllowed", message, StatusDetails())


def unsupported_media_type(accepted: tuple[str, ...]) -> Refused:
    """The body is in a language that is not spoken here."""
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
    return _failure(415, "UnsupportedMediaType", message)


def too_many_requests(*, retry_after_seconds: int = 0) -> Refused:
    """The server has enough to do."""
    message = "the server has received too many requests and has asked us to try again later"
    details = StatusDetails(retry_after_seconds=retry_after_seconds)
    return _failure(429, "TooManyRequests", message, details)


def internal_error(message: str) -> Refused:
    """Something broke inside the server."""
    details = StatusDetails(causes=(StatusCause(message=message),))
    return _failure(500, "InternalError", f"Internal error occurred: {message}", details)


def _details(kind: Kind[ApiObject], name: str) -> StatusDetails:
    return StatusDetails(name=name, group=group_of(kind), kind=kind.resource)


def _failure(code: int, reason: str, message: str, details: StatusDetails | None = None) -> Refused:
    return Refused(
        Status(status="Failure", message=message, reason=reason, details=details, code=code)
    )
