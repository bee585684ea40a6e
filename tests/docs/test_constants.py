"""The table of constants in devices.md is the code's, and every constant says its unit and its reason."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent.parent.parent / "docs"
UNITS = r"_(MS|BYTES|SEC|LINES|ATTEMPTS|GROWTH|SCROLLS|OFFSET|PORT|VERSION|PRESSURE|FOLDER|PACKAGES)(_|$)"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constants_table", DOCS / "constants.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_the_code_says() -> None:
    page = (DOCS / "devices.md").read_text()
    assert page == load().filled(page), "run `make docs`"


def test_every_constant_has_a_unit_in_its_name_and_a_reason() -> None:
    described = dict(load().described())
    assert len(described) > 20
    for name, why in described.items():
        assert re.search(UNITS, name), name
        assert len(why) > 20, name
