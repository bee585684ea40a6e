"""The causes for which there is no helper, one test each; and what becomes of one that there is."""

from __future__ import annotations

import asyncio
import resource
import struct
import zipfile
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.link import Stream
from handrail.android import http_helper as ensure
from handrail.android.http_helper import HelperHandle, Manifest, ensure_helper, read_manifest
from handrail.errors import AdbConnectionError
from handrail_sim.channels import helper as sim_helper
from handrail_sim.channels.attach import HELPER_RUNNER
from handrail_sim.shell.call import Call
from tests.unit.android.sim_phone import HELPER, Bench, CountingLink, helper_env, play, put_apk


def compiled_manifest(package: str, code: int) -> bytes:
    """Android's binary XML with one `manifest` tag, built by hand."""
    words = ["versionCode", "package", "manifest", package]
    data, offsets = b"", []
    for word in words:
        offsets.append(len(data))
        data += struct.pack("<H", len(word)) + word.encode("utf-16-le") + b"\0\0"
    data += b"\0" * (-len(data) % 4)
    start = 28 + 4 * len(words)
    pool = struct.pack("<5I", len(words), 0, 0, start, 0) + struct.pack(f"<{len(words)}I", *offsets) + data
    pool = struct.pack("<HHI", 1, 28, 8 + len(pool)) + pool
    ids = struct.pack("<HHII", 0x0180, 8, 12, 0x0101021B)
    none = 0xFFFFFFFF
    attributes = struct.pack("<5I", none, 0, none, 0x10000008, code) + struct.pack(
        "<5I", none, 1, 3, 0x03000008, 3
    )
    body = struct.pack("<4I", 1, none, none, 2) + struct.pack("<6H", 20, 20, 2, 0, 0, 0) + attributes
    tag = struct.pack("<HHI", 0x0102, 16, 8 + len(body)) + body
    return struct.pack("<HHI", 3, 8, 8 + len(pool + ids + tag)) + pool + ids + tag


async def attempt(
    bench: Bench, env: dict[str, str], *, device: AdbDevice | None = None, timeout_ms: float = 30_000
) -> HelperHandle | None:
    return await ensure_helper(
        device or bench.device,
        env=env,
        clock=bench.clock,
        say=bench.said.append,
        startup_timeout_ms=timeout_ms,
    )


def versions(bench: Bench) -> list[int]:
    return [bench.phone.packages.installed[name].version_code for name in (HELPER, f"{HELPER}.test")]


