"""Dumps of the window manager, displays, input, input methods and SurfaceFlinger."""

from __future__ import annotations

from collections.abc import Callable

from handrail_sim import resources
from handrail_sim.handset import Handset
from handrail_sim.screen.displays import DISPLAY_ID, Panel
from handrail_sim.screen.dump import resource_id
from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.package import all_packages
from handrail_sim.shell.dumpsys.shapes import (
    TYPES,
    activity_record,
    focused_app,
    hash_code,
    rect,
    type_number,
    window_name,
    window_title,
)
from handrail_sim.system.releases import release_of
from handrail_sim.system.users import uid_for
from handrail_sim.system.vendors import vendor_of
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window


async def run(call: Call, args: list[str]) -> int:
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
        return await call.out(_windows(call))
    if names and names[0] not in sections:
        return await call.line(f"Bad window command, or no windows match: {names[0]}\nUse -h for help.")
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
    package = all_packages(call.phone).get(window.package)
    uid = uid_for(call.phone, window.package, package.uid) if package else 1000
    front = call.phone.tasks.front
    kind = (
        str(type_number(window)) if release.flags_in_hex else TYPES["names"].get(window.type, "APPLICATION")
    )
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
    for task in reversed(phone.tasks.tasks):
        lines.append(
            f"  * Task{{{hash_code(7, task.number)} #{task.number} type=standard A=0:{task.package} U=0}}"
        )
        lines += [f"    * {activity_record(activity, task)}" for activity in reversed(task.activities)]
    return "\n".join(lines) + "\n\n"


def _policy(call: Call) -> str:
    awake = call.phone.awake
    return resources.text("shell/dumpsys/policy.txt").format(
        awake=str(awake).lower(),
        state="AWAKE" if awake else "ASLEEP",
        screen="ON" if awake else "OFF",
        interactive="AWAKE" if awake else "SLEEP",
        lockscreen=release_of(call.phone).lockscreen,
    )


def _last_anr(_: Call) -> str:
    return "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n\n"


# android.text.InputType: class in the lowest four bits, then variation, then flags.
KINDS = {"number": 0x2, "decimal": 0x2002, "phone": 0x3, "email": 0x21, "uri": 0x11, "password": 0x81}
PASSWORD, MULTI_LINE = 0x81, 0x20001
ACTIONS = {"none": 1, "go": 2, "search": 3, "send": 4, "next": 5, "done": 6}
NO_ENTER_ACTION = 0x40000000


def input_type(view: View) -> int:
    if view.password:
        return PASSWORD
    return MULTI_LINE if view.multiline else KINDS.get(view.input_type, 0x1)


def ime_options(view: View) -> int:
    """The keyboard's action key; TextView keeps Enter for new lines in a field of many."""
    return ACTIONS.get(view.ime_action, 0) | (NO_ENTER_ACTION if view.multiline else 0)


def served(phone: Handset) -> str:
    matches = phone.editing.field()
    if matches is None:
        return "  mCurrentEditorInfo: null"
    window, view = matches
    memory = view.memory or {}
    start, end = memory.get("start", 0), memory.get("end", 0)
    return (
        f"  mCurrentEditorInfo:\n"
        f"    inputType=0x{input_type(view):x} imeOptions=0x{ime_options(view):x} privateImeOptions=null\n"
        f"    actionLabel=null actionId=0\n"
        f"    initialSelStart={start} initialSelEnd={end} initialToolType=0 initialCapsMode=0x0\n"
        f"    hintText={view.hint or 'null'} label=null\n"
        f"    packageName={window.package} fieldName={resource_id(view.id, window.package) or 'null'}"
    )


PERIOD_NS = 16_666_666


