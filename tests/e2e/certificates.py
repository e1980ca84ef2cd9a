"""A certificate authority for the servers of one test run, and what it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME: Final = timedelta(days=2)
_OF_AUTHORITY: Final = (
    x509.BasicConstraints(ca=True, path_length=0),
    x509.KeyUsage(
        key_cert_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    ),
)


class Pair(msgspec.Struct, frozen=True):
    """A certificate and its key, in PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates; whoever trusts `certificate` trusts them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("berthing-tests")
        self.certificate = directory / "ca.crt"
        self.certificate.write_bytes(self._sign(self._name, self._key.public_key(), *_OF_AUTHORITY))

    def server(self, name: str) -> Pair:
        """A certificate for a server on this machine."""
        places = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")]
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        return self._pair(name, _name(name), usage, x509.SubjectAlternativeName(places))

    def client(self, user: str, *, group: str) -> Pair:
        """A certificate by which an API server knows its holder as this user in this group."""
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        return self._pair(user, _name(user, group), usage)

    def _pair(self, file: str, subject: x509.Name, *extensions: x509.ExtensionType) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        pair = Pair(self._directory / f"{file}.crt", self._directory / f"{file}.key")
        pair.key.write_bytes(_pem(key))
        pair.certificate.write_bytes(self._sign(subject, key.public_key(), *extensions))
        return pair

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType
    ) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder(self._name, subject, key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _LIFETIME)
            .not_valid_after(now + _LIFETIME)
        )
        # From Python 3.13 on, a client refuses certificates that do not tell whose they are.
        own = x509.SubjectKeyIdentifier.from_public_key(key)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        for extension in (own, issuer, *extensions):
            critical = isinstance(extension, x509.BasicConstraints | x509.KeyUsage)
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def write_signing_key(path: Path) -> Path:
    """Make a key that an API server signs service accounts' tokens with."""
    path.write_bytes(_pem(ec.generate_private_key(ec.SECP256R1())))
    return path


def _name(common: str, organization: str = "") -> x509.Name:
    names = {NameOID.COMMON_NAME: common, NameOID.ORGANIZATION_NAME: organization}
    return x509.Name([x509.NameAttribute(oid, value) for oid, value in names.items() if value])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
