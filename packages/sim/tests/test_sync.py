from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable

import pytest

from handrail_sim.adbd.sync import Sync
from handrail_sim.adbd.wire import SYNC_HEADER, SYNC_STAT, SYNC_STAT_V2, U32
from handrail_sim.clock import ManualClock
from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import CAPACITY
from handrail_sim.stream import Reader, pair

TMP = "/data/local/tmp"
MTIME = 1_700_000_000


class Client:
    """The host's side of a sync session."""

    def __init__(self) -> None:
        self.files = Files(ManualClock())
        self.stream, self.inside = pair()
        self.reader = Reader(self.stream)

    async def ask(self, name: bytes, path: str, extra: bytes = b"") -> None:
        await self.stream.write(SYNC_HEADER.pack(name, len(path.encode())) + path.encode() + extra)

    async def data(self, content: bytes, mtime: int = MTIME) -> None:
        for at in range(0, len(content), 65536):
            part = content[at : at + 65536]
            await self.stream.write(SYNC_HEADER.pack(b"DATA", len(part)) + part)
        await self.stream.write(SYNC_HEADER.pack(b"DONE", mtime))

    async def answer(self) -> tuple[bytes, bytes]:
        """The letters of a record, and the text of a FAIL."""
        name, length = SYNC_HEADER.unpack(await self.reader.exactly(8))
        return name, await self.reader.exactly(length) if name == b"FAIL" else b""

    async def content(self) -> bytes:
        parts = []
        while True:
            name, length = SYNC_HEADER.unpack(await self.reader.exactly(8))
            if name == b"DONE":
                return b"".join(parts)
            assert name == b"DATA"
            assert length <= 65536
            parts.append(await self.reader.exactly(length))

    async def push(self, path: str, content: bytes = b"x", mode: int = 0o100644) -> tuple[bytes, bytes]:
        await self.ask(b"SEND", f"{path},{mode}")
        await self.data(content)
        return await self.answer()


