"""Compose lab: the tree of a Jetpack Compose app. No ids, merged rows, words in descriptions and states.

Its debug build has the idling provider of seed 003: it tells of an upload that nothing on the screen shows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import Style, View, column, field, frame, icon, row, scroll, slider, text

VIEW = "android.view.View"
_BUTTON = Style(kind="button", role="tonal", size=14.0, bold=True, radius=20.0, align="center")
_TOGGLES = ("Wi-Fi calling", "Data saver", "Read aloud")
_ROLES = {"switch": VIEW, "checkbox": "android.widget.CheckBox"}
UPLOAD_MS = 800.0
UPLOAD = "draft upload"
_LEVELS = ("Off", "Partially on", "On")


def box(*children: View | None, **options: Any) -> View:
    """A composable's node: a View, whatever it is, unless its role says more."""
    return column(*children, **{"cls": VIEW, "width": "wrap", **options})


class Main(Activity):
    """Every control tells its value in words, as Compose's semantics do."""

    title = "Compose lab"

    def on_create(self) -> None:
        self.state.update(
            count=0,
            toggles=[False, True, False],
            level=0,
            open=False,
            volume=40.0,
            tab=0,
            name="",
            uploads=0,
            uploaded=0,
        )

    def build(self) -> View:
        page = self.controls if self.state["tab"] == 0 else self.names
        content = box(self.tabs(), page(), width="fill", height="fill")
        return frame(content, cls="androidx.compose.ui.platform.ComposeView", height="fill")

    def tabs(self) -> View:
        names = ("Controls", "List")
        return row(*(self.tab(number, name) for number, name in enumerate(names)), cls=VIEW, height=48.0)

    def tab(self, number: int, name: str) -> View:
        selected = number == self.state["tab"]
        style = Style(kind="tab", role="selected" if selected else "", size=14.0, bold=True, align="center")
        return box(
            text(name, style=style),
            key=f"tab:{name}",
            selected=selected,
            weight=1.0,
            height="fill",
            gravity="center",
            on_click=partial(self.show, number),
        )

    def controls(self) -> View:
        return scroll(
            box(
                self.counter(),
                *(self.toggle(number, name) for number, name in enumerate(_TOGGLES)),
                self.tri_state(),
                self.expander(),
                self.volume(),
                field("=", hint="Your name", key="name", on_change=self.sets("name")),
                text(f"Hello, {self.state['name']}") if self.state["name"] else None,
                self.pressable("Save", self.save),
                text(f"Uploaded: {self.state['uploaded']}") if self.state["uploaded"] else None,
                width="fill",
                padding=16.0,
                gap=12.0,
            ),
            cls="android.widget.ScrollView",
            weight=1.0,
        )

    def counter(self) -> View:
        count = self.state["count"]
        return row(
            self.pressable("Decrease", partial(self.count, -1), enabled=count > 0),
            text(f"Count: {count}", "title"),
            self.pressable("Increase", partial(self.count, 1)),
            cls=VIEW,
            gap=16.0,
        )

    def pressable(self, words: str, run: Any, enabled: bool = True) -> View:
        """Role.Button: a View takes the tap; its words and an empty node for the role stand inside."""
        return frame(
            text(words, style=Style(kind="text", size=14.0, bold=True), align="center"),
            View(cls="android.widget.Button", width=24.0, height=24.0, align="center", painted=False),
            cls=VIEW,
            key=f"press:{words}",
            width="wrap",
            min_height=48.0,
            padding=(24.0, 8.0),
            enabled=enabled,
            style=_BUTTON,
            on_click=run,
        )

    def toggle(self, number: int, name: str) -> View:
        """The last one sets one description for all it holds; the others leave their words to be found."""
        checked = self.state["toggles"][number]
        shape = silenced if name == _TOGGLES[-1] else labelled
        return shape(
            name, "On" if checked else "Off", "switch", checked, key=name, on_click=partial(self.flip, number)
        )

    def tri_state(self) -> View:
        level = self.state["level"]
        last = len(_LEVELS) - 1
        return labelled(
            "Notifications", _LEVELS[level], "checkbox", level == last, key="tri", on_click=self.next_level
        )

    def expander(self) -> View:
        opened = self.state["open"]
        return box(
            row(
                text("Details", "subtitle", weight=1.0),
                icon("expand_less" if opened else "expand_more"),
                cls=VIEW,
                key="details",
                state="Expanded" if opened else "Collapsed",
                min_height=48.0,
                on_click=self.expand,
            ),
            text("Built from semantics, not from views.") if opened else None,
            width="fill",
        )

    def volume(self) -> View:
        words = f"{round(self.state['volume'])} percent"
        return slider(
            self.state["volume"], on_change=self.sets("volume"), desc="Volume", state=words, key="volume"
        )

    def names(self) -> View:
        rows = [
            box(
                text(f"Item {number}"),
                width="fill",
                min_height=56.0,
                padding=16.0,
                key=f"item:{number}",
                on_click=partial(self.toast, f"Item {number}"),
            )
            for number in range(1, 41)
        ]
        return scroll(box(*rows, width="fill"), cls=VIEW, weight=1.0, key="items")

    def show(self, number: int) -> None:
        self.state["tab"] = number

    def count(self, by: int) -> None:
        self.state["count"] += by

    def flip(self, number: int) -> None:
        self.state["toggles"][number] = not self.state["toggles"][number]

    def next_level(self) -> None:
        self.state["level"] = (self.state["level"] + 1) % len(_LEVELS)

    def expand(self) -> None:
        self.state["open"] = not self.state["open"]

    def save(self) -> None:
        prefs = self.app.prefs("lab")
        prefs["saved"] = f"{self.state['count']} {self.state['name']}".strip()
        names = [name for name, on in zip(_TOGGLES, self.state["toggles"], strict=True) if on]
        prefs["on"], prefs["volume"] = "\n".join(names), round(self.state["volume"])
        prefs["notifications"] = _LEVELS[self.state["level"]]
        self.toast("Saved")
        self.state["uploads"] += 1
        self.later(UPLOAD_MS, self.uploaded)

    def uploaded(self) -> None:
        self.state["uploads"] -= 1
        self.state["uploaded"] += 1


