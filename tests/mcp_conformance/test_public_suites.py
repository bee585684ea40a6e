"""The public conformance suite and the inspector, run against the server on a port.

Opt in with HANDRAIL_MCP_CONFORMANCE=1 and HANDRAIL_MCP_INSPECTOR=1. They install npm packages into a scratch
folder, or use the one that HANDRAIL_MCP_NPM names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RELEASED, NEWEST = "0.1.16", "0.2.0-alpha.12"
INSPECTOR = "2.12.0"
pytestmark = pytest.mark.timeout(900)
conformance = pytest.mark.skipif(
    os.environ.get("HANDRAIL_MCP_CONFORMANCE") != "1", reason="set HANDRAIL_MCP_CONFORMANCE=1 to run it"
)
inspector = pytest.mark.skipif(
    os.environ.get("HANDRAIL_MCP_INSPECTOR") != "1", reason="set HANDRAIL_MCP_INSPECTOR=1 to run it"
)


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages: both releases of the suite, the inspector, and a Node that they run on."""
    folder = Path(os.environ.get("HANDRAIL_MCP_NPM") or tmp_path_factory.mktemp("npm"))
    if not (folder / "node_modules" / "suite").exists():
        packages = [
            "node@22",
            f"suite@npm:@modelcontextprotocol/conformance@{RELEASED}",
            f"suite-next@npm:@modelcontextprotocol/conformance@{NEWEST}",
            f"@modelcontextprotocol/inspector@{INSPECTOR}",
        ]
        # Newer npm runs a package's own set-up only where the project says so; `node` needs it.
        (folder / "package.json").write_text('{"private": true, "allowScripts": {"node": true}}')
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund"]
        subprocess.run([*command, *packages], check=True, cwd=folder, timeout=600, capture_output=True)
    return folder / "node_modules"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.mcp_conformance.serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def run(npm: Path, script: str, *words: str) -> tuple[int, str]:
    node = npm / "node" / "bin" / "node"
    done = subprocess.run(
        [node, npm / script, *words], capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout + done.stderr


@conformance
@pytest.mark.parametrize(
    ("package", "words", "scenarios"),
    [("suite", (), 30), ("suite-next", ("--requirements", "2026-07-28"), 50)],
    ids=["2025-11-25", "2026-07-28"],
)
def test_the_public_suite_finds_nothing_wrong(
    npm: Path, address: str, package: str, words: tuple[str, ...], scenarios: int
) -> None:
    code, said = run(npm, f"{package}/dist/index.js", "server", "--url", address, *words)
    assert code == 0, said[-4_000:]
    assert re.search(r"^Total: \d+ passed, 0 failed", said, re.MULTILINE), said[-4_000:]
    assert len(re.findall(r"^✓ \S+: \d+ passed, 0 failed", said, re.MULTILINE)) == scenarios


@inspector
def test_the_inspector_lists_and_calls(npm: Path, address: str) -> None:
    cli = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    code, said = run(npm, cli, "--cli", address, "--transport", "http", "--method", "tools/list")
    assert code == 0, said
    assert "get_ui_tree" in [tool["name"] for tool in json.loads(said)["tools"]]
    code, said = run(
        npm,
        cli,
        "--cli",
        address,
        "--transport",
        "http",
        "--method",
        "tools/call",
        "--tool-name",
        "get_ui_tree",
    )
    assert code == 0, said
    assert "screen 1080x2400" in json.loads(said)["content"][0]["text"]
