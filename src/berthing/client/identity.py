"""Who we are to an API server, at the moment: what is sent along and shown in a TLS handshake.

Where identities come from, and when they are renewed, is in `credentials`, `exec_plugin` and
`in_cluster`.
"""

from __future__ import annotations

from typing import Protocol

import msgspec


class Certificate(msgspec.Struct, frozen=True):
    """A client certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Certificate(...)"


class Identity(msgspec.Struct, frozen=True):
    """Headers that say who we are, and a certificate, where we have one."""

    headers: tuple[tuple[str, str], ...] = ()
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        # Neither logs nor tracebacks are a place for tokens.
        return f"Identity({', '.join(name for name, _ in self.headers)}, {self.certificate})"


class Credentials(Protocol):
    """Says who we are, and finds out anew from time to time."""

    async def identity(self) -> Identity:
        """Who we are now: the very same object as long as nothing has changed.

        Raises CredentialsError if that cannot be found out.
        """
        ...

    def refused(self, identity: Identity) -> bool:
        """The server does not know this identity; True if asking anew may give another one."""
        ...
