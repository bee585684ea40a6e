"""What moves by itself: flings as functions of time, and how long windows take to come in."""

from __future__ import annotations

from dataclasses import dataclass

from handrail_sim.system.android import Android
from handrail_sim.view.memory import name_of
from handrail_sim.view.scrolling import eased, fling, scroll_by, scrollers_above
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window


@dataclass(slots=True)
class Fling:
    """A scroller on its way: `done` of `distance` px are made."""

    window: Window
    name: str
    distance: int
    started_ms: float
    duration_ms: float
    done: int = 0


class Motion:
    """The phone's running animations."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.flings: list[Fling] = []
        self.busy_until_ms = 0.0

    def busy(self, duration_ms: float) -> None:
        """Something comes in or goes out for this long."""
        self.busy_until_ms = max(self.busy_until_ms, self.phone.now_ms() + duration_ms)

    def idle(self) -> bool:
        return not self.flings and self.busy_until_ms <= self.phone.now_ms()

    def drag(self, window: Window, name: str, distance: int) -> None:
        """The finger moved the content of the scroller with this name by so many px."""
        view = window.find(name)
        if view is not None and distance and scroll_by(view, distance, self.phone.units):
            window.relayout()
            self._scrolled(window, view)

    def _scrolled(self, window: Window, view: View) -> None:
        """Say so; a list that shows its last row may ask the app for more."""
        self.phone.emit("TYPE_VIEW_SCROLLED", window.package)
        if view.layout != "list" or view.on_end is None:
            return
        now = window.find(name_of(view)) or view
        last = (now.memory or {}).get("last", 0)
        if (last + 1) * now.columns >= len(now.items) and now.on_end is not None:
            self.phone.run(window, now.on_end)

    def page(self, window: Window, way: int) -> None:
        """Page keys: the first scroller of the window moves by its length."""
        view = next((one for one in window.views() if one.layout in ("scroll", "list")), None)
        if view is not None:
            self.drag(window, name_of(view), way * view.h)

    def step(self, window: Window, view: View, way: int) -> bool:
        """A scroll by accessibility: one length at once; false when it was at its end."""
        name = name_of(view)
        if view.layout == "pager":
            before = view.value
            self.turn(window, name, "left" if way > 0 else "right")
            return (window.find(name) or view).value != before
        size = view.w if view.layout == "hscroll" else view.h
        return view.memory is not None and self._roll(window, view, way * size)

    def fling(self, window: Window, name: str, velocity: float) -> None:
        distance, duration = fling(velocity, self.phone.units)
        if distance:
            self.flings.append(Fling(window, name, distance, self.phone.now_ms(), duration))

    def turn(self, window: Window, name: str, way: str) -> None:
        """A pager goes to the next or the previous page."""
        pager = window.find(name)
        if pager is None:
            return
        page = int(pager.value) + {"left": 1, "right": -1}.get(way, 0)
        if 0 <= page < len(pager.children) and page != int(pager.value) and pager.on_change is not None:
            self.busy(250.0)
            self.phone.run(window, pager.on_change, page)

    def stop(self, window: Window, target: View) -> bool:
        """A finger on a list that is still running stops it; true if it ran."""
        names = {name_of(view) for view in scrollers_above(target)}
        running = [one for one in self.flings if one.window is window and one.name in names]
        self.flings = [one for one in self.flings if one not in running]
        return bool(running)

    def advance(self, now_ms: float) -> None:
        """Bring every fling to where it is at this time."""
        for one in list(self.flings):
            fraction = (now_ms - one.started_ms) / one.duration_ms
            target = int(one.distance * eased(fraction))
            step, one.done = target - one.done, target
            view = one.window.find(one.name)
            ended = fraction >= 1.0 or view is None
            if view is not None and step and not self._roll(one.window, view, step):
                ended = True
            if ended:
                self.flings.remove(one)

    def _roll(self, window: Window, view: View, step: int) -> bool:
        name, before = name_of(view), dict(view.memory or {})
        if not scroll_by(view, step, self.phone.units):
            return False
        window.relayout()
        self._scrolled(window, view)
        after = (window.find(name) or view).memory or {}
        return (before.get("first"), before.get("offset")) != (after.get("first"), after.get("offset"))
