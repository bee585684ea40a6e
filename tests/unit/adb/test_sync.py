"""Files to and from a phone, reached directly and by the stock adb server."""

from __future__ import annotations

import io
import os
import random
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.errors import AdbCommandError, InvalidAction
from handrail_sim.adbd import daemon
from handrail_sim.adbd.server import Served
from tests.unit.adb.phones import WAYS, reached

Opening = AbstractAsyncContextManager[tuple[AdbDevice, Served]]
Reached = tuple[AdbDevice, Served]
TMP = "/data/local/tmp"


@pytest.fixture(params=WAYS)
def phone(request: pytest.FixtureRequest, server_env: dict[str, str]) -> Opening:
    return reached(request.param, server_env)


@pytest.fixture(params=["v2", "v1"])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "v1":
        monkeypatch.setattr(daemon, "FEATURES", ("shell_v2", "cmd"))
    return str(request.param)


async def test_twenty_megabytes_there_and_back_are_the_same(
    phone: Reached, tmp_path: Path, version: str
) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(random.Random(1).randbytes(20_000_003))
    os.utime(source, (1_600_000_000, 1_600_000_000))
    device, served = phone
    steps: list[tuple[int, int]] = []
    await device.files.push(
        source, f"{TMP}/a", mode=0o600, progress=lambda done, of: steps.append((done, of))
    )
    assert steps[-1] == (20_000_003, 20_000_003)
    assert steps == sorted(steps)
    assert served.phone.files.read(f"{TMP}/a") == source.read_bytes()
    about = await device.files.stat(f"{TMP}/a")
    assert (about.size, about.mtime, about.is_dir) == (20_000_003, 1_600_000_000, False)
    seen: list[int] = []
    await device.files.pull(f"{TMP}/a", back, progress=lambda done, of: seen.append(of - done))
    assert seen[-1] == 0
    assert back.read_bytes() == source.read_bytes()
    assert back.stat().st_mtime == 1_600_000_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "source"]


async def test_bytes_from_memory_and_into_memory(phone: Reached) -> None:
    device, _ = phone
    for size in (0, 1, 65536, 65537, 262145):
        data = bytes(random.Random(size).randbytes(size))
        assert await device.files.push(data, f"{TMP}/é 'x'", mtime=5) == size
        sink = io.BytesIO()
        assert await device.files.pull(f"{TMP}/é 'x'", sink) == size
        assert sink.getvalue() == data
    assert (await device.files.stat(f"{TMP}/é 'x'")).mtime == 5


async def test_folders_are_listed_without_the_dots(phone: Reached, version: str) -> None:
    device, _ = phone
    for name in ("b", "a"):
        await device.files.push(b"123", f"{TMP}/folder/{name}")
    found = await device.files.list(f"{TMP}/folder")
    assert sorted((one.name, one.size, one.is_dir) for one in found) == [("a", 3, False), ("b", 3, False)]
    assert (await device.files.stat(f"{TMP}/folder")).is_dir


async def test_a_missing_file_says_so_and_leaves_nothing(
    phone: Reached, tmp_path: Path, version: str
) -> None:
    device, _ = phone
    assert not await device.files.exists("/nope")
    assert await device.files.exists(TMP)
    with pytest.raises(AdbCommandError, match="/nope: No such file or directory"):
        await device.files.pull("/nope", tmp_path / "x")
    with pytest.raises(AdbCommandError, match="No such file"):
        await device.files.stat("/nope/deeper")
    assert list(tmp_path.iterdir()) == []


async def test_a_local_file_that_is_not_there_is_named(tmp_path: Path, phone: Reached) -> None:
    device, _ = phone
    with pytest.raises(InvalidAction, match="missing can't be used: No such file"):
        await device.files.push(tmp_path / "missing", f"{TMP}/x")
    await device.files.push(b"x", f"{TMP}/x")
    with pytest.raises(InvalidAction, match="nowhere/x can't be used"):
        await device.files.pull(f"{TMP}/x", tmp_path / "nowhere" / "x")


@pytest.mark.parametrize("path", ["", "a\0b", "/" + "x" * 1024])
async def test_what_is_no_path_is_refused_before_it_is_sent(path: str, phone: Reached) -> None:
    device, _ = phone
    with pytest.raises(InvalidAction):
        await device.files.stat(path)


async def test_a_stream_that_breaks_off_is_no_whole_file(phone: Reached, tmp_path: Path) -> None:
    device, served = phone
    await device.files.push(bytes(500_000), f"{TMP}/a")
    served.phone.faults.add("stream_reset", command="sync", bytes=100_000)
    with pytest.raises(AdbCommandError, match="in the middle"):
        await device.files.pull(f"{TMP}/a", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
