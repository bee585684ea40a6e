"""Notes: an app of one's own making, debuggable, so its SQLite file and preferences can be looked into."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.notes.editor import Editor
from handrail_sim.apps.notes.overview import Overview
from handrail_sim.apps.notes.store import open_store
from handrail_sim.system.activities import App
from handrail_sim.system.world import HOUR_MS, entries


class Notes(App):
    """com.handrail.notes."""

    package = "com.handrail.notes"
    label = "Notes"
    icon = "note"
    color = "#b26a00"
    version = "2.3.1"
    debuggable = True
    activities = {".MainActivity": Overview, ".EditActivity": Editor}

    def on_create(self) -> None:
        open_store(self)

    def fill(self, given: Any) -> None:
        """Notes with `title`, `body`, `hours_ago` (the later in the list, the newer)."""
        notes = entries(given, "notes", "title body hours_ago")
        store, now = open_store(self), self.phone.wall_ms()
        if not notes.adds:
            for known in store.all():
                store.delete(known.id)
        for number, row in enumerate(notes.rows):
            at = now - int(float(row.get("hours_ago", len(notes.rows) - number)) * HOUR_MS)
            store.add(str(row.get("title", "")), str(row.get("body", "")), at)

    def state(self) -> dict[str, Any]:
        """Notes in the order of their making, and how the list is sorted."""
        notes = open_store(self).all("created")
        return {
            "sort": str(self.prefs("settings").get("sort", "changed")),
            "notes": [{"id": note.id, "title": note.title, "body": note.body} for note in notes],
        }


APP = Notes
