"""Sizes and rotation out of what `wm` and `dumpsys window displays` of many Androids say."""

from __future__ import annotations

import pytest

from handrail.android.facts import parse_display
from handrail.errors import AdbCommandError
from handrail.surface.values import Display

WM = "Physical size: 1080x2400\nPhysical density: 420\n"
OVERRIDDEN = (
    "Physical size: 1440x3120\nOverride size: 1080x2340\nPhysical density: 560\nOverride density: 420\n"
)
ANDROID_14 = """  Display: mDisplayId=0 (organized)
    init=1080x2400 420dpi mMinSizeOfResizeableTaskDp=220 cur=2400x1080 app=2274x1080 rng=1080x954-2400x2274
    mRotation=1 mDeferredRotationPauseCount=0
      mRotation=ROTATION_90
"""
ANDROID_9 = """  Display: mDisplayId=0
    init=1080x1920 420dpi cur=1920x1080 app=1794x1080 rng=1080x1017-1794x1731
    mDisplayRotation=ROTATION_270
"""
ANDROID_8 = """  Display: mDisplayId=0
    init=1080x1920 480dpi cur=1920x1080 app=1776x1080 rng=1080x1008-1776x1704
"""
TWO_DISPLAYS = """  Display: mDisplayId=0
    init=1080x2400 420dpi cur=1080x2400 app=1080x2274
    mRotation=0
  Display: mDisplayId=2
    init=1920x1080 160dpi cur=1920x1080 app=1920x1080
    mRotation=3
"""


@pytest.mark.parametrize(
    ("text", "display"),
    [
        (WM, Display(1080, 2400, 420, 0)),
        (WM + ANDROID_14, Display(2400, 1080, 420, 1)),
        (OVERRIDDEN + "mRotation=ROTATION_0\n", Display(1080, 2340, 420, 0)),
        (OVERRIDDEN + "mCurrentRotation=ROTATION_180\n", Display(1080, 2340, 420, 2)),
        ("Physical size: 1080x1920\nPhysical density: 420\n" + ANDROID_9, Display(1920, 1080, 420, 3)),
        ("Physical size: 1080x1920\nPhysical density: 480\n" + ANDROID_8, Display(1920, 1080, 480, 1)),
        (WM + TWO_DISPLAYS, Display(1080, 2400, 420, 0)),
        (ANDROID_14, Display(2400, 1080, 160, 1)),
    ],
)
def test_the_display_is_read_as_it_is_turned(text: str, display: Display) -> None:
    assert parse_display(text) == display


def test_a_phone_that_does_not_tell_its_size_is_an_error_with_its_words() -> None:
    with pytest.raises(AdbCommandError, match="Can't find service: window"):
        parse_display("cmd: Can't find service: window\n")
