"""What an app is made of: `App` (a package) and `Activity` (a screen with state).

Knows the phone only through the few calls below; tasks and the back stack are in `tasks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from handrail_sim.disk.files import Files
from handrail_sim.disk.storage import Database, Prefs, is_stale, open_database
from handrail_sim.system import overlays
from handrail_sim.system.calls import make, to_call
from handrail_sim.system.decor import decorate
from handrail_sim.system.intents import Handles, Intent, full_class
from handrail_sim.view.memory import Memory
from handrail_sim.view.view import Handler, View
from handrail_sim.view.windows import Window

if TYPE_CHECKING:
    from handrail_sim.phone import Phone
    from handrail_sim.timers import Timer


MOST_MISSED = 5000  # turns of a repeated timer that are made up for when nobody looked for long


class App:
    """One package. Class attributes describe it; an instance is its running process."""

    package: ClassVar[str] = ""
    label: ClassVar[str] = ""
    icon: ClassVar[str] = "app"  # name of a vector icon
    color: ClassVar[str] = "#3f6bd8"  # behind the icon
    version: ClassVar[str] = "1.0"
    version_code: ClassVar[int] = 1
    permissions: ClassVar[tuple[str, ...]] = ()  # requested; dangerous ones are not granted at first
    system: ClassVar[bool] = False
    debuggable: ClassVar[bool] = False
    libraries: ClassVar[tuple[str, ...]] = ()  # native .so files of its APK
    launchable: ClassVar[bool] = True
    activities: ClassVar[dict[str, type[Activity]]] = {}  # by class name; the first is the launcher's
    handles: ClassVar[tuple[Handles, ...]] = ()
    intents: ClassVar[dict[str, str]] = {}  # action -> activity, for filters without data
    providers: ClassVar[dict[str, str]] = {}  # authority/path -> method that gives the rows of a query
    home: ClassVar[bool] = False  # the launcher

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._databases: dict[str, Database] = {}

    def on_create(self) -> None:
        """The process started."""

    @classmethod
    def on_boot(cls, phone: Phone) -> None:
        """The phone came up, after a reboot or a restore too: set timers that need no process."""

    def on_sms(self, sender: str, text: str) -> None:
        """A message came in; only the default SMS app is asked."""

    def state(self) -> dict[str, Any]:
        """What a test may check, as JSON-able data. Also called while the app does not run."""
        return {}

    @property
    def folder(self) -> str:
        return f"/data/data/{self.package}"

    @property
    def _disk(self) -> Files:
        """The phone's files as the app's own user may use them: what it writes is its own."""
        known = self.phone.packages.installed.get(self.package)
        return self.phone.files.as_user(known.uid) if known is not None else self.phone.files

    def prefs(self, name: str = "preferences") -> Prefs:
        """Shared preferences: a dict that is an XML file."""
        return Prefs(self._disk, f"{self.folder}/shared_prefs/{name}.xml")

    def database(self, name: str = "app.db", schema: str = "") -> Database:
        """An SQLite connection; `schema` runs when the file is new. `with db:` or commit() saves."""
        path = f"{self.folder}/databases/{name}"
        known = self._databases.get(name)
        if known is not None and is_stale(known):
            known.close()
            known = None
        if known is None:
            known = self._databases[name] = open_database(self._disk, path)
            if schema and not known.saved:
                known.executescript(schema)
                known.commit()
        return known

    def close(self) -> None:
        """The process ends."""
        for connection in self._databases.values():
            connection.close()
        self._databases.clear()

    def notify(self, title: str, text: str, **more: Any) -> None:
        self.phone.notify(self.package, title, text, **more)

    @classmethod
    def launcher_component(cls) -> str:
        name = next(iter(cls.activities), "")
        return f"{cls.package}/{full_class(cls.package, name)}" if name else ""


class Activity:
    """One screen. `state` must stay JSON-able: it survives rotation, process death and snapshots."""

    title: str = ""
    secure: bool = False  # FLAG_SECURE: black in screenshots
    single_top: bool = False  # started again while on top: on_new_intent instead of a second one
    bare: bool = False  # the window is exactly what build() returns, without Android's frames
    animating: bool = False  # never idle while in front
    wallpaper: bool = False  # the wallpaper shows through
    dialog_style: bool | str = False  # floats above the activity below, which it dims; "sheet": at the bottom
    orientation: str = ""  # "portrait" or "landscape": refuses to turn

    def __init__(self, phone: Phone, app: App, intent: Intent) -> None:
        self.phone = phone
        self.app = app
        self.intent = intent
        self.state: dict[str, Any] = {}
        self.overlays: list[dict[str, Any]] = []
        self.then: dict[str, Any] | None = None  # whom to give the result: {"activity": token, "call": Call}
        self.token = 0
        self.name = ""
        self.starting = False  # a slow start: only the icon is there
        self.finishing = False
        self.started_ms = 0.0
        self.timers: list[tuple[Timer, dict[str, Any]]] = []
        self.window = Window(
            self.component, app.package, "application", self._decor, component=self.component
        )
        if self.dialog_style:
            self.window.type, self.window.dim, self.window.on_outside = "dialog", 0.6, self.finish
            self.window.placement = "bottom" if self.dialog_style == "sheet" else "center"
        self.overlay_windows: dict[int, Window] = {}
        self.closing: Memory = {}  # of a dialog whose button's handler runs

    # what apps override

    def on_create(self) -> None:
        """Fill `state`; called once, not after rotation or restore."""

    def on_resume(self) -> None:
        """It came to the front."""

    def on_pause(self) -> None:
        """It left the front."""

    def on_new_intent(self, intent: Intent) -> None:
        """Started again while on top."""

    def build(self) -> View:
        """The screen for the present state."""
        raise NotImplementedError

    def back(self) -> bool:
        """True if the app itself did something for the back key."""
        return False

    def on_key(self, code: int) -> bool:  # noqa: ARG002 - for apps to use
        """True if the app took a key that nothing else wanted."""
        return False

    # what apps call

    @property
    def component(self) -> str:
        return self.intent.component

    @property
    def extras(self) -> dict[str, Any]:
        return self.intent.extras

    def changed(self) -> None:
        """Build the screen again."""
        self.window.invalidate()
        for window in self.overlay_windows.values():
            window.invalidate()

    def start(self, name: str, /, *, then: Callable[..., object] | None = None, **extras: Any) -> None:
        """Start an activity of this app by its class name; `then(result)` is called when it finishes."""
        component = f"{self.app.package}/{full_class(self.app.package, name)}"
        self.phone.tasks.start(Intent(component=component, extras=extras), caller=self, then=then)

    def start_intent(self, intent: Intent, then: Callable[..., object] | None = None) -> None:
        """Start whatever handles an intent; several candidates bring up the chooser."""
        self.phone.tasks.start(intent, caller=self, then=then)

    def finish(self, result: Any = None) -> None:
        self.phone.tasks.finish(self, result)

    def field(self, name: str) -> str:
        """What stands in the field with this id or key, also in an open dialog."""
        shelves = [window.memory for window in self.overlay_windows.values()]
        for memory in (self.closing, *shelves, self.window.memory):
            if "text" in memory.get(name, {}):
                return str(memory[name]["text"])
        return ""

    def set_field(self, name: str, text: str) -> None:
        for window in [*self.overlay_windows.values(), self.window]:
            kept = window.memory.get(name)
            if kept is not None and "text" in kept:
                kept.update(text=text, start=len(text), end=len(text))
        self.changed()

    def focus(self, name: str) -> None:
        """Put the cursor into a field and bring up the keyboard."""
        self.phone.editing.focus(self.phone.focused_window() or self.window, name)

    def scroll_to(self, name: str, line: int) -> None:
        """Bring a line of a list to the top, or a scroller to this offset in px when it is no list."""
        self.window.memory.setdefault(name, {}).update(first=line, offset=0)
        self.changed()

    def toast(self, text: str, long: bool = False) -> None:
        self.phone.toast(text, package=self.app.package, long=long)

    def snackbar(self, text: str, action: str = "", run: Callable[[], object] | None = None) -> None:
        """A bar at the foot of the screen for some seconds, with at most one button."""
        overlays.snackbar(self, text, action, run)

    def dialog(
        self,
        title: str,
        message: str = "",
        buttons: Mapping[str, Callable[[], object] | None] | None = None,
        content: Callable[[], View] | None = None,
        cancelable: bool = True,
    ) -> None:
        """An AlertDialog. Buttons close it; the last one is the positive one. `content` is a method."""
        overlays.alert(self, title, message, buttons or {"OK": None}, content, cancelable)

    def choose(
        self, title: str, choices: Sequence[str], then: Callable[[int], object], chosen: int = -1
    ) -> None:
        """A dialog with a list; `then(number)`. With `chosen` the rows are radio buttons."""
        overlays.choices(self, title, choices, then, chosen)

    def sheet(self, content: Callable[[], View]) -> None:
        """A bottom sheet that shows what the method `content` builds; `dismiss()` closes it."""
        overlays.sheet(self, content)

    def menu(self, anchor: str, entries: Mapping[str, Callable[[], object] | None]) -> None:
        """A popup menu below the view with this id or key."""
        overlays.menu(self, anchor, entries)

    def dismiss(self) -> None:
        """Close the topmost overlay."""
        overlays.dismiss(self)

    def close_overlay(self, number: int) -> None:
        overlays.close(self, number)

    def request_permission(self, name: str, then: Callable[[bool], object]) -> None:
        """Ask for a runtime permission; `then(granted)` at once when it is decided already."""
        self.phone.dialogs.ask_permission(self, name, then)

    def later(self, delay_ms: float, run: Callable[..., object], *args: Any) -> Timer:
        """Call a method after a while, unless the activity is gone by then."""
        call = to_call(self, run)
        return self._timer(delay_ms, call, args, every_ms=0.0)

    def every(self, period_ms: float, run: Callable[..., object]) -> Timer:
        """Call a method again and again while the activity lives; turns that nobody saw are made up for."""
        return self._timer(period_ms, to_call(self, run), (), every_ms=period_ms)

    # what the phone calls

    def _timer(
        self, delay_ms: float, call: dict[str, Any] | None, args: tuple[Any, ...], every_ms: float
    ) -> Timer:
        record = {"call": call, "args": list(args), "every_ms": every_ms}
        return self.arm(delay_ms, record)

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
            self.phone.emit("TYPE_WINDOW_CONTENT_CHANGED", self.app.package)

        timer = self.phone.later(delay_ms, ring)
        self.timers.append((timer, record))
        return timer

    def take_over(self, old: Activity) -> None:
        """Be what an older object of the same screen was."""
        self.name, self.token, self.then = old.name, old.token, old.then
        self.state, self.overlays = old.state, old.overlays
        self.starting, self.started_ms = old.starting, old.started_ms
        self.window.memory, self.window.focus = old.window.memory, old.window.focus
        self.window.number = old.window.number

    def stop_timers(self) -> None:
        for timer, _ in self.timers:
            timer.cancel()
        self.timers.clear()

    def hang(self, duration_ms: float | None = None) -> None:
        """Block the app's main thread; None: for ever."""
        self.phone.hang(self.app.package, duration_ms)

    def _decor(self) -> View:
        return decorate(self.phone, self)


__all__ = ["Activity", "App", "Handler", "Handles", "Intent"]
