"""What only shows when extenders are built: their certificates, and resources left to them.

Upstream: pkg/scheduler/scheduler.go buildExtenders, pkg/scheduler/extender.go makeTransport,
          client-go/transport/transport.go TLSConfigFor.
Differs:  whether a key belongs to its certificate is left to the first call.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence
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
    PluginConfig,
)

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----\s.*?-----END CERTIFICATE-----", re.DOTALL)
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----\s.*?-----END ([A-Z0-9]+ )*PRIVATE KEY-----",
    re.DOTALL,
)


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
    if authority and not _certificates(authority.content):
        findings.error("there is no PEM certificate in it", authority.field)
    # What is only in files is read again for every connection, so nobody looks into it now.
    if only_files or not has_certificate:
        return
    if certificate and not _certificates(certificate.content):
        findings.error("there is no PEM certificate in it", certificate.field)
    if key and not _PRIVATE_KEY.search(key.content):
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
        return _Material(field, Path(file).read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        findings.error(f"cannot read {file}: {reason}", field)
        return None


def _certificates(pem: bytes) -> bool:
    """True if at least one block can be read as a certificate."""
    return any(_is_certificate(block) for block in _CERTIFICATE.findall(pem))


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

    That replaces what `ignoredResources` of the profile says, if there is anything.
    """
    ignored = tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return config
    for index, profile in enumerate(config.profiles):
        if not any(each.name == "NodeResourcesFit" for each in profile.plugin_config):
            findings.error(
                f"no arguments for NodeResourcesFit, which is not enabled either, but an extender "
                f"wants {', '.join(ignored)} to be ignored in every profile",
                "profiles",
                index,
                "pluginConfig",
                suggestion="add {name: NodeResourcesFit} here",
            )
    profiles = tuple(_ignoring(profile, ignored) for profile in config.profiles)
    return replace(config, profiles=profiles)


def _ignoring(profile: KubeSchedulerProfile, ignored: tuple[str, ...]) -> KubeSchedulerProfile:
    return replace(
        profile,
        plugin_config=tuple(_args_ignoring(each, ignored) for each in profile.plugin_config),
    )


def _args_ignoring(config: PluginConfig, ignored: tuple[str, ...]) -> PluginConfig:
    match config:
        case PluginConfig(name="NodeResourcesFit", args=NodeResourcesFitArgs() as given):
            return replace(config, args=replace(given, ignored_resources=ignored))
        case _:
            return config
