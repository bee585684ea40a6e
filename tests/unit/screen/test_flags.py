"""The flags in the header."""

from handrail.screen.compact import flags_of
from handrail.screen.parse import parse
from tests.unit.screen.drawn import node, row, screen, windows

APP = node("FrameLayout", node("Button", text="Go", box=row(0), flags="clickable"))


def test_a_plain_screen_has_none() -> None:
    assert flags_of(parse(windows(APP))) == ()


def test_a_keyboard_window_is_flagged() -> None:
    ime = "com.example.inputmethod.latin"
    keyboard = node("FrameLayout", node("android.view.View", text="q", box=(0, 1800, 90, 1900), package=ime),
                    box=(0, 1700, 1080, 2400), package=ime)  # fmt: skip
    assert flags_of(parse(windows(APP, keyboard))) == ("keyboard",)


def test_a_window_that_floats_is_a_dialog() -> None:
    dialog = node(
        "FrameLayout", node("Button", text="OK", box=row(4), flags="clickable"), box=(90, 700, 990, 1500)
    )
    assert flags_of(parse(windows(APP, dialog))) == ("dialog",)


def test_an_alert_inside_the_window_is_a_dialog() -> None:
    title = node("TextView", text="Delete?", box=row(4), resource_id="android:id/alertTitle")
    assert flags_of(screen(title)) == ("dialog",)


def test_a_spinner_is_loading() -> None:
    assert "loading" in flags_of(screen(node("ProgressBar", box=(400, 900, 680, 1180))))
