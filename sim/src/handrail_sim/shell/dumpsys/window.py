"""`dumpsys window [windows|displays|policy]`: what is on the screen, who has the focus, top to bottom."""

from __future__ import annotations

from collections.abc import Callable

from handrail_sim.screen.displays import Panel
from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import (
    activity_record,
    focused_app,
    hash_code,
    rect,
    type_number,
    window_name,
    window_title,
)
from handrail_sim.shell.system.system_packages import all_packages
from handrail_sim.system.releases import release_of
from handrail_sim.system.users import uid_for
from handrail_sim.system.vendors import vendor_of
from handrail_sim.view.windows import Window

TYPES = {
    "application": "BASE_APPLICATION",
    "dialog": "APPLICATION",
    "sheet": "APPLICATION",
    "menu": "APPLICATION_SUB_PANEL",
    "system_dialog": "SYSTEM_ALERT",
    "recents": "BASE_APPLICATION",
    "ime": "INPUT_METHOD",
    "toast": "TOAST",
    "status_bar": "STATUS_BAR",
    "navigation_bar": "NAVIGATION_BAR",
    "shade": "NOTIFICATION_SHADE",
    "heads_up": "NOTIFICATION_SHADE",
    "volume": "VOLUME_OVERLAY",
    "overlay": "APPLICATION_OVERLAY",
}


async def run(call: Call, args: list[str]) -> int:
    """`dumpsys window [windows|displays|policy|lastanr]`."""
    sections: dict[str, Callable[[Call], str]] = {
        "windows": _windows,
        "w": _windows,
        "displays": _displays,
        "d": _displays,
        "policy": _policy,
    }
    sections |= {"p": _policy, "lastanr": _last_anr, "l": _last_anr}
    names = [arg for arg in args if not arg.startswith("-")]
    if names and names[0] in {"visible-apps", "visible"}:
        await call.out(_windows(call))
        return 0
    if names and names[0] not in sections:
        await call.line(f"Bad window command, or no windows match: {names[0]}\nUse -h for help.")
        return 0
    chosen = [sections[names[0]]] if names else [_last_anr, _policy, _displays, _windows]
    for section in chosen:
        await call.out(section(call))
    return 0


def _windows(call: Call) -> str:
    phone = call.phone
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    for number, window in enumerate(reversed(phone.windows())):
        lines += _window(call, number, window)
    focused = phone.focused_window()
    lines.append("")
    if release_of(phone).focus_with_windows:
        lines += _focus(call)
    lines += [
        f"  mGlobalConfiguration={configuration(call)}",
        "  mHasPermanentDpad=false",
        "  mTopFocusedDisplayId=0",
    ]
    if phone.ime.visible and focused is not None:
        lines += [
            f"  imeLayeringTarget in display# 0 {window_name(phone, focused)}",
            f"  imeInputTarget in display# 0 {window_name(phone, focused)}",
        ]
    lines += ["  mBlurEnabled=false", "  mSystemBooted=true mDisplayEnabled=true", "  mTransactionSequence=1"]
    lines.append(
        "  mDisplayFrozen=false windows=0 client=false apps=0  mRotation=" + str(phone.display.rotation)
    )
    return "\n".join(lines) + "\n\n"


def _focus(call: Call) -> list[str]:
    """The window and the app that have the focus."""
    phone, focused = call.phone, call.phone.focused_window()
    top, task = phone.tasks.top, phone.tasks.front
    return [
        f"  mCurrentFocus={window_name(phone, focused) if focused else 'null'}",
        f"  mFocusedApp={focused_app(top, task) if top else 'null'}",
    ]


FLAGS = {"NOT_FOCUSABLE": 0x8, "LAYOUT_IN_SCREEN": 0x100, "SECURE": 0x2000, "SPLIT_TOUCH": 0x800000}
FLAGS |= {"HARDWARE_ACCELERATED": 0x1000000}


def _flags(call: Call, window: Window) -> str:
    names = (
        ["LAYOUT_IN_SCREEN", "SPLIT_TOUCH", "HARDWARE_ACCELERATED"] if window.focusable else ["NOT_FOCUSABLE"]
    )
    names += ["SECURE"] if window.secure else []
    if release_of(call.phone).flags_in_hex:
        return f"#{sum(FLAGS[name] for name in names):x}"
    return " ".join(names)


def _window(call: Call, number: int, window: Window) -> list[str]:
    left, top, right, bottom = window.bounds
    release, vendor = release_of(call.phone), vendor_of(call.phone)
    known = all_packages(call.phone).get(window.package)
    uid = uid_for(call.phone, window.package, known.uid) if known else 1000
    front = call.phone.tasks.front
    kind = str(type_number(window)) if release.flags_in_hex else TYPES.get(window.type, "APPLICATION")
    fill = "fillxfill" if window.placement == "fill" else f"{right - left}x{bottom - top}"
    return [
        f"  Window #{number} {window_name(call.phone, window)}:",
        (
            f"    mDisplayId=0 {release.window_task.format(task=front.number if front else 0)}"
            f"mSession=Session{{{hash_code(3, window.number)} "
            f"{call.phone.packages.pid_of(window.package) or 812}:u{window.user}a{uid}}} "
            f"mClient=android.os.BinderProxy@{hash_code(13, window.number)}"
        ),
        f"    mOwnerUid={uid} {release.window_owner} package={window.package} appop=NONE",
        f"    mAttrs={{(0,0)({fill}) sim={{adjust=resize}} ty={kind} fmt=TRANSPARENT",
        f"      fl={_flags(call, window)}{vendor.window_flags}}}",
        f"    Requested w={right - left} h={bottom - top} mLayoutSeq={window.version}",
        "    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false",
        f"    Frames: parent={rect(window.area)} display={rect(window.area)} frame={rect(window.bounds)}",
        f"    mFrame={rect(window.bounds)}",
        f"    WindowStateAnimator{{{hash_code(4, window.number)} {window.title}}}:",
        "      mDrawState=HAS_DRAWN       mLastHidden=false",
        f"      mSurface=Surface(name={window_title(window)})/@0x{hash_code(6, window.number)}",
        "    isOnScreen=true",
        "    isVisible=true",
    ]


