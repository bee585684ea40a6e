"""Replay: recorded screens of a real app become an app that can be walked through.

`at(folder)` makes the app; `--apps replay:FOLDER` does the same from the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from handrail_sim.apps.replay.player import Player
from handrail_sim.apps.replay.recording import Recording, load
from handrail_sim.apps.replay.steps import Steps
from handrail_sim.system.activities import App


class Replay(App):
    """The app of one recording; the class itself has none and says so."""

    package = "com.handrail.replay"
    label = "Replay"
    icon = "play"
    version = "1.0"
    activities = {"PlayerActivity": Player}
    recording: ClassVar[Recording | None] = None
    steps: ClassVar[dict[int, Steps]] = {}  # worked out when a screen is first shown

    def state(self) -> dict[str, Any]:
        kept = self.prefs("replay")
        visited = [name for name in str(kept.get("visited", "")).split("\n") if name]
        return {"screen": str(kept.get("screen", "")), "visited": visited}


def at(folder: str | Path) -> type[App]:
    """An app class for the recording in this folder."""
    recording = load(folder)
    return type("RecordedReplay", (Replay,), {"recording": recording, "steps": {}})


APP = Replay
