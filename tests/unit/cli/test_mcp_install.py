"""`handrail mcp install` runs a client's own command, or prints what to paste."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from handrail.cli.mcp import CLIENTS, mcp
from handrail.errors import Unsupported

PROGRAMS = ("claude", "codex", "gemini", "code")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Clients that append their arguments to a file, and fail where a file `fails` exists."""
    folder = home / "bin"
    folder.mkdir()
    for name in (*PROGRAMS, "handrail"):
        program = folder / name
        program.write_text(
            f"#!{sys.executable}\nimport json, pathlib, sys\n"
            f"with open({str(home / 'calls')!r}, 'a') as calls:\n"
            f"    calls.write(json.dumps([{name!r}, *sys.argv[1:]]) + '\\n')\n"
            "print('done by the client')\n"
            f"sys.exit(3 * pathlib.Path({str(home / 'fails')!r}).exists())\n"
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return home


def run(*words: str) -> str:
    done = CliRunner().invoke(mcp, ["install", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def calls(home: Path) -> list[list[str]]:
    file = home / "calls"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("claude-code", "claude mcp add --scope user handrail -- handrail mcp"),
        (
            "claude-code --scope project --sim",
            "claude mcp add --scope project handrail -- handrail mcp --sim",
        ),
        ("claude-code --remove", "claude mcp remove --scope user handrail"),
        ("codex --tools core,debug", "codex mcp add handrail -- handrail mcp --tools core,debug"),
        ("codex --remove", "codex mcp remove handrail"),
        ("gemini --sim", "gemini mcp add --scope user handrail handrail -- mcp --sim"),
        ("gemini --remove --scope project", "gemini mcp remove --scope project handrail"),
    ],
)
def test_the_clients_own_command_is_shown_and_runs_only_with_write(
    programs: Path, words: str, expected: str
) -> None:
    for more in ((), ("--print",), ("--json",), ("--print", "--write")):
        shown = run(*words.split(), *more)
        assert (json.loads(shown)["command"] == expected.split()) if "--json" in more else expected in shown
    assert calls(programs) == []
    shown = run(*words.split(), "--write")
    assert shown.startswith(expected)
    assert calls(programs) == [expected.split()]


def test_vs_code_takes_an_object(programs: Path) -> None:
    run("vscode", "--write", "--device", "a b;c")
    [[program, option, text]] = calls(programs)
    assert [program, option] == ["code", "--add-mcp"]
    server = json.loads(text)
    assert Path(server["command"]).is_absolute()
    assert (server["name"], server["args"]) == ("handrail", ["mcp", "--device", "a b;c"])


def test_json_says_whether_it_ran_and_nothing_else_is_on_standard_output(programs: Path) -> None:
    told = json.loads(CliRunner().invoke(mcp, ["install", "codex", "--write", "--json"]).stdout)
    assert (told["written"], told["file"]) == (True, "~/.codex/config.toml")
    assert calls(programs) == [told["command"]]


def test_a_client_that_fails_is_a_failure(programs: Path) -> None:
    (programs / "fails").touch()
    with pytest.raises(Unsupported, match="codex failed with exit code 3"):
        run("codex", "--write")


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", CLIENTS)
def test_without_a_command_the_entry_is_printed_in_the_clients_own_format(
    home: Path, name: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    client = CLIENTS[name]
    words = [name, "--scope", scope, "--sim", "--tools", "core,debug"]
    if (scope == "project" and not client.project_file) or name == "claude-desktop":
        with pytest.raises(Unsupported):
            run(*words)
        return
    shown = run(*words, "--write")
    assert client.file(scope) in shown  # type: ignore[arg-type]
    text = json.loads(run(*words, "--json"))["entry"]
    assert text in shown
    read: Any = tomllib.loads if name == "codex" else json.loads
    entry = read(text)[client.key]["handrail"]
    assert entry["args"] == ["mcp", "--sim", "--tools", "core,debug"]
    assert os.path.isabs(entry["command"]) == (scope == "user")
    assert not list(home.iterdir())


def test_the_list_says_what_is_found_here(programs: Path) -> None:
    (programs / ".cursor").mkdir()
    (programs / ".cursor" / "mcp.json").touch()
    rows = {row["client"]: row for row in json.loads(run("--json"))["clients"]}
    assert {name for name, row in rows.items() if row["found"]} == {
        "claude-code", "codex", "gemini", "vscode", "cursor",
    }  # fmt: skip
    assert "by claude" in run()


def test_a_name_that_is_not_known_is_told_with_the_nearest(home: Path) -> None:
    done = CliRunner().invoke(mcp, ["install", "curser"])
    assert "curser" in str(done.exception)
    assert "cursor" in getattr(done.exception, "hint", "")


def test_windows_and_mac_have_their_own_places() -> None:
    code, desktop = CLIENTS["vscode"], CLIENTS["claude-desktop"]
    assert code.file("user", "win32") == "%APPDATA%/Code/User/mcp.json"
    assert desktop.file("user", "darwin").endswith("Claude/claude_desktop_config.json")
    with pytest.raises(Unsupported):
        desktop.file("user", "linux")