def configuration(call: Call) -> str:
    """The configuration as Android prints it."""
    display = call.phone.display
    dp = display.density / 160
    wide, high = int(display.width / dp), int(display.height / dp)
    way, night = ("land" if display.rotation % 2 else "port"), (" night" if display.dark else "")
    release = release_of(call.phone)
    bounds = f"Rect(0, 0 - {display.width}, {display.height})"
    window = release.configuration.format(bounds=bounds, rotation=f"ROTATION_{display.rotation * 90}")
    return (
        f"{{{display.font_scale} 310mcc260mnc [en_US] ldltr sw{min(wide, high)}dp w{wide}dp h{high}dp "
        f"{display.density}dpi {release.size_words} {way}{night} finger -keyb/v/h -nav/h {window} s.1}}"
    )


def _displays(call: Call) -> str:
    parts = [
        _main_display(call) if panel.number == 0 else _other_display(panel)
        for panel in call.phone.displays.logical()
    ]
    return "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n" + "".join(parts)


def _other_display(panel: Panel) -> str:
    """A display without any window of its own."""
    size = f"{panel.width}x{panel.height}"
    rotation = f"ROTATION_{panel.rotation * 90}"
    return f"""  Display: mDisplayId={panel.number}
    init={size} {panel.density}dpi mMinSizeOfResizeableTaskDp=220 cur={size} app={size} rng={size}-{size}
    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion()

  overrideConfig={{0.0 ?mcc0mnc ?localeList ?layoutDir {panel.density}dpi \
winConfig={{ mBounds=Rect(0, 0 - {panel.width}, {panel.height}) mDisplayRotation={rotation} \
mWindowingMode=fullscreen mRotation={rotation}}}}}
  mCurrentFocus=null
  mFocusedApp=null
  mRotation={panel.rotation}
  DisplayRotation
    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED
    mRotation={panel.rotation} mDeferredRotationPauseCount=0

"""


def _main_display(call: Call) -> str:
    phone, display = call.phone, call.phone.display
    release = release_of(phone)
    size = f"{display.width}x{display.height}"
    init = f"{display.physical_width}x{display.physical_height}"
    app = f"{display.width}x{display.height - display.navigation_px}"
    lines = [
        f"  Display: mDisplayId=0{release.display_words.format(tasks=len(phone.tasks.tasks))}",
        (
            f"    init={init} {display.physical_density}dpi mMinSizeOfResizeableTaskDp=220 cur={size} "
            f"app={app} rng={app}-{app}"
        ),
        "    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion()",
        "",
        *([] if release.focus_with_windows else _focus(call)),
        "  mHoldScreenWindow=null",
        "  mObscuringWindow=null",
        f"  mLastWakeLockHoldingWindow=null\n  mRotation={display.rotation}",
        (
            "  DisplayRotation\n    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n    "
            f"mRotation={display.rotation} mDeferredRotationPauseCount=0"
        ),
        "",
        "  Application tokens in top down Z order:",
    ]
    for one in reversed(phone.tasks.tasks):
        lines.append(
            f"  * Task{{{hash_code(7, one.number)} #{one.number} type=standard A=0:{one.package} U=0}}"
        )
        lines += [f"    * {activity_record(activity, one)}" for activity in reversed(one.activities)]
    return "\n".join(lines) + "\n\n"


def _policy(call: Call) -> str:
    awake = call.phone.awake
    state = "AWAKE" if awake else "ASLEEP"
    screen = "ON" if awake else "OFF"
    return f"""WINDOW MANAGER POLICY STATE (dumpsys window policy)
    mSafeMode=false mSystemReady=true mSystemBooted=true
    mCameraLensCoverState=CAMERA_LENS_COVER_ABSENT
    mWakeGestureEnabledSetting=true
    mUiMode=UI_MODE_TYPE_NORMAL mEnableCarDockHomeCapture=true
    mLidKeyboardAccessibility=0 mLidNavigationAccessibility=0 getLidBehavior=LID_BEHAVIOR_NONE
    mLongPressOnBackBehavior=LONG_PRESS_BACK_NOTHING mLongPressOnHomeBehavior=LONG_PRESS_HOME_ASSIST
    mShortPressOnPowerBehavior=SHORT_PRESS_POWER_GO_TO_SLEEP
    mAwake={str(awake).lower()} mScreenOnEarly={str(awake).lower()} mScreenOnFully={str(awake).lower()}
    {release_of(call.phone).lockscreen}
    mInputRestricted=false
    KeyguardServiceDelegate
      showing=false
      inputRestricted=false
      occluded=false
      secure=false
      dreaming=false
      systemIsReady=true
      deviceHasKeyguard=true
      enabled=true
      bootCompleted=true
      screenState=SCREEN_STATE_{screen}
      interactiveState=INTERACTIVE_STATE_{"AWAKE" if awake else "SLEEP"}
    mWakefulness={state}

"""


def _last_anr(_: Call) -> str:
    return "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n\n"
