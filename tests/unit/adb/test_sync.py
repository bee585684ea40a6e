"""Files to and from a phone, reached directly and by the stock adb server."""

from __future__ import annotations

import asyncio
import io
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.errors import AdbCommandError, InvalidAction
from handrail_sim.adbd import daemon
from handrail_sim.adbd.server import Served
from tests.unit.adb.phones import WAYS, reached

Story = Callable[[AdbDevice, Served], Awaitable[None]]
Play = Callable[[Story], None]
TMP = "/data/local/tmp"


@pytest.fixture(params=WAYS)
def play(request: pytest.FixtureRequest, server_env: dict[str, str]) -> Play:
    def run(story: Story) -> None:
        async def whole() -> None:
            async with reached(request.param, server_env) as (device, served):
                await story(device, served)

        asyncio.run(whole())

    return run


@pytest.fixture(params=["v2", "v1"])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "v1":
        monkeypatch.setattr(daemon, "FEATURES", ("shell_v2", "cmd"))
    return str(request.param)


def test_twenty_megabytes_there_and_back_are_the_same(play: Play, tmp_path: Path, version: str) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(random.Random(1).randbytes(20_000_003))
    os.utime(source, (1_600_000_000, 1_600_000_000))

    async def story(device: AdbDevice, served: Served) -> None:
        assert await device.files.push(source, f"{TMP}/a", mode=0o600) == 20_000_003
        assert served.phone.files.read(f"{TMP}/a") == source.read_bytes()
        about = await device.files.stat(f"{TMP}/a")
        assert (about.size, about.mtime) == (20_000_003, 1_600_000_000)
        await device.files.pull(f"{TMP}/a", back)

    play(story)
    assert back.read_bytes() == source.read_bytes()
    assert back.stat().st_mtime == 1_600_000_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "source"]


def test_bytes_from_memory_and_into_memory(play: Play) -> None:
    async def story(device: AdbDevice, _: Served) -> None:
        for size in (0, 1, 65536, 65537, 262145):
            data = bytes(random.Random(size).randbytes(size))
            assert await device.files.push(data, f"{TMP}/é 'x'") == size
            sink = io.BytesIO()
            assert await device.files.pull(f"{TMP}/é 'x'", sink) == size
            assert sink.getvalue() == data
        assert (await device.files.stat(f"{TMP}/é 'x'")).size == 262145

    play(story)


def test_a_missing_file_says_so_and_leaves_nothing(play: Play, tmp_path: Path, version: str) -> None:
    async def story(device: AdbDevice, _: Served) -> None:
        assert await device.files.stat(TMP)
        with pytest.raises(AdbCommandError, match="/nope: No such file or directory"):
            await device.files.pull("/nope", tmp_path / "x")
        with pytest.raises(AdbCommandError, match="No such file"):
            await device.files.stat("/nope/deeper")

    play(story)
    assert list(tmp_path.iterdir()) == []


def test_a_local_file_that_is_not_there_is_named(play: Play, tmp_path: Path) -> None:
    async def story(device: AdbDevice, _: Served) -> None:
        with pytest.raises(InvalidAction, match="missing can't be used: No such file"):
            await device.files.push(tmp_path / "missing", f"{TMP}/x")
        await device.files.push(b"x", f"{TMP}/x")
        with pytest.raises(InvalidAction, match="nowhere/x can't be used"):
            await device.files.pull(f"{TMP}/x", tmp_path / "nowhere" / "x")

    play(story)


@pytest.mark.parametrize("path", ["", "a\0b", "/" + "x" * 1024])
def test_what_is_no_path_is_refused_before_it_is_sent(play: Play, path: str) -> None:
    async def story(device: AdbDevice, _: Served) -> None:
        with pytest.raises(InvalidAction):
            await device.files.stat(path)

    play(story)


def test_a_stream_that_breaks_off_is_no_whole_file(play: Play, tmp_path: Path) -> None:
    async def story(device: AdbDevice, served: Served) -> None:
        await device.files.push(bytes(500_000), f"{TMP}/a")
        served.phone.faults.add("stream_reset", command="sync", bytes=100_000)
        with pytest.raises(AdbCommandError, match="in the middle"):
            await device.files.pull(f"{TMP}/a", tmp_path / "a")

    play(story)
    assert list(tmp_path.iterdir()) == []
