"""One connection to a phone's own port: streams on it, its loss, and its way back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.adb.direct import Direct
from handrail.adb.keys import PrivateKey, generate, load_or_make_keys
from handrail.errors import AdbConnectionError, DeviceOffline
from handrail_sim.adbd.server import Served, serve
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from tests.scenario.world import play, usual_clock
from tests.unit.adb.phones import running, until

ASYNC_RUNNER = play


@asynccontextmanager
async def phone(**options: bool) -> AsyncIterator[Served]:
    async with serve([Phone(clock=usual_clock())], port=0, **options) as (served,):
        yield served


@asynccontextmanager
async def linked(served: Served, **options: object) -> AsyncIterator[Direct]:
    link = Direct(served.host, served.port, clock=usual_clock(), **options)  # type: ignore[arg-type]
    try:
        yield link
    finally:
        await link.close()


async def said(link: Direct, service: str) -> bytes:
    """All that a service says."""
    stream = await link.open(service)
    parts = []
    while part := await stream.read():
        parts.append(part)
    await stream.close()
    return b"".join(parts)


async def test_a_cancelled_open_leaves_nothing_on_the_phone() -> None:
    async with phone() as served, linked(served) as link:
        await link.features()
        opening = asyncio.ensure_future(link.open("shell,v2,raw:exec sleep 30"))
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert await said(link, "exec:echo on") == b"on\n"
        await until(lambda: not running(served.phone))


async def test_closing_a_link_tells_those_who_wait_for_it() -> None:
    async with phone() as served, linked(served) as link:
        served.phone.faults.add("offline")
        opening = asyncio.ensure_future(link.open("exec:echo"))
        await until(lambda: bool(served.adbd.connections))
        await link.close()
        with pytest.raises(AdbConnectionError, match="was closed"):
            await opening


async def test_a_phone_that_vanished_is_looked_for_again_with_longer_pauses() -> None:
    clock = ManualClock()
    async with phone() as served:
        link = Direct(served.host, served.port, clock=clock, patience_ms=1_000)
        await link.features()
    await until(lambda: not link.connected)
    opening = asyncio.ensure_future(link.open("exec:echo"))
    while not opening.done():
        await asyncio.sleep(0.001)
        await clock.advance(10)
    with pytest.raises(AdbConnectionError, match=r"tried for 0\.") as caught:
        await opening
    assert caught.value.details["tried_ms"] >= 350
    await link.close()


async def test_all_who_wait_for_a_phone_share_one_attempt() -> None:
    async with phone() as served, linked(served, patience_ms=200) as link:
        served.phone.faults.add("offline")
        waiting = [asyncio.ensure_future(link.open("exec:echo")) for _ in range(20)]
        await until(lambda: len(served.adbd.connections) == 1)
        waiting[0].cancel()
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(failures[0], asyncio.CancelledError)
        assert all(isinstance(failure, DeviceOffline) for failure in failures[1:])
        assert len(served.adbd.connections) <= 1


# keys


async def test_a_key_that_nobody_accepts_is_unauthorised_with_a_hint(key: PrivateKey) -> None:
    async with phone(auth=True) as served, linked(served, keys=[key], patience_ms=300) as link:
        with pytest.raises(DeviceOffline) as caught:
            await link.open("exec:echo")
        assert caught.value.message.startswith(f"{link.serial} has not authorised this host")
        assert "accept the debugging prompt" in caught.value.hint
        assert caught.value.details["state"] == "unauthorized"
        assert caught.value.details["delivery"] == "not_delivered"


async def test_a_link_without_keys_says_so() -> None:
    async with phone(auth=True) as served, linked(served, keys=[]) as link:
        with pytest.raises(DeviceOffline, match="this link has none"):
            await link.open("exec:echo")


async def test_an_unreadable_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "adbkey").write_text("nonsense")
    env = {**os.environ, "ANDROID_USER_HOME": str(tmp_path)}
    async with phone(auth=True) as served, linked(served, keys=lambda: load_or_make_keys(env)) as link:
        with pytest.raises(AdbConnectionError, match="adbkey can't be used"):
            await link.open("exec:echo")


async def test_keys_that_fail_in_an_unknown_way_are_said_at_once() -> None:
    def broken() -> list[PrivateKey]:
        raise RuntimeError("no library")

    async with phone(auth=True) as served, linked(served, keys=broken) as link:
        with pytest.raises(DeviceOffline, match="keys can't be used: RuntimeError"):
            await link.open("exec:echo")


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return generate("somebody@here")
