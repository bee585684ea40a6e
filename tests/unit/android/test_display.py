"""Sizes and rotation out of what `wm` and `dumpsys window displays` of many Androids say."""

from __future__ import annotations

import asyncio

from handrail.android.dumpsys import parse_display, read_display, shown_panel, take_fallback_notes
from handrail.surface.values import Display
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

UNTURNED = Display(1080, 2400, 420, 0)
WM = "Physical size: 1080x2400\nPhysical density: 420\n"


# several displays, and the sources one by one

OTHER_FIRST = """  Display: mDisplayId=2
    init=500x500 100dpi cur=500x500 app=500x500
    mRotation=1
  Display: mDisplayId=0 (organized)
    init=1080x2400 420dpi base=1080x2400 320dpi cur=2400x1080 app=2257x1080
    mRotation=3
"""
INFO = 'DisplayInfo{"Built-in Screen", displayId %d, real %d x %d, rotation %d, density 420 (1 x 1) dpi}'
LOGICAL = (
    f"  Display 7:\n    mOverrideDisplayInfo={INFO % (7, 500, 500, 2)}\n"
    f"  Display 0:\n    mOverrideDisplayInfo={INFO % (0, 2400, 1080, 1)}\n"
)
MOUNTED_TURNED = (
    "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, "
    "uniqueId='local:42', physicalPort=0, orientation=3, logicalFrame=Rect(0, 0 - 1080, 2400)}]\n"
)


@each(
    ("text", "display"),
    [
        (OTHER_FIRST, Display(2400, 1080, 320, 3)),
        (WM + OTHER_FIRST, Display(2400, 1080, 420, 3)),
        (WM + LOGICAL, Display(2400, 1080, 420, 1)),
        (LOGICAL, Display(2400, 1080, 420, 1)),
        (WM + MOUNTED_TURNED + LOGICAL, Display(2400, 1080, 420, 1)),
        (WM + LOGICAL.replace("Display 0:", "Display 3:").replace("displayId 0", "displayId 3"), UNTURNED),
        (WM + "  Display: mDisplayId=2\n    mRotation=1\n", UNTURNED),
        (WM + "  overrideConfig={1.0 mRotation=ROTATION_90}\n  Display: mDisplayId=0\n", UNTURNED),
    ],
)
def test_only_the_lines_of_display_0_count(text: str, display: Display) -> None:
    assert parse_display(text) == display


def test_windows_are_asked_only_where_the_display_service_tells_no_turn() -> None:
    told = ScriptedShell(WM + LOGICAL)
    assert asyncio.run(read_display(told, 1000)).rotation == 1
    assert take_fallback_notes(told) == []
    silent = ScriptedShell(WM, OTHER_FIRST)
    assert asyncio.run(read_display(silent, 1000)).rotation == 3
    assert ["`dumpsys window displays` did" in line for line in take_fallback_notes(silent)] == [True]


def test_the_panel_of_display_0_is_named_by_the_viewport() -> None:
    assert shown_panel(MOUNTED_TURNED + LOGICAL) == "42"
    assert shown_panel(LOGICAL) is None
