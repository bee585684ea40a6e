"""What an app is made of: `App` (a package) and `Activity` (a screen with state); and its `Context`.

The context is the phone as an app knows it, and as the rest of the system does. Tasks are in `tasks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

from handrail_sim.disk.files import Files
from handrail_sim.disk.storage import Database, Prefs, is_stale, open_database
from handrail_sim.errors import BadSetting
from handrail_sim.system import overlays
from handrail_sim.system.activity_state import ActivityState
from handrail_sim.system.device import Device
from handrail_sim.system.intents import Handles, Intent, StartResult, full_class
from handrail_sim.system.manifest import Manifest
from handrail_sim.system.notifications import Notification
from handrail_sim.system.overlays import panel, snackbar_of
from handrail_sim.view import absolute, frame, icon, styled
from handrail_sim.view.view import Handler, Style, View
from handrail_sim.view.windows import Window


def decorate(phone: Device, activity: ActivityState, sign: str) -> View:
    """Decor, content parent and content; the content ends above the keyboard, as adjustResize does."""
    display = phone.display
    foot = display.height - (
        display.navigation_px + display.ime_px if phone.keyboard_shown else display.navigation_px
    )
    if activity.bare:
        own = activity.build()
        own.width = own.height = "fill"
        return own
    own = splash(sign) if activity.starting else activity.build()
    if activity.dialog_style:
        return floating(activity, own)
    content = frame(own, snackbar_of(activity), id="android:id/content", height="fill", cls=FRAME)
    inner = (0, display.status_px, display.width, foot)
    parent = absolute(_placed(content, inner), cls=FRAME)
    linear = absolute(_placed(parent, inner), cls="android.widget.LinearLayout")
    background = "" if activity.wallpaper else "surface"
    return absolute(
        _placed(linear, (0, 0, display.width, foot)),
        cls=FRAME,
        style=styled("wallpaper" if activity.wallpaper else "window", background=background),
    )


def floating(activity: ActivityState, own: View) -> View:
    """An activity with a dialog's theme: a box of its own size, or a sheet as wide as the screen."""
    content = frame(own, id="android:id/content", cls=FRAME)
    if activity.dialog_style == "sheet":
        style = Style(kind="sheet", background="surface_container_low", radius=28.0, elevation=8.0)
        return frame(frame(content, style=style), cls=FRAME)
    return panel(own)


FRAME = "android.widget.FrameLayout"


def _placed(view: View, rect: tuple[int, int, int, int]) -> View:
    view.rect = rect
    return view


def splash(sign: str) -> View:
    """What is shown while a slow app starts: its icon."""
    return frame(icon(sign, size=96.0, align="center"), height="fill", cls=FRAME)


class App(Manifest):
    """One package. Its manifest describes it; an instance is its running process."""

    activities: ClassVar[dict[str, type[Activity]]] = {}

    def __init__(self, phone: Context) -> None:
        self.phone = phone
        self._databases: dict[str, Database] = {}

    def on_create(self) -> None:
        """The process started."""

    @classmethod
    def on_boot(cls, phone: Context) -> None:
        """The phone came up, after a reboot or a restore too: set timers that need no process."""
        if cls.granted_at_boot:
            decided = phone.packages.installed[cls.package].granted
            for permission in cls.permissions:
                if permission not in decided:
                    phone.packages.set_granted(cls.package, permission, True)

    def on_sms(self, sender: str, text: str) -> None:
        """A message came in; only the default SMS app is asked."""

    def on_action(self, action: str) -> None:
        """A button of one of its notifications was tapped."""

    def fill(self, content: Any) -> None:  # noqa: ARG002 - for apps to use
        """Hold this instead of what a new app holds; `sim/docs/simulator.md` says what each app takes."""
        raise BadSetting(f"world: {self.label} holds nothing that could be given", path=self.package)

    def state(self) -> dict[str, Any]:
        """What a test may check, as JSON-able data. Also called while the app does not run."""
        return {}

    @property
    def folder(self) -> str:
        return f"/data/data/{self.package}"

    @property
    def _disk(self) -> Files:
        """The phone's files as the app's own user may use them: what it writes is its own."""
        package = self.phone.packages.installed.get(self.package)
        return self.phone.files.as_user(package.uid) if package is not None else self.phone.files

    def prefs(self, name: str = "preferences") -> Prefs:
        """Shared preferences: a dict that is an XML file."""
        return Prefs(self._disk, f"{self.folder}/shared_prefs/{name}.xml")

    def database(self, name: str = "app.db", schema: str = "") -> Database:
        """An SQLite connection; `schema` runs when the file is new. `with db:` or commit() saves."""
        path = f"{self.folder}/databases/{name}"
        existing = self._databases.get(name)
        if existing is not None and is_stale(existing):
            existing.close()
            existing = None
        if existing is None:
            existing = self._databases[name] = open_database(self._disk, path)
            if schema and not existing.saved:
                existing.executescript(schema)
                existing.commit()
        return existing

    def close(self) -> None:
        for connection in self._databases.values():
            connection.close()
        self._databases.clear()

    def notify(self, title: str, text: str, **more: Any) -> None:
        self.phone.notify(self.package, title, text, **more)


