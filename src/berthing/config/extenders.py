"""What only shows when extenders are built: their certificates, and resources left to them.

Upstream: pkg/scheduler/scheduler.go buildExtenders, pkg/scheduler/extender.go makeTransport,
          client-go/transport/transport.go TLSConfigFor.
Differs:  whether a key belongs to its certificate is left to the first call.
"""

from __future__ import annotations

import re
import ssl
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from berthing.config.args import NodeResourcesFitArgs
from berthing.config.findings import Findings
from berthing.config.v1 import (
    Extender,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
)

_BEGIN = b"-----BEGIN CERTIFICATE-----"
_END = b"-----END CERTIFICATE-----"
_KEY_FRAME = re.compile(rb"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY-----")

# All authorities that browsers trust take a fraction of this.
_MAX_BYTES = 4 * 2**20
_MAX_CERTIFICATES = 1000


def check_certificates(extenders: Sequence[Extender], findings: Findings) -> None:
    """Open what `tlsConfig` names, as building the extenders will."""
    for index, extender in enumerate(extenders):
        if extender.tls_config is not None:
            here = findings.under("extenders", index, "tlsConfig")
            _check_tls(extender.tls_config, here, enable_https=extender.enable_https)


def _check_tls(tls: ExtenderTLSConfig, findings: Findings, *, enable_https: bool) -> None:
    has_ca = bool(tls.ca_data or tls.ca_file)
    has_certificate = bool(tls.cert_data or tls.cert_file) and bool(tls.key_data or tls.key_file)
    if not (enable_https or has_ca or has_certificate or tls.insecure or tls.server_name):
        # A certificate without a key, or a key without a certificate, is not even opened.
        return
    if has_ca and tls.insecure:
        findings.error(
            "must not be set together with caData or caFile",
            "insecure",
            suggestion="is the server's certificate to be checked or not?",
        )
        return
    only_files = not tls.cert_data and not tls.key_data
    authority = _content("ca", tls.ca_data, tls.ca_file, findings)
    certificate = _content("cert", tls.cert_data, tls.cert_file, findings)
    key = _content("key", tls.key_data, tls.key_file, findings)
    # An empty file stands for the authorities of the system.
    if authority and authority.content and not _has_certificate(authority.content):
        findings.error("there is no PEM certificate in it", authority.field)
    # What is only in files is read again for every connection, so nobody looks into it now.
    if only_files or not has_certificate:
        return
    if certificate and not _has_certificate(certificate.content):
        findings.error("there is no PEM certificate in it", certificate.field)
    if key and not _has_key(key.content):
        findings.error("there is no PEM private key in it", key.field)


class _Material(msgspec.Struct, frozen=True):
    field: str
    content: bytes


def _content(kind: str, data: bytes, file: str, findings: Findings) -> _Material | None:
    """What is given directly, or else in a file; None if there is none, or it cannot be read."""
    if data:
        return _Material(f"{kind}Data", data)
    if not file:
        return None
    field = f"{kind}File"
    try:
        return _Material(field, _read(Path(file)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        findings.error(f"cannot read {file}: {reason or error}", field)
        return None


def _read(file: Path) -> bytes:
    """What is in a file, unless reading would take forever."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError("it is not a file")
    with file.open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(f"there are more than {_MAX_BYTES // 2**20} MiB in it")
    return content


def _has_certificate(pem: bytes) -> bool:
    """True if at least one block can be read as a certificate."""
    return any(map(_is_certificate, islice(_blocks(pem), _MAX_CERTIFICATES)))


def _blocks(pem: bytes) -> Iterator[bytes]:
    end = 0
    while (start := pem.find(_BEGIN, end)) >= 0 and (end := pem.find(_END, start)) >= 0:
        yield pem[start : end + len(_END)]


def _has_key(pem: bytes) -> bool:
    return [match[1] for match in islice(_KEY_FRAME.finditer(pem), 2)] == [b"BEGIN", b"END"]


def _is_certificate(block: bytes) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=block.decode("ascii"))
    except (ssl.SSLError, ValueError):
        return False
    return True


def with_ignored_resources(
    config: KubeSchedulerConfiguration, findings: Findings
) -> KubeSchedulerConfiguration:
    """Every profile's NodeResourcesFit with what extenders say they count themselves.

    If there is anything, it replaces `ignoredResources` of the profile, right or wrong.
    """
    ignored = tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return config
    return replace(
        config,
        profiles=tuple(
            _ignoring(ignored, profile, findings.under("profiles", index, "pluginConfig"))
            for index, profile in enumerate(config.profiles)
        ),
    )


def _ignoring(
    ignored: tuple[str, ...], profile: KubeSchedulerProfile, findings: Findings
) -> KubeSchedulerProfile:
    if not any(config.name == "NodeResourcesFit" for config in profile.plugin_config):
        findings.error(
            "there are no arguments for NodeResourcesFit, which is not enabled either: "
            f"it is to ignore {ignored[0]} for an extender",
            suggestion="add {name: NodeResourcesFit} here",
        )
    configs = []
    for index, config in enumerate(profile.plugin_config):
        if isinstance(config.args, NodeResourcesFitArgs):
            if config.args.ignored_resources not in {(), ignored}:
                findings.warning(
                    "has no effect: managedResources with ignoredByScheduler of extenders replace "
                    "it",
                    *(index, "args", "ignoredResources"),
                )
            config = replace(config, args=replace(config.args, ignored_resources=ignored))
        configs.append(config)
    return replace(profile, plugin_config=tuple(configs))
