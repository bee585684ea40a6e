"""Android 8 to 16: what each version prints differently. The phone's properties say which one it is.

Formats are those of real phones' outputs; a later version keeps what an earlier one does unless it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail_sim.resources import table
from handrail_sim.system.device import Device


@dataclass(frozen=True, slots=True)
class Release:
    """One version. The printing command fills in the fields in braces."""

    version: str
    sdk: int
    build: str
    patch: str
    # records of activities, and the app that has the focus
    record: str = "ActivityRecord{{{code} u{user} {name} t{task}}}"
    record_in_decimal: bool = False
    focused_app: str = "AppWindowToken{{{code} token=Token{{{code} {record}}}}}"
    focus_with_windows: bool = True  # mCurrentFocus stands with the windows, not with its display
    # dumpsys activity activities
    stacks: bool = True  # Stack #1, TaskRecord{…}; later tasks stand for themselves
    resumed: str = "mResumedActivity: {record}"
    resumed_areas: bool = False
    # dumpsys window
    window_task: str = "stackId={task} "
    window_owner: str = "mShowToOwnerOnly=false"
    flags_in_hex: bool = True
    configuration: str = "appBounds={bounds}"
    size_words: str = "nrm"
    lockscreen: str = (
        "mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false mTopIsFullscreen=false"
    )
    display_words: str = ""
    # dumpsys display
    viewports: str = "mDefaultViewport={one}"
    viewport_words: str = "valid=true, "
    viewport_port: bool = False
    info_name: str = '"{name}, displayId {number}", '
    # dumpsys battery, audio, package
    battery_dock: bool = False
    battery_sent: bool = False
    battery_tail: Sequence[str] = ()
    audio_muted_internally: bool = False
    audio_stream_volume: bool = False
    audio_device: str = "speaker"
    audio_group: bool = False
    package_id: str = "userId"
    flag_joint: str = " "
    # how commands fail and report
    security_exception: str = "Security exception: {message}\n\n{error}\n\tat {frame}"
    exception: str = "\nException occurred while executing:\n{error}\n\tat {frame}"
    input_is_a_program: bool = True  # `input` threw its own exceptions, before it was a service's command
    input_refused: str = "Injecting to another application requires INJECT_EVENTS permission"
    start_times: str = "ThisTime: {took}\n"
    launch_state: bool = False


def _releases() -> dict[int, Release]:
    out: dict[int, Release] = {}
    last = Release("", 0, "", "")
    for number, changes in table("system/releases.toml").items():
        out[int(number)] = last = replace(last, **changes)
    return out


RELEASES = _releases()
OLD_RELEASES = {4: replace(RELEASES[8], version="4.4.4", sdk=19, build="KTU84Q", patch="")}
"""Versions of which only what they lack is simulated; what services print is Android 8's."""
SINCE = {
    "cmd": 24, "head": 23, "md5sum": 23, "pgrep": 23, "pidof": 23, "pkill": 23, "stat": 23, "tail": 23,
}  # fmt: skip
"""The API level that brought a command."""
EXEC_SINCE, SHELL_V2_SINCE, ART_SINCE = 21, 24, 21
"""adbd's `exec:`, its `shell,v2:` (before it a command had a terminal), and jars with several dex files."""


def release_of(phone: Device) -> Release:
    number = phone.props.get("ro.build.version.release", "14").partition(".")[0]
    return (OLD_RELEASES | RELEASES).get(int(number) if number.isdecimal() else 14, RELEASES[14])


def sdk_of(phone: Device) -> int:
    return int(phone.props.get("ro.build.version.sdk", "34"))
