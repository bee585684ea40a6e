"""What an activity keeps and shows: its state, its windows, its overlays as data, its timers.

Knows no app, no task and no other activity; what apps write is in `activities`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.system.calls import make, to_call
from handrail_sim.system.device import Device
from handrail_sim.timers import Timer
from handrail_sim.view.memory import Memory
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

MOST_MISSED = 5000  # turns of a repeated timer that are made up for when nobody looked for long


class ActivityState:
    """`state` must stay JSON-able: it survives rotation, process death and snapshots."""

    title: str = ""
    secure: bool = False  # FLAG_SECURE: black in screenshots
    interrupts: bool = False  # comes by itself; what was in front comes back after it
    single_top: bool = False  # started again while on top: on_new_intent instead of a second one
    bare: bool = False  # the window is exactly what build() returns, without Android's frames
    animating: bool = False  # never idle while in front
    wallpaper: bool = False  # the wallpaper shows through
    dialog_style: bool | str = False  # floats above the activity below, which it dims; "sheet": at the bottom
    orientation: str = ""  # "portrait" or "landscape": refuses to turn

    def __init__(self, phone: Device, package: str, component: str) -> None:
        self.phone = phone
        self.state: dict[str, Any] = {}
        self.overlays: list[dict[str, Any]] = []
        self.then: dict[str, Any] | None = None  # whom to give the result: {"activity": token, "call": Call}
        self.token = 0
        self.name = ""
        self.starting = False  # a slow start: only the icon is there
        self.finishing = False
        self.started_ms = 0.0
        self.timers: list[tuple[Timer, dict[str, Any]]] = []
        self.window = Window(component, package, "application", self._decor, component=component)
        if self.dialog_style:
            self.window.type, self.window.dim, self.window.on_outside = "dialog", 0.6, self.finish
            self.window.placement = "bottom" if self.dialog_style == "sheet" else "center"
        self.overlay_windows: dict[int, Window] = {}
        self.closing: Memory = {}  # of a dialog whose button's handler runs

    def build(self) -> View:
        raise NotImplementedError

    def finish(self, result: Any = None) -> None:
        raise NotImplementedError

    def _decor(self) -> View:
        """What `build` gives, inside Android's frames."""
        raise NotImplementedError

    def changed(self) -> None:
        self.window.invalidate()
        for window in self.overlay_windows.values():
            window.invalidate()

    def close_overlay(self, number: int) -> None:
        before = len(self.overlays)
        self.overlays = [overlay for overlay in self.overlays if overlay["number"] != number]
        self.overlay_windows.pop(number, None)
        if len(self.overlays) != before:
            self.changed()
            self.phone.window_closed(self.window.package)

    def later(self, delay_ms: float, run: Callable[..., object], *args: Any) -> Timer:
        """Call a method after a while, unless the activity is gone by then."""
        return self.arm(delay_ms, {"call": to_call(self, run), "args": list(args), "every_ms": 0.0})

    def every(self, period_ms: float, run: Callable[..., object]) -> Timer:
        """Call a method again and again while the activity lives; missed turns are made up for."""
        return self.arm(period_ms, {"call": to_call(self, run), "args": [], "every_ms": period_ms})

    def arm(self, delay_ms: float, record: dict[str, Any]) -> Timer:
        """Set a timer from its record; a restored activity does the same."""

        def ring() -> None:
            if self.finishing:
                return
            if record["every_ms"]:
                late = self.phone.clock.monotonic_ms() - timer.due_ms
                skipped = max(0, int(late // record["every_ms"]) - MOST_MISSED)
                self.phone.timers.again(timer, timer.due_ms + (skipped + 1) * record["every_ms"])
            else:
                self.timers.remove((timer, record))
            make(self, record["call"], *record["args"])
            self.changed()
            self.phone.emit("TYPE_WINDOW_CONTENT_CHANGED", self.window.package)

        timer = self.phone.later(delay_ms, ring)
        self.timers.append((timer, record))
        return timer

    def stop_timers(self) -> None:
        for timer, _ in self.timers:
            timer.cancel()
        self.timers.clear()

    def take_over(self, old: ActivityState) -> None:
        self.name, self.token, self.then = old.name, old.token, old.then
        self.state, self.overlays = old.state, old.overlays
        self.starting, self.started_ms = old.starting, old.started_ms
        self.window.memory, self.window.focus = old.window.memory, old.window.focus
        self.window.number = old.window.number
