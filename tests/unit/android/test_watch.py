"""Phones that come and go while somebody watches."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from handrail.android.discovery import EVERY_MS, watch
from handrail.config import Config
from handrail_sim.adbd.server import serve
from handrail_sim.clock import ManualClock
from tests.unit.android.discovery_setup import CLOCK, a_phone, find, no_adb, run, server_of, until
from tests.unit.android.private_adb import adb, adb_env, free_port

__all__ = ["adb_env"]


def test_a_watch_sees_phones_of_the_server_come_and_go(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        async with (
            serve([a_phone()], port=0) as [served],
            aclosing(watch(Config.from_env(adb_env), CLOCK, adb_env)) as lists,
        ):
            await until(lists, served.address, None)
            await server_of(adb_env).connect(served.address)
            await until(lists, served.address, "device")
            await server_of(adb_env).disconnect(served.address)
            await until(lists, served.address, None)

    run(story)


@pytest.mark.slow
def test_a_watch_survives_a_restart_of_the_server(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        async with (
            serve([a_phone()], port=0) as [served],
            aclosing(watch(Config.from_env(adb_env), CLOCK, adb_env)) as lists,
        ):
            await until(lists, served.address, None)
            await server_of(adb_env).connect(served.address)
            await until(lists, served.address, "device")
            await asyncio.to_thread(adb, adb_env, "kill-server")
            await until(lists, served.address, None)
            await asyncio.to_thread(adb, adb_env, "start-server")
            await server_of(adb_env).connect(served.address)
            await until(lists, served.address, "device")

    run(story)


def test_a_watch_asks_the_addresses_again_and_again(tmp_path: Path) -> None:
    async def story() -> None:
        clock, port = ManualClock(), free_port()
        env = no_adb(tmp_path, HANDRAIL_DEVICES=f"127.0.0.1:{port}")
        async with aclosing(watch(Config.from_env(env), clock, env)) as lists:
            await until(lists, f"127.0.0.1:{port}", "offline")
            async with serve([a_phone()], port=port):
                await clock.advance(EVERY_MS)
                await until(lists, f"127.0.0.1:{port}", "device")
            await clock.advance(EVERY_MS)
            await until(lists, f"127.0.0.1:{port}", "offline")

    run(story)


@pytest.mark.slow
def test_a_closed_watch_leaves_no_task_and_no_socket(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        await find(adb_env)
        tasks, files = len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))
        async with aclosing(watch(Config.from_env(adb_env), CLOCK, adb_env)) as lists:
            await anext(lists)
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == tasks
        assert len(os.listdir("/proc/self/fd")) == files

    run(story)
