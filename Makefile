PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test test-all test-long faults attacks chaos record lint types contracts lock bench clean

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.installed ## build ./.venv with everything, from the hashed lock

$(VENV)/.installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Surefoot needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: setup ## watch an agent meet tool failures and carry on
	$(BIN)/surefoot run "What is in this repository, and which of its tools work?" --stay \
		--model scripted:examples/failures/demo.yaml --tools builtin --tools examples/failures --approve bash=never

test: lint types contracts ## lint, types, import contracts and all tests but the slow ones
	$(BIN)/pytest -n 7 --dist worksteal

test-all: test test-long ## test, and the longer suites

test-long: setup ## only the longer suites
	$(BIN)/pytest --slow -m "slow and not long" -n 5 --dist worksteal
	$(BIN)/pytest --slow --long -m long
	$(BIN)/python -m bench.run --only history

faults: setup ## every way for a tool call to go wrong, at each level of the sandbox: a table of what the model saw
	$(BIN)/python -m tests.faults

attacks: setup ## what a tool may try, and which level of the sandbox holds it, as one table
	$(BIN)/pytest --slow --long tests/attacks -m "slow or long"

chaos: setup ## 300 runs under 200 worker kills, 10 server kills and 20 network cuts: about 10 minutes
	$(BIN)/python -m bench.chaos --runs 300 --worker-kills 200 --server-kills 10 --network-cuts 20

record: setup ## renew the recorded histories on purpose; one alone: make record scenario=two-turns
	$(BIN)/python -m tests.replay $(scenario)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/pyright

contracts: setup
	$(BIN)/lint-imports --no-cache

bench: setup ## Surefoot beside a hand-written loop: history, latency, processor, memory, replay
	$(BIN)/python -m bench.run --json bench/results/latest.json

lock: ## renew the locks on purpose (needs uv)
	uv pip compile --universal --generate-hashes --no-header --quiet --extra telemetry pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --no-header --quiet --all-extras pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) build dist
