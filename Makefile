# Each target sets up what it needs in .venv by itself; a second call finds it done.
#
#   make demo    the whole scheduler at work in a cluster in memory, on nothing but this machine
#   make test    all tests but those of make e2e
#   make e2e     tests against a real API server and etcd, which Go builds: minutes the first time
#   make check   format, lint, strict types, layers
#   make bench   what is fast, and how fast

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; say `make PYTHON=... test` to choose another.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
WORKERS ?= auto
SOURCES := src tests examples

.PHONY: demo test e2e check format bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/.ready
	@$(BIN)/berthing demo

test: $(VENV)/.ready-dev
	$(BIN)/pytest -n $(WORKERS) -q

# One process: the servers take what cores there are.
e2e: $(VENV)/.ready-dev
	$(BIN)/pytest -q tests/e2e

check: $(VENV)/.ready-dev
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --config pyproject.toml

format: $(VENV)/.ready-dev
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: $(VENV)/.ready
	$(BIN)/berthing bench decode
	$(BIN)/berthing bench engine

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Berthing needs Python 3.11 or newer, and found none on the PATH."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# pip tells a new version of itself in the middle of everything else; nobody asked.
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet

$(VENV)/.ready: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) --editable '.[dev]'
	@touch $@
