"""The home screen: search, a page of apps and a dock; all apps behind a swipe up."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.launcher.home import Home
from handrail_sim.system.activities import App
from handrail_sim.system.intents import Handles


class Launcher(App):
    """com.android.launcher3."""

    package = "com.android.launcher3"
    label = "Launcher"
    icon = "home"
    version = "14"
    version_code = 34
    system = True
    launchable = False
    home = True
    activities = {".uioverrides.QuickstepLauncher": Home}
    handles = (Handles(".uioverrides.QuickstepLauncher", "android.intent.action.MAIN"),)

    def state(self) -> dict[str, Any]:
        """Nothing of its own: what it shows is what is installed."""
        return {}


APP = Launcher
