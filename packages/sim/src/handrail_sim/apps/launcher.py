"""The home screen: search, a page of apps and a dock; all apps behind a swipe up."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import Handles
from handrail_sim.system.manifest import Manifest
from handrail_sim.view import PLAIN, Style, View

_DOCK = (
    "com.google.android.contacts",
    "com.google.android.apps.messaging",
    "com.handrail.browser",
    "com.handrail.gallery",
    "com.android.settings",
)
_COLUMNS = 4
_COLUMNS_LYING = 8
_ON_HOME = 12
_WALLPAPER = Style(kind="image", image="wallpaper")
_SEARCH = Style(kind="card", background="surface_container", radius=28.0)


class Home(Activity):
    """`state["drawer"]`: all apps are up; `query` is what was typed above them."""

    title = "Home"

    def on_create(self) -> None:
        self.state.update(drawer=False, query="")

    def on_pause(self) -> None:
        """An app that was started from the drawer leaves the home screen behind, not the drawer."""
        self.state.update(drawer=False, query="")

    def back(self) -> bool:
        self.state.update(drawer=False, query="")
        return True

    def build(self) -> View:
        apps = self._apps()
        shown = self._drawer(apps) if self.state["drawer"] else self._workspace(apps)
        style = PLAIN if self.state["drawer"] else _WALLPAPER
        return ui.frame(
            ui.frame(shown, id="drag_layer", height="fill"), id="launcher", height="fill", style=style
        )

    def _apps(self) -> list[type[Manifest]]:
        packages = self.phone.packages
        classes = [packages.classes[name] for name in packages.installed if name in packages.classes]
        return sorted((app for app in classes if app.launchable), key=lambda app: app.label.casefold())

    def _workspace(self, apps: list[type[Manifest]]) -> View:
        dock = [app for name in _DOCK for app in apps if app.package == name]
        rest = [app for app in apps if app not in dock][:_ON_HOME]
        lies = self.phone.display.width > self.phone.display.height
        return ui.screen(
            self._search_pill(8.0 if lies else 24.0),
            ui.grid(
                _COLUMNS_LYING if lies else _COLUMNS,
                *(self._icon(app) for app in rest),
                id="workspace",
                cls="android.widget.ScrollView",
                padding=(8.0, 0.0),
                on_swipe=self.swiped,
                weight=1.0,
            ),
            ui.icon_button(
                "expand_less", "Apps list", self.open_drawer, id="page_indicator", align="center_h"
            ),
            ui.row(*(self._icon(app) for app in dock), id="hotseat", cls="android.view.ViewGroup"),
            padding=(8.0, 0.0),
        )

    def _search_pill(self, air: float) -> View:
        return ui.row(
            ui.icon("search"),
            ui.text("Search apps", "body", id="search_widget_text", weight=1.0),
            id="search_container_workspace",
            height=56.0,
            margin=(8.0, air),
            padding=(16.0, 0.0),
            gap=12.0,
            style=_SEARCH,
            on_click=self.search,
        )

    def _drawer(self, apps: list[type[Manifest]]) -> View:
        query = self.state["query"].casefold()
        matches = [app for app in apps if query in app.label.casefold()]
        listed = ui.lazy_list(
            matches,
            lambda app: self._icon(app, "icon"),
            lambda app: app.package,
            columns=_COLUMNS,
            id="apps_list_view",
            weight=1.0,
        )
        nothing = ui.text(f"No apps found matching “{self.state['query']}”", id="empty_text", padding=32.0)
        return ui.screen(
            ui.field(
                "fallback_search_view",
                self.state["query"],
                self.sets("query"),
                hint="Search apps",
                ime_action="search",
                on_submit=self.open_first,
                margin=(16.0, 16.0),
                width="fill",
            ),
            listed if matches else nothing,
            id="apps_view",
            cls="android.widget.RelativeLayout",
            style=Style(kind="sheet", background="surface"),
        )

    def _icon(self, app: type[Manifest], view_id: str = "") -> View:
        """Launcher3 draws icon and label in one TextView."""
        style = Style(kind="app_icon", icon=app.icon, background=app.color, size=13.0, align="center")
        return ui.text(
            app.label,
            id=view_id,
            key=f"app:{app.package}",
            desc=app.label,
            style=style,
            weight=1.0,
            width="fill",
            height=96.0,
            on_click=partial(self.open, app.package),
            on_long_click=partial(self.app_info, app.package),
        )

    def swiped(self, way: str) -> None:
        if way == "up":
            self.open_drawer()

    def open_drawer(self) -> None:
        self.state["drawer"] = True

    def search(self) -> None:
        self.open_drawer()
        self.focus("fallback_search_view")

    def open_first(self) -> None:
        query = self.state["query"].casefold()
        matches = [app for app in self._apps() if query in app.label.casefold()]
        if query and matches:
            self.open(matches[0].package)

    def open(self, package: str) -> None:
        self.phone.start_activity(package=package)

    def app_info(self, package: str) -> None:
        self.phone.start_activity(
            action="android.settings.APPLICATION_DETAILS_SETTINGS", data=f"package:{package}"
        )


@declared
class Launcher(App):
    """com.android.launcher3."""

    activities = {".uioverrides.QuickstepLauncher": Home}
    handles = (Handles(".uioverrides.QuickstepLauncher", "android.intent.action.MAIN"),)

    def state(self) -> dict[str, Any]:
        """Nothing of its own: what it shows is what is installed."""
        return {}


APP = Launcher
