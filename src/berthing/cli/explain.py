"""berthing explain: where a pod goes in a described cluster and why, or what keeps it out."""

from __future__ import annotations

import os
import sys
from collections import Counter
from random import Random
from typing import NoReturn

import click
import msgspec

from berthing.cli.connecting import transport_to, user_access
from berthing.cli.event_loop import run_loop
from berthing.cli.explain_text import report_text
from berthing.cli.loading import discovered, feature_gates, line, load_configuration
from berthing.cli.main import EXIT_BAD_INPUT
from berthing.client.api_client import ApiClient
from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.config.effective import yaml_text
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.explain.answers import answers
from berthing.explain.asked_pod import AskedPod, pod_in_cluster, pod_in_file
from berthing.explain.cluster_files import ClusterFiles, read_files
from berthing.explain.gaps import gaps
from berthing.explain.live_cluster import LiveCluster, read_cluster
from berthing.explain.problems import InputError
from berthing.explain.question import ask
from berthing.explain.report import Report
from berthing.scheduler.registry import Registry

# So many lines say what is wrong with files that are wrong throughout.
_MOST_PROBLEMS = 20


@click.command()
@click.argument("words", nargs=-1, metavar="[POD] [FILE...]")
@click.option(
    "--cluster",
    "cluster",
    multiple=True,
    metavar="FILE...",
    help="What `kubectl get ... -o yaml` or `-o json` wrote: files, folders, gzipped or not; "
    "- stands for standard input.  Without it, a live cluster is asked.",
)
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="How to reach a live cluster; without it $KUBECONFIG, then ~/.kube/config.",
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig to use.")
@click.option("--pod", "pod_file", metavar="FILE", help="A manifest with the pod, in place of POD.")
@click.option("--config", metavar="FILE", help="The scheduler's configuration.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
)
@click.option("-v", "--verbose", "--all-nodes", "all_nodes", is_flag=True, help="Show all nodes.")
@feature_gates
def explain(
    words: tuple[str, ...],
    *,
    cluster: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    pod_file: str | None,
    config: str | None,
    output: str,
    all_nodes: bool,
    gates: FeatureGates,
) -> None:
    """Explain where a pod goes, or why it stays pending and what would change that.

    POD is namespace/name, or a name alone.  Exits 0 once it is decided, whether or not the pod
    fits; 1 if a plugin failed; 2 if the input cannot be used.
    """
    if cluster and (kubeconfig or context):
        raise click.UsageError("--cluster describes a cluster, --kubeconfig reaches one: choose")
    registry = discovered()
    name, files = _told_apart(words, cluster, has_pod_file=pod_file is not None)
    try:
        profiles = _profiles(config, gates, registry)
        described = _cluster(files, kubeconfig, context)
        _tell_skipped(described.skipped)
        asked = _asked(name, pod_file, described)
        question = ask(asked.pod, described.objects, profiles, registry=registry, gates=gates)
    except InputError as error:
        _refuse(error)
    for note in (*asked.notes, *gaps(question.pod, described.objects)):
        click.echo(f"note: {note}", err=True)
    report = Report(question)
    if output == "table":
        click.echo(report_text(report, all_nodes=all_nodes))
    elif output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(answers(report.decision))))
    else:
        click.echo(yaml_text(answers(report.decision)), nl=False)
    if report.decision.error is not None:
        click.echo(f"berthing explain: {report.decision.error}", err=True)
        sys.exit(1)


def _told_apart(
    words: tuple[str, ...], cluster: tuple[str, ...], *, has_pod_file: bool
) -> tuple[str, tuple[str, ...]]:
    """The pod's name, and all files: a shell puts several where `--cluster *.yaml` says one."""
    if not words or (has_pod_file and cluster and os.path.exists(words[0])):
        name, more = "", words
    else:
        name, more = words[0], words[1:]
    if not name and not has_pod_file:
        raise click.UsageError("say which pod: POD, or --pod FILE")
    if more and not cluster:
        raise click.UsageError(f"one pod at a time; if {more[0]} is a file, write --cluster before")
    return name, (*cluster, *more)


def _cluster(files: tuple[str, ...], kubeconfig: str | None, context: str | None) -> ClusterFiles:
    """What files say about a cluster, or what a live one shows."""
    if files:
        return read_files(files, sys.stdin.buffer)
    try:
        live = run_loop(_live(user_access(kubeconfig, context)))
    except AccessError as error:
        hint = "or describe a cluster with --cluster FILE..."
        raise InputError(f"{error}; {hint}") from error
    for note in live.notes:
        click.echo(f"note: {note}", err=True)
    return live.cluster


async def _live(access: ClusterAccess) -> LiveCluster:
    transport = transport_to(access)
    try:
        return await read_cluster(ApiClient(transport, random=Random()), access.server)
    finally:
        await transport.close()


def _profiles(
    config: str | None, gates: FeatureGates, registry: Registry
) -> tuple[EffectiveProfile, ...]:
    loaded = load_configuration(config, gates, registry)
    lines = [line(loaded.file, finding) for finding in loaded.findings]
    if not loaded.ok:
        raise InputError(*lines)
    for text in lines:
        click.echo(text, err=True)
    return loaded.profiles


def _asked(name: str, pod_file: str | None, cluster: ClusterFiles) -> AskedPod:
    if pod_file is None:
        return pod_in_cluster(cluster, name)
    pods = read_files((pod_file,), sys.stdin.buffer, beside=cluster.objects)
    return pod_in_file(pods, name)


def _tell_skipped(skipped: Counter[str]) -> None:
    if skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
        click.echo(f"note: left out, as no scheduler reads them: {kinds}", err=True)


def _refuse(error: InputError) -> NoReturn:
    for problem in error.problems[:_MOST_PROBLEMS]:
        click.echo(f"berthing explain: {problem}", err=True)
    more = len(error.problems) - _MOST_PROBLEMS
    if more > 0:
        click.echo(f"berthing explain: and {more} more", err=True)
    sys.exit(EXIT_BAD_INPUT)
