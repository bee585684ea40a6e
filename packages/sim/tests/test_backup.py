"""`adb backup`: asked for on the screen, refused, forgotten, granted."""

from __future__ import annotations

import asyncio
import io
import tarfile
import zlib

from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.services import HEADER
from tests.hand import Hand
from tests.host import Host

NOTES, BANK = "com.handrail.notes", "com.handrail.bank"


def story_of(answer: str | None, wanted: str) -> tuple[bytes, Hand]:
    async def story() -> tuple[bytes, Hand]:
        hand = Hand(apps=["notes", "bank"])
        await hand.open(NOTES)
        host = Host(Adbd(hand.phone))
        await host.connect()
        assert await host.talk(f"backup: {wanted}", ident=5) == b""
        assert hand.sees("Full backup")
        if answer is None:
            await hand.wait(61_000)
        else:
            await hand.tap(answer)
        got = b"".join(packet.payload for packet in await host.packets())
        host.connection.adbd.stop()
        return got, hand

    return asyncio.run(story())


def names(data: bytes) -> list[str]:
    assert data.startswith(HEADER)
    with tarfile.open(fileobj=io.BytesIO(zlib.decompress(data[len(HEADER) :]))) as tar:
        return tar.getnames()


def test_a_backup_that_is_allowed_has_the_data_of_apps_that_can_be_debugged() -> None:
    got, hand = story_of("Back up my data", f"'{NOTES}' '{BANK}'")
    found = names(got)
    assert f"apps/{NOTES}/_manifest" in found
    assert any(name.startswith(f"apps/{NOTES}/db/") for name in found)
    assert not any(BANK in name for name in found)
    assert not hand.sees("Full backup")


def test_only_what_was_asked_for_is_in_it() -> None:
    got, _ = story_of("Back up my data", BANK)
    assert names(got) == []


def test_a_refused_or_forgotten_backup_sends_nothing() -> None:
    assert story_of("Do not back up", "-all")[0] == b""
    assert story_of(None, "-all")[0] == b""