def sync_test(test: Callable[[Client], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        async def story() -> None:
            client = Client()
            session = asyncio.ensure_future(Sync(client.files.as_shell()).serve(client.inside))
            await test(client)
            if not session.done():
                await client.ask(b"QUIT", "")
            await asyncio.wait([session])
            session.exception()

        asyncio.run(story())

    run.__name__ = test.__name__
    return run


@sync_test
async def test_a_pushed_file_comes_back_as_it_went(client: Client) -> None:
    content = bytes(range(256)) * 1000
    assert await client.push(f"{TMP}/a.bin", content) == (b"OKAY", b"")
    found = client.files.stat(f"{TMP}/a.bin")
    assert (found.mtime, found.size) == (MTIME, len(content))
    await client.ask(b"RECV", f"{TMP}/a.bin")
    assert await client.content() == content


@sync_test
async def test_the_owners_permissions_are_given_to_everybody(client: Client) -> None:
    await client.push(f"{TMP}/tool", mode=0o100700)
    assert client.files.stat(f"{TMP}/tool").permissions == "-rwxrwxrwx"


@sync_test
async def test_version_two_of_send_and_receive(client: Client) -> None:
    await client.ask(b"SND2", f"{TMP}/v2", b"SND2" + U32.pack(0o100600) + U32.pack(0))
    await client.data(b"two")
    assert await client.answer() == (b"OKAY", b"")
    await client.ask(b"RCV2", f"{TMP}/v2", b"RCV2" + U32.pack(0))
    assert await client.content() == b"two"


@sync_test
async def test_compression_that_was_not_offered_is_refused(client: Client) -> None:
    await client.ask(b"SND2", f"{TMP}/v2", b"SND2" + U32.pack(0o100600) + U32.pack(1))
    await client.data(b"two")
    assert (await client.answer())[0] == b"FAIL"
    await client.ask(b"RCV2", f"{TMP}/v2", b"RCV2" + U32.pack(2))
    assert (await client.answer())[0] == b"FAIL"


@sync_test
async def test_missing_folders_are_made(client: Client) -> None:
    assert await client.push("/sdcard/new/deep/file") == (b"OKAY", b"")
    assert client.files.read("/sdcard/new/deep/file") == b"x"


@sync_test
async def test_failures_say_what_android_says_and_the_session_goes_on(client: Client) -> None:
    assert await client.push("/system/x") == (b"FAIL", b"couldn't create file: Read-only file system")
    assert await client.push("/data/data/x") == (b"FAIL", b"couldn't create file: Permission denied")
    assert await client.push("/sdcard/Download") == (b"FAIL", b"couldn't create file: Is a directory")
    text = b"secure_mkdirs failed: Read-only file system"
    assert await client.push("/system/new/x") == (b"FAIL", text)
    await client.ask(b"RECV", "/sdcard/none")
    assert await client.answer() == (b"FAIL", b"open failed: No such file or directory")
    await client.ask(b"RECV", "/sdcard/Download")
    assert await client.answer() == (b"FAIL", b"read failed: Is a directory")
    assert await client.push(f"{TMP}/ok") == (b"OKAY", b"")


@sync_test
async def test_a_full_disk_fails_after_the_host_has_sent_everything(client: Client) -> None:
    client.files._disk.used = CAPACITY - 1000
    assert await client.push(f"{TMP}/big", bytes(200_000)) == (
        b"FAIL",
        b"write failed: No space left on device",
    )
    assert not client.files.exists(f"{TMP}/big")


@sync_test
async def test_a_link_is_pushed_as_a_link(client: Client) -> None:
    assert await client.push(f"{TMP}/link", b"/sdcard\0", 0o120777) == (b"OKAY", b"")
    assert client.files.readlink(f"{TMP}/link") == "/sdcard"


@sync_test
async def test_a_link_that_leads_nowhere_takes_no_file(client: Client) -> None:
    client.files.symlink("/data/local/none/x", f"{TMP}/loose")
    refused = (b"FAIL", b"couldn't create file: No such file or directory")
    assert await client.push(f"{TMP}/loose") == refused


@sync_test
async def test_the_first_stat_shows_links_and_zeros_for_what_is_not_there(client: Client) -> None:
    await client.ask(b"STAT", "/sdcard")
    assert SYNC_STAT.unpack(await client.reader.exactly(16))[1] >> 12 == 0o12
    await client.ask(b"STAT", "/none")
    assert await client.reader.exactly(16) == b"STAT" + bytes(12)


@sync_test
async def test_the_second_stat_follows_links_and_names_errors(client: Client) -> None:
    await client.ask(b"STA2", "/sdcard")
    assert SYNC_STAT_V2.unpack(await client.reader.exactly(72))[4] >> 12 == 0o4
    await client.ask(b"LST2", "/sdcard")
    assert SYNC_STAT_V2.unpack(await client.reader.exactly(72))[4] >> 12 == 0o12
    await client.ask(b"STA2", "/none")
    assert SYNC_STAT_V2.unpack(await client.reader.exactly(72))[1] == errno.ENOENT
    await client.ask(b"STA2", "/data/system/x/y")
    assert SYNC_STAT_V2.unpack(await client.reader.exactly(72))[1] == errno.ENOENT


@sync_test
async def test_listing_in_both_versions(client: Client) -> None:
    client.files.write(f"{TMP}/one", b"123")
    await client.ask(b"LIST", TMP)
    names = []
    while (head := SYNC_STAT.unpack(await client.reader.exactly(16)))[0] == b"DENT":
        names.append((await client.reader.exactly(*U32.unpack(await client.reader.exactly(4))), head[2]))
    assert await client.reader.exactly(4) == bytes(4)
    assert names[-1] == (b"one", 3)
    assert [name for name, _ in names] == [b".", b"..", b"one"]
    await client.ask(b"LIS2", TMP)
    sizes = {}
    while (record := SYNC_STAT_V2.unpack(await client.reader.exactly(72)))[0] == b"DNT2":
        sizes[await client.reader.exactly(*U32.unpack(await client.reader.exactly(4)))] = record[8]
    assert await client.reader.exactly(4) == bytes(4)
    assert sizes[b"one"] == 3


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (SYNC_HEADER.pack(b"STAT", 5000), b"path too long"),
        (SYNC_HEADER.pack(b"EVIL", 0), b"unknown command EVIL"),
        (SYNC_HEADER.pack(b"SEND", 9) + b"/tmp/x,33" + SYNC_HEADER.pack(b"WHAT", 0), b""),
        (
            SYNC_HEADER.pack(b"SEND", 23)
            + b"/data/local/tmp/x,33188"
            + SYNC_HEADER.pack(b"DATA", 100_000_000),
            b"oversize data message",
        ),
    ],
)
def test_nonsense_ends_the_session(sent: bytes, text: bytes) -> None:
    async def story() -> None:
        client = Client()
        session = asyncio.ensure_future(Sync(client.files.as_shell()).serve(client.inside))
        await client.stream.write(sent)
        if text:
            assert await client.answer() == (b"FAIL", text)
        await asyncio.wait([session])
        session.exception()

    asyncio.run(story())


def test_half_a_file_is_not_kept() -> None:
    async def story() -> None:
        client = Client()
        session = asyncio.ensure_future(Sync(client.files.as_shell()).serve(client.inside))
        await client.ask(b"SEND", f"{TMP}/half,33188")
        await client.stream.write(SYNC_HEADER.pack(b"DATA", 1000) + bytes(500))
        client.stream.close()
        await asyncio.wait([session])
        assert isinstance(session.exception(), EOFError)
        assert not client.files.exists(f"{TMP}/half")

    asyncio.run(story())
