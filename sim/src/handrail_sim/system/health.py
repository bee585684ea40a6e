"""Apps that hang, crash, die or are stopped, and what the system says about it."""

from __future__ import annotations

from math import inf

from handrail_sim.system.activities import Context
from handrail_sim.system.providers import OWNERS
from handrail_sim.timers import Timer

ANR_MS = 5000.0
OFTEN_MS = 60_000.0  # a second crash within this time: "keeps stopping"


class Health:
    """Which apps are blocked and which crashed of late."""

    def __init__(self, phone: Context) -> None:
        self.phone = phone
        self.hangs: dict[str, float] = {}  # package -> monotonic ms until when its main thread is blocked
        self._waiting: dict[str, Timer] = {}
        self._crashed: dict[str, float] = {}

    def hang(self, package: str, duration_ms: float | None) -> None:
        self.hangs[package] = inf if duration_ms is None else self.phone.now_ms() + duration_ms

    def is_hung(self, package: str) -> bool:
        return bool(self.hangs) and self.hangs.get(package, 0.0) > self.phone.now_ms()

    def ignores_input(self, package: str) -> bool:
        """True if the app is blocked: the input waits, and after five seconds the system says so."""
        if not self.is_hung(package):
            self.hangs.pop(package, None)
            return False
        if package not in self._waiting:
            self._waiting[package] = self.phone.later(ANR_MS, lambda: self._give_up(package))
        return True

    def _give_up(self, package: str) -> None:
        self._waiting.pop(package, None)
        if self.is_hung(package) and package in self.phone.packages.processes:
            self.phone.logcat("E", "ActivityManager", f"ANR in {package}")
            self.phone.logcat("E", "ActivityManager", "Reason: Input dispatching timed out")
            self.phone.app_not_responding(package)

    def wait_longer(self, package: str) -> None:
        """Somebody pressed Wait: the dialog comes again if nothing gets better."""
        self.ignores_input(package)

    def forget(self, package: str) -> None:
        self.hangs.pop(package, None)
        waiting = self._waiting.pop(package, None)
        if waiting is not None:
            waiting.cancel()

    def reset(self) -> None:
        self.hangs.clear()
        self._waiting.clear()
        self._crashed.clear()

    def stop(self, package: str) -> None:
        """Force stop: the process, its prompts and its notifications go."""
        self.forget(package)
        self.phone.notifications.cancel(package)
        self.phone.app_stopped(package)
        self.phone.tasks.end_app(package)

    def clear(self, package: str) -> bool:
        """Stop it, empty its folder, forget its permissions."""
        if package in OWNERS:
            self.phone.providers.clear(package)
            return True
        known = self.phone.packages.installed.get(package)
        if known is None:
            return False
        self.stop(package)
        folder = f"/data/data/{package}"
        if self.phone.files.exists(folder):
            self.phone.files.remove_tree(folder)
        self.phone.files.make_app_data(package, known.uid)
        self.phone.packages.reset_permissions(package)
        return True

    def die(self, package: str, reason: str | None) -> None:
        """The process ends; of an exception, when there is a reason."""
        self.forget(package)
        if reason is None:
            self.phone.tasks.end_app(package)
        else:
            self._crash(package, reason)

    def _crash(self, package: str, reason: str) -> None:
        """Write what AndroidRuntime writes, and show the dialog."""
        phone = self.phone
        pid = phone.packages.pid_of(package) or 0
        lines = [
            "FATAL EXCEPTION: main",
            f"Process: {package}, PID: {pid}",
            reason,
            f"\tat {package}.MainActivity.onClick(MainActivity.java:42)",
            "\tat android.view.View.performClick(View.java:7659)",
            "\tat android.os.Looper.loop(Looper.java:317)",
        ]
        for line in lines:
            phone.logcat("E", "AndroidRuntime", line, package, "crash")
        now = phone.now_ms()
        again = now - self._crashed.get(package, -inf) < OFTEN_MS
        self._crashed[package] = now
        phone.tasks.end_app(package)
        phone.app_crashed(package, again)