async def display(call: Call, _: list[str]) -> int:
    """`dumpsys display`: viewport, sizes, rotation, state."""
    on = "ON" if call.phone.awake else "OFF"
    displays, panels = call.phone.displays, call.phone.displays.logical()
    devices = [*displays.physical(), *(panel for panel in panels if panel.port is None)]
    brightness = int(call.phone.settings["system"].get("screen_brightness", "128")) / 255
    return await call.out(f"""DISPLAY MANAGER (dumpsys display)
  mSafeMode=false
  mPendingTraversal=false
  {_viewports(call, panels)}
  mDefaultDisplayDefaultColorMode=0
  mWifiDisplayScanRequestCount=0

Display Devices: size={len(devices)}
{"".join(_device(call, panel, brightness) for panel in devices)}
Logical Displays: size={len(panels)}
{"".join(_logical(call, panel) for panel in panels)}
Display Power Controller:
  mDisplayId=0
  mScreenState={on}
Display States: size=1
  Display Id=0
  Display State={on}
""")


def _viewports(call: Call, panels: list[Panel]) -> str:
    created = [_viewport(call, panel) for panel in panels]
    own = next(at for at, panel in enumerate(panels) if panel.number == 0)
    return release_of(call.phone).viewports.format(all=", ".join(created), one=created[own])


def _viewport(call: Call, panel: Panel) -> str:
    release, awake = release_of(call.phone), str(call.phone.awake).lower()
    frame = f"Rect(0, 0 - {panel.width}, {panel.height})"
    port = f"physicalPort={'null' if panel.port is None else panel.port}, " if release.viewport_port else ""
    return (
        f"DisplayViewport{{{release.viewport_words.format(kind=_kind(panel), awake=awake)}"
        f"displayId={panel.number}, uniqueId='{panel.unique_id}', {port}orientation={panel.rotation}, "
        f"logicalFrame={frame}, physicalFrame={frame}, "
        f"deviceWidth={panel.width}, deviceHeight={panel.height}}}"
    )


def _kind(panel: Panel) -> str:
    return "VIRTUAL" if panel.port is None else "EXTERNAL" if panel.port > 1 else "INTERNAL"


def _state(call: Call, panel: Panel) -> str:
    return "ON" if call.phone.awake and panel.number is not None else "OFF"


def _device(call: Call, panel: Panel, brightness: float) -> str:
    state, main = _state(call, panel), panel.number == 0
    wide, high = (panel.height, panel.width) if panel.rotation % 2 else (panel.width, panel.height)
    density = panel.density
    if main:
        screen = call.phone.display
        wide, high, density = screen.physical_width, screen.physical_height, screen.physical_density
    flag = "FLAG_ALLOWED_TO_BE_DEFAULT_DISPLAY" if panel.port in {0, 1} else "FLAG_PRESENTATION"
    return f"""  DisplayDeviceInfo{{"{panel.name}": uniqueId="{panel.unique_id}", {wide} x {high}, modeId 1, \
renderFrameRate 60.0, density {density}, touch {_kind(panel)}, rotation 0, type {_kind(panel)}, \
state {state}, committedState {state}, {flag}}}
    mBrightnessState={brightness:.4f}
"""


def _logical(call: Call, panel: Panel) -> str:
    built = panel
    if panel.number == 0:
        screen = call.phone.display
        sizes = screen.physical_width, screen.physical_height, screen.physical_density
        built = Panel(0, panel.port, panel.name, *sizes)
    return f"""  Display {panel.number}:
    mDisplayId={panel.number}
    mLayerStack={panel.number}
    mBaseDisplayInfo={info(call, built)}
    mOverrideDisplayInfo={info(call, panel)}
    mCurrentOrientation={panel.rotation}

"""


def info(call: Call, panel: Panel) -> str:
    """`DisplayInfo{…}` of a logical display."""
    size = f"{panel.width} x {panel.height}"
    name = release_of(call.phone).info_name.format(name=panel.name, number=panel.number)
    return (
        f"DisplayInfo{{{name}"
        f"state {_state(call, panel)}, type {_kind(panel)}, "
        f'uniqueId "{panel.unique_id}", app {size}, real {size}, rotation {panel.rotation}, '
        f"density {panel.density}}}"
    )


