"""Every command, program and file on the pages is tried, or the page says why not."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import action_from
from tests.docs.blocks import BLOCKS, PAGES, READ_ONLY, ROOT, Block, blocks_of

MOST_NOT_RUN = 34  # two of them need a Mac and two an iPhone
LASTING = re.compile(
    r"handrail(-sim)? (serve|mcp(?! install)|watch|devices --watch|desk events|sim|witness serve|--port)\b"
    r"(?!.*--help)"
)
"""Commands that go on until they are stopped."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A reader's folder, with the examples of the repository in it, and one home for everything."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "examples").symlink_to(ROOT / "examples")
    yield folder
    subprocess.run([program("handrail"), "daemon", "stop"], env=environment(folder), capture_output=True)


def program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def environment(folder: Path) -> dict[str, str]:
    """No adb program, so that none is started which would outlive the tests."""
    keep = {name: os.environ[name] for name in ("CHROME_BIN", "LANG") if name in os.environ}
    no_adb = {"HANDRAIL_ADB": str(folder / "no-adb"), "ANDROID_ADB_SERVER_PORT": "1"}
    home = {"HOME": str(folder), "HANDRAIL_HOME": str(folder / "home")}
    return {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **home, **no_adb, **keep}


@pytest.fixture(scope="module")
def device(place: Path) -> Iterator[str]:
    command = [program("handrail"), "sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(place)) as sim:
        assert sim.stdout
        yield json.loads(sim.stdout.readline())["connect"]
        sim.terminate()


@contextmanager
def lasting(command: str, folder: Path, env: dict[str, str]) -> Iterator[str]:
    """A command that goes on, from its first line until it is stopped as a person stops it, with Ctrl-C."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        first = "" if " mcp" in command and "--http" not in command else process.stdout.readline()
        yield first
        process.stdin.close()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode in (0, 130), f"{command}\n{first}{rest}"


def run(command: str, folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=200,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def runs_here(block: Block) -> bool:
    return not (block.reason or block.run_by)


def put_files(page: Path, folder: Path) -> None:
    """What the page tells its reader to write down."""
    for block in blocks_of(page):
        if block.file:
            (folder / block.file).write_text(block.text)


SHELL = [block for block in BLOCKS if block.language == "sh" and runs_here(block)]


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.name)
def test_the_commands_run(block: Block, place: Path, device: str) -> None:
    put_files(block.page, place)
    env = environment(place) | {"HANDRAIL_DEVICE": device}
    if block.beside:
        with lasting(" ".join(block.beside), place, env):
            run_all(block, place, env)
    else:
        run_all(block, place, env)


def run_all(block: Block, place: Path, env: dict[str, str]) -> None:
    for command in block.commands:
        if found := re.fullmatch(r"export (\w+)=(\S*)", command):
            env[found[1]] = found[2]
        elif LASTING.match(command):
            with lasting(command, place, env):
                pass
        else:
            run(command, place, env)


WITH_PYTHON = [
    page for page in PAGES if any(one.language == "python" and runs_here(one) for one in blocks_of(page))
]
SNIPPETS = """
import ast, asyncio, inspect, json, sys
async def main(names={"__name__": "__main__"}):
    for text in json.load(sys.stdin):
        code = compile(text, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        got = eval(code, names)
        if inspect.isawaitable(got):
            await got
asyncio.run(main())
"""


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_programs_of_a_page_run_one_after_the_other(page: Path, place: Path, device: str) -> None:
    """One that can stand alone does; the others follow each other, as in a notebook."""
    env = environment(place) | {"HANDRAIL_DEVICE": device}
    texts = [block.text for block in blocks_of(page) if block.language == "python" and runs_here(block)]
    alone = [text for text in texts if "asyncio.run(" in text]
    for text in alone:
        subprocess.run([sys.executable, "-c", text], cwd=place, env=env, check=True, timeout=100)
    together = json.dumps([text for text in texts if text not in alone])
    subprocess.run(
        [sys.executable, "-c", SNIPPETS],
        input=together,
        cwd=place,
        env=env,
        text=True,
        check=True,
        timeout=100,
    )


@pytest.mark.parametrize("block", [one for one in BLOCKS if runs_here(one)], ids=lambda block: block.name)
def test_a_block_is_what_its_language_says(block: Block) -> None:
    match block.language:
        case "json" | "jsonc":
            data = json.loads(block.text)
            if isinstance(data, dict) and data.get("type") in ACTIONS:
                action_from(data)
        case "yaml":
            yaml.safe_load(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "python":
            compile(block.text, block.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        case "sh" | "console":  # test_sessions.py types the latter
            assert block.commands
        case language:
            assert language in READ_ONLY, f"who runs {language}?"


def test_nothing_that_can_be_run_stands_in_a_block_that_is_only_read() -> None:
    hidden = [
        f"{block.name}: {line}"
        for block in BLOCKS
        if block.language in READ_ONLY and runs_here(block)
        for line in block.text.splitlines()
        if re.match(r"\s*(\$ |handrail(-sim)? [a-z-]|pip install|make [a-z]+$|export |python )", line)
    ]
    assert hidden == []


def test_a_block_that_is_not_run_says_why(record_property: Callable[[str, object], None]) -> None:
    left_out = [block for block in BLOCKS if block.reason]
    for block in left_out:
        assert len(block.reason.split()) >= 3, f"{block.name}: {block.reason}"
    can = [block for block in BLOCKS if block.language not in READ_ONLY]
    record_property("figure", f"blocks of the pages: {len(can)} that can be tried, {len(left_out)} are not")
    assert len(left_out) <= MOST_NOT_RUN


def test_what_another_test_runs_is_named_by_it() -> None:
    for block in BLOCKS:
        if block.run_by:
            assert (ROOT / block.run_by).exists(), block.name
            assert block.page.name in (ROOT / block.run_by).read_text(), (
                f"{block.run_by} knows nothing of {block.name}"
            )
