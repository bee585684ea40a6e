"""The phone is killed, rebooted, or its adb server dies while something is done: told soon, never done twice.

Judged by the phone's own input log and by the clock. Moments are generated; the seed is in the test's name.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.server import find_adb
from handrail.android.choose import server_of
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.world import play, until, usual_clock

ASYNC_RUNNER = play

SHOP = "com.handrail.shop"
AWAY = {"ADB_CONNECTION_ERROR", "DEVICE_OFFLINE"}
NEVER = {"visible": {"text": "This is nowhere"}}

WAITS: dict[str, dict[str, Any]] = {
    "wait": {"type": "wait", "duration_ms": 15_000},
    "wait_for": {"type": "wait_for", "condition": NEVER, "timeout_ms": 15_000},
    "expect_visible": {"type": "expect_visible", "target": {"text": "This is nowhere"}, "timeout_ms": 15_000},
    "an expectation": {"type": "press_key", "key": "volume_up", "expect": NEVER},
}
SOON_MS = 8_000
"""On the clock of the session: three seconds of trying again, and a busy machine."""


@asynccontextmanager
async def killable(home: Path) -> AsyncIterator[tuple[Session, Phone, Clock, AsyncExitStack]]:
    """A session, its phone, and the stack whose end is the phone's."""
    clock = usual_clock()
    phone = Phone(clock=clock)
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home)}
    async with AsyncExitStack() as life:
        [served] = await life.enter_async_context(serve([phone], port=0))
        async with Runtime.open(Config.from_env(env), clock=clock, env=env) as runtime:
            yield await runtime.session(served.address, helper="none"), phone, clock, life


@pytest.mark.parametrize("name", WAITS)
async def test_a_device_killed_during_a_wait_is_told_when_the_link_breaks(tmp_path: Path, name: str) -> None:
    async with killable(tmp_path) as (session, _, clock, life):
        await session.get_ui_tree()
        waiting = asyncio.create_task(session.run(WAITS[name]))
        began = clock.monotonic_ms()
        await until(lambda: clock.monotonic_ms() - began > 1_500)
        assert not waiting.done()
        killed = clock.monotonic_ms()
        await life.aclose()
        envelope = await waiting
        assert envelope.failure_code in AWAY, envelope.to_json()
        assert envelope.hint
        assert clock.monotonic_ms() - killed < SOON_MS


async def test_a_device_that_freezes_during_a_wait_does_not_outlast_its_deadline_for_long(
    tmp_path: Path,
) -> None:
    async with killable(tmp_path) as (session, phone, clock, _):
        await session.get_ui_tree()
        phone.faults.add("latency", ms=600_000)
        began = clock.monotonic_ms()
        envelope = await session.run(WAITS["wait_for"])
        assert envelope.failure_code in {*AWAY, "TIMEOUT"}, envelope.to_json()
        assert clock.monotonic_ms() - began < 15_000 + SOON_MS
        phone.faults.clear()


# reboots and adb servers that die under an action

ACTIONS: list[dict[str, Any]] = [
    {"type": "tap", "target": {"x": 500, "y": 900}}, {"type": "double_tap", "target": {"x": 500, "y": 900}},
    {"type": "long_press", "target": {"x": 500, "y": 900}}, {"type": "press_key", "key": "volume_up"},
    {"type": "swipe", "from": {"x": 500, "y": 1500}, "to": {"x": 500, "y": 600}},
    {"type": "type_text", "text": "ada"}, {"type": "start_app", "package": SHOP}, {"type": "get_ui_tree"},
    {"type": "screenshot"}, {"type": "get_logs"}, {"type": "shell", "command": "input keyevent 24"},
]  # fmt: skip
MOST: dict[str, int] = {"tap": 1, "double_tap": 2, "long_press": 1, "swipe": 1}
"""Fingers that one action puts down; no other touches the screen."""


def fingers(phone: Phone, since: int) -> int:
    return sum(one["action"] == "down" for one in list(phone.input_log)[since:])


def keys(phone: Phone, since: int, code: int) -> int:
    return sum(one["action"] == "key" and one["code"] == code for one in list(phone.input_log)[since:])


