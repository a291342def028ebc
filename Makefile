# One list of commands, for people and for CI. `make` alone prints it.
# A fresh clone needs Python 3.11 or newer, make and git, nothing else; everything is installed into .venv.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The interpreter: PYTHON=… says which; else the newest usable one of these. "Usable" means it starts (shims may not),
# is new enough, and can make virtual environments (Debian splits that off into python3-venv).
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3 python
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(CANDIDATES); do "$$p" -c '$(USABLE)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input -qq
MODEL := models/potion/dist/retentive_potion-1.0.0-py3-none-any.whl
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
TESTS ?= tests
PYTEST_ARGS ?=
LINTED := src tests scripts benchmarks models

.PHONY: help demo test fast lint format types imports docs docs-serve docs-test docs-current build wheel wheel-test npm-peers coverage \
        llm-model quality scenarios integrations bench check clean distclean interpreter deploy-check typescript

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- installation -----------------------------------------------------------------------------------------------

interpreter:
	@if [ -z '$(PYTHON)' ]; then \
	  echo "No usable Python found: tried $(CANDIDATES)." >&2; \
	  echo "Retentive needs Python 3.11 or newer with the venv module (on Debian: apt-get install python3-venv)." >&2; \
	  echo "Install one, or name it: make $(or $(MAKECMDGOALS),test) PYTHON=/path/to/python3" >&2; exit 1; fi
	@'$(PYTHON)' -c '$(USABLE)' || { \
	  echo "PYTHON=$(PYTHON) does not start, is older than 3.11, or lacks the venv module." >&2; exit 1; }

$(PY): | interpreter
	@echo "· virtual environment $(VENV) with $$('$(PYTHON)' --version)"
	@'$(PYTHON)' -m venv '$(VENV)'
	@$(PIP) install --upgrade 'pip>=25.1'

$(VENV)/.package: pyproject.toml | $(PY)
	@echo "· installing retentive and what it needs"
	@$(PIP) install --editable .
	@touch $@

