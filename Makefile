# Every target sets itself up: a fresh clone needs Python 3.11+, git and the package registry.

PYTHON ?= python3
UV_VERSION := 0.13.7
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.porch-setup
PYTEST_ARGS ?=
# The tests start Python thousands of times; where nothing may be kept, each start compiles anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests wait for processes about as long as they compute, so there are more workers than cores.
WORKERS := -n 5 --dist loadgroup
PYTEST := -m pytest $(WORKERS)
# The rooms that touch nothing outside, and so are quick; their tests lie in directories alike.
PURE := text model dialects machine claims account show

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup agents browser demo quick test check format format-check lint types layers docs requirements \
	errors wheel redundant screenshots bench torture sabotage clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## virtual environment with the locked dependencies

# --inexact keeps pip and uv, which stand in the environment but not in the lock.
$(STAMP): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "porch needs Python 3.11 or later; try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/uv --version 2>/dev/null | grep -q '^uv $(UV_VERSION)\b' \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv==$(UV_VERSION)'
	@VIRTUAL_ENV='$(abspath $(VENV))' UV_PYTHON_DOWNLOADS=never \
		$(BIN)/uv sync --locked --active --inexact --quiet
	@touch $@

agents: setup ## the real claude, codex and gemini at their pinned versions, in a cache directory
	@$(BIN)/python tools/agents.py

browser: setup ## chromium and axe-core for the tests of the pages, where they can be installed
	@$(BIN)/python tools/browser.py

demo: setup ## a whole project in a throw-away repository, with the scripted agent
	@if [ -t 0 ]; then $(BIN)/porch demo; else $(BIN)/porch demo --yes; fi

quick: setup ## the tests of the pure rooms: what one runs after every change
	$(BIN)/python $(PYTEST) -q $(wildcard $(PURE:%=tests/%)) $(PYTEST_ARGS)

# In a new clone four workers would each rewrite the assertions of all tests; one does it for all.
COMPILED := build/.tests-compiled
$(COMPILED): $(STAMP)
	@mkdir -p build
	@$(BIN)/python -m pytest -n 0 --collect-only -q >/dev/null || true
	@touch $@

RUN_TESTS = $(BIN)/python
# A stale measurement would be combined with the new one, so it goes first.
test: setup agents browser $(COMPILED) ## all tests; a failed one runs again, alone
	@rm -f .coverage .coverage.*
	$(RUN_TESTS) -m tools.run_tests $(WORKERS) --durations=10 $(PYTEST_ARGS)

# The same tests, with coverage of what runs in the processes of pytest.
check: RUN_TESTS = $(BIN)/coverage run
check: format-check lint types layers docs test ## everything that must hold before a change goes in
	@$(BIN)/coverage combine --quiet
	@mkdir -p build
	@$(BIN)/coverage json --quiet --fail-under=0
	$(BIN)/coverage report
	$(BIN)/python tools/coverage_floor.py build/coverage.json

format: setup ## rewrite the layout, sort the imports
	$(BIN)/ruff check --quiet --select I --fix .
	$(BIN)/ruff format .

format-check: setup
	$(BIN)/ruff format --check .

lint: setup
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

layers: setup ## who may import whom
	@$(BIN)/lint-imports --no-logo

docs: requirements errors ## what the pages promise about the code

requirements: setup ## requirements of resolved issues that no test names
	$(BIN)/python tools/requirements.py

errors: setup ## codes of findings that no page explains
	$(BIN)/python tools/error_codes.py

wheel: setup ## build the wheel and try what is in it (part of `make test` too)
	$(BIN)/python -m pytest tests/house/test_wheel.py

# Of the pure rooms everything is measured, always: each of their lines must be reached.
redundant: setup agents ## long tests that need not be measured, into tests/not_measured.txt
	@rm -rf .coverage .coverage.* build/reached
	PORCH_MEASURE=all $(BIN)/coverage run $(PYTEST) -q -p tools.redundant_tests \
		$(filter-out $(addsuffix /,$(PURE:%=tests/%)) tests/whole/ tests/house/,$(wildcard tests/*/)) || true
	$(BIN)/python -m tools.redundant_tests

screenshots: setup browser ## the pictures of the dashboard in docs/images
	$(BIN)/python -m tools.screenshots

bench: setup ## ratios, medians, JSON out
	$(BIN)/python bench/run.py

torture: setup ## the large numbers: kills, wishes, byte cuts
	PORCH_TORTURE=full $(BIN)/python -m pytest -m torture --timeout=0 --durations=10 $(PYTEST_ARGS)

sabotage: setup ## each guard switched off in turn must turn a named test red
	$(BIN)/python -m tools.sabotage

clean: ## what can be made again; the environment stays
	rm -rf build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
