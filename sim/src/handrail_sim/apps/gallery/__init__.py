"""Gallery: pictures behind a permission, a grid, a viewer to pinch and turn, sharing."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.gallery.grid import Main
from handrail_sim.apps.gallery.viewer import Viewer
from handrail_sim.system.activities import App
from handrail_sim.system.world import entries


class Gallery(App):
    """The gallery; `favourites` is kept in preferences."""

    package = "com.handrail.gallery"
    label = "Gallery"
    icon = "gallery"
    version = "2.4"
    permissions = ("android.permission.READ_MEDIA_IMAGES",)
    activities = {"MainActivity": Main, "ViewerActivity": Viewer}

    def fill(self, given: Any) -> None:
        """Photos with `place` and `days_ago`, the newest first."""
        self.phone.world[self.package] = entries(given, "gallery", "place days_ago").rows

    def state(self) -> dict[str, Any]:
        kept = self.prefs("gallery")
        return {
            "favourites": [int(name) for name in str(kept.get("favourites", "")).split(",") if name],
            "deleted": [int(name) for name in str(kept.get("deleted", "")).split(",") if name],
            "last_viewed": int(kept.get("last_viewed", -1)),
            "scale": float(kept.get("scale", 1.0)),
        }


APP = Gallery
