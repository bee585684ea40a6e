"""Modules that are projections of the vocabulary are what the vocabulary says."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@cache
def written() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("modules", ROOT / "docs" / "modules.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.modules()
    return made


@pytest.mark.parametrize("name", ["safety/label_words.json"])
def test_a_generated_module_is_what_the_vocabulary_says(name: str) -> None:
    assert (ROOT / "src" / "handrail" / name).read_text() == written()[name], "run `make docs`"


def test_make_docs_writes_them() -> None:
    assert "python docs/modules.py" in (ROOT / "Makefile").read_text()
