"""The app in front, from the words of Android 8 to 15."""

from __future__ import annotations

import asyncio

from handrail.android.dumpsys import parse_foreground, read_foreground, take_fallback_notes
from handrail.surface.values import Foreground
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

SETTINGS = Foreground("com.android.settings", "com.android.settings.Settings")


def test_with_two_apps_side_by_side_the_one_on_top_counts() -> None:
    text = """
    topResumedActivity=ActivityRecord{1 u0 com.example.one/.Main t1}
    mResumedActivity: ActivityRecord{2 u0 com.example.two/.Main t2}
    """
    assert parse_foreground(text) == Foreground("com.example.one", "com.example.one.Main")


def test_an_inner_class_keeps_its_dollar() -> None:
    text = "topResumedActivity=ActivityRecord{1 u0 com.android.settings/.Settings$WifiSettingsActivity t1}"
    found = parse_foreground(text)
    assert found == Foreground("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")


def test_windows_are_asked_only_where_activities_name_nobody() -> None:
    shell = ScriptedShell("", "mFocusedApp=ActivityRecord{3f9e1a8 u0 com.android.settings/.Settings t12}")
    assert asyncio.run(read_foreground(shell, 1000)) == SETTINGS
    assert ["activity" in asked for asked in shell.asked] == [True, False]
    assert asyncio.run(read_foreground(ScriptedShell("", ""), 1000)) == Foreground("", "")


# several displays, several tasks, windows without an activity

ONE, TWO = Foreground("a.one", "a.one.Main"), Foreground("a.two", "a.two.Main")
SPLIT = """Display #0 (activities from top to bottom):
    topResumedActivity=ActivityRecord{1 u0 a.one/.Main t1}
    topResumedActivity=ActivityRecord{2 u0 a.two/.Main t2}
"""
COVER = """Display #1 (activities from top to bottom):
    topResumedActivity=ActivityRecord{1 u0 a.one/.Main t1}
Display #0 (activities from top to bottom):
    topResumedActivity=ActivityRecord{2 u0 a.two/.Main t2}
"""


@each(
    ("text", "front"),
    [
        (SPLIT, None),
        (SPLIT + "  ResumedActivity: ActivityRecord{2 u0 a.two/.Main t2}\n", TWO),
        (COVER, TWO),
        (COVER + "  ResumedActivity: ActivityRecord{1 u0 a.one/.Main t1}\n", TWO),
        ("  mLastPausedActivity: ActivityRecord{2 u0 a.two/.Main t2}\n", None),
        (
            "mFocusedApp=ActivityRecord{1 u0 a.one/.Main t1}\nmFocusedApp=ActivityRecord{2 u0 a.two/.Main}",
            None,
        ),
        ("mCurrentFocus=Window{1 u0 a.one/a.one.Main type=1 }\nmCurrentFocus=null\n", ONE),
        ("mCurrentFocus=Window{1 u0 a.one/a.one.Main EXITING}\n", ONE),
        ("mCurrentFocus=Window{1 u0 a.one/a.one.Main}\nmCurrentFocus=Window{2 u0 a.two/a.two.Main}", None),
        ("mCurrentFocus=Window{1 u0 a.panel}\nmFocusedApp=ActivityRecord{2 u0 a.two/.Main t2}\n", TWO),
        ("mCurrentFocus=Window{1 u0 PopupWindow:3f}\nmFocusedApp=ActivityRecord{2 u0 a.two/.Main t2}\n", TWO),
        ("mCurrentFocus=Window{1 u0 a.panel}\n", Foreground("a.panel", "")),
        (
            "  Display: mDisplayId=4\n  mCurrentFocus=Window{1 u0 a.one/a.one.Main}\n"
            "  Display: mDisplayId=0\n  mCurrentFocus=Window{2 u0 a.two/a.two.Main}\n",
            TWO,
        ),
    ],
)
def test_one_app_is_in_front_or_nobody_is_named(text: str, front: Foreground | None) -> None:
    assert parse_foreground(text) == front


def test_a_fallback_is_told_once() -> None:
    focus = "mCurrentFocus=Window{1 u0 a.one/a.one.Main}"
    shell = ScriptedShell("", focus, "", focus)
    for _ in range(2):
        assert asyncio.run(read_foreground(shell, 1000)) == ONE
    assert len(take_fallback_notes(shell)) == 1