async def broken_under(
    session: Session, phone: Phone, action: dict[str, Any], after: Callable[[], Awaitable[None]]
) -> None:
    """Break it at that moment; then count what the phone felt, and see that the session goes on."""
    since = len(phone.input_log)
    doing = asyncio.create_task(session.run(action))
    await after()
    envelope: Envelope = await doing
    kind = action["type"]
    assert envelope.success or (envelope.failure_code and envelope.hint), envelope.to_json()
    assert fingers(phone, since) <= MOST.get(kind, 0), envelope.to_json()
    assert keys(phone, since, 24) <= (kind in ("press_key", "shell")), envelope.to_json()
    if envelope.delivery == "not_delivered":
        assert fingers(phone, since) == 0, envelope.to_json()

    async def answers() -> bool:
        return (await session.get_ui_tree()).success

    await until(answers)


POLICY = '[[rule]]\nname = "all"\nverdict = "allow"\n'


def rebooted(home: Path, seed: int, rounds: int) -> None:
    random = Random(seed)

    async def story() -> None:
        (home / "config").mkdir()
        (home / "config" / "policy.toml").write_text(POLICY)
        async with killable(home) as (session, phone, clock, _):
            phone.boot_ms = 800.0
            for _ in range(rounds):
                action, delay = random.choice(ACTIONS), random.uniform(0, 400)

                async def reboot(delay: float = delay) -> None:
                    await clock.sleep_ms(delay)
                    phone.reboot()

                await broken_under(session, phone, action, reboot)

    play(story())


def test_a_reboot_during_an_action_never_repeats_it(tmp_path: Path) -> None:
    rebooted(tmp_path, seed=17, rounds=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_reboots_during_actions_never_repeat_one(tmp_path: Path, seed: int) -> None:
    rebooted(tmp_path, seed=seed, rounds=15)


@pytest.fixture
def adb_env(tmp_path: Path) -> Iterator[dict[str, str]]:
    adb = find_adb()
    if adb is None:
        pytest.skip("no adb binary: `pip install adbutils`, or Debian's adb package")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    home = tmp_path / "adb-home"
    home.mkdir()
    same = {"HOME": str(home), "ANDROID_USER_HOME": str(home), "TMPDIR": str(home)}
    env = {**os.environ, **same, "ANDROID_ADB_SERVER_PORT": str(port), "HANDRAIL_ADB": str(adb)}
    env["HANDRAIL_HOME"] = str(tmp_path / "home")
    yield env
    for pid in _adb_servers(env):
        os.kill(pid, signal.SIGKILL)


def _adb_servers(env: dict[str, str]) -> list[int]:
    """The processes of this port's server: the one in whose environment it stands."""
    mark = f"ANDROID_ADB_SERVER_PORT={env['ANDROID_ADB_SERVER_PORT']}".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (
                mark in (place / "environ").read_bytes()
                and b"fork-server" in (place / "cmdline").read_bytes()
            ):
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_an_adb_server_killed_during_an_action_never_repeats_it(
    adb_env: dict[str, str], seed: int
) -> None:
    random = Random(seed)
    clock = usual_clock()
    phone = Phone(clock=clock)
    config = Config.from_env(adb_env)
    (config.home / "config").mkdir(parents=True, mode=0o700)
    config.home.chmod(0o700)
    config.policy.write_text(POLICY)
    server = server_of(config, clock, adb_env)
    async with serve([phone], port=0) as [served], Runtime.open(config, clock=clock, env=adb_env) as runtime:

        async def connected() -> bool:
            try:
                await server.start()
                await server.connect(served.address)
                await server.link(served.address).check()
            except HandrailError:
                return False
            return True

        await until(connected)
        device = AdbDevice(server.link(served.address), clock)
        session = await runtime.session_on(device, helper="none")
        for _ in range(3):
            action, delay = random.choice(ACTIONS), random.uniform(0, 300)

            async def kill(delay: float = delay) -> None:
                await clock.sleep_ms(delay)
                for pid in _adb_servers(adb_env):
                    os.kill(pid, signal.SIGKILL)
                await until(connected)

            await broken_under(session, phone, action, kill)
