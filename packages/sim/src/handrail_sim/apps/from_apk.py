"""The app of an APK that was installed: its code can't run here, so every screen only says what it is."""

from __future__ import annotations

from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import short_component
from handrail_sim.system.packages import Package
from handrail_sim.view import View, message, screen, text, toolbar


class PlainScreen(Activity):
    """The label on top; below it which activity this is, and of which version."""

    def build(self) -> View:
        app = self.app
        middle = message(
            text(app.label, "headline", id="label"),
            text(short_component(self.component), id="component"),
            text(f"Version {app.version}", id="version"),
            padding=24.0,
        )
        return screen(toolbar(app.label), middle)


class AppiumSettings(Activity):
    """Appium's helper: its screen starts a service in the foreground and goes."""

    SERVICE = "io.appium.settings/io.appium.settings.ForegroundService"

    def build(self) -> View:
        return screen()

    def on_resume(self) -> None:
        self.phone.packages.start_service(self.SERVICE, self.phone.now_ms(), foreground=True)
        self.finish()


SPECIAL_ACTIVITIES = {"io.appium.settings.Settings": AppiumSettings}
"""Screens whose doing is known."""


def make(package: Package) -> type[App]:
    names = sorted(package.activities, key=lambda name: name != package.launcher)
    return type(
        "InstalledApp",
        (App,),
        {
            "package": package.name,
            "label": package.label or package.name,
            "version": package.version_name,
            "version_code": package.version_code,
            "permissions": tuple(package.requested),
            "debuggable": package.debuggable,
            "launchable": bool(package.launcher),
            "activities": {name: SPECIAL_ACTIVITIES.get(name, PlainScreen) for name in names},
        },
    )
