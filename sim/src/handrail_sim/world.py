"""A phone's world: what its apps hold, given as data by the app's short name. Knows no app's inside."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from handrail_sim.apps import APPS
from handrail_sim.errors import BadSetting
from handrail_sim.handset import Handset


def give(phone: Handset, world: Mapping[str, Any]) -> None:
    """Every named app takes its part; one that runs shows it at once. Raises `BadSetting`."""
    for name, given in copy.deepcopy(dict(world)).items():
        package = APPS[name].package if name in APPS else ""
        if package not in phone.packages.installed:
            raise BadSetting(
                f"world: this phone has no app {str(name)!r}",
                path=f"world.{name}",
                hint=f"Apps: {', '.join(APPS)}.",
            )
        running = phone.tasks.running.get(package)
        app = running or phone.made(package)
        try:
            app.fill(given)
        finally:
            if running is None:
                app.close()
    phone.layout_changed()
