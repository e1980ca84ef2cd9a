"""What can go wrong between us and an API server.

    ClientError                  whatever went wrong
      ApiError                   the server answered, and the answer is no; `status` says why
        UnauthorizedError        401  it does not know us
        ForbiddenError           403  it knows us, and we may not
        NotFoundError            404
        AlreadyExistsError       409, reason AlreadyExists
        ConflictError            409, any other reason
        ExpiredError             410  the resource version or the continue token is too old
        TooManyRequestsError     429
        ServerError              5xx  the request may have been carried out all the same
      TransportError             there is no answer
        NotSentError             the server has seen nothing of the request
          CredentialsError       we do not even know who we are
        NoAnswerError            the request went out, and what became of it nobody knows
          TimedOutError
      BadAnswerError             an answer that is no HTTP, no JSON, or not what was asked for

Whoever writes must tell three cases apart: refused, not done, and unknown.  That is what the tree
is made for.
"""

from __future__ import annotations

import msgspec

from berthing.api.meta import Status

# Of an answer that is no Status, as a proxy's page of HTML, enough to recognise it by.
_SHOWN_BYTES = 300


class ClientError(Exception):
    """Something went wrong between us and the API server."""

    @property
    def is_temporary(self) -> bool:
        """True if the same request may succeed later."""
        return True


class TransportError(ClientError):
    """There is no answer."""


class NotSentError(TransportError):
    """Nothing of the request has reached the server: it can be sent again."""


class CredentialsError(NotSentError):
    """A token, certificate or plugin that should say who we are is missing or makes no sense."""


class NoAnswerError(TransportError):
    """The request went out and no whole answer came back: it may have been carried out."""


class TimedOutError(NoAnswerError):
    """The answer did not come in time."""


class BadAnswerError(ClientError):
    """An answer that makes no sense."""


class ApiError(ClientError):
    """The API server's no; `status` has its reason."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message or status.reason or f"status {status.code}")
        self.status = status

    @property
    def is_temporary(self) -> bool:
        """True if the same request may succeed later."""
        code = self.status.code
        return code in _TEMPORARY_CODES or code >= _FIRST_SERVER_ERROR

    @property
    def is_resource_version_too_large(self) -> bool:
        """True if the server does not know the resource version yet, or does not any more.

        It may lag behind another server, or have been restored from a backup.
        """
        details = self.status.details
        causes = details.causes if details else ()
        return any(cause.reason == "ResourceVersionTooLarge" for cause in causes)


class UnauthorizedError(ApiError):
    """The server does not know us."""


class ForbiddenError(ApiError):
    """The server knows us, and we may not."""


class NotFoundError(ApiError):
    """There is no such object, or no such kind."""


class AlreadyExistsError(ApiError):
    """There is an object of that name."""


class ConflictError(ApiError):
    """The object is not, or no longer, as the request supposes."""


class ExpiredError(ApiError):
    """The server no longer has the history that the request starts from."""


class TooManyRequestsError(ApiError):
    """The server has too much to do."""


class ServerError(ApiError):
    """The server failed, perhaps after it had done what was asked for."""


def api_error(code: int, body: bytes) -> ApiError:
    """The error for an answer with an error code."""
    return error_of(_status(code, body))


def error_of(status: Status) -> ApiError:
    """The error that a Status stands for."""
    if status.reason == "AlreadyExists":
        return AlreadyExistsError(status)
    if status.reason in ("Expired", "Gone"):
        return ExpiredError(status)
    if status.code >= _FIRST_SERVER_ERROR:
        return ServerError(status)
    return _BY_CODE.get(status.code, ApiError)(status)


_FIRST_SERVER_ERROR = 500
# A token that has run out is replaced, rights that are missing are given, and a crowd thins out.
_TEMPORARY_CODES = (401, 403, 408, 429)
_BY_CODE: dict[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: ExpiredError,
    429: TooManyRequestsError,
}


def _status(code: int, body: bytes) -> Status:
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        status = Status()
    if status.code == code:
        return status
    text = status.message or body[:_SHOWN_BYTES].decode(errors="replace").strip()
    message = f"the server answered {code}: {text}" if text else f"the server answered {code}"
    return msgspec.structs.replace(status, code=code, message=message)