def installs(bench: Bench) -> int:
    return sum("package install " in service for service in bench.link.opened)


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER"])
def test_cause_1_it_is_switched_off(name: str, tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        assert await attempt(bench, helper_env(tmp_path) | {name: "1"}) is None
        assert bench.said == [f"the helper is switched off by {name}=1"]
        assert bench.link.opened == []

    play(story)


def test_cause_2_the_apks_are_not_found(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        assert await attempt(bench, {}) is None
        put_apk(tmp_path, HELPER)
        put_apk(tmp_path, "org.example.test")
        (tmp_path / "broken.apk").write_bytes(b"PK\x03\x04 and no more")
        assert await attempt(bench, {"AGENTEST_HELPER_APK_DIR": str(tmp_path)}) is None
        assert bench.said == [
            "no helper APKs: HANDRAIL_HELPER_DIR is not set",
            f"no helper APKs: {HELPER}.test not found in {tmp_path}",
        ]
        assert bench.link.opened == []

    play(story)


def test_cause_3_the_installation_fails(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        env = helper_env(tmp_path)
        put_apk(tmp_path, f"{HELPER}.test", padding=5 << 20)
        assert await attempt(bench, env) is None
        assert len(bench.said) == 1
        assert bench.said[0].startswith("the helper could not be installed: ")
        assert "INSTALL_PARSE_FAILED_MANIFEST_MALFORMED" in bench.said[0]

    play(story)


class NoPorts(CountingLink):
    """A line over which everything works but ports."""

    async def open(self, service: str) -> Stream:
        if service.startswith("tcp:"):
            raise AdbConnectionError("the line is gone")
        return await super().open(service)


def test_cause_4_no_stream_to_the_port(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        link = NoPorts(bench.link)
        assert await attempt(bench, helper_env(tmp_path), device=AdbDevice(link, bench.clock)) is None
        assert bench.said == ["no stream to port 8765 of the phone: the line is gone"]
        assert not link.streams

    play(story)


def test_cause_5_the_instrumentation_fails(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        del bench.phone.instrumentations[HELPER_RUNNER]
        assert await attempt(bench, helper_env(tmp_path)) is None
        assert len(bench.said) == 1
        assert bench.said[0].startswith("am instrument failed: ")
        assert "INSTRUMENTATION_FAILED" in bench.said[0]

    play(story)


def test_cause_6_it_is_not_ready_in_time(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def slow(call: Call) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async def story(bench: Bench) -> None:
        bench.phone.instrumentations[HELPER_RUNNER] = slow
        assert await attempt(bench, helper_env(tmp_path), timeout_ms=100) is None
        assert bench.said == ["the helper was not ready within 100 ms"]
        await ended.wait()

    play(story)


def test_a_helper_of_another_protocol_is_no_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(bench: Bench) -> None:
        monkeypatch.setattr(sim_helper, "PROTOCOL_VERSION", 7)
        assert await attempt(bench, helper_env(tmp_path)) is None
        assert bench.said == ["the helper 1.0.0 speaks protocol 7, not 1"]

    play(story)


def test_it_is_installed_started_used_and_shut_down(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        handle = await attempt(bench, helper_env(tmp_path))
        assert handle is not None
        assert handle.status.protocol_version == 1
        assert (await handle.client.framework()).primary == "native"
        await handle.shutdown()
        await bench.until(lambda: not bench.phone.ports)
        await handle.shutdown()
        assert versions(bench) == [1, 1]

    play(story)


def test_shutdown_takes_the_packages_off_when_asked_to(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        handle = await attempt(bench, helper_env(tmp_path))
        assert handle is not None
        await handle.shutdown(uninstall=True)
        assert HELPER not in bench.phone.packages.installed
        assert f"{HELPER}.test" not in bench.phone.packages.installed
        await handle.shutdown(uninstall=True)

    play(story)


def test_only_what_is_missing_or_older_is_installed(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        for code, expected in ((1, 2), (1, 2), (3, 4), (2, 4)):
            handle = await attempt(bench, helper_env(tmp_path, code))
            assert handle is not None, bench.said
            await handle.shutdown()
            await bench.until(lambda: not bench.phone.ports)
            assert installs(bench) == expected
        assert versions(bench) == [3, 3]

    play(story)


def test_a_helper_that_still_runs_is_used_again(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        env = helper_env(tmp_path)
        first = await attempt(bench, env)
        second = await attempt(bench, env)
        assert first is not None
        assert second is not None
        assert second.resident is None
        await second.shutdown()
        await bench.until(lambda: not bench.phone.ports)
        await first.shutdown()

    play(story)


def test_a_running_helper_of_another_protocol_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(bench: Bench) -> None:
        env = helper_env(tmp_path)
        old = await attempt(bench, env)
        assert old is not None
        monkeypatch.setattr(ensure, "HELPER_PROTOCOL_VERSION", 2)
        new = await attempt(bench, env)
        assert new is not None
        assert new.resident is not None
        assert old.resident is not None
        await bench.until(lambda: old.resident is not None and old.resident.ended)
        await new.shutdown()
        await old.shutdown()

    play(story)


def test_a_stop_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def slow(call: Call) -> int:
        running.set()
        await asyncio.Event().wait()
        return 0

    async def story(bench: Bench) -> None:
        bench.phone.instrumentations[HELPER_RUNNER] = slow
        starting = asyncio.ensure_future(attempt(bench, helper_env(tmp_path)))
        await running.wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert bench.said == []

    play(story)


def test_a_phone_that_is_gone_is_one_line_and_no_error(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        link = bench.link
        await link.close()
        assert await attempt(bench, helper_env(tmp_path)) is None
        assert len(bench.said) == 1

    play(story)


def test_manifests_are_read_compiled_and_plain(tmp_path: Path) -> None:
    assert read_manifest(put_apk(tmp_path, "org.example.plain", 12)) == Manifest("org.example.plain", 12)
    path = tmp_path / "compiled.apk"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", compiled_manifest("org.example.binary", 42))
    assert read_manifest(path) == Manifest("org.example.binary", 42)
    for bad in (b"", b"PK\x03\x04", b"\x00" * 200):
        path.write_bytes(bad)
        assert read_manifest(path) is None
    for cut in (0, 8, 30, 60, 150):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("AndroidManifest.xml", compiled_manifest("org.example.binary", 42)[:cut])
        assert read_manifest(path) is None


def test_an_archive_that_unpacks_to_more_than_the_memory_holds_is_no_apk(tmp_path: Path) -> None:
    path = tmp_path / "bomb.apk"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("AndroidManifest.xml", "w") as file,
    ):
        for _ in range(300):
            file.write(b"<" + bytes(1_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read_manifest(path) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"