$(MODEL): models/potion/build.py $(wildcard src/retentive/models/*.py) | $(VENV)/.package
	@test -f $@ && touch $@ || { echo "· building the model data wheel (a download of 40 MB, once)"; \
	  $(PY) models/potion/build.py $(@D); }

$(VENV)/.model: $(MODEL)
	@$(PIP) install --no-deps --force-reinstall $(MODEL)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(PY)
	@echo "· installing the development tools"
	@$(PIP) install --group dev
	@touch $@

$(VENV)/.docs: pyproject.toml | $(PY)
	@echo "· installing the documentation tools"
	@$(PIP) install --group docs
	@touch $@

$(VENV)/.deploy: pyproject.toml | $(PY)
	@echo "· installing the linters of deploy/ (35 MB)"
	@$(PIP) install --group deploy
	@touch $@

RUN := $(VENV)/.package $(VENV)/.model
DEV := $(RUN) $(VENV)/.dev

# ---- for everybody ----------------------------------------------------------------------------------------------

demo: $(RUN)  ## see in seconds, offline, what a policy changes
	@$(BIN)/retentive demo

llm-model: $(DEV)  ## fetch the small language model that the tests run for real (98 MB, pinned by digest)
	$(PY) scripts/llm_model.py models/llm

# What tests of the gate need beside the development tools; without it they are skipped and say so.
GATE := llm-model $(VENV)/.deploy $(if $(shell command -v npm 2>/dev/null),npm-peers)

test: $(DEV) $(if $(CI),$(GATE))  ## run the whole test suite (COVERAGE=1: measured, and held to the floor in .ci/coverage-floor)
	$(PY) $(if $(COVERAGE),scripts/coverage_floor.py,-m pytest $(TESTS)) -n $(JOBS) $(PYTEST_ARGS)

fast: $(DEV)  ## run the unit and property tests only
	$(PY) -m pytest -n $(JOBS) tests/unit tests/property $(PYTEST_ARGS)

# ---- the gate, piece by piece -----------------------------------------------------------------------------------

lint: $(VENV)/.dev  ## ruff: rules and format
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)

format: $(VENV)/.dev  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format $(LINTED)

types: $(DEV)  ## mypy --strict over src and tests
	$(BIN)/mypy --strict src tests

imports: $(DEV)  ## imports point inward only: the contracts in pyproject.toml
	$(BIN)/lint-imports --no-cache

docs: $(DEV) $(VENV)/.docs  ## build the documentation strictly, into site/
	$(PY) scripts/docs_current.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-current: $(DEV)  ## rewrite what is generated from the code: tables, pictures, command reference, async types
	$(PY) scripts/docs_current.py
	$(PY) scripts/cli_reference.py
	$(PY) scripts/async_stub.py

docs-serve: $(DEV) $(VENV)/.docs  ## serve the documentation on this machine while you write
	$(BIN)/mkdocs serve

docs-test: $(DEV)  ## every block of README and docs runs; everything public is documented
	$(PY) -m pytest -n $(JOBS) tests/docs tests/architecture $(PYTEST_ARGS)

build: $(DEV)  ## build sdist and wheel into dist/
	@rm -rf dist
	$(PY) -m build --outdir dist .

wheel: build  ## build what others install: the wheel and the model data wheel, both in dist/
	@cp $(MODEL) dist/ && rm -f dist/*.tar.gz && ls dist

wheel-test: $(DEV)  ## test the built wheel in a fresh environment outside this tree (PYTHONS="…" names interpreters)
	$(PY) scripts/wheel_test.py $(PYTHONS)

integrations: $(DEV)  ## test the integrations with the real frameworks, each in its own environment (ONLY="mem0 …")
	$(PY) scripts/integrations_test.py $(ONLY)

deploy-check: $(DEV) $(VENV)/.deploy npm-peers  ## check deploy/ with hadolint, Kubernetes' own schemas and a linter for Compose
	$(PY) -m pytest tests/unit/deploy

coverage:  ## the whole test suite, measured
	@$(MAKE) test COVERAGE=1

check: lint types imports coverage docs wheel-test  ## everything CI runs, in this environment

npm-peers:  ## install from npm what tests talk to: the official MCP memory server and inspector, a linter for Compose
	npm install --prefix build/npm --no-audit --no-fund --no-save --silent \
	  @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/inspector@0.15.0 dclint@3.1.0

typescript: $(DEV)  ## build and test the TypeScript client against a running server (needs Node 20 and npm)
	$(PY) scripts/openapi_json.py --check
	cd clients/typescript && npm ci --no-audit --no-fund --silent && npm run --silent generate && git diff --exit-code -- src \
	  && npm run --silent build && export RETENTIVE_PYTHON='$(abspath $(PY))' && npm test --silent && npm run --silent packed

# ---- measuring --------------------------------------------------------------------------------------------------

scenarios: $(RUN)  ## run the behaviours that must hold
	@$(BIN)/retentive eval scenarios

DATA ?= ../shared/data/locomo-dev.json.gz
POLICIES ?= --policy retentive --policy blend
quality: $(RUN)  ## measure retrieval quality on a data set (DATA=…, POLICIES="--policy …")
	@$(BIN)/retentive eval run --data $(DATA) $(POLICIES)

bench-%: $(DEV)  ## run benchmarks/%.py
	$(PY) benchmarks/$*.py

bench: $(DEV)  ## list the benchmarks
	@ls benchmarks/*.py 2>/dev/null | sed 's|benchmarks/\(.*\)\.py|  make bench-\1|' || echo "no benchmarks yet"

# ---- tidying ----------------------------------------------------------------------------------------------------

clean:  ## remove what was built and measured
	rm -rf dist build site .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## and the virtual environment with the model wheel
	rm -rf $(VENV) models/potion/dist
