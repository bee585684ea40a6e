"""Display, SurfaceFlinger, input, input_method and gfxinfo: what tools ask about screen and keyboard."""

from __future__ import annotations

from handrail_sim.screen.displays import DISPLAY_ID, Panel
from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.editor import served
from handrail_sim.shell.dumpsys.shapes import hash_code, window_name, window_title
from handrail_sim.system.releases import release_of

PERIOD_NS = 16_666_666


async def display(call: Call, _: list[str]) -> int:
    """`dumpsys display`: viewport, sizes, rotation, state."""
    on = "ON" if call.phone.awake else "OFF"
    displays, known = call.phone.displays, call.phone.displays.logical()
    devices = [*displays.physical(), *(panel for panel in known if panel.port is None)]
    brightness = int(call.phone.settings["system"].get("screen_brightness", "128")) / 255
    await call.out(f"""DISPLAY MANAGER (dumpsys display)
  mSafeMode=false
  mPendingTraversal=false
  {_viewports(call, known)}
  mDefaultDisplayDefaultColorMode=0
  mWifiDisplayScanRequestCount=0

Display Devices: size={len(devices)}
{"".join(_device(call, panel, brightness) for panel in devices)}
Logical Displays: size={len(known)}
{"".join(_logical(call, panel) for panel in known)}
Display Power Controller:
  mDisplayId=0
  mScreenState={on}
Display States: size=1
  Display Id=0
  Display State={on}
""")
    return 0


def _viewports(call: Call, panels: list[Panel]) -> str:
    made = [_viewport(call, panel) for panel in panels]
    own = next(at for at, panel in enumerate(panels) if panel.number == 0)
    return release_of(call.phone).viewports.format(all=", ".join(made), one=made[own])


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
    """A panel as it was built, whichever way it is held."""
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
    """`dumpsys SurfaceFlinger [--display-id|--list|--latency]`."""
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
    await call.out(f"""INPUT MANAGER (dumpsys input)

Event Hub State:
  BuiltInKeyboardId: -2
  Devices:
    2: touchscreen
      Classes: TOUCH | TOUCH_MT | EXTERNAL
      Path: /dev/input/event1
      Enabled: true

Input Reader State (Nums of device: 1):
  Device 2: touchscreen
    EventHub Devices: [ 2 ]
    Generation: 4
    Sources: TOUCHSCREEN
    Motion Ranges:
      X: source=TOUCHSCREEN, min=0.000, max={screen.width - 1}.000, flat=0.000, fuzz=0.000, resolution=0.000
      Y: source=TOUCHSCREEN, min=0.000, max={screen.height - 1}.000, flat=0.000, fuzz=0.000, resolution=0.000
    Touch Input Mapper (mode - DIRECT):
      Viewport INTERNAL: displayId=0, uniqueId=local:{DISPLAY_ID}, port=0, orientation={screen.rotation}, \
logicalFrame=[0, 0, {screen.width}, {screen.height}], physicalFrame=[0, 0, {screen.width}, {screen.height}], \
deviceSize=[{screen.width}, {screen.height}], isActive=[1]
      SurfaceWidth: {screen.width}px
      SurfaceHeight: {screen.height}px
      SurfaceOrientation: {screen.rotation}
      InputDeviceOrientation: {screen.rotation}

Input Dispatcher State:
  DispatchEnabled: true
  DispatchFrozen: false
  FocusedApplications:
    displayId=0, name='{name}', dispatchingTimeout=5000ms
  FocusedWindows:
    displayId=0, name='{name}'
""")
    return 0


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
    await call.out(f"""  mCurMethodId={current}
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
    return 0


async def gfxinfo(call: Call, args: list[str]) -> int:
    """`dumpsys gfxinfo [PACKAGE]`: frames of a smooth phone."""
    names = [arg for arg in args if not arg.startswith("-") and arg not in {"reset", "framestats"}]
    uptime = int(call.phone.clock.monotonic_ms())
    await call.line(f"Applications Graphics Acceleration Info:\nUptime: {uptime} Realtime: {uptime}\n")
    for process in call.phone.packages.processes.values():
        if names and process.name not in names:
            continue
        await call.out(f"""** Graphics info for pid {process.pid} [{process.name}] **

Stats since: {int(process.started_ms * 1_000_000)}ns
Total frames rendered: 120
Janky frames: 2 (1.67%)
Janky frames (legacy): 3 (2.50%)
50th percentile: 6ms
90th percentile: 9ms
95th percentile: 12ms
99th percentile: 22ms
Number Missed Vsync: 1
Number High input latency: 0
Number Slow UI thread: 1
Number Slow bitmap uploads: 0
Number Slow issue draw commands: 0
Number Frame deadline missed: 2

""")
    if names and names[0] not in call.phone.packages.processes:
        await call.line(f"No process found for: {names[0]}")
    return 0