class Activity(ActivityState):
    """One screen, as apps write it."""

    phone: Context

    def __init__(self, phone: Context, app: App, intent: Intent) -> None:
        self.app = app
        self.intent = intent
        super().__init__(phone, app.package, intent.component)

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
        shelves = [window.memory for window in self.overlay_windows.values()]
        for memory in (self.closing, *shelves, self.window.memory):
            if "text" in memory.get(name, {}):
                return str(memory[name]["text"])
        return ""

    def set_field(self, name: str, text: str) -> None:
        for window in [*self.overlay_windows.values(), self.window]:
            saved = window.memory.get(name)
            if saved is not None and "text" in saved:
                saved.update(text=text, start=len(text), end=len(text))
        self.changed()

    def focus(self, name: str) -> None:
        self.phone.focus_field(self.phone.focused_window() or self.window, name)

    def scroll_to(self, name: str, line: int) -> None:
        """Bring a line of a list to the top, or a scroller to this offset in px when it is not a list."""
        self.window.memory.setdefault(name, {}).update(first=line, offset=0)
        self.changed()

    def sets(self, name: str, *fixed: Any) -> Callable[..., None]:
        """A handler that puts into `state` what it is called with, or the fixed value."""

        def change(value: Any) -> None:
            self.state[name] = value

        return partial(change, *fixed)

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
        overlays.menu(self, anchor, entries)

    def dismiss(self) -> None:
        overlays.dismiss(self)

    def request_permission(self, name: str, then: Callable[[bool], object]) -> None:
        """Ask for a runtime permission; `then(granted)` at once when it is decided already."""
        self.phone.ask_permission(self, name, then)

    def hang(self, duration_ms: float | None = None) -> None:
        """Block the app's main thread; None: for ever."""
        self.phone.hang(self.app.package, duration_ms)

    def _decor(self) -> View:
        return decorate(self.phone, self, self.app.icon)


class TaskStack(Protocol):
    """The tasks of a phone, as its apps and the system's other parts use them."""

    running: dict[str, App]

    @property
    def top(self) -> Activity | None: ...
    def app(self, package: str) -> App: ...
    def activity(self, token: int) -> Activity | None: ...
    def open_activities(self) -> list[Activity]: ...
    def launch(self, package: str) -> StartResult: ...
    def start(
        self, intent: Intent, *, caller: Activity | None = None, then: Callable[..., object] | None = None
    ) -> StartResult: ...
    def finish(self, activity: Activity, result: Any = None) -> None: ...
    def end_app(self, package: str) -> bool: ...
    def recreate(self) -> None: ...


