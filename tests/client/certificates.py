"""Certificates for tests: an authority, a server at 127.0.0.1, clients."""

from __future__ import annotations

import datetime as dt
import ipaddress
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from berthing.client.identity import Certificate

_ISSUED = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_YEARS = dt.timedelta(days=36500)


class Authority:
    """Issues certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("authority")
        builder = _builder(self._name, self._name, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        builder = builder.add_extension(_usage(signs=True), True)
        builder = builder.add_extension(self._key_id(), False)
        self._certificate = builder.sign(self._key, hashes.SHA256())
        self.pem = _pem(self._certificate)

    def issue(self, name: str) -> Certificate:
        """A certificate for a user of that name, or for a server of that name and 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(name)]
        addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))] if "." in name else []
        builder = _builder(_name(name), self._name, key)
        builder = builder.add_extension(x509.SubjectAlternativeName([*names, *addresses]), False)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False
        )
        certificate = builder.sign(self._key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return Certificate(_pem(certificate), private)

    def _key_id(self) -> x509.SubjectKeyIdentifier:
        return x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())


@lru_cache
def authority() -> Authority:
    return Authority()


@lru_cache
def server_certificate() -> Certificate:
    return authority().issue("api.example.com")


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_ISSUED)
        .not_valid_after(_ISSUED + _YEARS)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
