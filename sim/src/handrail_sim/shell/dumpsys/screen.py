"""Display, SurfaceFlinger, input, input_method and gfxinfo: what tools ask about screen and keyboard."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.editor import served
from handrail_sim.shell.dumpsys.shapes import hash_code, window_name, window_title

DISPLAY_ID = 4619827259835644672
PERIOD_NS = 16_666_666


async def display(call: Call, _: list[str]) -> int:
    """`dumpsys display`: viewport, sizes, rotation, state."""
    screen, on = call.phone.display, "ON" if call.phone.awake else "OFF"
    built = f"{screen.physical_width} x {screen.physical_height}"
    shown = f"{screen.width} x {screen.height}"
    brightness = int(call.phone.settings["system"].get("screen_brightness", "128")) / 255
    await call.out(f"""DISPLAY MANAGER (dumpsys display)
  mSafeMode=false
  mPendingTraversal=false
  mViewports=[{_viewport(call)}]
  mDefaultDisplayDefaultColorMode=0
  mWifiDisplayScanRequestCount=0

Display Devices: size=1
  DisplayDeviceInfo{{"Built-in Screen": uniqueId="local:{DISPLAY_ID}", {built}, modeId 1, \
renderFrameRate 60.0, density {screen.physical_density}, touch INTERNAL, rotation 0, type INTERNAL, \
state {on}, committedState {on}, FLAG_ALLOWED_TO_BE_DEFAULT_DISPLAY}}
    mBrightnessState={brightness:.4f}

Logical Displays: size=1
  Display 0:
    mDisplayId=0
    mLayerStack=0
    mBaseDisplayInfo={_info(built, 0, screen.physical_density, on)}
    mOverrideDisplayInfo={_info(shown, screen.rotation, screen.density, on)}
    mCurrentOrientation={screen.rotation}

Display Power Controller:
  mDisplayId=0
  mScreenState={on}
Display States: size=1
  Display Id=0
  Display State={on}
""")
    return 0


def _viewport(call: Call) -> str:
    screen, awake = call.phone.display, str(call.phone.awake).lower()
    frame = f"Rect(0, 0 - {screen.width}, {screen.height})"
    return (
        f"DisplayViewport{{type=INTERNAL, valid=true, isActive={awake}, displayId=0, "
        f"uniqueId='local:{DISPLAY_ID}', "
        f"physicalPort=0, orientation={screen.rotation}, logicalFrame={frame}, physicalFrame={frame}, "
        f"deviceWidth={screen.width}, deviceHeight={screen.height}}}"
    )


def _info(size: str, rotation: int, density: int, state: str) -> str:
    return (
        f'DisplayInfo{{"Built-in Screen", displayId 0, state {state}, type INTERNAL, '
        f'uniqueId "local:{DISPLAY_ID}", app {size}, real {size}, rotation {rotation}, density {density}}}'
    )


async def surface_flinger(call: Call, args: list[str]) -> int:
    """`dumpsys SurfaceFlinger [--display-id|--list|--latency]`."""
    if "--display-id" in args:
        await call.line(
            f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=HND displayName="Built-in Screen"'
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
    name = window_name(focused)[7:-1] if focused else "<none>"
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
    client = window_name(focused) if focused else "null"
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