def labelled(words: str, state: str, kind: str, checked: bool, **options: Any) -> View:
    """toggleable(): the row is checkable; inside stand its words and an empty node for its role."""
    role = View(
        cls=_ROLES[kind],
        style=Style(kind=kind),
        checked=checked,
        clickable=False,
        attrs={"checkable": "false", "checked": "false"},
        width=52.0,
        height=32.0,
    )
    return row(
        text(words, weight=1.0), role, cls=VIEW, state=state, checked=checked, min_height=56.0, **options
    )


def silenced(words: str, state: str, kind: str, checked: bool, **options: Any) -> View:
    """clearAndSetSemantics: one node, its words are a description, nothing below it is told."""
    view = labelled(words, state, kind, checked, **options)
    view.desc = words
    for child in view.children:
        child.accessible = False
    return view


@declared
class ComposeLab(App):
    """A page of Compose controls."""

    activities = {"MainActivity": Main}

    def state(self) -> dict[str, Any]:
        """What was saved last; `on` are the switches."""
        prefs = self.prefs("lab")
        return {
            "saved": str(prefs.get("saved", "")),
            "on": [name for name in str(prefs.get("on", "")).split("\n") if name],
            "volume": int(prefs.get("volume", 0)),
            "notifications": str(prefs.get("notifications", "")),
            "uploads": self.uploads(),
        }

    def uploads(self) -> int:
        screens = [activity for activity in self.phone.tasks.open_activities() if isinstance(activity, Main)]
        return sum(screen.state["uploads"] for screen in screens)

    def idling(self) -> list[dict[str, Any]]:
        """The provider's one row: how many resources are busy, and their names."""
        busy = self.uploads()
        return [{"idle_count": 1 if busy else 0, "idle_names": UPLOAD if busy else "", "version": 1}]


APP = ComposeLab
