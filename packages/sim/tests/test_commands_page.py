"""docs/commands.md says of every command and service whether it is there, and what it says holds."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from handrail_sim.shell import COMMANDS
from tests.shell_person import shell


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


commands = load(Path(__file__).parents[1] / "docs" / "commands.py")


def test_the_page_is_what_the_tables_say() -> None:
    assert commands.PAGE.read_text() == commands.page(), "run make docs"


def test_every_command_has_a_row_and_every_remark_a_command() -> None:
    page = commands.page()
    assert [name for name in COMMANDS if f"| `{name}` |" not in page] == []
    assert set(commands.PARTLY) - set(COMMANDS) == set()


@pytest.mark.parametrize("name", commands.ABSENT_COMMANDS.split())
def test_what_is_called_absent_is_not_found(name: str) -> None:
    answer = shell(f"{name} x")
    assert answer.status == 127
    assert answer.errors == f"/system/bin/sh: {name}: inaccessible or not found\n"


@pytest.mark.parametrize("name", commands.ABSENT_SERVICES.split())
def test_a_service_that_is_called_absent_is_not_found(name: str) -> None:
    assert shell(f"cmd {name} x").errors == f"cmd: Can't find service: {name}\n"
    assert shell(f"dumpsys {name}").errors == f"Can't find service: {name}\n"
    assert shell(f"service check {name}").text == f"Service {name}: not found\n"


def test_what_the_page_says_is_left_out_of_the_language_is_refused() -> None:
    for script in ("let x=1", "select x in a b; do :; done", "((1 + 1))", "fg"):
        assert shell(script).status != 0, script
