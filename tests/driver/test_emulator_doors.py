"""An emulator's own gRPC channel behind the driver: two fingers, and first in the order."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.driver import Driver, connect
from handrail.clock import SystemClock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from tests import fingers

pytest.importorskip("grpc", reason="pip install grpcio")
GALLERY = "com.handrail.gallery"
UNSCANNED = range(5601, 5684, 2)
"""Emulators' ports that no adb server looks at by itself."""


def free_pair() -> int:
    """An odd port with its even neighbour and its gRPC port, in a range of this worker's own."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4
    for port in UNSCANNED[worker * 10 : worker * 10 + 10]:
        try:
            for number in (port, port - 1, port - 1 + 3000):
                socket.create_server(("127.0.0.1", number)).close()
        except OSError:
            continue
        return port
    raise AssertionError("every emulator port is taken")


@asynccontextmanager
async def emulator(home: Path) -> AsyncIterator[tuple[Driver, Served]]:
    async with serve([Phone(clock=SystemClock())], port=free_pair(), emulator=True) as [served]:
        device = AdbDevice(Direct("127.0.0.1", served.port))
        env = {"HOME": str(home), "TMPDIR": str(home)}
        driver = await connect(device, clock=SystemClock(), helper="none", env=env)
        try:
            yield driver, served
        finally:
            await driver.close()


def gallery(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = served.phone.state()["apps"][GALLERY]
    return found


async def test_two_fingers_pinch_and_turn(tmp_path: Path) -> None:
    async with emulator(tmp_path) as (driver, served):
        assert driver.channels()["pinch"] == driver.channels()["tap"] == "grpc"
        await driver.shell.run(["pm", "grant", GALLERY, "android.permission.READ_MEDIA_IMAGES"])
        await driver.shell.run(["am", "start", "-n", f"{GALLERY}/.ViewerActivity", "--ei", "number", "1"])
        await driver.perform(fingers.pinch(540, 1100, 100, 300, 300))
        assert gallery(served)["scale"] > 1.5
        await driver.perform(fingers.rotate(540, 1100, 300, 0, 90, 400))
        top = served.phone.tasks.top
        assert top is not None
        assert 60 < top.state["rotation"] < 120


async def test_looks_go_by_adb_and_pictures_by_grpc(tmp_path: Path) -> None:
    async with emulator(tmp_path) as (driver, _):
        assert driver.channels()["look"] == "adb"
        assert driver.channels()["screenshot"] == "grpc"
        assert (await driver.screenshot()).startswith(b"\x89PNG")
        assert (await driver.look()).package == (await driver.foreground()).package
