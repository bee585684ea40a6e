"""Dialogs that the system itself shows: permission prompts, crashes, ANRs, the chooser, USB debugging.

A dialog is plain data; its window is made from it when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from handrail_sim.resources import table
from handrail_sim.system.activities import Activity
from handrail_sim.system.android import Android
from handrail_sim.system.calls import make, to_call
from handrail_sim.system.intents import Intent, split_component
from handrail_sim.system.overlays import panel
from handrail_sim.view import View, button, checkbox, column, frame, icon, item, row, scroll, text
from handrail_sim.view.view import Rect, Style
from handrail_sim.view.windows import Window

BACKUP = "backup"
BACKUP_PACKAGE = "com.android.backupconfirm"
TITLE = f"{BACKUP_PACKAGE}/.BackupRestoreConfirmation"
BACKUP_WORDS = (
    "A full backup of all data to a connected desktop computer has been requested. Do you want to allow "
    "this to happen? If you did not request the backup yourself, do not allow the operation to proceed."
)


def build_backup_prompt(prompt: dict[str, Any], close: Callable[[int], object]) -> View:
    def answer(allowed: bool) -> Callable[[], None]:
        def run() -> None:
            close(prompt["number"])
            prompt["answer"]["live"](allowed)

        return run

    return panel(
        column(
            text("Full backup", "headline", id="android:id/alertTitle"),
            text(BACKUP_WORDS, "body", id="confirm_text"),
            button("Do not back up", answer(False), "text", id="button_deny", align="end"),
            button("Back up my data", answer(True), "text", id="button_allow", align="end"),
            padding=24.0,
            gap=12.0,
        )
    )


BIOMETRIC = "biometric"
BIOMETRIC_PACKAGE = "com.android.systemui"
TRIES = 5
"""Wrong fingers until the prompt gives up."""


def build_biometric_prompt(prompt: dict[str, Any], cancel: Callable[[], None]) -> View:
    words = "Not recognized" if prompt["wrong"] else "Touch the fingerprint sensor"
    return panel(
        column(
            text(prompt["title"], "headline", id="title"),
            text(prompt["subtitle"], "body", id="subtitle"),
            icon("lock", "Fingerprint icon", 64.0, id="biometric_icon", align="center_h"),
            text(words, "label", id="indicator", align="center_h"),
            button(prompt["negative"], cancel, "text", id="button_negative", align="start"),
            padding=24.0,
            gap=12.0,
        )
    )


CONTROLLER = "com.android.permissioncontroller"
GRANT = f"{CONTROLLER}/{CONTROLLER}.permission.ui.GrantPermissionsActivity"
RESOLVER = "android/com.android.internal.app.ResolverActivity"
WORDS: dict[str, tuple[str, str]] = table("screen/permissions.toml")
ONE_TIME = frozenset({"CAMERA", "RECORD_AUDIO", "ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"})


@dataclass(frozen=True, slots=True)
class Question:
    """How a system asks for a permission; a button is its label, its id, whether it grants, and only once."""

    sign: str
    words: str
    buttons: Sequence[tuple[str, str, bool, bool]]


def android_question(permission: str, app: str) -> Question:
    sign, words = WORDS.get(permission, ("lock", permission.lower().replace("_", " ")))
    if permission in ONE_TIME:
        buttons = [
            ("While using the app", "permission_allow_foreground_only_button", True, False),
            ("Only this time", "permission_allow_one_time_button", True, True),
        ]
    else:
        buttons = [("Allow", "permission_allow_button", True, False)]
    buttons.append(("Don’t allow", "permission_deny_button", False, False))
    return Question(sign, f"Allow {app} to {words}?", buttons)


class Dialogs:
    """The system's dialogs, bottom to top."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.question = android_question
        self.open: list[dict[str, Any]] = []
        self._windows: dict[int, Window] = {}
        self._count = 0

    # asking

    def ask_permission(self, activity: Activity, name: str, then: Callable[[bool], object]) -> None:
        """Prompt, or answer at once when it is granted or was denied twice."""
        permission = name if "." in name else f"android.permission.{name}"
        packages = self.phone.packages
        package = activity.app.package
        if packages.is_granted(package, permission) or not packages.may_ask(package, permission):
            then(packages.is_granted(package, permission))
            activity.changed()
            return
        self._open(
            "permission", package, permission=permission, owner=activity.token, then=to_call(activity, then)
        )

    def crash(self, package: str, again: bool) -> None:
        self._open("crash", package, again=again)

    def not_responding(self, package: str) -> None:
        if not any(entry["kind"] == "anr" and entry["package"] == package for entry in self.open):
            self._open("anr", package)

    def choose_app(self, intent: Intent, matches: Sequence[str], caller: Activity | None) -> None:
        owner = caller.token if caller is not None else 0
        self._open("chooser", "android", intent=intent.to_dict(), found=list(matches), owner=owner)

    def debug_prompt(self, fingerprint: str, answer: Callable[[bool, bool], object]) -> None:
        self._open(
            "debugging",
            "com.android.systemui",
            fingerprint=fingerprint,
            answer={"live": answer},
            always=False,
        )

    def ask_backup(self, answer: Callable[[bool], object]) -> None:
        self._open(BACKUP, BACKUP_PACKAGE, answer={"live": answer})

    def ask_finger(
        self, activity: Activity, title: str, subtitle: str, negative: str, then: Callable[[bool], object]
    ) -> None:
        """BiometricPrompt; `then(recognized)`."""
        words = {"title": title, "subtitle": subtitle, "negative": negative}
        then_call = to_call(activity, then)
        package = activity.app.package
        self._open(BIOMETRIC, package, owner=activity.token, then=then_call, wrong=0, **words)

    def touch_finger(self, finger: int) -> str:
        """A finger touches the sensor: "recognized", "not recognized", "woke the phone", "nobody asked"."""
        phone = self.phone
        phone.catch_up()
        prompt = next((entry for entry in reversed(self.shown()) if entry["kind"] == BIOMETRIC), None)
        if not phone.awake:
            phone.awake = finger in phone.fingers
            return "woke the phone" if phone.awake else "nobody asked"
        if prompt is None:
            return "nobody asked"
        if finger in phone.fingers:
            self._fingerprint_read(prompt, True)
            return "recognized"
        prompt["wrong"] += 1
        if prompt["number"] in self._windows:
            self._windows[prompt["number"]].invalidate()
        if prompt["wrong"] >= TRIES:
            self._fingerprint_read(prompt, False)
        return "not recognized"

    def _fingerprint_read(self, prompt: dict[str, Any], exists: bool) -> None:
        self.close(prompt["number"])
        owner = self.phone.tasks.activity(prompt["owner"])
        if owner is not None:
            make(owner, prompt["then"], exists)
            owner.changed()

    def _open(self, kind: str, package: str, **data: Any) -> None:
        self._count += 1
        self.open.append(
            {
                "kind": kind,
                "number": self._count,
                "package": package,
                "opened_ms": self.phone.now_ms(),
                **data,
            }
        )
        self.phone.hide_keyboard()
        self.phone.window_opened(TITLES[kind][0] or package, 200.0)

    def close(self, number: int) -> None:
        self.open = [entry for entry in self.open if entry["number"] != number]
        self._windows.pop(number, None)
        self.phone.window_closed("android")

    def close_of(self, package: str) -> None:
        """An app was stopped: its prompts go with it."""
        for entry in [
            entry for entry in self.open if entry["package"] == package and entry["kind"] != "crash"
        ]:
            self.close(entry["number"])

    def back(self) -> bool:
        """The back key; a permission prompt counts it as a refusal."""
        shown = self.shown()
        if not shown:
            return False
        top = shown[-1]
        if top["kind"] == "permission":
            self._decide(top, False, False)()
        elif top["kind"] == BIOMETRIC:
            self._fingerprint_read(top, False)
        elif top["kind"] == "anr":
            return True
        else:
            self.close(top["number"])
        return True

    # windows

    def windows(self) -> list[Window]:
        return [self._window(entry) for entry in self.shown()]

    def shown(self) -> list[dict[str, Any]]:
        """Prompts belong to the task that asked: home hides them, coming back shows them again."""
        front = self.phone.tasks.front
        tokens = {activity.token for activity in front.activities} if front is not None else set()
        return [entry for entry in self.open if not entry.get("owner") or entry["owner"] in tokens]

    def _window(self, data: dict[str, Any]) -> Window:
        number = data["number"]
        window = self._windows.get(number)
        if window is None:
            package, title = TITLES[data["kind"]]
            window = Window(
                title or f"Application Error: {data['package']}",
                package,
                "system_dialog",
                lambda: self._build(data),
            )
            window.placement = "bottom" if data["kind"] == "chooser" else "center"
            window.component = title if "/" in title else ""
            window.dim = 0.6
            window.cancelable = data["kind"] == "chooser"
            window.on_outside = lambda: self.close(number)
            window.entered_ms, window.enter_duration_ms = data["opened_ms"], 200.0
            self._windows[number] = window
        return window

    def _build(self, data: dict[str, Any]) -> View:
        builders: dict[str, Callable[[dict[str, Any]], View]] = {
            "permission": self._permission,
            "crash": self._crash,
            "anr": self._anr,
            "chooser": self._chooser,
            "debugging": self._debugging,
            BIOMETRIC: self._biometric,
            BACKUP: lambda entry: build_backup_prompt(entry, self.close),
        }
        return builders[data["kind"]](data)

    def _label(self, package: str) -> str:
        existing = self.phone.packages.installed.get(package)
        return existing.label if existing and existing.label else package

    # permission

    def _permission(self, data: dict[str, Any]) -> View:
        short = data["permission"].rpartition(".")[2]
        question = self.question(short, self._label(data["package"]))
        head = column(
            icon(question.sign, id="permission_icon", size=32.0, align="center_h"),
            text(
                question.words,
                "title",
                id="permission_message",
                style=Style(kind="text", role="title", size=20.0, align="center"),
                align="center_h",
            ),
            id="content_container",
            padding=24.0,
            gap=16.0,
        )
        views = [
            button(
                label, self._decide(data, granted, once), "tonal", id=own, width="fill", margin=(24.0, 4.0)
            )
            for label, own, granted, once in question.buttons
        ]
        dialog = column(head, *views, id="grant_dialog", padding=(0.0, 0.0, 0.0, 24.0))
        return panel(scroll(column(dialog, id="grant_singleton"), height="wrap"))

    def _decide(self, data: dict[str, Any], granted: bool, once: bool) -> Callable[[], None]:
        def run() -> None:
            self.close(data["number"])
            if granted:
                self.phone.packages.set_granted(data["package"], data["permission"], True, once)
            else:
                self.phone.packages.deny(data["package"], data["permission"])
            owner = self.phone.tasks.activity(data["owner"])
            if owner is not None:
                make(owner, data["then"], granted)
                owner.changed()

        return run

    # crash, anr

    def _crash(self, data: dict[str, Any]) -> View:
        package = data["package"]
        state = "keeps stopping" if data["again"] else "has stopped"
        first = (
            ("App info", "aerr_app_info", "info")
            if data["again"]
            else ("Open app again", "aerr_restart", "restart")
        )
        return self._error(
            f"{self._label(package)} {state}",
            [
                (first[0], first[1], self._ending(data, first[2])),
                ("Close app", "aerr_close", self._ending(data, "close")),
            ],
        )

    def _anr(self, data: dict[str, Any]) -> View:
        return self._error(
            f"{self._label(data['package'])} isn't responding",
            [
                ("Close app", "aerr_close", self._ending(data, "stop")),
                ("Wait", "aerr_wait", self._ending(data, "wait")),
            ],
        )

    def _error(self, title: str, buttons: list[tuple[str, str, Callable[[], None]]]) -> View:
        views = [
            button(
                label,
                run,
                "text",
                id=f"android:id/{own}",
                width="fill",
                style=Style(kind="button", role="text", bold=True),
            )
            for label, own, run in buttons
        ]
        head = column(
            text(title, "title", id="android:id/alertTitle"), id="android:id/topPanel", padding=(24.0, 18.0)
        )
        body = column(column(*views, padding=(0.0, 0.0, 0.0, 8.0)), id="android:id/customPanel")
        return panel(column(head, body, id="android:id/parentPanel"))

    def _ending(self, data: dict[str, Any], way: str) -> Callable[[], None]:
        def run() -> None:
            self.close(data["number"])
            if way == "restart":
                self.phone.tasks.launch(data["package"])
            elif way == "stop":
                self.phone.kill_process(data["package"])
            elif way == "wait":
                self.phone.health.wait_longer(data["package"])
            elif way == "info":
                self.phone.start_activity(
                    action="android.settings.APPLICATION_DETAILS_SETTINGS", data=f"package:{data['package']}"
                )

        return run

    # chooser

    def _chooser(self, data: dict[str, Any]) -> View:
        rows = [self._candidate(data, component) for component in data["found"]]
        style = Style(kind="sheet", background="surface_container_low", radius=28.0, elevation=8.0)
        title = text("Open with", "title", id="android:id/title", padding=(24.0, 20.0, 24.0, 12.0))
        listing = scroll(
            column(*rows), id="android:id/resolver_list", cls="android.widget.ListView", height="wrap"
        )
        return column(
            title, listing, id="android:id/contentPanel", style=style, padding=(0.0, 0.0, 0.0, 56.0)
        )

    def _candidate(self, data: dict[str, Any], component: str) -> View:
        package, _ = split_component(component)
        app = self.phone.packages.classes[package]

        def run() -> None:
            self.close(data["number"])
            intent = Intent.from_dict({**data["intent"], "component": component})
            self.phone.tasks.start(intent, caller=self.phone.tasks.activity(data["owner"]))

        label = next(
            (handle.label for handle in app.handles if handle.label and component.endswith(handle.activity)),
            app.label,
        )
        return item(label, leading=icon(app.icon, size=40.0), key=f"candidate:{component}", on_click=run)

    def _biometric(self, data: dict[str, Any]) -> View:
        return build_biometric_prompt(data, lambda: self._fingerprint_read(data, False))

    # USB debugging

    def _debugging(self, data: dict[str, Any]) -> View:
        def answer(allowed: bool) -> Callable[[], None]:
            def run() -> None:
                self.close(data["number"])
                data["answer"]["live"](allowed, data["always"])

            return run

        def always(value: bool) -> None:
            data["always"] = value
            self._windows[data["number"]].invalidate()

        message = f"The computer’s RSA key fingerprint is:\n{data['fingerprint']}"
        return panel(
            column(
                text("Allow USB debugging?", "headline", id="android:id/alertTitle"),
                text(message, "body", id="android:id/message"),
                checkbox(
                    "Always allow from this computer", data["always"], always, id="android:id/alwaysUse"
                ),
                button("Cancel", answer(False), "text", id="android:id/button2", align="end"),
                button("Allow", answer(True), "text", id="android:id/button1", align="end"),
                id="android:id/parentPanel",
                padding=24.0,
                gap=12.0,
            )
        )


