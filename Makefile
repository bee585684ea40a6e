# Every target makes .venv itself, with plain pip and the pins of constraints.txt: `demo` and `serve` what is
# needed to use it, the others also the tools of developers.
PYTHON ?= python3
BIN := .venv/bin
CORES ?= 4  # many tests wait for a phone; two cores serve four workers

# Where Python keeps no compiled files, every worker and every command of a test compiles all it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help venv test test-slow test-fleet check bench fuzz mutants docs site demo serve clean

help:
	@echo "make test    the suite                make check   format, lint, types, layers, dead code, docs"
	@echo "make test-slow  its long runs        make test-fleet  several hosts on Ray, which it installs"
	@echo "make bench   printed measurements     make fuzz    the long runs of what test runs shortly"
	@echo "make mutants  whether tests notice small faults: MODULE=name, SEED=n, ALL=1"
	@echo "make docs    write generated pages    make demo    a tour on a simulated phone"
	@echo "make serve   the desk, with a phone    make venv    the environment with its tools"
	@echo "make site    the documentation as a site: site/index.html"

venv: .venv/tools

INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# What a person needs who wants to use it. Files are compiled when they are first used: most never are.
.venv/ready: pyproject.toml sim/pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) --no-compile --editable ./sim --editable .
	@find .venv -name __pycache__ -prune -exec rm -rf {} +
	@touch $@
	@echo ".venv: $$(du -sm .venv | cut -f1) MB"

# What tests and checks need besides, in the same environment.
.venv/tools: .venv/ready
	$(INSTALL) --editable './sim[dev]' --editable '.[dev,sim]'
	@touch $@

# What reads the source and the pages. `make check` runs it, so `make test` need not.
READING := tests/test_layers.py tests/test_shape.py tests/test_tasks.py tests/test_dead_code.py tests/test_action_names.py tests/docs

test: venv
	$(BIN)/pytest -n $(CORES) --dist worksteal $(addprefix --ignore=,$(READING)) $(ARGS)
	cd sim && ../$(BIN)/pytest -n $(CORES) --dist worksteal

test-slow: venv
	$(BIN)/pytest -n $(CORES) --dist worksteal -m slow $(ARGS)
	cd sim && ../$(BIN)/pytest -n $(CORES) --dist worksteal -m slow

# Ray is an extra of 280 MB, so it is installed for this alone. Hosts are network namespaces, which need root.
test-fleet: venv
	$(INSTALL) --editable '.[fleet]'
	$(BIN)/pytest -m fleet -p no:xdist tests/fleet $(ARGS)

check: venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n $(CORES) --dist loadfile $(READING)

bench: venv
	@for file in bench/*.py sim/bench/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

fuzz: venv
	@for file in tests/fuzz/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

mutants: venv
	@PYTHONHASHSEED=0 $(BIN)/python -m tests.mutants $(if $(MODULE),--module "$(MODULE)") $(if $(SEED),--seed $(SEED)) $(if $(ALL),--all)

docs: venv
	$(BIN)/python docs/modules.py
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/constants.py
	$(BIN)/python integrations/generate.py
	$(BIN)/python docs/sessions.py
	$(BIN)/python sim/docs/commands.py
	$(BIN)/python sim/docs/screens.py
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

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
