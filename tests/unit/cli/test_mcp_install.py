"""`handrail mcp install` changes one entry of somebody else's file. Judged by the bytes on the disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from handrail.cli.config_text import drop_json, put_json
from handrail.cli.mcp import mcp
from handrail.cli.mcp_clients import CLIENTS
from handrail.cli.mcp_install import planned
from handrail.cli.replace_file import MOST_BYTES, replace_config
from handrail.errors import InvalidAction, Unsupported

SECRET = "sk-not-for-your-eyes"
JSONC = """{
  // my servers, all of them
  "theme": "dark", /* keep */
  "mcpServers": {
    "other": {"command": "npx", "env": {"KEY": "sk-not-for-your-eyes"}}, // the other, mine
  },
}
"""


def run(home: Path, *words: str, cwd: Path | None = None) -> tuple[int, str]:
    env = {**os.environ, "HOME": str(home), "APPDATA": str(home / "AppData"), "CODEX_HOME": ""}
    os.chdir(cwd or home)
    done = CliRunner().invoke(mcp, ["install", *words], env=env, catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return 1, f"{type(done.exception).__name__}: {done.exception}"
    return done.exit_code, done.output


@pytest.fixture(autouse=True)
def back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def plain(text: str) -> Any:
    """Comments and trailing commas out, by other means than the program's own."""
    lines = [line.partition(" //")[0] if line.lstrip()[:2] != "//" else "" for line in text.splitlines()]
    bare = "\n".join(lines).replace("/* keep */", "")
    for _ in range(9):
        bare = bare.replace(",\n}", "\n}").replace(",\n  }", "\n  }").replace(",\n    }", "\n    }")
    return json.loads(bare)


@pytest.mark.parametrize(
    "name", [name for name, one in CLIENTS.items() if one.user.get("linux") or "" in one.user]
)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_every_client_gets_an_entry_that_its_own_format_reads(tmp_path: Path, name: str, scope: str) -> None:
    client = CLIENTS[name]
    if scope == "project" and not client.project:
        with pytest.raises(Unsupported):
            client.file("project", {}, tmp_path)
        return
    words = [name, "--scope", scope, "--sim", "--tools", "core,debug"]
    code, shown = run(tmp_path, *words)
    assert code == 0, shown
    assert not list(tmp_path.rglob("*.*")), "it was only to be shown"
    assert run(tmp_path, *words, "--write")[0] == 0
    [file] = [one for one in tmp_path.rglob("*") if one.is_file()]
    data = file.read_text()
    found = tomllib.loads(data) if file.suffix == ".toml" else json.loads(data)
    entry = found[client.key]["handrail"]
    assert entry["args"] == ["mcp", "--sim", "--tools", "core,debug"]
    assert entry["command"].endswith("handrail")
    assert (os.path.isabs(entry["command"]) or not client.is_desktop) or scope == "project"
    assert file.stat().st_mode & 0o077 == 0
    before = file.read_bytes()
    assert "nothing to do" in run(tmp_path, *words, "--write")[1]
    assert file.read_bytes() == before
    assert run(tmp_path, name, "--scope", scope, "--remove", "--write")[0] == 0
    left = file.read_text()
    again = tomllib.loads(left) if file.suffix == ".toml" else json.loads(left)
    assert "handrail" not in again.get(client.key, {})


def test_comments_commas_and_other_servers_stay_and_their_secrets_are_not_shown(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(JSONC)
    code, shown = run(tmp_path, "cursor", "--write")
    assert code == 0, shown
    assert SECRET not in shown
    new = file.read_text()
    assert plain(new)["mcpServers"]["other"] == plain(JSONC)["mcpServers"]["other"]
    ours = [line for line in new.splitlines() if line not in JSONC.splitlines()]
    kept = [line for line in new.splitlines() if line in JSONC.splitlines()]
    assert [line for line in JSONC.splitlines() if line not in kept] == []
    assert '"handrail"' in ours[0]
    assert file.with_name("mcp.json.before-handrail").read_text() == JSONC
    shown = run(tmp_path, "cursor", "--write", "--remove")[1]
    assert SECRET not in shown
    assert plain(file.read_text()) == plain(JSONC)


def test_a_secret_in_a_file_of_one_line_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"other": {"env": {"KEY": SECRET}, "args": [SECRET]}}}))
    for words in (["gemini"], ["gemini", "--json"], ["gemini", "--write"]):
        code, shown = run(tmp_path, *words)
        assert code == 0
        assert SECRET not in shown


