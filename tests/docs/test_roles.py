"""Five people who have never seen Handrail: each in a new environment, with nothing but their quick start.

What the page tells to write is written, what it tells to type is typed, in its order. The pages:
agent-user.md, qa-engineer.md, phone-owner.md, researcher.md, python-programmer.md.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks_of
from tests.docs.installed import Built
from tests.docs.test_blocks import LASTING, lasting, program
from tests.docs.test_wheels import talk

pytestmark = pytest.mark.timeout(1_000)
NEEDS_A_DEVICE = {"iphone"}
"""A page about a device that is not at hand; its blocks say so."""
PAGES = [
    page for page in sorted((ROOT / "docs" / "quickstart").glob("*.md")) if page.stem not in NEEDS_A_DEVICE
]
EXPECTED = {
    "agent-user": r"Network & internet[\s\S]*ok: \d+ entries",
    "qa-engineer": r"passed: 3 of 3 steps[\s\S]*exit code 1",
    "phone-owner": r"deny",
    "researcher": r"finished: The display settings are open",
    "python-programmer": r"verified delivered\nFalse ELEMENT_NOT_FOUND not_delivered",
}
"""What a reader sees on the way, if all went well."""


@pytest.fixture(scope="module")
def phone() -> Iterator[str]:
    """Of the one who owns one: it is there, whatever is installed beside it."""
    with subprocess.Popen([program("handrail-sim"), "--port", "0"], stdout=subprocess.PIPE, text=True) as sim:
        assert sim.stdout
        yield json.loads(sim.stdout.readline())["connect"]
        sim.terminate()


def steps_of(page: Path) -> Iterator[Block | str]:
    """Files to write and commands to type, as they follow each other."""
    for block in blocks_of(page):
        if block.file:
            yield block
        elif block.language == "sh" and not block.reason:
            yield from block.commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_quick_start_leads_to_its_end(
    built: Built, phone: str, page: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    env = built.env(tmp_path) | ({"HANDRAIL_DEVICE": phone} if page.stem == "phone-owner" else {})
    env.pop("HANDRAIL_NO_DAEMON")
    typed, stumbles, seen, installed, began = 0, [], "", 0.0, time.monotonic()
    for step in steps_of(page):
        if isinstance(step, Block):
            (tmp_path / step.file).write_text(step.text)
            continue
        typed += 1
        if found := re.fullmatch(r"\. (\S+)/activate", step):
            env["PATH"] = f"{tmp_path / found[1]}:{env['PATH']}"
        elif LASTING.match(step):
            with lasting(step, tmp_path, env):
                pass
        else:
            done = subprocess.run(
                ["bash", "-c", step],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            seen += done.stdout
            stumbles += [f"{step}\n{done.stdout}{done.stderr}"] if done.returncode else []
        if step.startswith("pip install"):
            installed = time.monotonic() - began
    subprocess.run(
        ["handrail", "daemon", "stop"],
        env=env,
        capture_output=True,
        executable=tmp_path / "handrail/bin/handrail",
    )
    took = time.monotonic() - began
    told = f"{typed:>3} commands,{took:>4.0f} s (install {installed:.0f} s), {len(stumbles)} stumbles"
    record_property("figure", f"quick start {page.stem:<18}{told}")
    assert stumbles == []
    assert re.search(EXPECTED[page.stem], seen), seen
    if page.stem == "agent-user":
        speak(page, env, tmp_path)


def speak(page: Path, env: dict[str, str], folder: Path) -> None:
    """By the configuration that the page gives to a client."""
    [block] = [one for one in blocks_of(page) if one.language == "json"]
    server = json.loads(block.text)["mcpServers"]["handrail"]
    assert server["command"] == "handrail"
    said = asyncio.run(talk(str(folder / "handrail/bin/handrail"), server["args"], env, folder))
    assert "Network & internet" in said


def test_every_role_has_a_quick_start() -> None:
    assert {page.stem for page in PAGES} == EXPECTED.keys()