TITLES = {
    BIOMETRIC: (BIOMETRIC_PACKAGE, "BiometricPrompt"),
    BACKUP: (BACKUP_PACKAGE, TITLE),
    "permission": (CONTROLLER, GRANT),
    "crash": ("android", ""),
    "anr": ("android", "Application Not Responding"),
    "chooser": ("android", RESOLVER),
    "debugging": ("com.android.systemui", "com.android.systemui/.usb.UsbDebuggingActivity"),
}


class TextToolbar:
    """Open from a long press in a field until something is typed, tapped or chosen."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.above: Rect | None = None  # the field it belongs to
        self.chosen = False  # is something selected?
        self.window = Window("PopupWindow", "", "toolbar", self._build, placement="top", focusable=False)

    def show(self, package: str, field: Rect, chosen: bool) -> None:
        self.above, self.chosen = field, chosen
        self.window.package = package
        self.window.invalidate()
        self.phone.emit("TYPE_WINDOWS_CHANGED", package)

    def hide(self) -> None:
        self.above = None

    def windows(self) -> list[Window]:
        if self.above is None:
            return []
        display, units = self.phone.display, self.phone.units
        top = max(display.status_px, self.above[1] - units.px(52.0))
        self.window.resize((units.px(8.0), top, display.width - units.px(8.0), display.height), units)
        return [self.window]

    def _build(self) -> View:
        edit = self.phone.edit
        entries: list[tuple[str, Callable[[], object]]] = []
        if self.chosen:
            entries += [("Cut", lambda: edit("cut")), ("Copy", lambda: edit("copy"))]
        if self.phone.clipboard:
            entries.append(("Paste", lambda: edit("paste")))
        entries.append(("Select all", lambda: edit("select_all")))
        parts = [self._entry(label, run) for label, run in entries]
        style = Style(kind="menu", background="surface_container", radius=24.0, elevation=3.0)
        return frame(row(*parts, width="wrap", style=style), width="wrap")

    def _entry(self, label: str, run: Callable[[], object]) -> View:
        def press() -> None:
            field = self.above
            self.hide()
            run()
            if label == "Select all" and field is not None:
                self.show(self.window.package, field, True)

        own = "android:id/floating_toolbar_menu_item_text"
        return button(label, press, "text", id=own, key=f"edit:{label}", padding=(16.0, 8.0))
