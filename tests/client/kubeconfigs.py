"""Kubeconfig files for tests, by keyword."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from berthing.client.cluster_access import ClusterAccess
from berthing.client.kubeconfig import kubeconfig_access


def make_kubeconfig(
    path: Path,
    *,
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    current_context: str = "x",
    **more: Any,
) -> Path:
    """Write a kubeconfig with one context, which is the current one."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://api"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": current_context,
    }
    # JSON is YAML.
    path.write_text(json.dumps(config | more))
    return path


def access(path: Path, **choice: str) -> ClusterAccess:
    return kubeconfig_access([path], now=lambda: 0.0, **choice)
