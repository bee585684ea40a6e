"""From fingers to meaning: presses, long presses, drags, scrolls, flings, pinches, on the window below them.

One `Touch` per phone. Times come from the phone; what a tap means is the view's own business.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, degrees, hypot

from handrail_sim.input.editing import Editing
from handrail_sim.screen.shown import Shown
from handrail_sim.timers import Timer
from handrail_sim.view.hit import chain, hit, is_slider
from handrail_sim.view.memory import name_of
from handrail_sim.view.scrolling import can_scroll
from handrail_sim.view.units import contains, edges
from handrail_sim.view.view import Rect, View
from handrail_sim.view.windows import Window

LONG_PRESS_MS = 500.0
DOUBLE_TAP_MS = 300.0
SLOP_DP = 8.0
VELOCITY_WINDOW_MS = 100.0
SWIPE_DP = 48.0


class Touch:
    """The gesture in progress, if there is one."""

    def __init__(self, phone: Shown, editing: Editing) -> None:
        self.phone = phone
        self._editing = editing
        self.fingers: dict[int, tuple[float, float]] = {}
        self.window: Window | None = None
        self.target: View | None = None
        self.name = ""
        self.mode = (
            ""  # press, scroll, slide, drag, multi, swipe, held (long press done), outside, caught, away
        )
        self.scroller = ""  # the name of what scrolls under the finger
        self.sideways = False
        self.start = (0.0, 0.0)
        self.trail: list[tuple[float, float, float]] = []
        self.timer: Timer | None = None
        self.last_tap = (-1e9, 0.0, 0.0)
        self.spread = (0.0, 0.0)

    def pointer(self, action: str, x: float, y: float, finger: int) -> None:
        if action == "down":
            self._down(x, y, finger)
        elif finger in self.fingers:
            if action == "move":
                self._move(x, y, finger)
            elif action == "up":
                self._up(x, y, finger)
            else:
                self.cancel()

    # down

    def _down(self, x: float, y: float, finger: int) -> None:
        self.fingers[finger] = (x, y)
        if len(self.fingers) > 1 and self.mode == "away":
            self._send_away("down", x, y, finger)
            return
        if len(self.fingers) > 1:
            self._second()
            return
        self.start = (x, y)
        self.trail = [(self.phone.now_ms(), x, y)]
        self.scroller = ""
        self.mode = "press"
        self.window, outside = self.phone.screen.window_at(x, y)
        self.target = None
        if self.window is None:
            return
        if self.phone.health.ignores_input(self.window.package):
            self.window = None
            return
        if outside:
            self.mode = "outside"
            return
        self.target = hit(self.window.root, x, y)
        if self.target is not None and self.target.drawn is not None:
            self.mode, self.name = "away", name_of(self.target)
            self._editing.focus(self.window, self.name, keyboard=False)
            self._send_away("down", x, y, finger)
            return
        self._begin()

    def _begin(self) -> None:
        target, window = self.target, self.window
        if target is None or window is None:
            return
        self.name = name_of(target)
        if self.phone.motion.stop(window, target):
            self.mode = "caught"
            return
        if target.on_touch is not None:
            self._raw("down", *self.start)
        if is_slider(target) and target.enabled:
            target.pressed = True
            return
        target.pressed = target.is_clickable and target.enabled
        if target.is_long_clickable and target.enabled:
            self.timer = self.phone.later(LONG_PRESS_MS, self._long_press)

    def _raw(self, action: str, x: float, y: float) -> None:
        target = self._current()
        if target is not None and target.on_touch is not None:
            self._run(target.on_touch, action, x - target.x, y - target.y)

    def _current(self) -> View | None:
        """The target in the tree of now: a screen may have been built anew under the finger."""
        if self.window is None or self.target is None:
            return None
        root = self.window.root
        top = self.target
        while top.parent is not None:
            top = top.parent
        if top is not root:
            self.target = self.window.find(self.name)
        return self.target

    def _run(self, handler: Callable[..., object], *args: object) -> None:
        if self.window is not None:
            self.phone.run(self.window, handler, *args)

    def _long_press(self) -> None:
        self.timer = None
        target = self._current()
        if self.mode != "press" or target is None:
            return
        self.mode = "held"
        target.pressed = False
        self.phone.emit(
            "TYPE_VIEW_LONG_CLICKED", target.package or (self.window.package if self.window else "")
        )
        if target.editable and self.window is not None:
            self._editing.long_press(self.window, target, *self.start)
        if target.on_long_click is not None:
            self._run(target.on_long_click)
        if target.on_drag is not None:  # picked up: what follows moves it
            self.mode = "drag"

    # move

    def _move(self, x: float, y: float, finger: int) -> None:
        before = self.fingers[finger]
        self.fingers[finger] = (x, y)
        if self.mode == "away":
            self._send_away("move", x, y, finger)
            return
        if self.mode == "multi":
            self._pinch()
            return
        if len(self.fingers) > 1 or self.window is None:
            return
        self.trail.append((self.phone.now_ms(), x, y))
        slop = self.phone.units.px(SLOP_DP)
        if self.mode == "press" and hypot(x - self.start[0], y - self.start[1]) > slop:
            self._decide(x, y)
            before = self._past_slop(x, y, slop) if self.mode == "scroll" else self.start
        self._follow(before, x, y)

    def _past_slop(self, x: float, y: float, slop: int) -> tuple[float, float]:
        """A scroll begins where the finger left the slop: that much of its way moves nothing."""
        across = max(-slop, min(slop, x - self.start[0]))
        down = max(-slop, min(slop, y - self.start[1]))
        return self.start[0] + across, self.start[1] + down

    def _decide(self, x: float, y: float) -> None:
        """The finger went past the slop: whose is the drag?"""
        target = self._current()
        self._drop_timer()
        vertical = abs(y - self.start[1]) >= abs(x - self.start[0])
        if target is not None and is_slider(target) and not vertical:
            self.mode = "slide"
            return
        self._give_drag(target, vertical)
        if self.mode == "press" and self.phone.systemui.may_pull(self.start, y):
            self.mode = "pull"
        if target is not None and self.mode != "press":
            target.pressed = False

    def _give_drag(self, target: View | None, vertical: bool) -> None:
        for view in chain(target):
            if view.on_drag is not None:
                self.mode, self.target, self.name = "drag", view, name_of(view)
                return
            if can_scroll(view, vertical, self.phone.units):
                self.mode, self.scroller = ("page" if view.layout == "pager" else "scroll"), name_of(view)
                self.sideways = not vertical
                return
        for view in chain(target):
            if view.on_swipe is not None:
                self.mode, self.target, self.name = "swipe", view, name_of(view)
                return

    def _follow(self, before: tuple[float, float], x: float, y: float) -> None:
        if self.target is not None and self.target.on_touch is not None and self.mode != "scroll":
            self._raw("move", x, y)
        if self.mode == "slide":
            self._slide(x)
        elif self.mode == "drag":
            target = self._current()
            if target is not None and target.on_drag is not None:
                self._run(target.on_drag, x - before[0], y - before[1])
        elif self.mode == "scroll" and self.window is not None:
            distance = round(before[0] - x) if self.sideways else round(before[1] - y)
            self.phone.motion.drag(self.window, self.scroller, distance)

    def _slide(self, x: float) -> None:
        target = self._current()
        if target is None or not target.enabled:
            return
        left, _, right, _ = edges(target.padding, self.phone.units.dp)
        thumb = self.phone.units.px(10.0)  # its radius: the centre stays that far inside
        span = max(1, target.w - left - right - 2 * thumb)
        share = min(1.0, max(0.0, (x - target.x - left - thumb) / span))
        value = target.low + share * (target.high - target.low)
        if target.step:
            value = target.low + round((value - target.low) / target.step) * target.step
        if value != target.value:
            target.value = value
            if target.on_change is not None:
                self._run(target.on_change, value)
            self.phone.emit("TYPE_VIEW_SELECTED", self.window.package if self.window else "")

    # several fingers

    def _second(self) -> None:
        self._drop_timer()
        for view in chain(self._current()):
            if view.on_scale is not None or view.on_rotate is not None:
                self.mode, self.target, self.name = "multi", view, name_of(view)
                self.spread = self._measure_fingers()
                return
        self.mode = "multi"

    def _measure_fingers(self) -> tuple[float, float]:
        (x1, y1), (x2, y2) = list(self.fingers.values())[:2]
        return max(1.0, hypot(x2 - x1, y2 - y1)), degrees(atan2(y2 - y1, x2 - x1))

    def _pinch(self) -> None:
        target = self._current()
        if target is None or len(self.fingers) < 2:
            return
        size, angle = self._measure_fingers()
        old_size, old_angle = self.spread
        self.spread = (size, angle)
        (x1, y1), (x2, y2) = list(self.fingers.values())[:2]
        if target.on_scale is not None and size != old_size:
            self._run(target.on_scale, size / old_size, (x1 + x2) / 2, (y1 + y2) / 2)
        if target.on_rotate is not None and angle != old_angle:
            self._run(target.on_rotate, (angle - old_angle + 180.0) % 360.0 - 180.0)

    # up

    def _up(self, x: float, y: float, finger: int) -> None:
        del self.fingers[finger]
        if self.mode == "away":
            self._send_away("up", x, y, finger)
            return
        if self.fingers:
            return
        self._drop_timer()
        mode, window = self.mode, self.window
        target = self._current()
        if target is not None:
            target.pressed = False
        if window is None:
            return
        self.trail.append((self.phone.now_ms(), x, y))
        if mode == "outside":
            if window.cancelable and window.on_outside is not None:
                self.phone.run(window, window.on_outside)
        elif mode == "press":
            self._release(window, target, x, y)
        elif mode == "scroll":
            across, down = self._velocity()
            speed = -(across if self.sideways else down)
            self.phone.motion.fling(window, self.scroller, speed)
        else:
            self._end_drag(mode, target, x, y)

    def _release(self, window: Window, target: View | None, x: float, y: float) -> None:
        if target is None:
            return
        if target.on_touch is not None:
            self._raw("up", x, y)
            target = self._current() or target
        if not target.enabled or not contains(self._with_slop(target), x, y):
            return
        if is_slider(target):
            self._slide(x)
            return
        now = self.phone.now_ms()
        if target.on_double_tap is not None and self._is_double(now, x, y):
            self.last_tap = (-1e9, 0.0, 0.0)
            self._run(target.on_double_tap)
            return
        self.last_tap = (now, x, y)
        self.phone.click(window, target, x, y)

    def _with_slop(self, view: View) -> Rect:
        slop = self.phone.units.px(SLOP_DP)
        left, top, right, bottom = view.clip
        return left - slop, top - slop, right + slop, bottom + slop

    def _is_double(self, now: float, x: float, y: float) -> bool:
        then, old_x, old_y = self.last_tap
        return now - then <= DOUBLE_TAP_MS and hypot(x - old_x, y - old_y) < self.phone.units.px(100.0)

    def _end_drag(self, mode: str, target: View | None, x: float, y: float) -> None:
        across, down = x - self.start[0], y - self.start[1]
        far = max(abs(across), abs(down)) >= self.phone.units.px(SWIPE_DP)
        vertical = abs(down) >= abs(across)
        way = ("down" if down > 0 else "up") if vertical else ("right" if across > 0 else "left")
        if mode == "drag" and target is not None and target.on_drop is not None:
            self._run(target.on_drop, x, y)
        elif mode == "swipe" and far and target is not None and target.on_swipe is not None:
            self._run(target.on_swipe, way)
        elif mode == "pull" and far:
            self.phone.systemui.pulled()
        elif mode == "page" and far and self.window is not None:
            self.phone.motion.turn(self.window, self.scroller, way)

    def _velocity(self) -> tuple[float, float]:
        """px/s over the last 100 ms of the trail."""
        end, x, y = self.trail[-1]
        first = next((point for point in self.trail if end - point[0] <= VELOCITY_WINDOW_MS), self.trail[-1])
        elapsed = (end - first[0]) / 1000.0
        if elapsed <= 0.0:
            return 0.0, 0.0
        return (x - first[1]) / elapsed, (y - first[2]) / elapsed

    def _send_away(self, action: str, x: float, y: float, finger: int) -> None:
        target = self._current()
        if target is not None and target.drawn is not None:
            target.drawn.touch(action, x - target.x, y - target.y, finger)

    def cancel(self) -> None:
        self._drop_timer()
        if self.mode == "away":
            for finger, (x, y) in self.fingers.items():
                self._send_away("cancel", x, y, finger)
        if self.target is not None:
            self.target.pressed = False
        self.fingers.clear()
        self.mode = ""

    def _drop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