def test_what_somebody_added_to_our_own_entry_stays(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    mine = {"command": "old", "args": [], "env": {"HANDRAIL_HOME": "/x"}}
    file.write_text(json.dumps({"mcpServers": {"handrail": mine}}, indent=4))
    run(tmp_path, "cursor", "--write")
    entry = json.loads(file.read_text())["mcpServers"]["handrail"]
    assert entry["env"] == mine["env"]
    assert entry["args"] == ["mcp"]
    codex = tmp_path / ".codex" / "config.toml"
    codex.parent.mkdir()
    codex.write_text(
        'model = "x" # mine\n[mcp_servers.handrail]\ncommand = "old"\n\n[mcp_servers.handrail.env]\nA = "1"\n'
    )
    assert run(tmp_path, "codex", "--write")[0] == 0
    found = tomllib.loads(codex.read_text())
    assert found["mcp_servers"]["handrail"]["env"] == {"A": "1"}
    assert found["mcp_servers"]["handrail"]["args"] == ["mcp"]
    assert codex.read_text().startswith('model = "x" # mine\n')


BROKEN: dict[str, bytes] = {
    "cut off": b'{"mcpServers": {"a": ',
    "two objects": b"{} {}",
    "a list": b"[]",
    "a key twice": b'{"mcpServers": {}, "mcpServers": {"a": 1}}',
    "servers are a list": b'{"mcpServers": []}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "too deep": b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "too large": b'{"a": "' + b"x" * MOST_BYTES + b'"}',
    "a comment without end": b"{} /* x",
    "single quotes": b"{'a': 1}",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_not_understood_is_left_as_it_is(tmp_path: Path, kind: str) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(BROKEN[kind])
    for more in ([], ["--remove"]):
        code, said = run(tmp_path, "cursor", "--write", *more)
        assert code == 1
        assert "InvalidAction" in said
        assert file.read_bytes() == BROKEN[kind]
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]
    assert run(tmp_path)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { handrail = { command = "x" } }\n',
        'mcp_servers.handrail.command = "x"\n',
        '[mcp_servers.handrail]\ncommand = """\nx"""\nargs = [\n  "a",\n]\n',
        "[mcp_servers\n",
        'a = """\n[mcp_servers.handrail]\n"""\n',
    ],
)
def test_a_toml_file_that_says_it_otherwise_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(text)
    code, said = run(tmp_path, "codex", "--write")
    if code == 0:  # it may go in where that is safe: then nothing else has changed
        found = tomllib.loads(file.read_text())
        assert found.pop("mcp_servers")["handrail"]["args"] == ["mcp"]
        assert found == tomllib.loads(text)
    else:
        assert "InvalidAction" in said
        assert file.read_text() == text


def test_a_link_stays_a_link_and_what_it_names_is_changed(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = tmp_path / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert run(tmp_path, "cursor", "--write")[0] == 0
    assert link.is_symlink()
    assert "handrail" in json.loads(real.read_text())["mcpServers"]


@pytest.mark.parametrize("kind", ["a link to nothing", "a folder", "a pipe", "read-only"])
def test_what_is_no_file_to_write_is_refused_with_words(tmp_path: Path, kind: str) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    match kind:
        case "a link to nothing":
            file.symlink_to(tmp_path / "gone")
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)
        case _:
            file.write_text("{}")
            file.chmod(0o444)
    code, said = run(tmp_path, "cursor", "--write")
    assert code == 1
    assert "InvalidAction" in said
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]


