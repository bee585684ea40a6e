"""One connection to a phone's own port: streams on it, its loss, and its way back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.adb.device import AdbShell
from handrail.adb.direct import UNREAD_MAX, Direct
from handrail.adb.keys import PrivateKey, generate, load_or_make_keys
from handrail.clock import SystemClock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline, Timeout
from handrail_sim.adbd.server import Served, serve
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from tests.driver.conftest import free_port
from tests.unit.adb.phones import running, until


@asynccontextmanager
async def phone(**options: bool) -> AsyncIterator[Served]:
    async with serve([Phone(clock=SystemClock())], port=0, **options) as (served,):
        yield served


@asynccontextmanager
async def linked(served: Served, **options: object) -> AsyncIterator[Direct]:
    link = Direct(served.host, served.port, **options)  # type: ignore[arg-type]
    try:
        yield link
    finally:
        await link.close()


def play(story: Callable[[Direct, Served], Awaitable[None]], **options: object) -> None:
    async def whole() -> None:
        async with phone() as served, linked(served, **options) as link:
            await story(link, served)

    asyncio.run(whole())


async def said(link: Direct, service: str) -> bytes:
    """All that a service says."""
    stream = await link.open(service)
    parts = []
    while part := await stream.read():
        parts.append(part)
    await stream.close()
    return b"".join(parts)


def test_all_streams_share_one_connection() -> None:
    async def story(link: Direct, served: Served) -> None:
        answers = await asyncio.gather(*(said(link, f"exec:echo {n}") for n in range(50)))
        assert answers == [b"%d\n" % n for n in range(50)]
        assert len(served.adbd.connections) == 1

    play(story)


def test_streams_take_turns() -> None:
    async def story(link: Direct, _: Served) -> None:
        streams = [await link.open("exec:cat") for _ in range(5)]
        for word in (b"a", b"bb", b"ccc"):
            for stream in streams:
                await stream.write(word)
            for stream in reversed(streams):
                assert await stream.read() == word
        for stream in streams:
            await stream.close()

    play(story)


def test_the_device_tells_what_it_can() -> None:
    async def story(link: Direct, _: Served) -> None:
        assert {"shell_v2", "cmd", "stat_v2"} <= await link.features()

    play(story)


def test_what_nobody_serves_is_refused() -> None:
    async def story(link: Direct, _: Served) -> None:
        with pytest.raises(AdbCommandError, match="refused to open 'tcp:9'") as caught:
            await link.open("tcp:9")
        assert caught.value.details["delivery"] == "not_delivered"

    play(story)


def test_a_closed_stream_takes_no_input() -> None:
    async def story(link: Direct, _: Served) -> None:
        stream = await link.open("exec:echo hi")
        while await stream.read():
            pass
        with pytest.raises(AdbCommandError, match="accepts no more input"):
            await stream.write(b"x")
        await stream.close()
        await stream.close()

    play(story)


def test_a_reader_that_never_reads_fills_no_memory() -> None:
    async def story(link: Direct, served: Served) -> None:
        stream = await link.open("exec:yes")
        inbox = stream._inbox
        await until(lambda: inbox.size > UNREAD_MAX)
        for _ in range(200):
            await said(link, "exec:true")
        assert inbox.size <= UNREAD_MAX + (1 << 20)
        await stream.close()
        await until(lambda: not running(served.phone))

    play(story)


def test_a_cancelled_open_leaves_nothing_on_the_phone() -> None:
    async def story(link: Direct, served: Served) -> None:
        await link.features()
        opening = asyncio.ensure_future(link.open("shell,v2,raw:exec sleep 30"))
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert await said(link, "exec:echo on") == b"on\n"
        await until(lambda: not running(served.phone))

    play(story)


async def test_nobody_at_the_port_is_said_at_once() -> None:
    link = Direct("127.0.0.1", free_port(), clock=ManualClock())
    with pytest.raises(AdbConnectionError, match="Connection refused") as caught:
        await link.open("shell:x")
    assert caught.value.message == f"nothing answers at {link.serial}: Connection refused"
    assert caught.value.details == {"delivery": "not_delivered", "tried_ms": 0}
    await link.close()


def test_a_lost_connection_is_made_anew() -> None:
    async def story(link: Direct, served: Served) -> None:
        stream = await link.open("exec:cat")
        for connection in list(served.adbd.connections):
            connection.drop()
        with pytest.raises(DeviceOffline, match="while 'exec:cat' was running") as caught:
            await stream.read()
        assert caught.value.details["delivery"] == "unknown"
        assert await said(link, "exec:echo back") == b"back\n"

    play(story)


def test_a_rebooting_phone_is_waited_for() -> None:
    async def story(link: Direct, served: Served) -> None:
        served.phone.boot_ms = 300.0
        going_down = await link.open("reboot:")
        with pytest.raises(DeviceOffline, match="dropped the connection"):
            await going_down.read()
        assert await said(link, "exec:echo up") == b"up\n"

    play(story)


def test_an_offline_phone_is_given_up_after_a_while_that_the_error_tells() -> None:
    async def story(link: Direct, served: Served) -> None:
        served.phone.faults.add("offline")
        with pytest.raises(DeviceOffline, match=r"does not answer \(tried for 0\.\d s\)") as caught:
            await link.open("exec:echo")
        assert caught.value.message.startswith(f"{link.serial} takes connections and does not answer")
        assert caught.value.hint == "It may be starting up; try again, or reconnect it."
        assert caught.value.details["state"] == "offline"
        assert caught.value.details["delivery"] == "not_delivered"
        served.phone.faults.clear()
        assert await said(link, "exec:echo on") == b"on\n"

    play(story, patience_ms=200)


def test_a_deadline_before_there_is_a_connection_has_delivered_nothing() -> None:
    async def story(link: Direct, served: Served) -> None:
        served.phone.faults.add("offline")
        with pytest.raises(Timeout) as caught:
            await AdbShell(link).run(["input", "tap", "1", "2"], timeout_ms=50)
        assert caught.value.details["delivery"] == "not_delivered"

    play(story)


def test_closing_a_link_tells_those_who_wait_for_it() -> None:
    async def story(link: Direct, served: Served) -> None:
        served.phone.faults.add("offline")
        opening = asyncio.ensure_future(link.open("exec:echo"))
        await until(lambda: bool(served.adbd.connections))
        await link.close()
        with pytest.raises(AdbConnectionError, match="was closed"):
            await opening

    play(story)


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


def test_all_who_wait_for_a_phone_share_one_attempt() -> None:
    async def story(link: Direct, served: Served) -> None:
        served.phone.faults.add("offline")
        waiting = [asyncio.ensure_future(link.open("exec:echo")) for _ in range(20)]
        await until(lambda: len(served.adbd.connections) == 1)
        waiting[0].cancel()
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(failures[0], asyncio.CancelledError)
        assert all(isinstance(failure, DeviceOffline) for failure in failures[1:])
        assert len(served.adbd.connections) <= 1

    play(story, patience_ms=200)


def test_a_closed_link_opens_nothing() -> None:
    async def story(link: Direct, _: Served) -> None:
        await link.features()
        await link.close()
        with pytest.raises(AdbConnectionError, match="was closed"):
            await link.open("exec:echo")

    play(story)


# keys


async def test_an_unknown_key_is_offered_and_works_once_somebody_accepts_it(key: PrivateKey) -> None:
    async with phone(auth=True) as served, linked(served, keys=[key]) as link:
        opening = asyncio.ensure_future(said(link, "exec:echo in"))
        keys = served.adbd.keys
        assert keys is not None
        await until(lambda: bool(keys.waiting))
        assert keys.waiting[0].name == "somebody@here"
        keys.accept()
        assert await opening == b"in\n"


async def test_a_known_key_needs_nobody(key: PrivateKey) -> None:
    stranger = generate("stranger")
    async with phone(auth=True) as served:
        keys = served.adbd.keys
        assert keys is not None
        keys.on_ask(keys.accept)
        async with linked(served, keys=[key]) as link:
            await link.features()
        keys._watchers.clear()
        async with linked(served, keys=[stranger, key]) as link:
            assert await said(link, "exec:echo in") == b"in\n"


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
