"""Video of a phone: one recording for all who watch, nothing that pictures hide, no waiting for the slow."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import ImageChops

from handrail.android import video as recording
from handrail.desk.hub import MOST_VIDEO, DeskClient, FrameRing
from handrail.web_server.phone import Phones
from tests.scenario.world import FastClock, World, play, until, world
from tests.unit.web_server.door import unpack

ASYNC_RUNNER = play

av = pytest.importorskip("av")

SETTINGS, BANK = "com.android.settings", "com.handrail.bank/.CodeActivity"
RESTLESS = "com.handrail.trouble/.RestlessActivity"


class Eye:
    """Somebody who watches and keeps what came; `fast` is False for one that takes nothing any more."""

    def __init__(self) -> None:
        self.headers: list[dict[str, Any]] = []
        self.data = b""
        self.fast = True

    def offer_video(self, data: bytes, key: str, *, is_key: bool) -> bool:
        header, body = unpack(data)
        assert header["device"] == key
        if not self.fast and not is_key:
            return False
        self.headers.append(header)
        self.data += body
        return True

    def drop_video(self, key: str) -> None: ...

    @property
    def problems(self) -> list[str]:
        return [header["problem"]["code"] for header in self.headers if "problem" in header]

    def keys(self) -> int:
        return sum(header.get("key", False) for header in self.headers)

    def last_picture(self) -> Any:
        with av.open(io.BytesIO(self.data), format="h264") as stream:
            return [frame.to_image() for frame in stream.decode(video=0)][-1]


async def recordings(w: World) -> int:
    """How many the phone itself has running."""
    listed = await w.session.surface.inner.device.shell.run(["ps", "-A", "-o", "ARGS"], check=False)  # type: ignore[attr-defined]
    return sum("screenrecord" in line for line in listed.text.splitlines())


async def shows_the_screen(w: World, eye: Eye) -> bool:
    shown = await asyncio.to_thread(eye.last_picture)
    wanted = w.phone.frame().image().resize(shown.size).convert("L").tobytes()
    pairs = zip(wanted, shown.convert("L").tobytes(), strict=True)
    return sum(abs(a - b) for a, b in pairs) / len(wanted) < 6


async def strong_differences(w: World, eye: Eye) -> bool:
    """Letters that the phone shows and the video does not, or the other way round."""
    shown = await asyncio.to_thread(eye.last_picture)
    now = w.phone.frame().image().resize(shown.size).convert("L")
    height = now.height // 2  # above the keyboard
    box = (0, 40, now.width, height)
    apart = ImageChops.difference(now.crop(box), shown.convert("L").crop(box))
    return apart.point(lambda value: value > 90).getbbox() is not None


async def test_one_recording_serves_all_who_watch_and_ends_with_the_last(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones, one, other = Phones(w.runtime), Eye(), Eye()
        await w.open(SETTINGS)
        phones.videos.watch(w.serial, one)
        await until(lambda: one.headers)
        assert one.headers[0]["key"]
        assert one.headers[0]["codec"].startswith("avc1.")
        assert (one.headers[0]["w"], one.headers[0]["h"]) == (1080, 2400)
        phones.videos.watch(w.serial, other)
        assert other.headers[-1] == one.headers[-1]  # who comes later need not wait for a change
        assert other.headers[0]["key"]
        assert await recordings(w) == 1
        await w.session.tap("Display")
        await until(lambda: shows_the_screen(w, one))
        await until(lambda: shows_the_screen(w, other))
        assert phones.watcher_count(w.serial) == 2
        phones.videos.unwatch(w.serial, one)
        assert await recordings(w) == 1
        phones.leave(other)  # type: ignore[arg-type]
        await until(lambda: _none(w))
        await phones.close()


async def _none(w: World) -> bool:
    return await recordings(w) == 0


async def test_a_recording_is_renewed_before_androids_limit_and_no_picture_is_lost_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "RENEW_MS", 700.0)
    monkeypatch.setattr(recording, "BETWEEN_MS", 200.0)
    async with world(tmp_path) as w:
        phones, eye = Phones(w.runtime), Eye()
        w.phone.start_activity(RESTLESS)
        phones.videos.watch(w.serial, eye)
        await until(lambda: eye.keys() >= 3)
        numbers = [header["n"] for header in eye.headers]
        assert numbers == list(range(1, len(numbers) + 1))
        assert eye.problems == []
        await until(lambda: _at_most_one(w))
        await phones.close()


async def _at_most_one(w: World) -> bool:
    return await recordings(w) == 1


async def test_a_screen_that_forbids_pictures_ends_the_video_and_is_told(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones, eye = Phones(w.runtime), Eye()
        await w.open(SETTINGS)
        phones.videos.watch(w.serial, eye)
        await until(eye.keys)
        w.phone.start_activity(BANK)
        await until(lambda: eye.problems == ["SECURE_SCREEN"])
        late = Eye()
        phones.videos.watch(w.serial, late)
        assert late.problems == ["SECURE_SCREEN"]  # nothing of before is kept for those who come
        await until(lambda: _none(w))
        before = eye.keys()
        await w.session.press_key("home")
        await until(lambda: eye.keys() > before)
        await phones.close()


async def test_where_a_secret_was_used_there_is_no_video_any_more(tmp_path: Path) -> None:
    env = {"HANDRAIL_SECRET_PIN": "kingfisher-71"}
    async with world(tmp_path, env=env) as w:
        phones, eye = Phones(w.runtime), Eye()
        await w.open("com.google.android.contacts")
        await w.session.tap("Create new contact")
        phones.videos.watch(w.serial, eye)
        await until(eye.keys)
        typed = await w.session.type_text("${secret:PIN}", target="First name")
        assert typed.success, typed.to_json()
        await until(lambda: eye.problems == ["UNSUPPORTED"])
        await until(lambda: _none(w))
        assert await strong_differences(w, eye)  # the phone shows the secret, the video never did
        phones.videos.watch(w.serial, again := Eye())
        await until(lambda: again.problems == ["UNSUPPORTED"])
        assert again.keys() == 0
        await phones.close()


async def test_a_phone_without_an_encoder_says_so_and_is_shown_by_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    async with world(tmp_path) as w:
        phones, eye = Phones(w.runtime), Eye()
        phones.videos.watch(w.serial, eye)
        await until(lambda: eye.problems == ["UNSUPPORTED"])
        assert "video/avc" in eye.headers[-1]["problem"]["message"]
        await phones.close()


async def test_a_phone_whose_first_picture_does_not_come_is_shown_by_pictures(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(speed=30)) as w:
        phones, eye = Phones(w.runtime), Eye()
        w.phone.faults.add("latency", command="screenrecord", ms=100_000)
        phones.videos.watch(w.serial, eye)
        await until(lambda: eye.problems == ["UNSUPPORTED"])
        await phones.close()


class Source:
    """A hub with nothing to tell."""

    def __init__(self) -> None:
        self.ring = FrameRing(0)

    def snapshot_frame(self) -> str:
        return "snapshot"

    def leave(self, client: DeskClient) -> None: ...


def test_a_slow_browser_goes_on_at_a_key_picture_and_gets_no_picture_that_lacks_its_past() -> None:
    async def story() -> None:
        client = DeskClient("slow", Source(), 0)
        assert not client.offer_video(b"delta", "a", is_key=False)  # it came in the middle
        assert client.offer_video(b"key", "a", is_key=True)
        assert client.offer_video(b"other", "b", is_key=True)
        taken = [client.offer_video(b"%d" % n, "a", is_key=False) for n in range(MOST_VIDEO + 5)]
        assert taken == [True] * (MOST_VIDEO - 1) + [False] * 6
        assert await anext(client) == b"other"  # another phone's video is not touched
        assert client.offer_video(b"key 2", "a", is_key=True)
        assert client.offer_video(b"delta 2", "a", is_key=False)
        assert [await anext(client) for _ in range(2)] == [b"key 2", b"delta 2"]
        client.drop_video("a")
        assert not client.offer_video(b"delta 3", "a", is_key=False)

    asyncio.run(story())


async def test_a_browser_that_fell_behind_makes_the_phone_give_a_key_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BETWEEN_MS", 300.0)
    async with world(tmp_path) as w:
        phones, eye, slow = Phones(w.runtime), Eye(), Eye()
        w.phone.start_activity(RESTLESS)
        phones.videos.watch(w.serial, eye)
        phones.videos.watch(w.serial, slow)
        await until(slow.keys)
        before, slow.fast = slow.keys(), False
        await until(lambda: slow.keys() > before)
        assert [one["n"] for one in eye.headers] == list(range(1, len(eye.headers) + 1))
        await phones.close()
