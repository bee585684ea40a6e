"""Windows that forbid pictures, and what is done about them."""

from __future__ import annotations

import asyncio
import io

import pytest
from PIL import Image

from handrail.adb.shell import Output
from handrail.android.dumpsys import take_fallback_notes
from handrail.android.screenshot import check_png, find_secure, is_black, take_screenshot
from handrail.errors import AdbCommandError, SecureScreen
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

AWAKE = "@@handrail power\nmWakefulness=Awake\n@@handrail policy\n      showing=false\n"
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
    assert [(one.title, one.package) for one in find_secure(text)] == [(BANK, "com.example.bank")]


@each(
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
    assert find_secure(text) == []


NOTES_IN_FRONT = "  mCurrentFocus=Window{7 u0 a.notes/a.notes.Main}\n"


def test_a_secure_window_of_another_app_does_not_forbid_a_picture_of_this_one() -> None:
    picture = png((1, 200, 3))
    shell = ScriptedShell(ANDROID_14, NOTES_IN_FRONT, picture)
    assert asyncio.run(take_screenshot(shell, 1000)) == picture
    assert "is black in it" in take_fallback_notes(shell)[0]


def test_a_black_picture_beside_a_secure_window_is_refused() -> None:
    with pytest.raises(SecureScreen, match="bank"):
        asyncio.run(take_screenshot(ScriptedShell(ANDROID_14, NOTES_IN_FRONT, png((0, 0, 0))), 1000))


@each(
    "text",
    [
        ANDROID_14.replace("fl=LAYOUT_IN_SCREEN SECURE", "mDisplayId=2\n      fl=LAYOUT_IN_SCREEN SECURE"),
        ANDROID_14.replace("fl=LAYOUT_IN_SCREEN SECURE", "mViewVisibility=0x8\n      fl=SECURE"),
        ANDROID_14.replace("LAYOUT_IN_SCREEN SECURE", "LAYOUT_IN_SCREEN\n      pfl=SECURE"),
    ],
)
def test_a_secure_window_on_another_display_or_hidden_does_not_count(text: str) -> None:
    assert find_secure(text) == []


def test_a_vendors_words_after_a_windows_title_are_not_part_of_it() -> None:
    vendor = ANDROID_14.replace(f"6 u0 {BANK}", f"com.example.bank:6 u0 {BANK} type=1 ")
    assert [one.title for one in find_secure(vendor)] == [BANK]


# several displays

FOLD = """  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, \
uniqueId='local:4619827677550801153', physicalPort=1, orientation=0, logicalFrame=Rect(0, 0 - 2076, 2152), \
physicalFrame=Rect(0, 0 - 2076, 2152), deviceWidth=2076, deviceHeight=2152}]
"""
WARNING = b"[Warning] Multiple displays were found, but no display id was specified!\n"


@pytest.mark.parametrize(
    "first", [WARNING + png((1, 2, 3)), Output(png((1, 2, 3)), WARNING, 0)], ids=["stdout", "stderr"]
)
def test_of_several_displays_the_shown_one_is_taken(first: bytes | Output) -> None:
    inner, outer = png((9, 9, 200)), png((9, 200, 9))
    folded = FOLD.replace("801153", "801152")
    shell = ScriptedShell("", first, FOLD, inner, "", folded, outer)
    assert asyncio.run(take_screenshot(shell, 1000)) == inner
    assert asyncio.run(take_screenshot(shell, 1000)) == outer
    taken = [asked for asked in shell.asked if "screencap" in asked]
    named = [f"screencap -p -d 46198276775508011{end}" for end in (53, 52)]
    assert taken == ["screencap -p", *named]


def test_in_doubt_about_the_display_there_is_no_picture() -> None:
    with pytest.raises(AdbCommandError, match="several displays"):
        asyncio.run(take_screenshot(ScriptedShell("", WARNING + png((1, 2, 3)), ""), 1000))


def test_a_black_picture_of_a_window_that_came_meanwhile_is_doubted() -> None:
    with pytest.raises(SecureScreen):
        asyncio.run(take_screenshot(ScriptedShell("", png((0, 0, 0), bar=True), ANDROID_14), 1000))


def test_a_dark_app_that_forbids_nothing_may_be_black() -> None:
    black = png((0, 0, 0))
    assert asyncio.run(take_screenshot(ScriptedShell("", black, "", AWAKE), 1000)) == black


def test_a_black_picture_of_a_screen_that_is_off_says_so() -> None:
    asleep = AWAKE.replace("Awake", "Asleep")
    with pytest.raises(AdbCommandError, match="The screen is off") as caught:
        asyncio.run(take_screenshot(ScriptedShell("", png((0, 0, 0)), "", asleep), 1000))
    assert "wakeup" in caught.value.hint


def test_black_is_what_shows_nothing_below_the_status_bar() -> None:
    assert is_black(png((0, 0, 0), bar=True))
    assert not is_black(png((18, 18, 18)))


def test_a_warning_before_the_picture_is_cut_off() -> None:
    picture = png((1, 2, 3))
    assert check_png(b"[Warning] Multiple displays were found\n" + picture) == picture


@each("data", [b"", b"/system/bin/sh: screencap: not found", png((1, 2, 3))[:-9]])
def test_what_is_not_a_whole_picture_is_an_error(data: bytes) -> None:
    with pytest.raises(AdbCommandError, match=r"screencap -p"):
        asyncio.run(take_screenshot(ScriptedShell("", Output(data, b"", 0)), 1000))
