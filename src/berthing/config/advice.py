"""What is allowed in a configuration, though hardly anybody means it: warnings.

Upstream says nothing of all this.  What people write on purpose gets no warning, however
unusual it is; a file that only changes some defaults gets none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from berthing.api.names import qualified_name_errors
from berthing.config.advice_plugins import advise_plugin_config, advise_plugins
from berthing.config.durations import Duration
from berthing.config.features import FeatureGates
from berthing.config.findings import Findings
from berthing.config.profile import Catalogue, Merged, RunningPlugin
from berthing.config.v1 import (
    ClientConnectionConfiguration,
    Extender,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    LeaderElectionConfiguration,
)

# Upstream counts backoffs in nanoseconds, and lets them wrap around.
_LONGEST_BACKOFF_SECONDS = (2**63 - 1) // 10**9

# An extender's scores go up to 10, are multiplied by its weight, and then brought up to 100.
_LARGEST_EXTENDER_WEIGHT = (2**63 - 1) // 100


def advise(
    written: KubeSchedulerConfiguration,
    merged: Sequence[Merged],
    running: Sequence[Mapping[str, tuple[RunningPlugin, ...]]],
    catalogue: Catalogue,
    gates: FeatureGates,
    findings: Findings,
) -> None:
    """Warn about what is odd in a configuration as it was written.

    `merged` has the plugins of each profile with the defaults in place, `running` what comes
    of them.
    """
    _top_level(written, findings)
    _leader_election(written.leader_election, findings.under("leaderElection"))
    _client_connection(written.client_connection, findings.under("clientConnection"))
    for index, profile in enumerate(written.profiles):
        here = findings.under("profiles", index)
        _scheduler_name(profile.scheduler_name or "", here)
        advise_plugins(
            profile.plugins, merged[index], running[index], catalogue, gates, here.under("plugins")
        )
        advise_plugin_config(profile, merged[index], catalogue, here.under("pluginConfig"))
    for index, extender in enumerate(written.extenders):
        _extender(extender, findings.under("extenders", index))
    _same_extender_twice(written.extenders, findings.under("extenders"))


def _top_level(written: KubeSchedulerConfiguration, findings: Findings) -> None:
    if written.enable_contention_profiling and not written.enable_profiling:
        findings.warning("has no effect without enableProfiling", "enableContentionProfiling")
    if written.delay_cache_until_active and not written.leader_election.leader_elect:
        findings.warning("has no effect without leader election", "delayCacheUntilActive")
    for name, seconds in (
        ("podInitialBackoffSeconds", written.pod_initial_backoff_seconds),
        ("podMaxBackoffSeconds", written.pod_max_backoff_seconds),
    ):
        if seconds > _LONGEST_BACKOFF_SECONDS:
            findings.warning(
                f"{seconds} s are more than can be counted, {_LONGEST_BACKOFF_SECONDS} s at most",
                name,
            )


def _leader_election(election: LeaderElectionConfiguration, findings: Findings) -> None:
    default = LeaderElectionConfiguration()
    durations = {
        "leaseDuration": (election.lease_duration, default.lease_duration),
        "renewDeadline": (election.renew_deadline, default.renew_deadline),
        "retryPeriod": (election.retry_period, default.retry_period),
    }
    if not election.leader_elect:
        # Nobody reads them, until somebody turns it on.
        for name, (duration, _) in durations.items():
            if duration < Duration():
                findings.warning(f"would be wrong with leaderElect: {duration}", name)
        if election.resource_lock not in {"", "leases"}:
            findings.warning(
                f'would be wrong with leaderElect: "{election.resource_lock}"', "resourceLock"
            )
        return
    for name, (duration, standard) in durations.items():
        if not duration:
            findings.warning(f"0s stands for the default, {standard}", name)
    retry, deadline = (
        given or standard
        for given, standard in (durations["retryPeriod"], durations["renewDeadline"])
    )
    # Tries are spread out at random by up to a fifth (client-go: JitterFactor).
    if Duration() < deadline and deadline.nanoseconds <= int(retry.nanoseconds * 1.2):
        findings.warning(
            f"kube-scheduler does not start with this: need 1.2 * retryPeriod ({retry}) < "
            f"renewDeadline ({deadline})",
            "retryPeriod",
        )


def _client_connection(client: ClientConnectionConfiguration, findings: Findings) -> None:
    default = ClientConnectionConfiguration()
    if client.qps < 0:
        findings.warning("less than 0 means no limit at all, so burst means nothing", "qps")
    elif not client.qps:
        findings.warning(f"0 stands for the default, {default.qps:g}", "qps")
    if not client.burst:
        findings.warning(f"0 stands for the default, {default.burst}", "burst")
    for name, text in (
        ("acceptContentTypes", client.accept_content_types),
        ("contentType", client.content_type),
    ):
        odd = [kind.strip() for kind in text.split(",") if kind.strip() and "/" not in kind]
        if odd:
            findings.warning(
                f'"{odd[0]}" is no content type', name, suggestion="such as application/json"
            )


def _scheduler_name(name: str, findings: Findings) -> None:
    if name and qualified_name_errors(name):
        findings.warning(
            f'the API server refuses events of a scheduler called "{name}"',
            "schedulerName",
            suggestion="use letters, digits, '-', '_' and '.' only, 63 at most",
        )


def _extender(extender: Extender, findings: Findings) -> None:
    _url(extender, findings)
    verbs = {
        "filterVerb": extender.filter_verb,
        "preemptVerb": extender.preempt_verb,
        "prioritizeVerb": extender.prioritize_verb,
        "bindVerb": extender.bind_verb,
    }
    for name, verb in verbs.items():
        if any(char.isspace() for char in verb):
            findings.warning(f'there are blanks in "{verb}", which is part of a URL', name)
    if not any(verbs.values()) and not any(
        resource.ignored_by_scheduler for resource in extender.managed_resources
    ):
        findings.warning(
            "this extender is never called: it has no verb",
            suggestion=f"set one of {', '.join(verbs)}",
        )
    if extender.weight and not extender.prioritize_verb:
        findings.warning("has no effect without prioritizeVerb", "weight")
    elif extender.weight > _LARGEST_EXTENDER_WEIGHT:
        findings.warning(f"scores times {extender.weight} are more than can be counted", "weight")
    if extender.http_timeout < Duration():
        findings.warning(f"every call runs out of time with {extender.http_timeout}", "httpTimeout")
    if extender.tls_config is not None:
        _tls(extender.tls_config, findings.under("tlsConfig"))


def _url(extender: Extender, findings: Findings) -> None:
    try:
        url = urlsplit(extender.url_prefix)
    except ValueError as error:
        findings.warning(f"cannot be called: {error}", "urlPrefix")
        return
    if url.scheme not in {"http", "https"} or not url.netloc:
        findings.warning(
            f'cannot be called: "{extender.url_prefix}" is no URL',
            "urlPrefix",
            suggestion="such as http://127.0.0.1:8888/scheduler",
        )
    elif extender.enable_https and url.scheme == "http":
        findings.warning(
            "does not make http:// in urlPrefix https://",
            "enableHTTPS",
            suggestion=f"write urlPrefix: https{extender.url_prefix.removeprefix('http')}",
        )


def _tls(tls: ExtenderTLSConfig, findings: Findings) -> None:
    has_certificate, has_key = tls.cert_data or tls.cert_file, tls.key_data or tls.key_file
    if has_certificate and not has_key:
        findings.warning("the certificate is not used without keyFile or keyData")
    if has_key and not has_certificate:
        findings.warning("the key is not used without certFile or certData")
    for kind, data, file in (
        ("ca", tls.ca_data, tls.ca_file),
        ("cert", tls.cert_data, tls.cert_file),
        ("key", tls.key_data, tls.key_file),
    ):
        if data and file:
            findings.warning(f"is not read: {kind}Data goes first", f"{kind}File")


def _same_extender_twice(extenders: Iterable[Extender], findings: Findings) -> None:
    seen: dict[tuple[str, str, str], int] = {}
    for index, extender in enumerate(extenders):
        called = (extender.url_prefix, extender.filter_verb, extender.prioritize_verb)
        if any(called[1:]) and called in seen:
            findings.warning(f"asks the same as extenders[{seen[called]}]", index)
        seen.setdefault(called, index)
