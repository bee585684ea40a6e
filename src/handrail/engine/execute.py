"""From an action to what the device does: the one exhaustive match. A new action is one class and one case.

Every case dispatches inside `run.dispatching()` and says what would prove it; the pipe does the rest.
What few actions need is imported by their case: a command line pays for every import.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from handrail.android import apps
from handrail.engine.acts import control, entry, expects, programs, reads, scroll
from handrail.engine.look.looks import sure
from handrail.engine.look.verify import in_front, moved, toggled
from handrail.engine.pressed import way
from handrail.engine.run import Outcome, Stage
from handrail.protocol import device, observe, system
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Verification
from handrail.protocol.keys import is_navigation
from handrail.tree.reach import visible_part

START_BUDGET_MS = 10_000.0
"""How long an app may take to come to the front."""


async def execute(stage: Stage, action: AnyAction) -> Outcome:  # noqa: C901, PLR0911, PLR0912, PLR0915
    """Do it once."""
    run, driver, at = stage.run, stage.driver, stage.driver.shell
    match action:
        case device.Tap():
            aim = stage.aim()
            point = aim.point
            async with run.dispatching():
                await driver.tap(*point)
            return Outcome(proof=toggled(stage.before, aim))
        case device.DoubleTap():
            point = stage.aim().point
            async with run.dispatching():
                await driver.double_tap(*point)
            return Outcome()
        case device.LongPress():
            point = stage.aim().point
            async with run.dispatching():
                await driver.long_press(*point, action.duration_ms)
            return Outcome()
        case device.Swipe():
            path = _swipe_path(stage, action)
            async with run.dispatching():
                await driver.swipe(*path, action.duration_ms)
            return Outcome(proof=moved(stage.before, stage.looks))
        case device.Drag():
            start, end = stage.aim("from_").point, stage.aim("to").point
            async with run.dispatching():
                await driver.drag(*start, *end, action.duration_ms)
            return Outcome()
        case device.Pinch():
            async with run.dispatching():
                await driver.pinch(
                    action.cx, action.cy, action.start_radius, action.end_radius, action.duration_ms
                )
            return Outcome()
        case device.Rotate():
            async with run.dispatching():
                await driver.rotate(
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
        case device.PressKey():
            async with run.dispatching():
                await driver.key(action.key)
            return Outcome(proof=moved(stage.before, stage.looks) if is_navigation(action.key) else None)
        case system.StartApp():
            async with run.dispatching():
                await apps.start(at, action.package, action.activity)
            return Outcome(proof=in_front(action.package, START_BUDGET_MS))
        case system.StopApp():
            return await programs.stop_app(stage, action)
        case system.RestartApp():
            async with run.dispatching():
                await apps.restart(at, action.package)
            return Outcome(proof=in_front(action.package, START_BUDGET_MS))
        case system.ResetApp():
            async with run.dispatching():
                await apps.reset(at, action.package)
            return Outcome(verification=_done("cleared"))
        case system.InstallApp():
            from handrail.android import install  # noqa: PLC0415

            async with run.dispatching():
                await install.install(stage.device, Path(action.path).expanduser())
            return Outcome(verification=_done("installed"))
        case system.OpenUrl():
            from handrail.android import urls  # noqa: PLC0415

            async with run.dispatching():
                started = await urls.open_url(at, action.url)
            return Outcome(details={"component": started.component} if started.component else {})
        case system.SetNetwork():
            from handrail.android.settings import Change, set_network  # noqa: PLC0415

            async with run.dispatching():
                wanted = Change(
                    action.preset, action.speed, action.delay, action.wifi, None, action.airplane_mode
                )
                applied = await set_network(at, driver.serial, wanted, stage.clock)
            return Outcome(details=applied.to_dict(), verification=_done(applied.message))
        case system.SetOrientation():
            from handrail.android import settings  # noqa: PLC0415

            async with run.dispatching():
                turned = await settings.set_orientation(at, action.orientation, stage.clock)
            return Outcome(verification=_done(turned.orientation))
        case system.SetClipboard():
            return await programs.set_clipboard(stage, action)
        case system.GrantPermission():
            from handrail.android import packages  # noqa: PLC0415

            async with run.dispatching():
                name = await packages.grant(at, action.package, action.permission)
            return Outcome(verification=_done(f"{name} granted"))
        case system.RevokePermission():
            from handrail.android import packages  # noqa: PLC0415

            async with run.dispatching():
                name = await packages.revoke(at, action.package, action.permission)
            return Outcome(verification=_done(f"{name} revoked"))
        case system.Shell():
            from handrail.engine.acts import programs  # noqa: PLC0415

            return await programs.on_device(stage, action)
        case system.RunScript():
            from handrail.engine.acts import programs  # noqa: PLC0415

            return await programs.on_host(stage, action)
        case observe.GetUiTree():
            return await reads.get_ui_tree(stage, action)
        case observe.GetState():
            return await reads.get_state(stage)
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
            await stage.clock.sleep_ms(action.duration_ms)
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
        case observe.Finish():
            return Outcome(details={"message": action.message})
        case DeskAct():
            from handrail.engine.on_desk import on_desk  # noqa: PLC0415

            [details] = await on_desk(stage.desk_surface(), [action], run.caller)
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
    return way(sure(action.direction), box)


def _done(observed: str) -> Verification:
    """The device's own read-back said so."""
    return Verification(mode="built_in", observed=observed, outcome="verified")
