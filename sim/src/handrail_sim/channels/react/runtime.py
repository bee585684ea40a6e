"""The JS thread of one app: a QuickJS context with React Native's globals, its timers on the phone's time.

Made when a debugger first connects, so that a phone nobody debugs pays nothing. What was under way before
that is unknown to it, as it is to every instrumentation that comes late. Scripts never call the phone:
QuickJS refuses that while a time limit is set, and without one a script could hold up the phone for ever.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import quickjs  # type: ignore[import-untyped]

from handrail_sim.channels.react.fibers import fibers_of, window_of

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context
    from handrail_sim.timers import Timer

STRANGE_MS = 300.0
"""How long a request takes that the app's own server does not know."""
FRAME_MS = 16.0
MEASURE_MS = 4.0
"""The native side answers a measurement later."""
LONGEST_S = 1.0
"""Of computing in one visit; a phone would call the app not responding after five."""
MOST_BYTES = 64 << 20
MOST_JOBS = 10_000
"""Reactions of promises after one visit; what is left over waits for the next."""
_HERE = Path(__file__).parent


class Stopped(Exception):
    """A script took too long or too much, or broke what answers are made with."""


class Runtime:
    """One context."""

    def __init__(self, phone: Context, package: str) -> None:
        self.phone = phone
        self.package = package
        self._timers: dict[int, Timer] = {}
        self._expected: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._shown: tuple[object, ...] = ()
        self._context = quickjs.Context()
        self._context.set_time_limit(LONGEST_S)
        self._context.set_memory_limit(MOST_BYTES)
        make = self._context.eval((_HERE / "context.js").read_text("utf-8"))
        prelude = (_HERE / "prelude.js").read_text("utf-8")
        self._door = make(float(phone.seed), MEASURE_MS, FRAME_MS, prelude)

    # what debuggers do

    def evaluate(self, source: str, *, by_value: bool, wait: bool) -> dict[str, Any]:
        """CDP's answer, or {"awaited": number} for a promise that somebody waits for."""
        self._show()
        answer = self._visit("run", source, by_value, wait)
        if not isinstance(answer, dict):
            raise Stopped("the context does not answer")
        return answer

    def settled(self, number: int) -> dict[str, Any] | None:
        """What an awaited promise came to, once; None while it is pending."""
        answer: dict[str, Any] | None = self._visit("settled", number)
        return answer

    # what the app does

    def fetch(self, url: str) -> None:
        """The app asks its server, by whatever `fetch` is in the context now; `respond` will answer."""
        self._expected.add(url)
        self._quietly("fetch", url)

    def respond(self, url: str) -> None:
        self._expected.discard(url)
        number = self._waiting.pop(url, None)
        if number is not None:
            self._quietly("respond", number, 200, "{}")

    def close(self) -> None:
        """The app's process ends."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    # visits

    def _show(self) -> None:
        """Give the context the screen of now, if it has another one."""
        window = window_of(self.phone, self.package)
        now = (window, window.version) if window is not None else ()
        if now != self._shown:
            self._shown = now
            tree = fibers_of(self.phone, window) if window is not None else None
            self._visit("show", json.dumps(tree))

    def _quietly(self, visit: str, *given: str | float) -> None:
        """An error in a script is a line in the log, as in an app."""
        try:
            self._visit(visit, *given)
        except Stopped as stopped:
            self._log("E", str(stopped))

    def _visit(self, visit: str, *given: str | float) -> Any:
        try:
            return self._enter(visit, *given)
        finally:
            self._react()
            self._do_what_was_asked()

    def _enter(self, visit: str, *given: str | float) -> Any:
        try:
            now = (float(self.phone.now_ms()), float(self.phone.wall_ms()))  # integers lose all but 32 bits
            told = self._door(visit, *now, *given)
            return None if told is None else json.loads(told)
        except (quickjs.JSException, ValueError, TypeError) as error:
            raise Stopped(str(error).partition("\n")[0]) from None

    def _react(self) -> None:
        """Let promises go on."""
        for _ in range(MOST_JOBS):
            try:
                if not self._context.execute_pending_job():
                    return
            except quickjs.JSException as error:
                self._log("E", str(error).partition("\n")[0])

    def _do_what_was_asked(self) -> None:
        try:
            asked = self._enter("empty")
        except Stopped:
            return
        for name, *given in asked if isinstance(asked, list) else ():
            match name:
                case "log":
                    self._log(*given)
                case "timer":
                    self._set(*given)
                case "clear":
                    self._clear(*given)
                case "request":
                    self._request(*given)

    def _log(self, level: str, text: str) -> None:
        self.phone.logcat(level, "ReactNativeJS", text, self.package)

    def _set(self, number: int, wait_ms: float, again: bool) -> None:
        def ring() -> None:
            if again:
                self.phone.timers.again(timer, timer.due_ms + wait_ms)
            else:
                self._timers.pop(number, None)
            self._show()
            self._quietly("fire", number)

        timer = self._timers[number] = self.phone.later(wait_ms, ring)

    def _clear(self, number: int) -> None:
        timer = self._timers.pop(number, None)
        if timer is not None:
            timer.cancel()

    def _request(self, number: int, url: str) -> None:
        if url in self._expected:
            self._waiting[url] = number
        else:
            self.phone.later(STRANGE_MS, lambda: self._quietly("respond", number, 404, ""))