def test_a_change_by_somebody_else_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"a": 1}')
    with pytest.raises(InvalidAction, match="meanwhile"):
        replace_config(file, b"{}", b'{"ours": 1}')
    with pytest.raises(InvalidAction, match="meanwhile"):
        replace_config(file, None, b'{"ours": 1}')
    assert file.read_text() == '{"a": 1}'
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each either wrote or says that somebody else did; every other server is still there."""
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(JSONC)
    env = {**os.environ, "HOME": str(tmp_path), "HANDRAIL_NO_DAEMON": "1"}
    command = [sys.executable, "-m", "handrail.cli.main", "mcp", "install", "cursor", "--write", "--device"]
    running = [subprocess.Popen([*command, f"d{number}"], env=env) for number in range(4)]
    assert {one.wait(60) for one in running} <= {0, 2}
    found = plain(file.read_text())
    assert found["mcpServers"]["other"] == plain(JSONC)["mcpServers"]["other"]
    assert found["mcpServers"]["handrail"]["args"][1] == "--device"


KILLED = """
import os, signal, sys
from handrail.cli import replace_file
from pathlib import Path
at, calls, real = int(sys.argv[2]), 0, {}
def stop(name):
    real[name] = getattr(os, name)
    def hit(*words, **more):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real[name](*words, **more)
    setattr(os, name, hit)
for name in ("open", "fchmod", "fsync", "replace", "close"):
    stop(name)
file = Path(sys.argv[1])
replace_file.replace_config(file, file.read_bytes(), b'{"new": true}')
"""


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    ends = set()
    for at in range(1, 30):
        file = tmp_path / str(at) / "mcp.json"
        file.parent.mkdir()
        file.write_text(JSONC)
        done = subprocess.run([sys.executable, "-c", KILLED, str(file), str(at)], check=False)
        ends.add(file.read_text())
        assert file.read_text() in (JSONC, '{"new": true}')
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        replace_config(file, file.read_bytes(), b"{}")
    else:
        raise AssertionError("it never came to an end")
    assert ends == {JSONC, '{"new": true}'}


def test_the_list_says_what_is_found_here(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    run(tmp_path, "gemini", "--write")
    told = {one["client"]: one for one in json.loads(run(tmp_path, "--json")[1])["clients"]}
    assert told["cursor"]["found"]
    assert not told["cursor"]["installed"]
    assert told["gemini"]["installed"]
    assert not told["windsurf"]["found"]
    assert "Did you mean" in run(tmp_path, "curser")[1] or "InvalidAction" in run(tmp_path, "curser")[1]


KEYS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_an_entry_goes_in_and_out_of_any_object(
    others: dict[str, Any], servers: dict[str, Any], indent: Any
) -> None:
    servers.pop("handrail", None)
    old = {**others, "mcpServers": servers}
    text = json.dumps(old, indent=indent, ensure_ascii=False)
    entry = {"command": "handrail", "args": ["mcp"]}
    new = put_json(text, ["mcpServers", "handrail"], entry)
    assert json.loads(new) == {**old, "mcpServers": {**servers, "handrail": entry}}
    assert json.loads(drop_json(new, ["mcpServers", "handrail"])) == old


def test_windows_and_mac_have_their_own_places() -> None:
    env = {"HOME": "/h", "APPDATA": "/roaming"}
    code, desktop = CLIENTS["vscode"], CLIENTS["claude-desktop"]
    assert str(code.file("user", env, Path("/p"), "win32")) == "/roaming/Code/User/mcp.json"
    assert str(desktop.file("user", env, Path("/p"), "darwin")).endswith("Claude/claude_desktop_config.json")
    with pytest.raises(Unsupported):
        desktop.file("user", env, Path("/p"), "linux")
    assert planned(code, "project", ["mcp"], env, Path("/nowhere"), remove=True).is_done
