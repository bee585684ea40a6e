"""Phones by name, version and maker: they say who they are, and print as such phones do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail_sim import command, shell
from handrail_sim.clock import ManualClock
from handrail_sim.errors import BadSetting
from handrail_sim.phone import Phone
from handrail_sim.system.profiles import PROFILES, become, take_on
from handrail_sim.system.releases import RELEASES
from handrail_sim.system.vendors import VENDORS
from tests.corpus import CORPUS

CONTACTS = "com.google.android.contacts"
START = f"am start -W {CONTACTS}/com.android.contacts.activities.PeopleActivity"
OUTPUTS = CORPUS / "outputs" if CORPUS is not None else None
needs_outputs = pytest.mark.skipif(
    OUTPUTS is None or not OUTPUTS.is_dir(),
    reason="no outputs of real phones: set HANDRAIL_CORPUS to their folder",
)


def say(phone: Phone, line: str) -> str:
    """Both streams of a command, as `exec:` gives them."""
    answer = asyncio.run(shell.capture(phone, line))
    return answer.text + answer.errors


def made(android: int = 14, vendor: str = "handrail") -> Phone:
    phone = Phone(clock=ManualClock(), apps=["contacts"])
    become(phone, android=android, vendor=vendor)
    phone.start_activity(package=CONTACTS)
    return phone


@pytest.fixture(scope="module")
def phones() -> dict[int, Phone]:
    return {number: made(number) for number in RELEASES}


# who they are


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_can_be_taken_on_and_left_again(name: str) -> None:
    phone = Phone(clock=ManualClock(), apps=["contacts"])
    before = (dict(phone.props), phone.display.to_dict())
    take_on(phone, name)
    phone.start_activity(package=CONTACTS)
    for line in ("dumpsys window displays", "dumpsys activity activities", "dumpsys display", "wm size"):
        assert say(phone, line)
    take_on(phone, "plain")
    assert phone.faults.to_list() == []
    assert phone.props == before[0]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_maker_is_told_by_properties_and_leaves_none_behind(vendor: str) -> None:
    phone = made(12, vendor)
    one = VENDORS[vendor]
    assert say(phone, "getprop ro.product.manufacturer").strip() == one.manufacturer
    assert say(phone, "getprop ro.build.version.sdk").strip() == "31"
    assert f":12/{RELEASES[12].build}/" in say(phone, "getprop ro.build.fingerprint")
    become(phone, vendor="google")
    assert not set(one.props) & set(phone.props) - set(VENDORS["google"].props)


def test_what_there_is_not_is_refused_by_name() -> None:
    phone = Phone(clock=ManualClock(), apps=[])
    for android, vendor in ((7, None), (None, "nokia")):
        with pytest.raises(BadSetting):
            become(phone, android=android, vendor=vendor)
    with pytest.raises(BadSetting, match="pixel-fold"):
        take_on(phone, "iphone")
    assert "no profile" in say(phone, "sim profile iphone")


def test_profiles_by_the_shell_and_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    phone = made()
    assert say(phone, "sim profile galaxy-secure-folder") == ""
    assert "UserInfo{150:Secure Folder:10061030} running" in say(phone, "pm list users")
    assert say(phone, "sim profile android 9; getprop ro.build.version.release") == "9\n"
    assert say(phone, "sim profile vendor vivo; getprop ro.product.brand") == "vivo\n"
    listed = say(phone, "sim profile list")
    assert command.main(["--profiles"]) == 0
    assert capsys.readouterr().out == listed
    assert all(f"{name} " in listed for name in PROFILES)


def test_a_snapshot_keeps_what_the_phone_is() -> None:
    phone = made(9, "samsung")
    phone.snapshot()
    take_on(phone, "plain")
    phone.restore()
    assert "AppWindowToken" in say(phone, "dumpsys window windows")


# how versions differ, as facts of one line each


@pytest.mark.parametrize(
    ("line", "since", "until", "words"),
    [
        ("dumpsys window windows", 8, 9, "  mCurrentFocus=Window{"),
        ("dumpsys window displays", 10, 16, "  mCurrentFocus=Window{"),
        ("dumpsys window displays", 10, 10, "mFocusedApp=AppWindowToken{"),
        ("dumpsys window displays", 11, 16, "mFocusedApp=ActivityRecord{"),
        ("dumpsys activity activities", 8, 10, "TaskRecord{"),
        ("dumpsys activity activities", 8, 11, "mResumedActivity: ActivityRecord{"),
        ("dumpsys activity activities", 12, 16, "topResumedActivity=ActivityRecord{"),
        ("dumpsys activity activities", 12, 16, "Resumed activities in task display areas"),
        ("dumpsys display", 8, 9, "mDefaultViewport=DisplayViewport{valid=true, displayId=0"),
        ("dumpsys display", 10, 16, "mViewports=[DisplayViewport{type=INTERNAL, valid=true"),
        ("dumpsys display", 11, 16, "isActive=true"),
        ("dumpsys display", 8, 10, '"Built-in Screen, displayId 0"'),
        ("dumpsys battery", 13, 16, "Dock powered: false"),
        ("dumpsys battery", 15, 16, "Charging policy: 0"),
        ("dumpsys audio", 12, 16, "Muted Internally: false"),
        ("dumpsys audio", 8, 11, "Devices: speaker\n"),
        ("dumpsys window windows", 8, 8, "fl=#"),
        ("dumpsys window windows", 16, 16, "compactNeeded"),
        ("dumpsys window policy", 8, 9, "mShowingLockscreen=false"),
        (START, 8, 9, "ThisTime: "),
        (START, 10, 16, "LaunchState: "),
        (f"pm grant {CONTACTS} no.such.permission", 8, 10, "Security exception: "),
        (f"pm grant {CONTACTS} no.such.permission", 11, 16, "Exception occurred while executing 'grant':"),
    ],
)
def test_versions_print_what_they_print(
    phones: dict[int, Phone], line: str, since: int, until: int, words: str
) -> None:
    found = [number for number, phone in phones.items() if words in say(phone, line)]
    assert found == list(range(since, until + 1))


def test_a_secure_window_is_told_in_every_version(phones: dict[int, Phone]) -> None:
    for number, phone in phones.items():
        phone.faults.add("secure_window")
        told = say(phone, "dumpsys window windows")
        flags = re.findall(r"fl=(#[0-9a-f]+|[A-Z_ ]+)", told)
        secure = [
            one for one in flags if (int(one[1:], 16) & 0x2000 if one[0] == "#" else "SECURE" in one.split())
        ]
        assert len(secure) == 1, number
        phone.faults.clear()


def test_refused_input_is_said_as_each_version_says_it(phones: dict[int, Phone]) -> None:
    for number, phone in phones.items():
        phone.faults.add("input_refused")
        first = say(phone, "input tap 1 1").strip().splitlines()[0]
        assert first.startswith("Exception occurred" if number >= 12 else "java.lang.SecurityException"), (
            number
        )
        phone.faults.clear()


# the same by comparison with real outputs, where they are at hand

BETTER = {
    "dumpsys_activity_activities/12est_unknown_1.txt": 13,
    "dumpsys_activity_activities/13est_tablet_1.txt": 15,
    "dumpsys_window_focus/13est_tablet_1.txt": 15,
    "dumpsys_window_focus/13est_samsung-flip_1.txt": 12,
    "dumpsys_activity_activities/14est_emulator_1.txt": 15,
}
"""Versions that the index only estimates, and that the format of this line tells better."""
LINES = {
    "dumpsys_window_focus": ("dumpsys window", ("mCurrentFocus=Window{", "mFocusedApp=A")),
    "dumpsys_activity_activities": (
        "dumpsys activity activities",
        ("topResumedActivity=", "mResumedActivity: ", "ResumedActivity: ", "Resumed: ", "* Hist "),
    ),
    "pm_list_users": ("pm list users", ("Users:", "UserInfo{0")),
    "pm_grant": (
        "pm grant com.google.android.contacts android.permission.CAMERA",
        ("Security ex", "Exception", "java."),
    ),
    "pm_list_packages": ("pm list packages", ("Exception occurred", "java.lang.SecurityException")),
    "input_error": ("input tap 1 1", ("Exception occurred", "java.lang.SecurityException")),
    "screencap_warning": ("screencap -p /sdcard/a.png", ("[Warning]",)),
    "am_start": (
        START,
        ("Status: ok", "ThisTime: "),
    ),
}
FAULTS = {
    "pm_grant": ("grant_refused", {}),
    "pm_list_packages": ("work_profile", {}),
    "input_error": ("input_refused", {}),
    "screencap_warning": ("screencap_warning", {}),
}


def skeleton(line: str) -> str:
    """The line without what belongs to one phone: names, numbers, codes."""
    text = re.sub(r":[0-9a-f]+\}", ":FLAGS}", re.sub(r"[\w.]+/[\w.$]+", "COMPONENT", line.strip()))
    text = re.sub(r"(?<=\{)[0-9a-f]+(?= )", lambda code: "DECIMAL" if len(code[0]) > 7 else "CODE", text)
    text = re.sub(r"\b(?:NAME|Owner|null)\b", "WHO", text)
    return re.sub(r"\d+", "N", text)[:100]


def _cases() -> Iterator[tuple[str, Path, int, str]]:
    for group in LINES:
        for path in sorted((OUTPUTS / group).glob("*.txt")) if OUTPUTS is not None else ():
            version, maker = re.match(r"(\d+)(?:est)?_([a-z]+)", path.name).groups()  # type: ignore[union-attr]
            number = BETTER.get(f"{group}/{path.name}", int(version))
            if number in RELEASES:
                yield group, path, number, maker if maker in VENDORS else "google"


CASES = list(_cases())


@needs_outputs
@pytest.mark.parametrize(
    ("group", "path", "number", "vendor"), CASES, ids=[f"{one[0]}/{one[1].name}" for one in CASES]
)
def test_a_line_of_a_real_phone_has_the_same_shape_here(
    group: str, path: Path, number: int, vendor: str
) -> None:
    line, starts = LINES[group]
    phone = made(number, vendor)
    if group in FAULTS:
        name, options = FAULTS[group]
        phone.faults.add(name, **options)
    here = [skeleton(one) for one in say(phone, line).splitlines()]
    real = [
        one.strip() for one in path.read_text(errors="replace").splitlines() if one.strip().startswith(starts)
    ]
    told = sorted({skeleton(one) for one in real if group != "dumpsys_window_focus" or "/" in one})
    assert [one for one in told if one not in here] == []


@needs_outputs
@pytest.mark.parametrize(
    ("name", "number", "vendor"), [("10est_samsung_1", 10, "samsung"), ("15est_emulator_1", 15, "google")]
)
def test_the_battery_has_the_keys_of_a_real_one(name: str, number: int, vendor: str) -> None:
    assert OUTPUTS is not None
    real = (OUTPUTS / "dumpsys_battery" / f"{name}.txt").read_text()
    keys = [line.partition(":")[0] for line in say(made(number, vendor), "dumpsys battery").splitlines()]
    assert [key for key in keys if key not in real] == []


@needs_outputs
@pytest.mark.parametrize(
    ("name", "number"), [("8_android-tv_4", 8), ("10est_unknown_1", 10), ("14est_unknown_1", 14)]
)
def test_a_stream_of_sound_has_the_keys_of_a_real_one(name: str, number: int) -> None:
    assert OUTPUTS is not None
    real = (OUTPUTS / "dumpsys_audio" / f"{name}.txt").read_text()

    def keys(text: str) -> list[str]:
        block = re.search(r"- STREAM_MUSIC:\n((?:   .*\n)+)", text)
        return [line.partition(":")[0] for line in block[1].splitlines()] if block else []

    assert keys(say(made(number), "dumpsys audio")) == keys(real) != []
