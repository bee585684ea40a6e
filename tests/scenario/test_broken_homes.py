"""Every command on every broken home: an exit code, one JSON object where that was asked for, no traceback.

The judge reads bytes and knows no command.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.cli.action_commands import ACTION_COMMANDS
from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.broken_homes import HOMES, MOUNTED, SERVING, Command, Ended, Forks, broken, commands

ALL = list(commands())
PLAIN = [one for one in ALL if one.name[0] not in ACTION_COMMANDS]
ACTIONS = [one for one in ALL if one.name[0] in ACTION_COMMANDS]


@pytest.fixture(scope="module")
def device() -> Iterator[str]:
    """A phone in a thread of its own."""
    ready, addresses, loops, ends = threading.Event(), [], [], []

    async def phone() -> None:
        async with serve([Phone(clock=SystemClock())], port=0) as [served]:
            end = asyncio.Event()
            addresses.append(served.address)
            loops.append(asyncio.get_running_loop())
            ends.append(end)
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(phone()))
    thread.start()
    assert ready.wait(30)
    yield addresses[0]
    loops[0].call_soon_threadsafe(ends[0].set)
    thread.join()


def judge(ended: Ended, *, as_json: bool, may_be_ended: bool) -> str:
    """What is wrong with it; nothing if nothing is."""
    if b"Traceback" in ended.err + ended.out:
        return "a traceback"
    if may_be_ended and ended.code in (-signal.SIGTERM, 128 + signal.SIGINT):  # before it had begun to serve
        return ""
    if ended.code < 0:
        return f"killed by signal {-ended.code}"
    if ended.code > 0 and not ended.err.strip() and not as_json:
        return "a failure without a word"
    if not as_json:
        return ""
    try:
        documents = [json.loads(line) for line in ended.out.splitlines() if line.strip()]
    except ValueError:
        return "not JSON"
    if ended.code > 0 and (len(documents) != 1 or not isinstance(documents[0], dict)):
        return f"{len(documents)} documents for one failure"
    return ""


def examine(forks: Forks, home: Path, command: Command) -> str | None:
    arguments = [*command.name, *command.arguments]
    if command.has_json:
        at = arguments.index("--") if "--" in arguments else len(command.name)
        arguments.insert(at, "--json")
    ended = forks.run(home, *arguments)
    wrong = judge(ended, as_json=command.has_json, may_be_ended=command.name[0] in SERVING)
    return f"{' '.join(arguments)}: {wrong}: {ended.code} {ended.out!r} {ended.err!r}" if wrong else None


def try_all(tmp_path: Path, device: str, name: str, tried: list[Command]) -> None:
    home = tmp_path / "home"
    with broken(name, home) as possible:
        if not possible:
            pytest.skip("only who may mount has a disk of its own")
        with Forks(tmp_path, device) as forks:
            wrong = [found for one in tried if (found := examine(forks, home, one))]
    assert wrong == []


def test_every_command_is_tried() -> None:
    assert len(ALL) > 80
    assert {one.name[0] for one in ALL} > ACTION_COMMANDS.keys()


QUICK = ("approvals", "devices", "journal", "press-key", "run")


@pytest.mark.parametrize(
    "name", ["a file that is no database", pytest.param("a full disk", marks=pytest.mark.slow)]
)
def test_a_command_on_a_broken_home_ends_with_a_code_and_a_hint(
    tmp_path: Path, device: str, name: str
) -> None:
    try_all(tmp_path, device, name, [one for one in ALL if one.name[0] in QUICK])


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", [*HOMES, *MOUNTED])
def test_every_command_on_every_broken_home_ends_with_a_code_and_a_hint(
    tmp_path: Path, device: str, name: str
) -> None:
    try_all(tmp_path, device, name, PLAIN)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["half a database", *MOUNTED])
def test_every_action_on_a_broken_home_ends_with_a_code_and_a_hint(
    tmp_path: Path, device: str, name: str
) -> None:
    try_all(tmp_path, device, name, ACTIONS)


def test_an_action_on_a_disk_without_room_is_told_as_full(tmp_path: Path, device: str) -> None:
    home = tmp_path / "home"
    with broken("a full disk", home) as possible:
        if not possible:
            pytest.skip("only who may mount has a disk of its own")
        with Forks(tmp_path, device) as forks:
            ended = forks.run(home, "press-key", "back", "--json")
    assert json.loads(ended.out)["failure_code"] == "STORE_FULL"
    assert ended.code == 3
