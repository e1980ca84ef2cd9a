# What `make demo` runs: the configuration's whole path, on files that come with the project.
set -eu
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

say berthing config show examples/bin-packing.yaml
berthing config show examples/bin-packing.yaml

say berthing config check examples/mistaken.yaml
if berthing config check examples/mistaken.yaml; then
    echo "demo: the mistakes were not found" >&2
    exit 1
fi

say berthing config migrate examples/policy.json
berthing config migrate examples/policy.json

say berthing verify tests/golden/data/*.jsonl.gz
berthing verify tests/golden/data/*.jsonl.gz

printf '\nKubernetes reads these files the same way: every recorded answer above was given by kube-scheduler v1.36.4.\n'
