# Every target sets up what it needs in .venv: uv if it is there, else venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

ifdef UV
  TOOL = uv
  INSTALL = $(UV) pip install --quiet --python $(BIN)/python --compile-bytecode
  CREATE = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
else
  TOOL = pip
  INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
  CREATE = $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
endif

.PHONY: demo test test-slow check docs seeds bench coverage coverage-report minimal oldest wheel release fuzz format clean

demo: $(VENV)/run.stamp
	$(BIN)/tallymark demo

test: $(VENV)/test.stamp
	# One worker a core: threads of the linear algebra within each would only fight for it. A file stays with one worker, so that
	# its fixtures are made once.
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q -m "not slow"

# What drives a browser, draws pages, simulates or runs whole tutorials.
test-slow: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q -m slow

check: $(VENV)/lint.stamp $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Every table and figure of the five documents behind the project, drawn again (seeds/whole/index.html).
seeds: $(VENV)/test.stamp
	$(BIN)/python -m studies

bench: $(VENV)/bench.stamp
	$(BIN)/python -m bench run

coverage: $(VENV)/bench.stamp
	$(BIN)/python -m bench.coverage
	$(BIN)/python -m bench.tests_under_null
	$(BIN)/python -m bench.quantify_coverage
	for section in trained counts periods; do $(BIN)/python -m bench.quantify_coverage $$section --repeats 200 || exit 1; done
	for part in "" --strata --cells --sizes; do $(BIN)/python -m bench.audit_coverage --repeats 300 $$part || exit 1; done
	$(BIN)/python -m bench.class_audit_coverage
	$(BIN)/python -m bench.class_audit_rivals
	$(BIN)/python -m bench.impact_coverage

# Lines the test suite reaches; the core must not fall below what is stated here.
coverage-report: $(VENV)/test.stamp
	$(INSTALL) "pytest-cov>=6"
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q --cov=tallymark --cov-report=term:skip-covered --cov-report=html:.cache/coverage

# The library without any extra: what must work with NumPy, SciPy, DuckDB and Narwhals alone.
minimal:
	$(PYTHON) -m venv .cache/minimal
	.cache/minimal/bin/python -m pip install --quiet --disable-pip-version-check .
	.cache/minimal/bin/python .ci/minimal.py

# The oldest dependencies that pyproject.toml allows.
oldest: .cache/oldest/ready
	.cache/oldest/bin/python -m pytest -q -n auto -p no:cacheprovider tests/metrics tests/summaries tests/curves tests/inference/limits/test_cell_metrics.py tests/quantify/kernels

.cache/oldest/ready: .ci/oldest.txt pyproject.toml
	$(PYTHON) -m venv .cache/oldest
	.cache/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .ci/oldest.txt '.[report,sklearn]' pandas pytest pytest-xdist hypothesis
	@touch $@

# Wheel and source distribution, installed into a clean environment, and a project that uses them under mypy --strict.
wheel: $(VENV)/release.stamp
	rm -rf dist .cache/wheel
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv .cache/wheel
	.cache/wheel/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	.cache/wheel/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[report,sklearn]" mypy
	.cache/wheel/bin/mypy --strict .ci/consumer.py
	.cache/wheel/bin/python .ci/consumer.py
	.cache/wheel/bin/tallymark metrics auroc

# The whole suite from the wheel.
release: wheel
	.cache/wheel/bin/python -m pip install --quiet --disable-pip-version-check --group test
	OPENBLAS_NUM_THREADS=1 .cache/wheel/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q -p no:cacheprovider tests

fuzz: $(VENV)/test.stamp
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n auto -q tests/summaries tests/metrics tests/curves tests/cli/test_layout.py
	$(BIN)/python -m fuzz --minutes 60

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/$(TOOL).stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tallymark needs Python 3.11 or newer; say PYTHON=python3.11")'
	$(CREATE)
	@touch $@

$(VENV)/run.stamp: pyproject.toml $(VENV)/$(TOOL).stamp
	$(INSTALL) --editable '.[report]'
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/bench.stamp: bench/peers.txt $(VENV)/run.stamp
	$(INSTALL) --requirement bench/peers.txt
	@touch $@

$(VENV)/%.stamp: $(VENV)/run.stamp
	$(INSTALL) --group $*
	@touch $@