async def surface_flinger(call: Call, args: list[str]) -> int:
    if "--display-id" in args:
        for at, panel in enumerate(call.phone.displays.physical()):
            await call.line(
                f"Display {panel.physical_id} (HWC display {at}): port={panel.port} pnpId=HND "
                f'displayName="{panel.name}"'
            )
    elif "--list" in args:
        for window in call.phone.windows():
            await call.line(f"{window_title(window)}#{window.number}")
    elif "--latency" in args:
        await call.out(f"{PERIOD_NS}\n" + "0\t0\t0\n" * 127 + "\n")
    elif "--latency-clear" not in args:
        screen = call.phone.display
        await call.line(
            f"Build configuration: [sf PRESENT_TIME_OFFSET=0]\nDisplay {DISPLAY_ID} (active) HWC layers:"
        )
        for window in reversed(call.phone.windows()):
            await call.line(f"  {window_title(window)}#{window.number}")
        await call.line(
            f"  refresh-rate              : 60.000000 fps\n  size=[{screen.width} "
            f"{screen.height}] orientation={screen.rotation}"
        )
    return 0


async def input_service(call: Call, _: list[str]) -> int:
    """`dumpsys input`: the touchscreen and who has the focus."""
    screen, focused = call.phone.display, call.phone.focused_window()
    name = window_name(call.phone, focused)[7:-1] if focused else "<none>"
    text = resources.text("shell/dumpsys/input.txt").format(
        width=screen.width,
        height=screen.height,
        right=screen.width - 1,
        bottom=screen.height - 1,
        rotation=screen.rotation,
        display=DISPLAY_ID,
        name=name,
    )
    return await call.out(text)


async def input_method(call: Call, _: list[str]) -> int:
    """`dumpsys input_method`: which one, and whether it is shown."""
    phone, shown = call.phone, str(call.phone.ime.visible).lower()
    current = phone.settings["secure"].get("default_input_method", "")
    enabled = phone.settings["secure"].get("enabled_input_methods", current).split(":")
    focused = phone.focused_window()
    client = window_name(phone, focused) if focused else "null"
    await call.line(
        f"Current Input Method Manager state:\n  Input Methods: mMethodMapUpdateCount={len(enabled)}"
    )
    for number, method in enumerate(enabled):
        await call.line(
            f"  InputMethod #{number}:\n    mId={method} mSettingsActivityName=null "
            "mIsVrOnly=false mSupportsSwitchingToNextInputMethod=true"
        )
    return await call.out(f"""  mCurMethodId={current}
  mCurSeq=3 mCurPerceptible=false
  mCurFocusedWindow={client} softInputMode=STATE_UNSPECIFIED|ADJUST_RESIZE \
client=ClientState{{{hash_code(3, 1)}}}
  mFocusedWindowPerceptible={{}}
  mCurId={current} mHaveConnection=true mBoundToMethod=true mVisibleBound={shown}
  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}
  mInFullscreenMode=false
  mSystemReady=true mInteractive={str(phone.awake).lower()}
Input method client state for ClientState:
  mServedView={client}
{served(phone)}
Input method service state for {current}:
  mViewsCreated=true mWindowVisible={shown} mDecorViewVisible={shown} mDecorViewWasVisible=true
  mInputStarted={shown} mInputViewStarted={shown} mCandidatesViewStarted=false
  mIsInputViewShown={shown} mStatusIcon=0
  mShowInputRequested={shown} mLastShowInputRequested={shown} mShowInputFlags=0x0
""")


_GFXINFO = resources.text("shell/dumpsys/gfxinfo.txt")


async def gfxinfo(call: Call, args: list[str]) -> int:
    """`dumpsys gfxinfo [PACKAGE]`: frames of a smooth phone."""
    names = [arg for arg in args if not arg.startswith("-") and arg not in {"reset", "framestats"}]
    uptime = int(call.phone.clock.monotonic_ms())
    await call.line(f"Applications Graphics Acceleration Info:\nUptime: {uptime} Realtime: {uptime}\n")
    for process in call.phone.packages.processes.values():
        if names and process.name not in names:
            continue
        since = int(process.started_ms * 1_000_000)
        await call.out(_GFXINFO.format(pid=process.pid, name=process.name, since=since))
    if names and names[0] not in call.phone.packages.processes:
        await call.line(f"No process found for: {names[0]}")
    return 0
