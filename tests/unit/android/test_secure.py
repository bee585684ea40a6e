"""Windows that forbid pictures, and what is done about them."""

from __future__ import annotations

import asyncio
import io

import pytest
from PIL import Image

from handrail.adb.shell import Output
from handrail.android.picture import find_secure, is_black, take_picture, whole_png
from handrail.errors import AdbCommandError, SecureScreen
from tests.unit.android.said import Said

BANK = "com.example.bank/com.example.bank.Login"
ANDROID_14 = f"""  Window #0 Window{{5 u0 StatusBar}}:
      fl=NOT_FOCUSABLE LAYOUT_IN_SCREEN
    isOnScreen=true
    isVisible=true
  Window #1 Window{{6 u0 {BANK}}}:
      fl=LAYOUT_IN_SCREEN SECURE HARDWARE_ACCELERATED
    mHasSurface=true isReadyForDisplay()=true
    isOnScreen=true
    isVisible=true
"""
ANDROID_8 = f"""  Window #7 Window{{6 u0 {BANK}}}:
    mAttrs=WM.LayoutParams{{(0,0)(fillxfill) sim=#20 ty=1 fl=#81812100 pfl=0x20000 wanim=0x103046a}}
    mHasSurface=true mShownPosition=[0,0] isReadyForDisplay()=true
"""


def png(colour: tuple[int, int, int], bar: bool = False) -> bytes:
    image = Image.new("RGB", (240, 480), colour)
    if bar:
        image.paste((255, 255, 255), (0, 0, 240, 20))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("text", [ANDROID_14, ANDROID_8])
def test_a_secure_window_is_named(text: str) -> None:
    assert find_secure(text) == BANK


@pytest.mark.parametrize(
    "text",
    [
        "",
        ANDROID_14.replace("SECURE ", ""),
        ANDROID_8.replace("#81812100", "#81810100"),
        ANDROID_14.replace("isOnScreen=true\n    isVisible=true\n", "isOnScreen=false\n").replace(
            "StatusBar", "x"
        ),
        ANDROID_8.replace("mHasSurface=true", "mHasSurface=false"),
    ],
)
def test_windows_that_are_open_or_not_shown_do_not_count(text: str) -> None:
    assert find_secure(text) is None


def test_a_secure_window_is_told_before_a_picture_is_taken() -> None:
    shell = Said(ANDROID_14)
    with pytest.raises(SecureScreen, match="bank") as caught:
        asyncio.run(take_picture(shell, 1000))
    assert caught.value.details["window"] == BANK
    assert len(shell.asked) == 1


def test_a_black_picture_of_a_window_that_came_meanwhile_is_doubted() -> None:
    with pytest.raises(SecureScreen):
        asyncio.run(take_picture(Said("", png((0, 0, 0), bar=True), ANDROID_14), 1000))


def test_a_dark_app_that_forbids_nothing_may_be_black() -> None:
    black = png((0, 0, 0))
    assert asyncio.run(take_picture(Said("", black, ""), 1000)) == black


def test_black_is_what_shows_nothing_below_the_status_bar() -> None:
    assert is_black(png((0, 0, 0), bar=True))
    assert not is_black(png((18, 18, 18)))


def test_a_warning_before_the_picture_is_cut_off() -> None:
    picture = png((1, 2, 3))
    assert whole_png(b"[Warning] Multiple displays were found\n" + picture) == picture


@pytest.mark.parametrize("data", [b"", b"/system/bin/sh: screencap: not found", png((1, 2, 3))[:-9]])
def test_what_is_not_a_whole_picture_is_an_error(data: bytes) -> None:
    with pytest.raises(AdbCommandError, match=r"screencap -p"):
        asyncio.run(take_picture(Said("", Output(data, b"", 0)), 1000))
