# Every target makes .venv itself, with plain pip and the pins of constraints.txt: `demo` and `serve` what is
# needed to use it, the others also the tools of developers.
PYTHON ?= python3
BIN := .venv/bin
CORES ?= 3  # some tests wait for a process; two cores serve three workers

# Where Python keeps no compiled files, every worker and every command of a test compiles all it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help venv test test-browser test-satellites test-sample test-slow test-wheels test-demo test-fleet test-all check check-types check-pages bench fuzz mutants docs site demo serve helper same-helper test-helper clean

help:
	@echo "make test    the core's quick tests   make check   format, lint, types, layers, dead code, docs"
	@echo "make test-all  everything: the packages beside the core, long runs, the fleet, the wheels"
	@echo "make test-browser, test-satellites, test-slow, test-fleet   its parts"
	@echo "make bench   printed measurements     make fuzz    the long runs of what test runs shortly"
	@echo "make mutants  whether tests notice small faults: MODULE=name, SEED=n, ALL=1"
	@echo "make docs    write generated pages    make demo    a tour on a simulated phone"
	@echo "make serve   the desk, with a phone    make venv    the environment with its tools"
	@echo "make site    the documentation as a site: site/index.html"
	@echo "make helper  build the helper's jar again (Java 17, Maven)   make same-helper  whether it is the one in git"
	@echo "make test-helper  its tests on Android's frameworks: LEVELS=all"

venv: .venv/tools

SATELLITES := $(patsubst %,--editable ./%,$(sort $(wildcard packages/*)))
SATELLITE_TESTS := $(filter-out packages/sim/tests,$(sort $(wildcard packages/*/tests)))  # sim has its own settings
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# What a person needs who wants to use it. Files are compiled when they are first used: most never are.
.venv/ready: pyproject.toml $(wildcard packages/*/pyproject.toml) constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Handrail needs Python 3.11 or newer, and $(PYTHON) is older or can't be run. Name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) --no-compile --editable . $(SATELLITES) || { \
	  echo "pip could not install Handrail: its words are above. It needs a package index (the network, or PIP_INDEX_URL)" >&2; exit 1; }
	@find .venv -name __pycache__ -prune -exec rm -rf {} +
	@touch $@
	@echo ".venv: $$(du -sm .venv | cut -f1) MB"

# What tests and checks need besides, in the same environment. Collecting compiles what every worker of pytest
# would otherwise compile for itself.
.venv/tools: .venv/ready
	$(INSTALL) $(SATELLITES) --editable './packages/sim[dev]' --editable '.[dev]'
	@$(BIN)/pytest --collect-only -q tests $(SATELLITE_TESTS) >/dev/null
	@touch $@

# What reads the source and the pages. `make check` runs it, so `make test` need not.
READING := tests/test_layers.py tests/test_shape.py tests/test_budget.py tests/test_tasks.py tests/test_dead_code.py tests/test_action_names.py tests/docs

# What needs Chromium.
BROWSER := tests/web tests/browser

PYTEST := $(BIN)/pytest -n $(CORES) --dist worksteal

test: venv
	$(PYTEST) tests $(addprefix --ignore=,$(READING) $(BROWSER)) $(ARGS)

test-browser: venv
	$(PYTEST) $(BROWSER) $(ARGS)

test-satellites: venv
	$(PYTEST) $(SATELLITE_TESTS) $(ARGS)
	cd packages/sim && ../../$(PYTEST)

# One case of every file that has long runs.
test-sample: venv
	$(PYTEST) --sample $(ARGS)

test-slow: venv
	$(PYTEST) -m slow $(ARGS)
	cd packages/sim && ../../$(PYTEST) -m slow

# Ray is an extra of 280 MB, so it is installed for this alone. Hosts are network namespaces, which need root.
test-fleet: venv
	$(INSTALL) --editable './packages/fleet[ray]'
	$(BIN)/pytest -m fleet -p no:xdist packages/fleet/tests $(ARGS)

# The new user's paths: a clone and `make demo`; wheels in new environments, with every installer and Python there is.
test-wheels: venv
	HANDRAIL_NEW_USER=1 $(BIN)/pytest -q -n 2 --dist worksteal tests/docs/test_readme.py tests/docs/test_wheels.py \
	  tests/docs/test_roles.py -k 'new_user or wheels or roles'

# Wheels are built once, and the demo is run from them in a new environment.
test-demo: venv
	HANDRAIL_NEW_USER=1 $(BIN)/pytest -q tests/docs/test_wheels.py -k 'archive or demo_from or both_together or satellite_alone'

test-all: test test-browser test-satellites test-slow test-wheels test-fleet

check: venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python build_stubs.py
	@$(MAKE) --no-print-directory --jobs 2 --output-sync check-types check-pages

# Side by side: mypy uses one core, and the tests mostly wait for commands.
check-types:
	$(BIN)/mypy

check-pages:
	$(BIN)/pytest -q -n 2 --dist loadfile $(READING) --ignore=tests/docs/test_site.py

bench: venv
	@for file in bench/*.py packages/sim/bench/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

fuzz: venv
	@for file in tests/fuzz/*.py packages/*/tests/fuzz/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

mutants: venv
	@PYTHONHASHSEED=0 $(BIN)/python -m tests.mutants $(if $(MODULE),--module "$(MODULE)") $(if $(SEED),--seed $(SEED)) $(if $(ALL),--all)

docs: venv
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/constants.py
	$(BIN)/python integrations/generate.py
	$(BIN)/python docs/sessions.py
	$(BIN)/python packages/sim/docs/commands.py
	$(BIN)/python packages/sim/docs/screens.py
	$(BIN)/python docs/desk_screens.py

# What draws the pages, in the same environment; nothing else needs it.
.venv/site: .venv/tools
	$(INSTALL) --editable '.[site]'
	@touch $@

site: .venv/site
	$(BIN)/python docs/build_site.py
	$(BIN)/pytest -q tests/docs/test_site.py

demo: .venv/ready
	@$(BIN)/handrail demo

serve: .venv/ready
	@$(BIN)/handrail serve --sim 1

# The helper on the phone. Its jar is in git, so that nobody else needs Java.
HELPER_JAR := src/handrail/android/handrail-helper.jar
helper:
	rm -rf helper/target/classes helper/target/classes.dex helper/target/maven-status
	mvn --batch-mode --quiet --file helper/pom.xml -Dmaven.test.skip=true package
	cp helper/target/handrail-helper.jar $(HELPER_JAR)
	@$(PYTHON) -c 'import hashlib, pathlib; print(hashlib.sha256(pathlib.Path("$(HELPER_JAR)").read_bytes()).hexdigest())'

# Whether the sources make the bytes in git; skips by name where Maven or Java is missing.
same-helper: venv
	$(BIN)/pytest -q -rs -p no:xdist -m slow tests/unit/android/test_helper_channel.py -k same_bytes

test-helper:
	mvn --batch-mode --quiet --file helper/pom.xml $(if $(filter all,$(LEVELS)),-Pall) test

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
