# A tour of the commands that need no cluster, once `make demo` or `make test` has set up .venv: decisions
# about the pods of a sample cluster, explained, and the proof that they are kube-scheduler's.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

for pod in web-3 database-2 render-0; do
    say berthing explain "$pod" --cluster examples/cluster.yaml
    berthing explain "$pod" --cluster examples/cluster.yaml
done

say berthing explain web-3 --cluster examples/cluster.yaml --config examples/packing-only.yaml
berthing explain web-3 --cluster examples/cluster.yaml --config examples/packing-only.yaml

say berthing config check examples/mistaken.yaml
if berthing config check examples/mistaken.yaml; then
    echo "tour: the mistakes were not found" >&2
    exit 1
fi

say berthing config migrate examples/policy.json
berthing config migrate examples/policy.json

say berthing verify tests/golden/data/resources.jsonl.gz tests/golden/data/pod-affinity.jsonl.gz \
    tests/golden/data/configurations.jsonl.gz tests/golden/data/quantities.jsonl.gz
berthing verify tests/golden/data/resources.jsonl.gz tests/golden/data/pod-affinity.jsonl.gz \
    tests/golden/data/configurations.jsonl.gz tests/golden/data/quantities.jsonl.gz

printf '\nThe recorded answers were given by kube-scheduler v1.36.4: its decisions and ours are the same.\n'
