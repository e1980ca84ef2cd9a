"""kubeconfig files, each with one cluster and one user."""

from __future__ import annotations

from pathlib import Path

import msgspec

from e2e.api_client import Access


def write_kubeconfig(path: Path, access: Access, *, token_file: Path | None = None) -> Path:
    """Write how to reach an API server and as whom: by the access's own proof, or a token file."""
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "e2e",
                "cluster": {"server": access.url, "certificate-authority": str(access.authority)},
            }
        ],
        "users": [{"name": "e2e", "user": _user(access, token_file)}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        "current-context": "e2e",
    }
    # JSON is YAML.
    path.write_bytes(msgspec.json.encode(kubeconfig))
    return path


def _user(access: Access, token_file: Path | None) -> dict[str, str]:
    if token_file:
        return {"tokenFile": str(token_file)}
    if access.pair:
        files = {"client-certificate": access.pair.certificate, "client-key": access.pair.key}
        return {name: str(file) for name, file in files.items()}
    return {"token": access.token}