class Context(Device, ABC):
    """The phone as its apps and its system know it. What is abstract is done by the parts above."""

    tasks: TaskStack

    def app(self, package: str) -> App | None:
        """An app's process, started if need be; None if the package is no app of the simulator."""
        exists = package in self.packages.installed and package in self.packages.classes
        return self.tasks.app(package) if exists else None

    def reading(self, package: str) -> App | None:
        """An app to ask for what is on its disk, without starting its process."""
        if package in self.tasks.running:
            return self.tasks.running[package]
        exists = package in self.packages.installed and package in self.packages.classes
        return self.create_app(package) if exists else None

    def create_app(self, package: str) -> App:
        """A process of an app, not yet among those that run."""
        cls = self.packages.classes[package]
        if not issubclass(cls, App):
            raise LookupError(package)
        return cls(self)

    def notify(self, package: str, title: str, text: str, **more: Any) -> Notification:
        """Post a notification. `tap=(activity, extras)` says what it opens; `key` replaces an old one."""
        notification = self.notifications.post(package, title, text, self.wall_ms(), **more)
        self.emit("TYPE_NOTIFICATION_STATE_CHANGED", package, text)
        self.notification_posted(notification)
        return notification

    def cancel_notification(self, package: str, key: str | None = None) -> None:
        self.notifications.cancel(package, key)
        self.bars_changed()

    @abstractmethod
    def start_activity(
        self,
        component: str | None = None,
        *,
        action: str | None = None,
        data: str | None = None,
        extras: dict[str, Any] | None = None,
        package: str | None = None,
    ) -> StartResult:
        """What `am start` does; a package alone is launched as from its icon."""

    @abstractmethod
    def force_stop(self, package: str) -> None: ...
    @abstractmethod
    def clear_data(self, package: str) -> bool: ...
    @abstractmethod
    def kill_process(self, package: str, crash: str | None = None) -> None: ...
    @abstractmethod
    def hang(self, package: str, duration_ms: float | None = None) -> None: ...
    @abstractmethod
    def put_setting(self, table: str, name: str, value: str) -> None: ...
    @abstractmethod
    def set_dark(self, dark: bool) -> None: ...
    @abstractmethod
    def apply_rotation(self) -> None: ...
    @abstractmethod
    def set_font_scale(self, scale: float) -> None: ...
    @abstractmethod
    def receive_sms(self, sender: str, text: str) -> None: ...
    @abstractmethod
    def toast(self, text: str, package: str = "android", long: bool = False) -> None: ...
    @abstractmethod
    def touched_app(self) -> None:
        """The app in front may have changed."""

    @abstractmethod
    def layout_changed(self) -> None:
        """What is in front is built and laid out anew when somebody looks."""

    @abstractmethod
    def windows(self) -> list[Window]:
        """What is on the screen, bottom to top, laid out."""

    @abstractmethod
    def focused_window(self) -> Window | None: ...
    @abstractmethod
    def focus_field(self, window: Window, name: str) -> None: ...

    # what the system asks of those who show it

    @abstractmethod
    def ask_permission(self, activity: Activity, name: str, then: Callable[[bool], object]) -> None: ...
    @abstractmethod
    def choose_app(self, intent: Intent, match: Sequence[str], caller: Activity | None) -> None: ...
    @abstractmethod
    def app_crashed(self, package: str, again: bool) -> None: ...
    @abstractmethod
    def app_not_responding(self, package: str) -> None: ...
    @abstractmethod
    def app_stopped(self, package: str) -> None: ...
    @abstractmethod
    def ask_finger(
        self, activity: Activity, title: str, subtitle: str, negative: str, then: Callable[[bool], object]
    ) -> None:
        """BiometricPrompt; `then(recognized)`."""

    @abstractmethod
    def end_heads_up(self) -> None:
        """The banner of a notification goes, unless it is one that stays."""

    @abstractmethod
    def notification_posted(self, note: Notification) -> None: ...
    @abstractmethod
    def setting_changed(self, name: str) -> None: ...
    @abstractmethod
    def bars_changed(self) -> None: ...
    @abstractmethod
    def front_changed(self) -> None:
        """Another activity came to the front: keyboard, touch and recents of the old one are over."""

    @abstractmethod
    def screen_turned(self) -> None: ...
    @abstractmethod
    def activities_recreated(self) -> None: ...


__all__ = ["Activity", "App", "Handler", "Handles", "Intent"]
