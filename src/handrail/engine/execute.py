"""Maps every action to device commands in one exhaustive match. A new action is one class and one case.

Every case dispatches through `stage.input` or inside `run.dispatching()` and returns the proof to look for;
the lifecycle does the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, assert_never

from handrail.engine.actions import apps_and_commands, fields, observations, scroll
from handrail.engine.gestures import LANES, SHARE, line_points, swipe_line
from handrail.engine.run import ActionRun, Outcome, Stage
from handrail.engine.snapshot import require_present
from handrail.engine.verify import (
    app_in_front,
    checked_state_changed,
    screen_moved,
    touch_changed_screen,
    verified_by_read_back,
)
from handrail.protocol import device, observe, system
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.keys import NAVIGATION
from handrail.screen.node import ScreenPoint
from handrail.screen.reach import visible_part
from handrail.surface import gesture
from handrail.surface.capabilities import DeskWindows
from handrail.surface.values import NetworkChange

START_BUDGET_MS = 10_000.0
"""How long an app may take to come to the front."""


async def execute(stage: Stage, action: AnyAction) -> Outcome:  # noqa: C901, PLR0911, PLR0912, PLR0915
    run = stage.run
    match action:
        case device.Tap():
            aim = stage.aim()
            tap = gesture.tap(aim.point, action.button or "left", action.modifiers or ())
            await stage.input.perform(tap)
            if tap.needs_mouse:
                return Outcome()  # a context menu, another tab, or one more row that is selected
            return Outcome(
                proof=checked_state_changed(stage.before, aim)
                or touch_changed_screen(stage.before, stage.screens, aim)
            )
        case device.Hover():
            await stage.input.perform(gesture.hover(stage.aim().point))
            return Outcome()
        case device.DoubleTap():
            aim = stage.aim()
            await stage.input.perform(gesture.double_tap(aim.caption_point))
            return Outcome(proof=touch_changed_screen(stage.before, stage.screens, aim))
        case device.LongPress():
            aim = stage.aim()
            await stage.input.perform(gesture.long_press(aim.point, action.duration_ms))
            return Outcome(proof=touch_changed_screen(stage.before, stage.screens, aim))
        case device.Swipe():
            await stage.input.perform(gesture.swipe(*_swipe_ends(stage, action), action.duration_ms))
            return Outcome(proof=screen_moved(stage.before, stage.screens))
        case device.Drag():
            start, end = stage.aim("from_").point, stage.aim("to").point
            await stage.input.perform(gesture.drag(start, end, action.duration_ms))
            return Outcome()
        case device.DragPath():
            points = [ScreenPoint(point.x, point.y) for point in action.points]
            await stage.input.perform(gesture.path(points, action.duration_ms))
            return Outcome()
        case device.Pinch(cx=cx, cy=cy, duration_ms=duration_ms):
            radii = action.start_radius, action.end_radius
            await stage.input.perform(gesture.pinch(cx, cy, *radii, duration_ms))
            return Outcome()
        case device.Rotate(cx=cx, cy=cy, radius=radius, duration_ms=duration_ms):
            angles = action.start_angle_deg, action.end_angle_deg
            await stage.input.perform(gesture.rotate(cx, cy, radius, *angles, duration_ms))
            return Outcome()
        case device.ScrollTo():
            return await scroll.scroll_to(stage, action)
        case device.SetValue():
            return await fields.set_value(stage, action)
        case device.TypeText():
            return await fields.type_text(stage, action)
        case device.ClearText():
            return await fields.clear_text(stage, action)
        case device.HideKeyboard():
            return await fields.hide_keyboard(stage)
        case device.PressKey():
            await stage.input.key(action.name)
            spelled = {} if action.key == action.name else {"key": action.name}
            is_home = stage.health.is_home if stage.health and action.name == "home" else None
            proof = screen_moved(stage.before, stage.screens, is_home) if action.name in NAVIGATION else None
            return Outcome(proof=proof, details=spelled)
        case device.PressKeys():
            await stage.input.keys(action.names)
            return Outcome()
        case system.StartApp():
            package = require_present(action.package)
            async with run.dispatching():
                await stage.apps.start(package, action.activity, action.extras)
            return Outcome(proof=app_in_front(package, START_BUDGET_MS, stage.screens.reader.foreground))
        case system.StopApp():
            return await apps_and_commands.stop_app(stage, action)
        case system.RestartApp():
            async with run.dispatching():
                await stage.apps.restart(action.package)
            return Outcome(
                proof=app_in_front(action.package, START_BUDGET_MS, stage.screens.reader.foreground)
            )
        case system.ResetApp():
            return await _confirmed(run, lambda: stage.apps.reset(action.package), "cleared")
        case system.InstallApp():
            return await _confirmed(run, lambda: stage.apps.install(Path(action.path)), "installed")
        case system.UninstallApp():
            return await _confirmed(run, lambda: stage.apps.uninstall(action.package), "removed")
        case system.AddMedia():
            async with run.dispatching():
                place = await stage.settings.add_media(Path(action.path))
            return Outcome(details={"file": place}, verification=verified_by_read_back(place))
        case system.OpenUrl():
            async with run.dispatching():
                component = await stage.apps.open_url(action.url)
            return Outcome(details={"component": component} if component else {})
        case system.SetNetwork():
            wanted = NetworkChange(
                action.preset, action.speed, action.delay, action.wifi, None, action.airplane_mode
            )
            async with run.dispatching():
                applied = await stage.settings.set_network(wanted)
            return Outcome(details=dict(applied.details), verification=verified_by_read_back(applied.text))
        case system.SetOrientation():
            return await _confirmed(run, lambda: stage.settings.set_orientation(action.orientation))
        case system.SetAppearance():
            return await _confirmed(run, lambda: stage.settings.set_appearance(action.appearance))
        case system.SetLocation():
            return await _confirmed(
                run, lambda: stage.settings.set_location(action.latitude, action.longitude)
            )
        case system.SetClipboard():
            return await apps_and_commands.set_clipboard(stage, action)
        case system.GrantPermission():
            send = partial(stage.apps.grant, action.package, action.permission)
            return await _confirmed(run, send, "{} granted")
        case system.RevokePermission():
            send = partial(stage.apps.revoke, action.package, action.permission)
            return await _confirmed(run, send, "{} revoked")
        case system.Shell():
            return await apps_and_commands.run_shell(stage, action)
        case system.RunScript():
            return await apps_and_commands.run_script(stage, action)
        case observe.GetUiTree():
            return await observations.get_ui_tree(stage, action)
        case observe.ReadText():
            return observations.read_text(stage)
        case observe.GetState():
            return await observations.get_state(stage)
        case system.ListApps():
            return await apps_and_commands.list_apps(stage, action)
        case observe.WhatChanged():
            return await observations.what_changed(stage, action)
        case observe.Screenshot():
            return await observations.screenshot(stage, action)
        case observe.GetLogs():
            return await observations.get_logs(stage, action)
        case observe.GetSharedPrefs():
            return await observations.get_shared_prefs(stage, action)
        case observe.QueryDb():
            return await observations.query_db(stage, action)
        case observe.Wait():
            await stage.pass_time(action.duration_ms)
            return Outcome()
        case observe.WaitFor():
            return await observations.wait_for(stage, action)
        case observe.WaitForStable():
            return await observations.wait_for_stable(stage, action)
        case observe.Check():
            return await observations.expect(stage, action)
        case observe.RequestHumanAuth():
            return await observations.request_human_auth(stage, action)
        case observe.GiveAnswer():
            return Outcome(details={"answer": action.text})
        case observe.Finish():
            return Outcome(details={"message": action.message, "status": action.status})
        case DeskAct():
            [details] = await apply_on_desk([stage])
            return Outcome(details=details)
        case _:
            assert_never(action)


async def _confirmed(
    run: ActionRun, send: Callable[[], Awaitable[str | None]], observed: str = "{}"
) -> Outcome:
    """The reply of the command is the proof; it stands for the braces in `observed`."""
    async with run.dispatching():
        reply = await send()
    return Outcome(verification=verified_by_read_back(observed.format(reply)))


def _swipe_ends(stage: Stage, action: device.Swipe) -> tuple[ScreenPoint, ScreenPoint]:
    if action.from_ is not None and action.to is not None:
        return ScreenPoint(action.from_.x, action.from_.y), ScreenPoint(action.to.x, action.to.y)
    screen = stage.before.screen
    aim = stage.run.aims.get("target")
    box = visible_part(screen, aim.node) if aim is not None else screen.bounds
    if aim is not None:
        _ = aim.point  # raises if it is off the screen or covered, before the finger moves
    ways = [swipe_line(require_present(action.direction), box, SHARE, lane) for lane in LANES]
    return line_points(stage.input.unguarded_lines(ways)[0])


async def apply_on_desk(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Applies desk actions as one change and returns the details of each. `imageData` of a captured window
    becomes `screenshotBase64`."""
    caller = stages[0].run.caller
    is_person = caller.actor == "person"
    by = caller.id if is_person else caller.name_on_desk
    async with AsyncExitStack() as dispatches:
        for stage in stages:
            await dispatches.enter_async_context(stage.run.dispatching("change"))
        windows = stages[0].surface.need(DeskWindows)
        replies = await windows.apply([stage.run.action for stage in stages], by, is_person)
    return [
        {("screenshotBase64" if name == "imageData" else name): content for name, content in details.items()}
        for details in replies
    ]
