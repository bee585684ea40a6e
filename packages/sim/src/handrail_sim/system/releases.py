"""Android 8 to 16: what each version prints differently. The phone's properties say which one it is.

Formats are those of real phones' outputs; a later version keeps what an earlier one does unless it says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    battery_tail: tuple[str, ...] = ()
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


_8 = Release("8.1.0", 27, "OPM7.181205.001", "2018-12-05")
_9 = replace(
    _8,
    version="9",
    sdk=28,
    build="PQ3A.190801.002",
    patch="2019-08-05",
    flags_in_hex=False,
    configuration="winConfig={{ mBounds={bounds} mAppBounds={bounds} mWindowingMode=fullscreen "
    "mActivityType=undefined}}",
    size_words="nrml long",
    viewport_words="valid=true, ",
)
_10 = replace(
    _9,
    version="10",
    sdk=29,
    build="QQ3A.200805.001",
    patch="2020-08-05",
    focus_with_windows=False,
    configuration="winConfig={{ mBounds={bounds} mAppBounds={bounds} mWindowingMode=fullscreen "
    "mDisplayWindowingMode=fullscreen mActivityType=undefined mAlwaysOnTop=undefined mRotation={rotation}}}",
    lockscreen="mDreamingLockscreen=false mDreamingSleepToken=null",
    viewports="mViewports=[{all}]",
    viewport_words="type={kind}, valid=true, ",
    viewport_port=True,
    audio_stream_volume=True,
    launch_state=True,
    start_times="",
)
_11 = replace(
    _10,
    version="11",
    sdk=30,
    build="RQ3A.211001.001",
    patch="2021-10-01",
    focused_app="{record}",
    stacks=False,
    window_task="rootTaskId={task} ",
    window_owner="showForAllUsers=false",
    viewport_words="type={kind}, valid=true, isActive={awake}, ",
    info_name='"{name}", displayId {number}, ',
    flag_joint="|",
    exception="\nException occurred while executing '{command}':\n{error}\n\tat {frame}",
    security_exception="\nException occurred while executing '{command}':\n{error}\n\tat {frame}",
)
_12 = replace(
    _11,
    version="12",
    sdk=31,
    build="SQ3A.220705.004",
    patch="2022-07-05",
    resumed="topResumedActivity={record}",
    configuration="winConfig={{ mBounds={bounds} mAppBounds={bounds} mMaxBounds={bounds} "
    "mDisplayRotation={rotation} mWindowingMode=fullscreen mDisplayWindowingMode=fullscreen "
    "mActivityType=undefined mAlwaysOnTop=undefined mRotation={rotation}}}",
    display_words=" rootTasks={tasks}",
    info_name='"{name}", displayId {number}", displayGroupId 0, ',
    resumed_areas=True,
    audio_muted_internally=True,
    audio_device="speaker(2)",
    input_is_a_program=False,
    input_refused="Injecting input events requires the caller (or the source of the instrumentation, if any) "
    "to have the INJECT_EVENTS permission.",
)
_13 = replace(
    _12,
    version="13",
    sdk=33,
    build="TQ3A.230805.001",
    patch="2023-08-05",
    record="ActivityRecord{{{code} u{user} {name}}} t{task}}}",
    info_name='"{name}", displayId {number}, displayGroupId 0, ',
    battery_dock=True,
)
_14 = replace(
    _13,
    version="14",
    sdk=34,
    build="UP1A.231005.007",
    patch="2023-10-05",
    record="ActivityRecord{{{code} u{user} {name} t{task}}}",
    window_task="",
    configuration="winConfig={{ mBounds={bounds} mAppBounds={bounds} mMaxBounds={bounds} "
    "mDisplayRotation={rotation} mWindowingMode=fullscreen mActivityType=undefined "
    "mAlwaysOnTop=undefined mRotation={rotation}}}",
    display_words=" (organized)",
    audio_group=True,
    package_id="appId",
)
_15 = replace(
    _14,
    version="15",
    sdk=35,
    build="AP4A.250205.002",
    patch="2025-02-05",
    record_in_decimal=True,
    battery_sent=True,
    battery_tail=("  Charging state: 0", "  Charging policy: 0", "  Capacity level: -1"),
)
_16 = replace(
    _15,
    version="16",
    sdk=36,
    build="BP2A.250605.031",
    patch="2025-06-05",
    size_words="nrml long compactNeeded",
)
RELEASES: dict[int, Release] = dict(enumerate((_8, _9, _10, _11, _12, _13, _14, _15, _16), 8))


def release_of(phone: Device) -> Release:
    number = phone.props.get("ro.build.version.release", "14").partition(".")[0]
    return RELEASES.get(int(number) if number.isdecimal() else 14, _14)
