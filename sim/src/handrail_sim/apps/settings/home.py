"""The first page of Settings and its search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.page import link, note
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, column, field, icon, icon_button, lazy_list, row, text

_PILL = Style(kind="card", background="surface_container", radius=28.0)
_TITLE = Style(kind="text", role="display", size=36.0)

# title, summary, icon, page
_ENTRIES = (
    ("Network & internet", "Mobile, Wi‑Fi, hotspot", "wifi", places.NETWORK),
    ("Connected devices", "Bluetooth, pairing", "bluetooth", places.DEVICES),
    ("Apps", "Recent apps, default apps", "apps", places.APPS),
    ("Notifications", "Notification history, conversations", "notifications", places.NOTIFICATIONS),
    ("Battery", "100%", "battery", places.BATTERY),
    ("Storage", "38% used - 79.4 GB free", "storage", places.STORAGE),
    ("Sound & vibration", "Volume, haptics, Do Not Disturb", "volume", places.SOUND),
    ("Display", "Dark theme, font size, brightness", "display", places.DISPLAY),
    ("Wallpaper & style", "Colors, themed icons, app grid", "image", places.WALLPAPER),
    ("Accessibility", "Display, interaction, audio", "account", places.ACCESSIBILITY),
    ("Security & privacy", "App security, device lock, permissions", "lock", places.SECURITY),
    ("Location", "", "location", places.LOCATION),
    ("Safety & emergency", "Emergency SOS, medical info, alerts", "warning", places.SAFETY),
    ("Passwords & accounts", "Saved passwords, autofill, synced accounts", "shield", places.ACCOUNTS),
    ("System", "Languages, gestures, time, backup", "info", places.SYSTEM),
    ("About phone", "", "mobile", places.ABOUT),
)


class Home(Activity):
    """What opens from the launcher."""

    title = "Settings"

    def build(self) -> View:
        entries = (partial(self._entry, *each) for each in _ENTRIES)
        builders: list[Callable[[], View]] = [self._title, self._search, *entries]
        return column(
            lazy_list(builders, lambda build: build(), id="recycler_view"),
            id="settings_homepage_container",
            height="fill",
        )

    def _title(self) -> View:
        return text("Settings", id="homepage_title", style=_TITLE, padding=(24.0, 32.0, 24.0, 16.0))

    def _search(self) -> View:
        return row(
            icon("search"),
            text("Search settings", "body", id="search_action_bar_title", weight=1.0),
            id="search_action_bar",
            height=56.0,
            padding=(16.0, 0.0),
            margin=(16.0, 8.0),
            gap=16.0,
            style=_PILL,
            on_click=self.search,
        )

    def _entry(self, title: str, summary: str, picture: str, page: str) -> View:
        return link(title, partial(self.start, page), self._live(page) or summary, picture)

    def _live(self, page: str) -> str:
        """Summaries that say how things stand."""
        match page:
            case places.BATTERY:
                return f"{self.phone.battery}%"
            case places.LOCATION:
                return "Off" if self.phone.settings["secure"].get("location_mode") == "0" else "On"
            case places.ABOUT:
                return self.phone.settings["global"].get("device_name", "")
        return ""

    def search(self) -> None:
        self.start(places.SEARCH)


class Search(Activity):
    """Finds pages by their words."""

    title = "Search settings"

    def on_create(self) -> None:
        self.state["query"] = ""

    def on_resume(self) -> None:
        self.focus("search_src_text")

    def build(self) -> View:
        query = self.state["query"]
        bar = row(
            icon_button("back", "Navigate up", self.finish),
            field(
                "search_src_text",
                query,
                self.look_for,
                hint="Search settings",
                ime_action="search",
                width="wrap",
                weight=1.0,
                style=Style(kind="field", role="plain", size=18.0),
            ),
            icon_button("close", "Clear text", self.clear, id="search_close_btn") if query else None,
            height=56.0,
            padding=(4.0, 0.0),
        )
        return column(bar, *self._results(query), height="fill")

    def _results(self, query: str) -> Sequence[View]:
        words = query.casefold().split()
        found = [each for each in places.INDEX if all(word in each[0].casefold() for word in words)]
        if not words:
            return []
        if not found:
            return [note("No results")]
        rows = [link(title, partial(self.start, page), path) for title, path, page in found]
        return [lazy_list(rows, lambda view: view, id="list_results", height="wrap", weight=1.0)]

    def look_for(self, words: str) -> None:
        self.state["query"] = words

    def clear(self) -> None:
        self.state["query"] = ""
