"""Apps: the list of installed packages; for each open, force stop, uninstall, storage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.app_page import AppPage, picture_of
from handrail_sim.apps.settings.page import Page, group, link
from handrail_sim.apps.settings.permissions import group_of
from handrail_sim.system.packages import Package
from handrail_sim.view import View, button, icon, item, row, text


class AllApps(Page):
    """By label, as Android lists them."""

    title = "All apps"

    def rows(self) -> Sequence[View | None]:
        packages = self.phone.packages
        ordered = sorted(
            packages.installed.values(),
            key=lambda known: ((known.label or known.name).casefold(), known.name),
        )
        return [self._app(known) for known in ordered]

    def _app(self, known: Package) -> View:
        return item(
            known.label or known.name,
            "24 MB" if known.system else "11 MB",
            icon("", id="android:id/icon", size=40.0, style=picture_of(self, known.name)),
            key=f"row:{known.name}",
            on_click=partial(self.start, places.APP_INFO, package=known.name),
        )


class AppInfo(AppPage):
    """Open, stop, look into."""

    title = "App info"

    def rows(self) -> Sequence[View | None]:
        known = self.known
        if known is None:
            return [link("App not found", None)]
        granted = [name for name in self.dangerous() if self.phone.packages.is_granted(known.name, name)]
        allowed = ", ".join(dict.fromkeys(group_of(name)[0] for name in granted)) or "No permissions granted"
        if not self.dangerous():
            allowed = "No permissions requested"
        return [
            self.header(known),
            self._buttons(known),
            self._link("Notifications", None, "On"),
            self._link("Permissions", places.APP_PERMISSIONS, allowed),
            self._link("Storage & cache", places.APP_STORAGE, "Internal storage"),
            self._link("Mobile data & Wi‑Fi", None, "No data used"),
            self._link("Battery", None, "0% use since last full charge"),
            group("Advanced"),
            self._link("Open by default", None, "No defaults set"),
            self._link("App details", None, f"Version {known.version_name}"),
            text(
                f"version {known.version_name}", "label", id="android:id/summary", padding=16.0, key="version"
            ),
        ]

    def _link(self, title: str, page: str | None, summary: str) -> View:
        return link(title, partial(self.go, page) if page else None, summary)

    def _buttons(self, known: Package) -> View:
        running = known.name in self.phone.packages.processes
        gone = "Disable" if known.system else "Uninstall"
        can_open = bool(self.phone.packages.component(known.name))
        return row(
            button("Open", self.open, role="tonal", id="button1", enabled=can_open, weight=1.0),
            button(
                gone, self.ask_to_remove, role="tonal", id="button2", enabled=not known.system, weight=1.0
            ),
            button("Force stop", self.ask_to_stop, role="tonal", id="button3", enabled=running, weight=1.0),
            padding=(16.0, 8.0),
            gap=8.0,
            key="buttons",
        )

    def open(self) -> None:
        self.phone.start_activity(package=self.package)

    def ask_to_stop(self) -> None:
        words = "If you force stop an app, it may misbehave."
        self.dialog("Force stop?", words, {"Cancel": None, "OK": self.stop})

    def stop(self) -> None:
        self.phone.force_stop(self.package)

    def ask_to_remove(self) -> None:
        words = "Do you want to uninstall this app?"
        label = self.known.label if self.known else self.package
        self.dialog(label, words, {"Cancel": None, "OK": self.remove})

    def remove(self) -> None:
        self.phone.force_stop(self.package)
        self.phone.packages.uninstall(self.package)
        self.phone.files.remove_tree(f"/data/data/{self.package}")
        self.finish()


class AppStorage(AppPage):
    """Clear what an app keeps."""

    title = "Storage & cache"

    def rows(self) -> Sequence[View | None]:
        known = self.known
        if known is None:
            return [link("App not found", None)]
        folder = f"/data/data/{known.name}"
        size = sum(facts.size for _, facts in self.phone.files.walk(folder))
        return [
            self.header(known),
            row(
                button("Clear storage", self.ask_to_clear, role="tonal", id="button1", weight=1.0),
                button("Clear cache", self.clear_cache, role="tonal", id="button2", weight=1.0),
                padding=(16.0, 8.0),
                gap=8.0,
                key="buttons",
            ),
            group("Space used"),
            link("App size", None, "24 MB" if known.system else "11 MB"),
            link("User data", None, f"{size / 1024:.1f} kB"),
            link("Cache", None, "0 B"),
        ]

    def ask_to_clear(self) -> None:
        words = "This app's data will be permanently deleted, including files, settings and accounts."
        self.dialog("Delete app data?", words, {"Cancel": None, "Delete": self.clear})

    def clear(self) -> None:
        self.phone.clear_data(self.package)

    def clear_cache(self) -> None:
        self.toast("Cache cleared")
