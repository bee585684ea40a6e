"""One picture, full screen: pinch, double tap, turn, swipe to the next, favourite, share."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.gallery.album import Picture
from handrail_sim.apps.gallery.grid import album, throw_away
from handrail_sim.clock import iso_time
from handrail_sim.system.activities import Activity
from handrail_sim.system.intents import SEND, Intent
from handrail_sim.view import Style, View, column, frame, icon_button, image, row, text, toolbar

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
        kept = self.app.prefs("gallery")
        kept["last_viewed"], kept["scale"] = self.state["number"], round(self.state["scale"], 3)

    def build(self) -> View:
        shown = self.shown()
        return column(
            toolbar(shown.file_name, on_up=self.finish),
            frame(self.photo(shown), height="wrap", weight=1.0, id="viewer"),
            text(
                f"{shown.place}, {iso_time(shown.taken_ms)[:10]}", "label", id="caption", padding=(16.0, 4.0)
            ),
            self.actions(shown.number),
            height="fill",
        )

    def shown(self) -> Picture:
        return next(picture for picture in album(self) if picture.number == self.state["number"])

    def photo(self, shown: Picture) -> View:
        scale, rotation = self.state["scale"], self.state["rotation"]
        return image(
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
        return row(
            icon_button("share", "Share", self.share, id="share"),
            icon_button(star, words, partial(self.favour, number), id="favourite", selected=favourite),
            icon_button("rotate", "Rotate", self.turn_quarter, id="rotate"),
            icon_button("delete", "Delete", self.delete, id="delete"),
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
        kept = str(self.app.prefs("gallery").get("favourites", ""))
        return [int(number) for number in kept.split(",") if number]

    def favour(self, number: int) -> None:
        others = [one for one in self.favourites() if one != number]
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
        throw_away(self, self.state["number"])
        self.finish()
