"""How the command starts and ends: quickly, with the exit code of the failure's family, never a traceback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handrail import __version__
from handrail.cli.action_commands import ACTION_COMMANDS
from handrail.cli.daemon_server import HOSTED
from handrail.cli.main import ALONE, NEVER_STARTS
from handrail.cli.program import COMMANDS, GROUPS
from handrail.errors import ERRORS
from handrail.satellites import COMMANDS as SATELLITE_COMMANDS
from tests.cases import each
from tests.unit.cli.command import Handrail

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAVY = (
    "pydantic", "pydantic_core", "mcp", "starlette", "PIL", "lxml", "rich", "grpc", "hypothesis", "sqlite3",
    "asyncio",
)  # fmt: skip
IMPORTED = """
import json, sys
from handrail.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["handrail", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
    print("\\nimported:", *sorted(sys.modules))
"""


def imported_by(*commands: list[str]) -> dict[str, list[str]]:
    """The modules that are there after each of the commands, which one new process runs in turn."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, json.dumps(commands)],
        env=os.environ | {"HANDRAIL_NO_DAEMON": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("imported:")]
    imported = dict(zip(map(" ".join, commands), lines, strict=True))
    assert all("handrail.cli.main" in modules for modules in lines)
    return imported


def test_the_version_imports_nothing_heavy() -> None:
    [imported] = imported_by(["--version"]).values()
    assert [name for name in HEAVY if name in imported] == []


def test_what_needs_no_phone_imports_no_engine() -> None:
    imported = imported_by(
        ["--help"],
        ["tap", "--help"],
        ["actions"],
        ["actions", "swipe"],
        ["flow", "check", str(EXAMPLES / "flows" / "contact.yaml")],
        ["check", str(EXAMPLES / "actions.jsonl")],
        ["tree", str(EXAMPLES / "dumps" / "contact_empty.xml")],
    )
    heavy = ("handrail.engine", "handrail.android", "handrail.runtime", "asyncio", "sqlite3")
    found = {command: [name for name in heavy if name in modules] for command, modules in imported.items()}
    assert not any(found.values()), found


FIRST_BYTE = """
import sys
import handrail.android.choose
from handrail.cli.program import run

async def open_chosen(*_):
    print(*sorted(sys.modules))
    raise SystemExit(0)

handrail.android.choose.open_chosen = open_chosen
sys.argv = ["handrail", "tap", "Save", "--device", "127.0.0.1:1"]
run()
"""


def test_a_phone_is_opened_before_the_engine_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_BYTE], capture_output=True, text=True, timeout=120)
    imported = done.stdout.split()
    assert "handrail.protocol.device" in imported, done
    assert [name for name in imported if name.startswith(("handrail.engine", "handrail.runtime"))] == []


def test_the_console_script_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "handrail.cli.main", "check", "-"],
        input=b'{"type":"tap"}', capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"stdin:1: INVALID_ACTION target: is required")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["actions"], ["actions", "--json"], ["check", "-"]])
def test_a_reader_that_has_seen_enough_is_no_failure(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "handrail.cli.main", *arguments],
            input=b'{"type":"wait"}', stdout=writer, stderr=subprocess.PIPE, check=False, timeout=120,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_version_is_the_packages(handrail: Handrail) -> None:
    done = handrail("--version")
    assert done.code == 0
    assert re.fullmatch(rf"handrail {re.escape(__version__)}( \([0-9a-f]{{12}}(, changed)?\))?\n", done.out)


def test_help_shows_few_names_and_help_all_every_command(handrail: Handrail) -> None:
    few, everything = handrail("--help"), handrail("--help-all")
    assert few.code == everything.code == 0
    for name, (_, line) in COMMANDS.items():
        assert any(row.split()[:1] == [name] and line in row for row in everything.out.splitlines())
    for name in ACTION_COMMANDS:
        assert re.search(rf"^  {name} ", everything.out, flags=re.M), name
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names)) <= 25
    shown = re.findall(r"^  ([a-z][a-z-]+) ", few.out.split("Start:")[1], flags=re.M)
    assert shown == names


@pytest.mark.parametrize("name", ["actions", "check"])
def test_the_line_in_the_list_is_about_a_command_that_is_there(handrail: Handrail, name: str) -> None:
    done = handrail(name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: handrail {name}")


@each("arguments", [["nope"], ["--nope"], ["check", "--nope"], ["check", "a", "b"]])
def test_a_wrong_command_line_is_invalid_input(handrail: Handrail, arguments: list[str]) -> None:
    done = handrail(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Error: " in done.err


@pytest.mark.parametrize("code", ERRORS)
def test_a_failure_ends_with_its_code_its_hint_and_its_exit_code(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    def fail(name: str) -> bytes:
        raise ERRORS[code]("it went wrong", hint="Try this.")

    monkeypatch.setattr("handrail.cli.dialect_commands.read_input", fail)
    done = handrail("check")
    assert done.err == f"{code}: it went wrong\nTry this.\n"
    assert done.code == ERRORS[code]("").exits.exit_code


def test_an_interrupt_ends_with_130(handrail: Handrail, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(name: str) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("handrail.cli.dialect_commands.read_input", interrupt)
    assert handrail("check").code == 130


def test_every_command_has_one_place_where_it_runs() -> None:
    assert set(COMMANDS) | set(SATELLITE_COMMANDS) == ALONE | HOSTED
    assert not ALONE & HOSTED
    assert NEVER_STARTS <= HOSTED
    assert not (ALONE | HOSTED) & set(ACTION_COMMANDS)
