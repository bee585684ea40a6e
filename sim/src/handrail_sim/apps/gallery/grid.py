"""The gallery's first screen: asks for the permission, explains itself when refused, shows the grid."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.gallery.album import Picture, given_pictures, pictures
from handrail_sim.clock import iso_time
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, button, column, frame, icon, image, lazy_list, text, toolbar

PERMISSION = "android.permission.READ_MEDIA_IMAGES"
_WAITING = "Gallery can only show photos if you allow it to."
_REFUSED = "You refused it. If nothing happens when you try again, allow photos in the phone's settings."
_EPOCH_KEY = "album_made_ms"


def album(activity: Activity) -> list[Picture]:
    """The same pictures on every look: their dates count from the first one."""
    kept = activity.app.prefs("gallery")
    if _EPOCH_KEY not in kept:
        kept[_EPOCH_KEY] = activity.phone.wall_ms()
    gone = str(kept.get("deleted", "")).split(",")
    given = activity.phone.world.get(activity.app.package)
    now = int(kept[_EPOCH_KEY])
    every = pictures(activity.phone.seed, now) if given is None else given_pictures(given, now)
    return [picture for picture in every if str(picture.number) not in gone]


def throw_away(activity: Activity, number: int) -> None:
    """The picture is in no album from now on."""
    kept = activity.app.prefs("gallery")
    kept["deleted"] = f"{kept.get('deleted', '')},{number}".strip(",")


class Main(Activity):
    """`state["asked"]`: the prompt opens by itself only once."""

    title = "Gallery"

    def on_create(self) -> None:
        self.state.update(asked=False, denied=False)

    @property
    def granted(self) -> bool:
        return self.phone.packages.is_granted(self.app.package, PERMISSION)

    def on_resume(self) -> None:
        if not self.state["asked"] and not self.granted:
            self.state["asked"] = True
            self.ask()

    def ask(self) -> None:
        self.request_permission(PERMISSION, self.answered)

    def answered(self, granted: bool) -> None:
        self.state["denied"] = not granted

    def build(self) -> View:
        return column(toolbar("Gallery"), self.grid() if self.granted else self.explanation(), height="fill")

    def grid(self) -> View:
        return lazy_list(
            album(self),
            self.tile,
            item_key=_key,
            columns=3,
            id="grid",
            height="wrap",
            weight=1.0,
            padding=2.0,
        )

    def tile(self, picture: Picture) -> View:
        words = f"Photo taken at {picture.place}, {iso_time(picture.taken_ms)[:10]}"
        return frame(
            image(picture.seed, width="fill", height=132.0, id="thumbnail"),
            id="tile",
            desc=words,
            padding=2.0,
            on_click=partial(self.start, "ViewerActivity", number=picture.number),
        )

    def explanation(self) -> View:
        return column(
            icon("image", size=72.0),
            text("No access to photos", "title", id="no_access"),
            text(_REFUSED if self.state["denied"] else _WAITING, id="explanation"),
            button("Allow access", self.ask, id="allow_access"),
            height="wrap",
            weight=1.0,
            gravity="center",
            gap=16.0,
            padding=24.0,
        )


def _key(picture: Picture) -> str:
    return str(picture.number)
