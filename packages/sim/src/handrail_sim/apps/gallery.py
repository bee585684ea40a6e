"""Gallery: pictures behind a permission, a grid, a viewer to pinch and turn, sharing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.clock import iso_time
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import SEND, Intent
from handrail_sim.system.world import entries
from handrail_sim.view import Style, View

COUNT = 60
_PLACES = ("Harbour", "Hill", "Island", "Ferry", "Market", "Lighthouse", "Meadow", "Station")
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Picture:
    """One photo: what was painted, where, when."""

    number: int
    place: str
    taken_ms: int

    @property
    def seed(self) -> str:
        return f"landscape:{self.number}"

    @property
    def file_name(self) -> str:
        return f"IMG_{1000 + self.number}.jpg"


def pictures(seed: int, now_ms: int) -> list[Picture]:
    """The newest first; the same seed is the same album."""
    random = Random(seed)  # noqa: S311
    day = now_ms // _DAY_MS
    matches: list[Picture] = []
    for number in range(COUNT):
        day -= random.randrange(0, 3)
        matches.append(Picture(number, random.choice(_PLACES), day * _DAY_MS))
    return matches


def configured_pictures(rows: Sequence[Mapping[str, Any]], now_ms: int) -> list[Picture]:
    """Those that somebody gave this phone, as old as they said."""
    day = now_ms // _DAY_MS
    return [
        Picture(number, str(row["place"]), (day - int(row.get("days_ago", number))) * _DAY_MS)
        for number, row in enumerate(rows)
    ]


PERMISSION = "android.permission.READ_MEDIA_IMAGES"
_WAITING = "Gallery can only show photos if you allow it to."
_REFUSED = "You refused it. If nothing happens when you try again, allow photos in the phone's settings."
_EPOCH_KEY = "album_made_ms"


def album(activity: Activity) -> list[Picture]:
    """The same pictures on every look: their dates count from the first one."""
    prefs = activity.app.prefs("gallery")
    if _EPOCH_KEY not in prefs:
        prefs[_EPOCH_KEY] = activity.phone.wall_ms()
    removed = str(prefs.get("deleted", "")).split(",")
    content = activity.phone.world.get(activity.app.package)
    now = int(prefs[_EPOCH_KEY])
    every = pictures(activity.phone.seed, now) if content is None else configured_pictures(content, now)
    return [picture for picture in every if str(picture.number) not in removed]


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
        return ui.screen(ui.toolbar("Gallery"), self.grid() if self.granted else self.explanation())

    def grid(self) -> View:
        return ui.lazy_list(
            album(self), self.tile, item_key=_key, columns=3, id="grid", weight=1.0, padding=2.0
        )

    def tile(self, picture: Picture) -> View:
        words = f"Photo taken at {picture.place}, {iso_time(picture.taken_ms)[:10]}"
        return ui.frame(
            ui.image(picture.seed, width="fill", height=132.0, id="thumbnail"),
            id="tile",
            desc=words,
            padding=2.0,
            on_click=partial(self.start, "ViewerActivity", number=picture.number),
        )

    def explanation(self) -> View:
        return ui.message(
            ui.icon("image", size=72.0),
            ui.text("No access to photos", "title", id="no_access"),
            ui.text(_REFUSED if self.state["denied"] else _WAITING, id="explanation"),
            ui.button("Allow access", self.ask, id="allow_access"),
            padding=24.0,
        )


def _key(picture: Picture) -> str:
    return str(picture.number)


SMALLEST, LARGEST = 1.0, 8.0


class Viewer(Activity):
    """`state["scale"]` and `state["rotation"]` are what the fingers made of the picture."""

    title = "Photo"

    def on_create(self) -> None:
        self.state["number"] = int(self.extras["number"])
        self.reset()

    def reset(self) -> None:
        self.state.update(scale=1.0, rotation=0.0, pan=[0.0, 0.0])
        self.note()

    def note(self) -> None:
        """What `sim state` tells; a real gallery logs it."""
        prefs = self.app.prefs("gallery")
        prefs["last_viewed"], prefs["scale"] = self.state["number"], round(self.state["scale"], 3)

    def build(self) -> View:
        shown = self.shown()
        return ui.screen(
            ui.toolbar(shown.file_name, on_up=self.finish),
            ui.frame(self.photo(shown), weight=1.0, id="viewer"),
            ui.text(
                f"{shown.place}, {iso_time(shown.taken_ms)[:10]}", "label", id="caption", padding=(16.0, 4.0)
            ),
            self.actions(shown.number),
        )

    def shown(self) -> Picture:
        return next(picture for picture in album(self) if picture.number == self.state["number"])

    def photo(self, shown: Picture) -> View:
        scale, rotation = self.state["scale"], self.state["rotation"]
        return ui.image(
            shown.seed,
            f"Photo taken at {shown.place}",
            id="photo",
            width="fill",
            height="fill",
            state=f"Zoom {round(scale * 100)}%",
            style=Style(kind="image", image=shown.seed, scale=scale, rotation=rotation),
            on_scale=self.zoom,
            on_rotate=self.turn,
            on_double_tap=self.double_tap,
            on_swipe=self.swiped,
        )

    def actions(self, number: int) -> View:
        favourite = number in self.favourites()
        words = "Remove from favourites" if favourite else "Add to favourites"
        star = "star" if favourite else "star_outline"
        return ui.row(
            ui.icon_button("share", "Share", self.share, id="share"),
            ui.icon_button(star, words, partial(self.favour, number), id="favourite", selected=favourite),
            ui.icon_button("rotate", "Rotate", self.turn_quarter, id="rotate"),
            ui.icon_button("delete", "Delete", self.delete, id="delete"),
            gravity="center",
            gap=32.0,
            height=64.0,
        )

    def zoom(self, factor: float, _x: float, _y: float) -> None:
        self.state["scale"] = max(SMALLEST, min(LARGEST, self.state["scale"] * factor))
        self.note()

    def turn(self, degrees: float) -> None:
        self.state["rotation"] = (self.state["rotation"] + degrees) % 360

    def turn_quarter(self) -> None:
        self.turn(90.0)

    def double_tap(self) -> None:
        self.state["scale"] = 1.0 if self.state["scale"] > 1.0 else 2.0
        self.note()

    def swiped(self, way: str) -> None:
        """A zoomed picture is moved, not left."""
        step = {"left": 1, "right": -1}.get(way, 0)
        if not step or self.state["scale"] != 1.0:
            return
        numbers = [picture.number for picture in album(self)]
        place = numbers.index(self.state["number"]) + step
        if 0 <= place < len(numbers):
            self.state["number"] = numbers[place]
            self.reset()

    def favourites(self) -> list[int]:
        saved = str(self.app.prefs("gallery").get("favourites", ""))
        return [int(number) for number in saved.split(",") if number]

    def favour(self, number: int) -> None:
        others = [favourite for favourite in self.favourites() if favourite != number]
        now = others if number in self.favourites() else [*others, number]
        self.app.prefs("gallery")["favourites"] = ",".join(map(str, now))

    def share(self) -> None:
        shown = self.shown()
        extras = {"android.intent.extra.STREAM": f"content://media/external/images/media/{shown.number}"}
        self.start_intent(Intent(action=SEND, mime="image/jpeg", extras=extras))

    def delete(self) -> None:
        message = "This photo will be removed from the phone."
        self.dialog("Delete photo?", message, {"Cancel": None, "Delete": self.deleted})

    def deleted(self) -> None:
        number = self.state["number"]
        prefs = self.app.prefs("gallery")
        prefs["deleted"] = f"{prefs.get('deleted', '')},{number}".strip(",")
        self.finish()


@declared
class Gallery(App):
    """The gallery; `favourites` is kept in preferences."""

    activities = {"MainActivity": Main, "ViewerActivity": Viewer}

    def fill(self, content: Any) -> None:
        """Photos with `place` and `days_ago`, the newest first."""
        self.phone.world[self.package] = entries(content, "gallery", "place days_ago").rows

    def state(self) -> dict[str, Any]:
        prefs = self.prefs("gallery")
        return {
            "favourites": [int(name) for name in str(prefs.get("favourites", "")).split(",") if name],
            "deleted": [int(name) for name in str(prefs.get("deleted", "")).split(",") if name],
            "last_viewed": int(prefs.get("last_viewed", -1)),
            "scale": float(prefs.get("scale", 1.0)),
        }


APP = Gallery
