"""The general state: one round trip, every part, and nothing where a device is silent."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.android import dumpsys as parts
from handrail.android.dumpsys import paragraph, parse_state, read_state
from tests.cases import each
from tests.unit.android.sim_phone import Bench, play

OUTPUT = """@@handrail front
  mResumedActivity: ActivityRecord{8468838 u0 com.android.contacts/.activities.PeopleActivity t2}
@@handrail display
Physical size: 1080x2400
Override density: 420
  mRotation=1
@@handrail focus
  mCurrentFocus=Window{423441c u0 StatusBar}
  mGlobalConfiguration={1.0 310mcc260mnc [en_US] ldltr sw411dp w411dp h914dp 420dpi port finger}
@@handrail policy
      showing=false
@@handrail keyboard
mInputShown=true
@@handrail power
mWakefulness=Dozing
@@handrail battery
  status: 3
  level: 84
  scale: 0
@@handrail audio
- STREAM_MUSIC:
   Max: 15
   streamVolume:7
- mode (internal) = VIBRATE
@@handrail call
mCallState=9
@@handrail settings
wifi_on=1
font_scale=1,0
"""


def test_what_changes_on_the_phone_changes_in_the_state() -> None:
    async def story(bench: Bench) -> None:
        phone, shell = bench.phone, bench.device.shell
        for name, value in (("wifi_on", "0"), ("bluetooth_on", "0"), ("airplane_mode_on", "1")):
            phone.put_setting("global", name, value)
        phone.put_setting("secure", "location_mode", "0")
        phone.put_setting("global", "animator_duration_scale", "0")
        phone.battery, phone.volume = 17, 3
        phone.set_dark(True)
        phone.set_rotation(1)
        phone.systemui.open_shade(False)
        state = await read_state(shell)
        assert (state["wifi"], state["bluetooth"], state["airplane_mode"], state["location"]) == (
            False,
            False,
            True,
            False,
        )
        assert (state["battery_percent"], state["volume"], state["animation_scale"]) == (17, 3, 0.0)
        assert (state["dark_mode"], state["orientation"], state["shade_open"]) == (True, "landscape", True)
        assert (state["width"], state["height"]) == (2400, 1080)
        phone.set_awake(False)
        assert (await read_state(shell))["screen_on"] is False

    play(story)


def test_a_silent_device_gives_no_parts_and_no_failure() -> None:
    for text in ("", "error: closed", parts.COMMAND):
        state = parse_state(text)
        assert state == {}
        assert paragraph(state) == ""


def test_no_text_of_an_app_passes_for_another_section() -> None:
    focus = "@@handrail focus\n  mCurrentFocus=Window{1 u0 evil @@handrail battery}\n"
    text = focus + "@@handrail battery\n  level: 50\n"
    assert parts.battery(parts.sections(text)["battery"]) == (50, None)


@settings(max_examples=80)
@given(st.lists(st.sampled_from([*OUTPUT.splitlines(), "null", "", "=", "  level: x", "@@handrail nothing"])))
def test_damaged_output_is_never_an_exception(lines: list[str]) -> None:
    text = "\n".join(lines)
    paragraph(parse_state(text))
    paragraph(parse_state(text[: len(text) // 2]))


# the words of other Androids


def test_android_8_has_no_stream_volume() -> None:
    music = "- STREAM_MUSIC:\n   Max: 25\n   Current: 2 (speaker): 11, 8 (bt): 3\n"
    text = f"- STREAM_RING:\n   Max: 7\n{music}   Devices: %s\n- STREAM_ALARM:\n   Max: 7\n"
    assert parts.music_volume(text % "speaker") == (11, 25)
    assert parts.music_volume(text % "bt") == (3, 25)
    assert parts.music_volume(text % "speaker bt") == (None, None)
    assert parts.music_volume(text.replace("   Devices: %s\n", "")) == (None, None)


@each(("text", "locked"), [
    ("      showing=true\n      mDreamingLockscreen=false", True),
    ("    mShowingLockscreen=true mInputRestricted=false", True),
    ("      showing=false", False),
    ("", None),
])  # fmt: skip
def test_the_lock_screen_has_many_names(text: str, locked: bool | None) -> None:
    assert parts.locked(text) is locked


def test_a_lock_screen_is_no_open_shade() -> None:
    focus = "  mCurrentFocus=Window{ab u0 NotificationShade}"
    assert parts.shade_open(focus, False) is True
    assert parts.shade_open(focus, True) is False
    assert parts.shade_open("  mCurrentFocus=null", False) is False
    assert parts.shade_open("", False) is None


def test_the_busiest_line_is_the_call() -> None:
    assert parts.call("mCallState=0\nmCallState=2") == "active"
    assert parts.call("mCallState=1") == "ringing"
    assert parts.call("") is None


def test_wifi_that_airplane_mode_keeps_off_is_off() -> None:
    assert parts.switch({"wifi_on": "3"}, "wifi_on") is False
    assert parts.switch({"wifi_on": "2"}, "wifi_on") is True
    assert parts.switch({"wifi_on": "null"}, "wifi_on") is None


def test_a_wide_screen_is_a_tablets() -> None:
    told = parts.configuration(
        "  mGlobalConfiguration={1.15 ?mcc [de_DE] sw800dp w1280dp 320dpi land night finger}"
    )
    assert told == ("tablet", True, 1.15)


def test_a_battery_with_another_scale_is_given_in_per_cent() -> None:
    assert parts.battery("  level: 128\n  scale: 256\n  status: 5") == (50, True)


@each(("package", "name"), [
    ("com.instagram.android", "Instagram"), ("com.android.settings", "Settings"), ("android", "Android"),
])  # fmt: skip
def test_a_package_says_its_name(package: str, name: str) -> None:
    assert parts.app_name_from_package(package) == name
