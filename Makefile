# Needs make and Python 3.11.5 or later. Everything else goes into .venv, and only what pyproject.toml pins.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
PROSE := docs/zh docs/en adr .github $(wildcard *.md)
TESTS := $(PYTEST) -n 2 --dist loadgroup --durations=20
TRITONS := 3.6.0 3.9.0

help:
	@echo "make serve      build the site and show both languages, with reload"
	@echo "make test       every check and test that needs no GPU; BROWSER=none leaves the browser out"
	@echo "make site       strict build of both languages into site/"
	@echo "make lint       format, imports, types, spelling, Markdown, the spacing of Chinese"
	@echo "make fix        fixes what lint finds"
	@echo "make setup      everything that these need; they also set it up themselves"
	@echo "make test-deep  make test and the long tests"
	@echo "make bench      what loading, checking and building cost, against a fixed piece of work"
	@echo "make test-versions  the labs with the oldest and the newest Triton; writes labs/versions.json"
	@echo "make sanitizer  adds triton-viz's sanitizer, a second opinion that the tests then ask for"

serve: .venv/site
	@$(BIN)/proof serve

site: .venv/site
	@$(BIN)/proof site

setup: .venv/site .venv/tools .venv/labs chromium

lint: .venv/tools
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/codespell && $(BIN)/pymarkdown scan --recurse $(PROSE)
	@$(BIN)/proof fix --check

fix: .venv/tools
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .
	@$(BIN)/codespell --write-changes --quiet-level 3 ; $(BIN)/pymarkdown fix --recurse $(PROSE) >/dev/null ; $(BIN)/proof fix

test: .venv/labs lint
	@$(BIN)/proof check
ifeq ($(BROWSER),none)
	@$(TESTS) -m "not gpu and not deep and not browser"
	@echo "left out by BROWSER=none: $$($(PYTEST) --collect-only -q -m browser tests/docs | tail -1)"
else
	@$(MAKE) --no-print-directory chromium
	@$(TESTS) -m "not gpu and not deep"
endif
	@$(BIN)/python -c 'import triton_viz' 2>/dev/null || echo "left out: the sanitizer, which make sanitizer adds"

test-deep: .venv/labs lint chromium sanitizer
	@$(BIN)/proof check
	@$(TESTS) -m "not gpu"

bench: .venv/site
	@$(BIN)/python tests/bench.py

test-versions: $(TRITONS:%=.venv-%/stamp)
	@$(BIN)/python -m proof.compiler.versions $(foreach version,$(TRITONS),$(version)=.venv-$(version)) $(LABS)

# A folder with that Triton, which a child finds before the one in .venv; torch is the same, and never imports it here.
.venv-%/stamp: | .venv/labs
	@echo "setting up Triton $*: a minute"
	@rm -rf $(@D) && $(PIP) --no-deps --target $(@D) triton==$* 'numpy<2.4'
	@touch $@

sanitizer: .venv/labs
	@$(PIP) --group sanitizer

chromium: .venv/tools
	@$(BIN)/python tests/docs/chromium.py

# A stamp each: what the site needs, what tests need, what labs need. An importable torch is kept as it is.
.venv/site: pyproject.toml package-lock.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || \
	  { echo "Python 3.11.5 or later is needed; name one with make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is missing; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "setting up .venv for the site: about a minute"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $$($(PYTHON) -c 'import torch' 2>/dev/null && echo --system-site-packages) .venv
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable .
	@command -v npm >/dev/null || $(PIP) --group node
	@$(BIN)/python -m proof.site.vendor
	@touch $@

.venv/tools: .venv/site
	@$(PIP) --group test
	@touch $@

.venv/labs: .venv/tools
	@echo "setting up torch and triton: a few minutes the first time"
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(PIP) --group labs
	@$(BIN)/python -c 'import numpy, triton' 2>/dev/null || $(PIP) 'numpy<2.4' triton
	@touch $@

.PHONY: help serve site setup lint fix test test-deep bench test-versions sanitizer chromium
