# make demo      questions to verdicts with built-in models and judge; no key, no network once installed
# make viewer    the demo's results in a browser
# make check     lint, format and types
# make test      the tests, but for slow ones and those in a browser: some two minutes
# make test-all  every test
# make proofs    the shipped questions: every reference and check proved; run it when data or checks change
# make bench     commands beside their peers, compared with benchmarks/ratios.toml; half an hour
# make docs      the documentation as a site in site/
# make constraints  the newest versions of everything into constraints.txt, to be tested and committed
# make pictures  the README's pictures of the viewer, from the demo (needs Chromium)
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

# Without compiled modules every process that a test starts compiles all of them again, which doubles its time.
unexport PYTHONDONTWRITEBYTECODE

# Tested versions: a release of somebody else's does not break a fresh install.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo viewer docs constraints pictures test test-all proofs bench check format clean-demo

help:
	@sed -n '1,10s/^# //p' Makefile

demo: $(VENV)/.installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

viewer: $(VENV)/.installed
	@[ -e demo/mt_bench/model_judgment/*_pair.jsonl ] || $(MAKE) --no-print-directory demo
	@$(BIN)/viewer --data-dir demo $(VIEWER_ARGS)

PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile

test: $(VENV)/.dev
	@$(PYTEST) -m "not slow and not browser" $(PYTEST_ARGS)

test-all: $(VENV)/.dev
	@$(PYTEST) $(PYTEST_ARGS)

proofs: $(VENV)/.dev
	@$(PYTEST) $(PYTEST_ARGS) data/proofs

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.ratios $(BENCH_ARGS)

check: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/.docs
	@$(BIN)/python -m docs.generate
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "site/index.html"

constraints:
	@rm -rf $(VENV).new && $(PYTHON) -m venv $(VENV).new
	@$(VENV).new/bin/python -m pip install --quiet --disable-pip-version-check \
	  --only-binary=wavedrom -e '.[dev]'  # which the newest markdown2 takes, and has no wheel
	@{ echo "# Versions that turnbench was tested with, made by: make constraints"; \
	  $(VENV).new/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	@rm -rf $(VENV).new
	@git --no-pager diff --stat constraints.txt

pictures: demo $(VENV)/.dev
	@$(BIN)/python -m docs.screenshots demo

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean-demo:
	rm -rf demo

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)' 2>/dev/null || \
	  { echo "turnbench needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "this Python cannot make virtual environments; install its venv package (Debian, Ubuntu: apt install python3-venv) and run make again" >&2; exit 2; }
	@echo "making $(VENV)" >&2
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing turnbench into $(VENV) (once; a minute or two)" >&2
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@echo "installing what the tests need" >&2
	@$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@echo "installing what the documentation needs" >&2
	@$(PIP) -e '.[docs]'
	@touch $@
