"""The folders for agents' shops: up to date, small, in published formats, and every command in them runs."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from rs_bpe.bpe import openai

from handrail import __version__
from handrail.cli.action_commands import ACTION_COMMANDS
from handrail.cli.mcp import CLIENTS
from handrail.mcp_server.tools import CORE

ROOT = Path(__file__).resolve().parents[2]
SHOPS = ROOT / "integrations"
MOST_TOKENS = 600
HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
TEXTS = sorted(one for one in SHOPS.rglob("*.md*") if one.parent != SHOPS)
count = openai.o200k_base().count


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("shops", SHOPS / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_is_what_the_generator_writes() -> None:
    made = generator().files()
    stale = [name for name, text in made.items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"
    known = {ROOT / name for name in made} | {SHOPS / "generate.py", SHOPS / "README.md"}
    there = {one for one in SHOPS.rglob("*") if one.is_file() and "__pycache__" not in one.parts}
    assert there <= known


def test_there_is_a_text_for_each_shop() -> None:
    assert {one.relative_to(SHOPS).parts[0] for one in TEXTS} == {
        "claude-code",
        "codex",
        "cursor",
        "gemini-cli",
    }


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(SHOPS)))
def test_the_instructions_are_small_and_name_every_core_action(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert count(text) <= MOST_TOKENS, count(text)
    for name, one in ACTION_COMMANDS.items():
        assert (one.type not in CORE) or f"- `{name}" in text


def front(path: Path) -> dict[str, Any]:
    found = re.match(r"---\n(.*?)\n---\n", path.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    loaded: dict[str, Any] = yaml.safe_load(found[1])
    return loaded


def test_skills_and_rules_have_the_heads_that_their_formats_ask_for() -> None:
    """A skill: its folder's name, at most 64 characters of a-z, 0-9 and -; a description of at most 1,024."""
    skills = list(SHOPS.rglob("SKILL.md"))
    assert len(skills) == 2
    for one in skills:
        head = front(one)
        assert head["name"] == one.parent.name
        assert re.fullmatch(r"[a-z0-9-]{1,64}", head["name"])
        assert 0 < len(head["description"]) <= 1024
    rule = front(SHOPS / "cursor/.cursor/rules/handrail.mdc")
    assert rule.keys() == {"description", "alwaysApply"}


def test_every_shop_starts_the_same_server() -> None:
    plugin = json.loads((SHOPS / "claude-code/.claude-plugin/plugin.json").read_text())
    assert (plugin["name"], plugin["version"]) == ("handrail", __version__)
    gemini = json.loads((SHOPS / "gemini-cli/gemini-extension.json").read_text())
    assert gemini["version"] == __version__
    assert (SHOPS / "gemini-cli" / gemini["contextFileName"]).is_file()
    link = urlsplit((SHOPS / "cursor/install-link.txt").read_text().strip())
    assert (link.scheme, link.netloc, link.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    given = parse_qs(link.query)
    assert given["name"] == ["handrail"]
    found = [
        json.loads((SHOPS / "claude-code/.mcp.json").read_text())["mcpServers"]["handrail"],
        json.loads((SHOPS / "cursor/.cursor/mcp.json").read_text())["mcpServers"]["handrail"],
        tomllib.loads((SHOPS / "codex/config.toml").read_text())[CLIENTS["codex"].key]["handrail"],
        gemini["mcpServers"]["handrail"],
        json.loads(base64.b64decode(given["config"][0])),
    ]
    assert found == [{"command": "handrail", "args": ["mcp"]}] * 5


def test_the_registrys_entry_keeps_the_registrys_rules() -> None:
    """Of the schema 2025-12-11 and the registry's own: names, lengths, versions, what a package needs."""
    entry = json.loads((ROOT / "server.json").read_text())
    assert entry.keys() == {"$schema", "name", "title", "description", "version", "packages"}
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 3 <= len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100
    assert 1 <= len(entry["title"]) <= 100
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert (package["registryType"], package["identifier"]) == ("pypi", _distribution())
    assert package["transport"] == {"type": "stdio"}
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text(), "how the index's owner is known"


def _distribution() -> str:
    name: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    return name


@pytest.mark.skipif("HANDRAIL_SKILLSAW" not in os.environ, reason="names the program skillsaw")
def test_a_public_checker_with_the_published_schemas_finds_no_error(tmp_path: Path) -> None:
    """`skillsaw` has the registry's schemas, and the rules of plugins and skills."""
    (tmp_path / "server.json").write_bytes((ROOT / "server.json").read_bytes())
    for folder in (tmp_path, SHOPS / "claude-code", SHOPS / "codex"):
        command = [os.environ["HANDRAIL_SKILLSAW"], "lint", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert re.search(r"Errors:\s+0", done.stdout), done.stdout


@contextmanager
def phone() -> Iterator[str]:
    with subprocess.Popen([*HANDRAIL, "sim", "--port", "0"], stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout
        found = re.search(r"127\.0\.0\.1:\d+", served.stdout.readline())
        try:
            yield found[0]
        finally:
            served.terminate()


def test_every_command_of_the_instructions_runs(tmp_path: Path) -> None:
    text = generator().instructions()
    [block] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = block.splitlines()
    assert len(lines) > 6
    with phone() as address:
        env = {
            **os.environ,
            "HANDRAIL_HOME": str(tmp_path),
            "HANDRAIL_DEVICE": address,
            "HANDRAIL_NO_DAEMON": "1",
        }
        env |= {"HANDRAIL_ADB": str(tmp_path / "no-adb")}
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "handrail"
            done = subprocess.run(
                [*HANDRAIL, *words],
                env=env,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "screen.png").read_bytes().startswith(b"\x89PNG")


def test_every_command_that_the_words_mention_exists() -> None:
    text = generator().instructions()
    named = set(re.findall(r"`handrail ([a-z-]+)", text)) | set(
        re.findall(r"^- `(?!handrail )([a-z-]+)", text, re.MULTILINE)
    )
    from handrail.cli.program import COMMANDS  # noqa: PLC0415

    assert {one for one in named if not one.startswith("-")} <= {*COMMANDS, *ACTION_COMMANDS}
