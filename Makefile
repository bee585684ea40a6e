# Every target makes .venv itself, with plain pip and the pins of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
CORES ?= auto

.PHONY: help venv test check bench fuzz docs demo serve clean

help:
	@echo "make test    the whole suite          make check   format, lint, types, layers, docs"
	@echo "make bench   printed measurements     make fuzz    the long runs of what test runs shortly"
	@echo "make docs    write generated pages    make demo    a short tour without a phone"
	@echo "make serve   the desk (not yet)       make venv    only the virtual environment"

venv: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

test: venv
	$(BIN)/pytest -n $(CORES) $(ARGS)

check: venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_layers.py tests/docs

bench: venv
	@for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

fuzz: venv
	@for file in tests/fuzz/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: venv
	$(BIN)/python docs/modules.py
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/constants.py
	$(BIN)/python docs/screens.py

demo: venv
	@echo "# Any dialect becomes one vocabulary, and says what it had to repair:"
	$(BIN)/handrail check examples/actions.jsonl
	$(BIN)/handrail check examples/model_answer.txt --dialect openpocket
	@echo "# A screen as an agent reads it, and what changed on it:"
	$(BIN)/handrail tree examples/dumps/contact_empty.xml
	$(BIN)/handrail diff examples/dumps/contact_empty.xml examples/dumps/contact_typed.xml

serve:
	@echo "There is no desk to serve in this version; CHANGELOG.md says what is here." >&2; exit 1

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
