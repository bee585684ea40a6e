"""A new action is one class, its name in the union and one `case`: everything else is derived from them.

The patch is applied to a copy of the sources, and the copy is asked in processes of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PATCH = ROOT / "tests" / "data" / "new_action.patch"
MOST = 25
PROBE = """
import json
from handrail_agent.tools import tool_schemas
from handrail.engine.short_forms import ShortForms
from handrail.mcp_server.tools import tools_of_profile
from handrail.protocol.actions import json_schema
from handrail.protocol.read import action_from
from handrail.protocol.sentence import sentence_of

print(json.dumps({
    "schema": json_schema()["$defs"]["Shake"]["properties"]["target"]["description"],
    "tool": next(one.to_dict() for one in tools_of_profile("all") if one.name == "shake"),
    "agent": next(dict(one) for one in tool_schemas() if one["name"] == "shake"),
    "sentence": sentence_of(action_from({"type": "shake", "target": "Save"})),
    "short form": hasattr(ShortForms, "shake"),
}))
"""


class Copy:
    """The sources and the generators of the documents, with the patch in them."""

    def __init__(self, root: Path, *, without: str = "") -> None:
        self.root = root
        shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "docs").mkdir()
        for page in (*ROOT.glob("docs/*.py"), *ROOT.glob("docs/*.md")):
            shutil.copy(page, root / "docs")
        for (name, anchor), lines in read_patch().items():
            kept = [line for line in lines if not without or without not in line]
            insert(root / name, anchor, kept)

    def python(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        home = {"HANDRAIL_HOME": str(self.root / "home"), "HOME": str(self.root / "home")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**os.environ, **home, "PYTHONPATH": str(self.root / "src")},
            capture_output=True,
            text=True,
            check=check,
        )

    def handrail(self, *words: str) -> str:
        return self.python("-m", "handrail.cli.main", *words).stdout

    def ruling(self, label: str) -> dict[str, Any]:
        """What policy says of a shake of the element with this label."""
        action = json.dumps({"type": "shake", "target": label})
        told = json.loads(self.handrail("policy", "check", "--json", "--action", action, "--label", label))
        decides: dict[str, Any] = told["decides"]
        return decides


def read_patch() -> dict[tuple[str, str], list[str]]:
    """By file and line that they stand before, the lines that are added."""
    parts: dict[tuple[str, str], list[str]] = {}
    for line in PATCH.read_text().splitlines():
        if line.startswith("@@ "):
            name, _, anchor = line.removeprefix("@@ ").partition(", before: ")
            added = parts.setdefault((name, anchor), [])
        else:
            added.append(line.removeprefix("+"))
    return parts


def insert(path: Path, anchor: str, added: list[str]) -> None:
    lines = path.read_text().splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith(anchor)]
    path.write_text("\n".join([*lines[:at], *added, *lines[at:], ""]))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("grown"))
    made.python("docs/generate.py")
    return made


@pytest.fixture(scope="module")
def probed(copy: Copy) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(copy.python("-c", PROBE).stdout)
    return found


def test_the_patch_is_short() -> None:
    parts = read_patch()
    assert sum(map(len, parts.values())) <= MOST
    assert [Path(name).name for name, _ in parts] == ["device.py", "actions.py", "execute.py"]


def test_the_architecture_page_shows_the_same_class() -> None:
    [added, *_] = read_patch().values()
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert textwrap.indent("\n".join(added).rstrip(), "   ") in page


def test_it_is_a_command(copy: Copy) -> None:
    told = copy.handrail("shake", "--help")
    assert "Shake an element." in told
    assert "What to shake." in told
    assert "shake" in copy.handrail("--help-all")


def test_it_is_a_step_of_a_flow(copy: Copy) -> None:
    flow = copy.root / "shake.yaml"
    flow.write_text("name: shake\nsteps:\n  - shake: Save\n  - shake: {target: {id: save}}\n")
    copy.handrail("flow", "check", str(flow))


def test_it_is_a_tool_of_mcp_and_of_an_agent(probed: dict[str, Any]) -> None:
    schema = {"type": "string", "description": "@ref, x,y or text"}
    assert probed["tool"]["description"] == probed["agent"]["description"] == "Shake an element."
    assert probed["tool"]["inputSchema"]["properties"]["target"] == schema
    assert probed["tool"]["inputSchema"]["required"] == ["target", "reason"]
    assert probed["agent"]["input_schema"] == probed["tool"]["inputSchema"]


def test_it_has_a_schema_a_short_form_and_a_sentence(probed: dict[str, Any]) -> None:
    assert probed["schema"] == "What to shake."
    assert probed["short form"] is True
    assert probed["sentence"] == 'Shook "Save".'


def test_it_is_in_the_documents(copy: Copy) -> None:
    page = (copy.root / "docs" / "actions.md").read_text()
    assert "| [`shake`](#shake) | Shake an element. | input | selection |" in page
    assert "`handrail shake Save`" in page


def test_policy_judges_what_it_presses(copy: Copy) -> None:
    assert copy.ruling("Save")["verdict"] == "allow"
    paying = copy.ruling("Pay now")
    assert paying["verdict"] == "ask"
    assert "pay" in paying["why"]


def test_policy_asks_where_nothing_was_decided(tmp_path: Path) -> None:
    undecided = Copy(tmp_path / "undecided", without="verdict=").ruling("Save")
    assert undecided["verdict"] == "ask"
    assert undecided["why"] == "nothing was decided about this action"


def test_without_what_it_presses_neither_import_nor_type_checker_is_content(tmp_path: Path) -> None:
    unsaid = Copy(tmp_path / "unsaid", without="presses=")
    imported = unsaid.python("-c", "import handrail.protocol.actions", check=False)
    assert imported.returncode != 0
    assert "missing 1 required keyword-only argument: 'presses'" in imported.stderr
    files = [f"src/handrail/protocol/{name}.py" for name in ("device", "traits")]
    quick = ("--follow-imports=skip", "--no-incremental", "--no-error-summary")
    checked = unsaid.python("-m", "mypy", "--config-file=", *quick, *files, check=False)
    assert 'Missing named argument "presses" for "Traits"' in checked.stdout
