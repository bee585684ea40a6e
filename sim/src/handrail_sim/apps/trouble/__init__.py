"""Trouble: every way a screen can make life hard, one row each on the first screen."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.trouble.covering import Covered, Interrupted
from handrail_sim.apps.trouble.main import Main
from handrail_sim.apps.trouble.moving import Restless, Shifting
from handrail_sim.apps.trouble.waiting import Endless, Late, Loading
from handrail_sim.system.activities import App
from handrail_sim.system.world import mapping


class Trouble(App):
    """`state["done"]` is what was reached, in order; `state["missed"]` the taps that hit something else.

    `state["form"]` is the name with which the form was finished.
    """

    package = "com.handrail.trouble"
    label = "Trouble"
    icon = "bug"
    version = "1.0"
    debuggable = True
    activities = {
        "MainActivity": Main,
        "LoadingActivity": Loading,
        "EndlessActivity": Endless,
        "LateActivity": Late,
        "RestlessActivity": Restless,
        "ShiftingActivity": Shifting,
        "CoveredActivity": Covered,
        "InterruptedActivity": Interrupted,
    }

    def fill(self, given: Any) -> None:
        """`rows`: other names; `birds` and the one to tap; `loaded` after `loading_ms` (0 is never).

        `terms` and `notice` are the texts of the late and of the covered button.
        """
        self.phone.world[self.package] = mapping(
            given, "trouble", "rows birds target loaded loading_ms terms notice"
        )

    def state(self) -> dict[str, Any]:
        kept = self.prefs("trouble")
        lines = {
            name: [one for one in str(kept.get(name, "")).split("\n") if one] for name in ("done", "missed")
        }
        return {**lines, "form": str(kept.get("form", ""))}


APP = Trouble
