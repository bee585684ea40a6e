"""From an action to what the device does: the one exhaustive match. A new action is one class and one case.

Every case dispatches by `stage.hands` or inside `run.dispatching()`, and says what would prove it; the pipe
does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, assert_never

from handrail.engine.acts import control, entry, expects, programs, reads, scroll
from handrail.engine.look.looks import sure
from handrail.engine.look.verify import in_front, moved, toggled
from handrail.engine.pressed import LANES, SHARE, way
from handrail.engine.run import Outcome, Stage
from handrail.protocol import device, observe, system
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Verification
from handrail.protocol.keys import NAVIGATION
from handrail.surface.values import NetworkChange
from handrail.tree.reach import visible_part

START_BUDGET_MS = 10_000.0
"""How long an app may take to come to the front."""


async def execute(stage: Stage, action: AnyAction) -> Outcome:  # noqa: C901, PLR0911, PLR0912, PLR0915
    """Do it once."""
    run = stage.run
    match action:
        case device.Tap():
            aim = stage.aim()
            point = aim.point
            await stage.hands.tap(*point)
            return Outcome(proof=toggled(stage.before, aim))
        case device.DoubleTap():
            point = stage.aim().point
            await stage.hands.double_tap(*point)
            return Outcome()
        case device.LongPress():
            point = stage.aim().point
            await stage.hands.long_press(*point, action.duration_ms)
            return Outcome()
        case device.Swipe():
            path = _swipe_path(stage, action)
            await stage.hands.swipe(*path, action.duration_ms)
            return Outcome(proof=moved(stage.before, stage.looks))
        case device.Drag():
            start, end = stage.aim("from_").point, stage.aim("to").point
            await stage.hands.drag(*start, *end, action.duration_ms)
            return Outcome()
        case device.DragPath():
            await stage.hands.path([(point.x, point.y) for point in action.points], action.duration_ms)
            return Outcome()
        case device.Pinch():
            await stage.hands.pinch(
                action.cx, action.cy, action.start_radius, action.end_radius, action.duration_ms
            )
            return Outcome()
        case device.Rotate():
            await stage.hands.rotate(
                action.cx,
                action.cy,
                action.radius,
                action.start_angle_deg,
                action.end_angle_deg,
                action.duration_ms,
            )
            return Outcome()
        case device.ScrollTo():
            return await scroll.scroll_to(stage, action)
        case device.SetValue():
            return await control.set_value(stage, action)
        case device.TypeText():
            return await entry.type_text(stage, action)
        case device.ClearText():
            return await entry.clear_text(stage, action)
        case device.HideKeyboard():
            return await control.hide_keyboard(stage)
        case device.PressKey():
            await stage.hands.key(action.name)
            told = {} if action.key == action.name else {"key": action.name}
            is_home = stage.health.is_home if stage.health and action.name == "home" else None
            proof = moved(stage.before, stage.looks, is_home) if action.name in NAVIGATION else None
            return Outcome(proof=proof, details=told)
        case device.PressKeys():
            await stage.hands.keys(action.names)
            return Outcome()
        case system.StartApp():
            package = sure(action.package)
            async with run.dispatching():
                await stage.apps.start(package, action.activity, action.extras)
            return Outcome(proof=in_front(package, START_BUDGET_MS, stage.looks.eyes.foreground))
        case system.StopApp():
            return await programs.stop_app(stage, action)
        case system.RestartApp():
            async with run.dispatching():
                await stage.apps.restart(action.package)
            return Outcome(proof=in_front(action.package, START_BUDGET_MS, stage.looks.eyes.foreground))
        case system.ResetApp():
            async with run.dispatching():
                await stage.apps.reset(action.package)
            return Outcome(verification=_done("cleared"))
        case system.InstallApp():
            async with run.dispatching():
                await stage.apps.install(Path(action.path))
            return Outcome(verification=_done("installed"))
        case system.UninstallApp():
            async with run.dispatching():
                await stage.apps.uninstall(action.package)
            return Outcome(verification=_done("removed"))
        case system.AddMedia():
            async with run.dispatching():
                place = await stage.settings.add_media(Path(action.path))
            return Outcome(details={"file": place}, verification=_done(place))
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
            return Outcome(details=dict(applied.details), verification=_done(applied.text))
        case system.SetOrientation():
            async with run.dispatching():
                stands = await stage.settings.set_orientation(action.orientation)
            return Outcome(verification=_done(stands))
        case system.SetAppearance():
            async with run.dispatching():
                looks = await stage.settings.set_appearance(action.appearance)
            return Outcome(verification=_done(looks))
        case system.SetLocation():
            async with run.dispatching():
                place = await stage.settings.set_location(action.latitude, action.longitude)
            return Outcome(verification=_done(place))
        case system.SetClipboard():
            return await programs.set_clipboard(stage, action)
        case system.GrantPermission():
            async with run.dispatching():
                name = await stage.apps.grant(action.package, action.permission)
            return Outcome(verification=_done(f"{name} granted"))
        case system.RevokePermission():
            async with run.dispatching():
                name = await stage.apps.revoke(action.package, action.permission)
            return Outcome(verification=_done(f"{name} revoked"))
        case system.Shell():
            return await programs.on_device(stage, action)
        case system.RunScript():
            return await programs.on_host(stage, action)
        case observe.GetUiTree():
            return await reads.get_ui_tree(stage, action)
        case observe.ReadText():
            return reads.read_text(stage)
        case observe.GetState():
            return await reads.get_state(stage)
        case system.ListApps():
            return await programs.list_apps(stage, action)
        case observe.WhatChanged():
            return await reads.what_changed(stage, action)
        case observe.Screenshot():
            return await reads.screenshot(stage, action)
        case observe.GetLogs():
            return await reads.get_logs(stage, action)
        case observe.GetSharedPrefs():
            return await reads.get_shared_prefs(stage, action)
        case observe.QueryDb():
            return await reads.query_db(stage, action)
        case observe.Wait():
            await stage.pass_time(action.duration_ms)
            return Outcome()
        case observe.WaitFor():
            return await expects.wait_for(stage, action)
        case observe.WaitForStable():
            return await expects.wait_for_stable(stage, action)
        case observe.ExpectVisible() | observe.ExpectAbsent() | observe.ExpectText():
            return await expects.expect_element(stage, action)
        case observe.ExpectState():
            return await expects.expect_state(stage, action)
        case observe.ExpectScreen():
            return await expects.expect_screen(stage, action)
        case observe.ExpectApp():
            return await expects.expect_app(stage, action)
        case observe.RequestHumanAuth():
            return await expects.request_human_auth(stage, action)
        case observe.GiveAnswer():
            return Outcome(details={"answer": action.text})
        case observe.Finish():
            return Outcome(details={"message": action.message, "status": action.status})
        case DeskAct():
            [details] = await apply_on_desk([stage])
            return Outcome(details=details)
        case _:
            assert_never(action)


def _swipe_path(stage: Stage, action: device.Swipe) -> tuple[int, int, int, int]:
    if action.from_ is not None and action.to is not None:
        return action.from_.x, action.from_.y, action.to.x, action.to.y
    screen = stage.before.screen
    aim = stage.run.aims.get("target")
    box = visible_part(screen, aim.node) if aim is not None else screen.bounds
    if aim is not None:
        _ = aim.point  # off the screen or covered: said before the finger moves
    ways = [way(sure(action.direction), box, SHARE, lane) for lane in LANES]
    return stage.hands.free_ways(ways)[0]


def _done(observed: str) -> Verification:
    """The device's own read-back said so."""
    return Verification(mode="built_in", observed=observed, outcome="verified")


async def apply_on_desk(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Actions of the desk as one change; the details of each. A captured window is a screenshot."""
    caller = stages[0].run.caller
    is_person = caller.actor == "person"
    by = caller.id if is_person else caller.name_on_desk
    async with AsyncExitStack() as dispatches:
        for stage in stages:
            await dispatches.enter_async_context(stage.run.dispatching("change"))
        told = await stages[0].windows.apply([stage.run.action for stage in stages], by, is_person)
    return [
        {("screenshotBase64" if name == "imageData" else name): one for name, one in details.items()}
        for details in told
    ]
