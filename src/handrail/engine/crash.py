"""Whether the app died under an action: its crash dialog is up, or its process is gone without a word."""

from __future__ import annotations

from typing import Any

from handrail.adb.shell import Shell
from handrail.android.constants import SYSTEM_PACKAGES
from handrail.android.logs import crash_lines, device_now
from handrail.android.packages import is_installed, pid_of
from handrail.engine.look.looks import Look
from handrail.engine.look.verify import app_windows
from handrail.engine.run import Stage
from handrail.errors import AppCrashed
from handrail.tree.dialogs import ScreenDialog
from handrail.tree.node import Screen

CRASH_LINES = 20
"""Lines of the log that an envelope holds."""
_HOME = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.HOME"]


async def look_for_crash(stage: Stage) -> None:
    """Raises `AppCrashed`. Costs a round trip only where the app that was in front is not there any more."""
    run = stage.run
    if run.before is None or run.after is None or run.before is run.after:
        return
    package = _app(run.before.screen)
    dialog = _crash_dialog(run.after)
    if dialog is not None and _crash_dialog(run.before) is None:
        raise await _crashed(stage, package, dialog.title, None, dialog=dialog.to_dict())
    if not package or package == _app(run.after.screen) or run.action.leaves_app:
        return
    if await _has_died(stage.driver.shell, package):
        since = await _device_time_at_start(stage)
        raise await _crashed(stage, package, f"The process of {package} is gone", since)


def _app(screen: Screen) -> str:
    """The app in front, or under the system's own dialogs; '' where there is none."""
    if screen.package not in SYSTEM_PACKAGES:
        return screen.package
    under = [window.package_name for window in app_windows(screen)]
    return next((name for name in reversed(under) if name not in SYSTEM_PACKAGES), "")


async def _has_died(shell: Shell, package: str) -> bool:
    if await pid_of(shell, package) is not None or not await is_installed(shell, package):
        return False
    home = await shell.run(["cmd", "package", "resolve-activity", "--brief", *_HOME], check=False)
    return f"{package}/" not in home.text  # the launcher is started anew whenever it is needed


def _crash_dialog(seen: Look) -> ScreenDialog | None:
    return next((one for one in seen.reading.dialogs if one.kind in ("crash", "anr")), None)


async def _device_time_at_start(stage: Stage) -> int:
    """When the action began, by the device's clock: an older crash is not the reason for this end."""
    age_ms = stage.clock.monotonic_ms() - stage.run.started_ms
    return (await device_now(stage.driver.shell)).epoch_ms - int(age_ms)


async def _crashed(stage: Stage, package: str, says: str, since_ms: int | None, **details: Any) -> AppCrashed:
    crash = await crash_lines(stage.driver.shell, package, since_ms) if package else None
    log = list(crash.lines[:CRASH_LINES]) if crash else None
    summary = f"{says}: {crash.summary}" if crash else says
    return AppCrashed(summary, package=package, log=log, **details)
