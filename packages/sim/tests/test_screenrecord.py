"""`screenrecord`: the video that a player opens shows what the screen showed, for as long."""

from __future__ import annotations

import asyncio
import sys
from io import BytesIO
from typing import Any

import pytest

from handrail_sim.shell import capture
from tests.shell_person import FRAME_MS, new_phone, shell

av = pytest.importorskip("av")


def pictures(data: bytes, form: str | None = None) -> list[Any]:
    with av.open(BytesIO(data), format=form) as video:
        return [(frame.time, frame.to_image()) for frame in video.decode(video=0)]


def test_the_video_has_the_screens_that_were_shown_at_their_times() -> None:
    phone = new_phone(["launcher", "settings"])

    async def record() -> None:
        command = "screenrecord --size 216x480 --time-limit 4 /sdcard/a.mp4"
        work = asyncio.ensure_future(capture(phone, command))
        while not work.done():
            await phone.clock.advance(FRAME_MS)  # type: ignore[attr-defined]
            await phone.painted(lambda: None)  # time stands still while a picture is painted
            if 2000 <= phone.clock.monotonic_ms() < 2000 + FRAME_MS:
                phone.start_activity(package="com.android.settings")
            if 500 <= phone.clock.monotonic_ms() < 1000:
                assert phone.files.exists("/sdcard/a.mp4"), "the file is there while it is recorded"
            await asyncio.sleep(0)
        assert work.result().status == 0

    asyncio.run(record())
    shown = pictures(phone.files.read("/sdcard/a.mp4"))
    assert shown[0][0] == 0
    assert 3.8 <= shown[-1][0] <= 4.2
    home = [picture for at, picture in shown if at < 1.9][-1]
    later = shown[-1][1]
    assert home.size == (216, 480)
    assert home.tobytes() != later.tobytes()
    wanted = phone.frame().image().resize((216, 480)).convert("L")
    difference = sum(abs(a - b) for a, b in zip(wanted.tobytes(), later.convert("L").tobytes(), strict=True))
    assert difference / (216 * 480) < 8


def test_a_bare_stream_goes_to_stdout() -> None:
    answer = shell("screenrecord --output-format=h264 --size 216x480 --time-limit 1 -", phone=new_phone())
    assert answer.status == 0
    assert answer.stdout.startswith((b"\0\0\0\x01", b"\0\0\x01"))
    assert pictures(answer.stdout, "h264")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "Must specify output file (see --help).\n"),
        ("--time-limit 0 /sdcard/a.mp4", "Time limit 0s outside acceptable range [1,180]\n"),
        ("--size big /sdcard/a.mp4", "Invalid size 'big', must be width x height\n"),
    ],
)
def test_wrong_options_are_refused(words: str, said: str) -> None:
    answer = shell(f"screenrecord {words}")
    assert (answer.status, answer.errors) == (2, said)


def test_a_host_without_encoder_is_an_android_without_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    phone = new_phone()
    answer = shell("screenrecord --time-limit 1 /sdcard/a.mp4", phone=phone)
    assert (answer.status, answer.errors) == (1, "ERROR: unable to create video/avc codec instance\n")
    assert not phone.files.exists("/sdcard/a.mp4")
    assert "pip install 'handrail-sim[video]'" in caplog.text
