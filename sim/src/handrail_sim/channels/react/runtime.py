"""The JS thread of one app: a realm with React Native's globals, its timers on the phone's time.

Made when a debugger first connects, so that a phone nobody debugs pays nothing. What was under way before
that is unknown to it, as it is to every instrumentation that comes late.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from handrail_sim.channels.react.fibers import hook
from handrail_sim.js.define import arg, methods
from handrail_sim.js.realm import Realm
from handrail_sim.js.values import UNDEFINED, Func, Native, Obj, Throw, Value, to_number, to_text

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context
    from handrail_sim.timers import Timer

STRANGE_MS = 300.0
"""How long a request takes that the app's own server does not know."""
FRAME_MS = 16.0
_PRELUDE = Path(__file__).with_name("prelude.js")


class Runtime:
    """One context."""

    def __init__(self, phone: Context, package: str) -> None:
        self.phone = phone
        self.package = package
        self.realm = Realm()
        self._timers: dict[int, Timer] = {}
        self._count = 0
        self._expected: set[str] = set()
        self._waiting: dict[str, Func] = {}
        self._furnish()

    # what the app does

    def fetch(self, url: str) -> None:
        """The app asks its server, by whatever `fetch` is in the context now; `respond` will answer."""
        self._expected.add(url)
        self._quietly(self.realm.globals.get("fetch"), url)

    def respond(self, url: str) -> None:
        self._expected.discard(url)
        callback = self._waiting.pop(url, None)
        if callback is not None:
            self._quietly(callback, 200, "{}")

    def _quietly(self, function: Value, *arguments: Value) -> None:
        """An error in a script is a line in the log, as in an app."""
        try:
            self.realm.call(function, UNDEFINED, *arguments)
        except Throw as thrown:
            self.phone.logcat("E", "ReactNativeJS", _said(thrown.value), self.package)

    def _later(self, delay_ms: float, function: Value, *arguments: Value) -> None:
        self.phone.later(delay_ms, lambda: self._quietly(function, *arguments))

    # what scripts find

    def _furnish(self) -> None:
        realm, phone = self.realm, self.phone
        things: dict[str, Value] = {
            "window": realm.globals,
            "global": realm.globals,
            "HermesInternal": realm.object({}),
            "__DEV__": True,
            "__REACT_DEVTOOLS_GLOBAL_HOOK__": hook(realm, phone, self.package, self._later),
            "console": self._console(),
            "performance": self._object({"now": lambda *_: phone.now_ms()}),
            "Date": self._object({"now": lambda *_: phone.wall_ms()}),
        }
        for name, value in things.items():
            realm.globals.put(name, value)
        methods(realm, realm.globals, self._timing())
        native = self._object({"request": self._request})
        realm.call(realm.run(_PRELUDE.read_text("utf-8")), UNDEFINED, native)

    def _object(self, named: dict[str, Native]) -> Obj:
        made = self.realm.object({})
        methods(self.realm, made, named)
        return made

    def _console(self) -> Obj:
        levels = {"log": "I", "info": "I", "debug": "D", "warn": "W", "error": "E"}

        def write(level: str) -> Native:
            def said(_: Value, given: list[Value]) -> Value:
                text = " ".join(_said(one) for one in given)
                self.phone.logcat(level, "ReactNativeJS", text, self.package)
                return UNDEFINED

            return said

        return self._object({name: write(level) for name, level in levels.items()})

    def _timing(self) -> dict[str, Native]:
        def cancel(_: Value, given: list[Value]) -> Value:
            timer = self._timers.pop(arg(given, 0), None)
            if timer is not None:
                timer.cancel()
            return UNDEFINED

        return {
            "setTimeout": lambda _, given: self._after(given[0], to_number(arg(given, 1, 0)), given[2:]),
            "setInterval": lambda _, given: self._after(
                given[0], to_number(arg(given, 1, 0)), given[2:], again=True
            ),
            "setImmediate": lambda _, given: self._after(given[0], 0, given[1:]),
            "requestAnimationFrame": lambda _, given: self._after(given[0], FRAME_MS, [self.phone.now_ms()]),
            **dict.fromkeys(
                ("clearTimeout", "clearInterval", "clearImmediate", "cancelAnimationFrame"), cancel
            ),
        }

    def _after(self, callback: Value, delay: float, given: list[Value], *, again: bool = False) -> int:
        self._count += 1
        number, wait = self._count, max(1.0, delay)

        def ring() -> None:
            if again:
                self.phone.timers.again(timer, timer.due_ms + wait)
            else:
                self._timers.pop(number, None)
            self._quietly(callback, *given)

        timer = self._timers[number] = self.phone.later(wait, ring)
        return number

    def _request(self, _: Value, given: list[Value]) -> Value:
        url, callback = to_text(arg(given, 1)), arg(given, 2)
        if url in self._expected:
            self._waiting[url] = callback
        else:
            self._later(STRANGE_MS, callback, 404, "")
        return UNDEFINED

    def close(self) -> None:
        """The app's process ends."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


def _said(value: Value) -> str:
    return (
        to_text(value.get("stack") or "[object]")
        if isinstance(value, Obj) and value.kind == "Error"
        else _plain(value)
    )


def _plain(value: Value) -> str:
    return "[object Object]" if isinstance(value, Obj) else to_text(value)
