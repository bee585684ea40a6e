"""Replay: recorded screens of a real app become an app that can be walked through.

`at(folder)` makes the app; `--apps replay:FOLDER` does the same from the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from handrail_sim.apps.manifests import declared
from handrail_sim.apps.replay.recording import ANY, Box, Recorded, Recording, Shot, Steps, load, steps_from
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import Style, View, column, metrics, text

_KINDS = (
    ("CheckBox", "checkbox"),
    ("RadioButton", "radio"),
    ("Switch", "switch"),
    ("EditText", "field"),
    ("ImageButton", "icon"),
    ("ImageView", "icon"),
    ("Image", "icon"),
    ("Button", "button"),
    ("SeekBar", "slider"),
    ("ProgressBar", "spinner"),
)
_PICTURE = Style(kind="icon", icon="image", color="outline")
_TAPPABLE = Style(kind="card", background="surface_container", radius=8.0)
NOTHING = Style(kind="card")
_LARGEST, _SMALLEST = 16.0, 7.0


def look_of(node: Recorded, bounds: Box, sp: float) -> Style:
    """`sp` is px per sp; bounds are px."""
    kind = next((kind for ending, kind in _KINDS if node.short_class.endswith(ending)), "")
    if kind == "icon" and not node.description:
        return _PICTURE
    if kind in ("slider", "spinner"):
        return Style(kind=kind)
    if kind in ("checkbox", "radio", "switch", "field") or node.text:
        role = {"button": "tonal", "field": "outlined"}.get(kind, "")
        return Style(kind=kind or "text", role=role, size=_size(node.text, bounds, sp), radius=8.0)
    return _TAPPABLE if node.clickable else NOTHING


def _size(words: str, bounds: Box, sp: float) -> float:
    """As large as the box allows: one line as high as it is, shrunk until the words fit in."""
    size = max(_SMALLEST, min(_LARGEST, bounds.height * 0.8 / sp))
    lines = max(1, int(bounds.height / metrics.line_height(size * sp)))
    width = metrics.line_width(words, size * sp)
    return max(_SMALLEST, min(size, size * lines * bounds.width / width)) if width else size


def caption(node: Recorded, bounds: Box, sp: float) -> View | None:
    if not node.description or node.text or _has_words(node):
        return None
    style = replace(Style(kind="text"), size=_size(node.description, bounds, sp), color="on_surface_variant")
    return View(cls="android.view.View", text=node.description, style=style, accessible=False)


def _has_words(node: Recorded) -> bool:
    return any(child.text or child.description or _has_words(child) for child in node.children)


Room = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a recording is shown: `scale` is 1 unless it was made on a larger screen than this one."""

    dress: Callable[[Recorded, View], None]  # gives each view its handlers
    scale: float
    sp: float  # px
    painted: bool = True  # false when a screenshot shows it all

    def bounds(self, node: Recorded) -> Box:
        if self.scale == 1.0:
            return node.bounds
        return Box(*(round(edge * self.scale) for edge in node.bounds))


def screen_view(
    shot: Shot, room: tuple[int, int], sp: float, dress: Callable[[Recorded, View], None]
) -> View:
    """The tree of the recorded app's windows on a display of `room` px."""
    screen = shot.screen
    scale = min(1.0, room[0] / max(1, screen.width), room[1] / max(1, screen.height))
    stage = Stage(dress, scale, sp, shot.picture is None)
    box = (0, 0, *room)
    roots = [root for root in screen.windows if root.package == screen.package] or screen.windows
    views = [_view(root, box, stage) for root in roots]
    if len(views) > 1:
        views = [
            View(cls="android.widget.FrameLayout", layout="absolute", children=views, package=screen.package)
        ]
    root = views[0]
    if shot.picture:
        size = round(screen.width * scale), round(screen.height * scale)
        view = View(
            style=Style(kind="image", image=f"file:{shot.picture}"), rect=(0, 0, *size), accessible=False
        )
        root.style, root.painted, root.children = NOTHING, True, [view, *root.children]
    if len(roots) == 1:
        # The phone lays a root out over the whole window; what was recorded says otherwise.
        root.attrs = {**(root.attrs or {}), "bounds": str(stage.bounds(roots[0]))}
    return root


def _view(node: Recorded, around: Room, stage: Stage) -> View:
    box = _clipped(stage.bounds(node), around)
    view = _alone(node, box, stage)
    stage.dress(node, view)
    view.children = [_view(child, box, stage) for child in node.children]
    if stage.painted and (words := caption(node, stage.bounds(node), stage.sp)):
        words.rect = box
        view.children = [*view.children, words]
    return view


def _alone(node: Recorded, box: Room, stage: Stage) -> View:
    """The node without what it holds."""
    bounds = stage.bounds(node)
    current = node.resource_id
    return View(
        cls=node.class_name or "android.view.View",
        id=f"={current}" if current and ":" not in current else current,
        key=node.path,
        text=node.text,
        desc=node.description,
        hint=node.says("hint"),
        state=node.says("state-description"),
        tooltip=node.says("tooltip"),
        pane=node.says("pane-title"),
        package=node.package or None,
        enabled=node.enabled,
        checked=node.is_("checked") if node.is_("checkable") or node.is_("checked") else None,
        selected=node.is_("selected"),
        password=node.is_("password"),
        visible=not node.hidden,
        clickable=node.clickable,
        long_clickable=node.long_clickable,
        focusable=node.is_("focusable"),
        scrollable=node.is_("scrollable"),
        index=int(node.says("index") or 0),
        layout="absolute",
        rect=box,
        width="fill",
        height="fill",
        style=look_of(node, bounds, stage.sp),
        painted=stage.painted,
        attrs=_attributes(node, bounds, box),
    )


def _clipped(bounds: Box, around: Room) -> Room:
    """What of it can be touched. A node without size keeps one pixel: it was in the dump and stays there."""
    left, top = max(bounds.left, around[0]), max(bounds.top, around[1])
    right, bottom = min(bounds.right, around[2]), min(bounds.bottom, around[3])
    if left < right and top < bottom:
        return left, top, right, bottom
    return around[0], around[1], around[0] + 1, around[1] + 1


def _attributes(node: Recorded, bounds: Box, box: Room) -> dict[str, str] | None:
    attrs: dict[str, str] = {}
    if tuple(bounds) != box:
        attrs["bounds"] = str(bounds)
    if node.is_("focused"):
        attrs["focused"] = "true"
    if node.is_("password"):
        attrs["text"] = node.text
    if node.is_("checked") and not node.is_("checkable"):
        attrs["checkable"] = "false"
    return attrs or None


def recorded_flag(view: View, name: str, recorded: bool) -> bool:
    """Lets a view take a gesture that its record denies: real apps listen behind accessibility's back."""
    if not recorded:
        view.attrs = {**(view.attrs or {}), name: "false"}
    return True


_ADVICE = "Start the phone with --apps replay:FOLDER, where FOLDER holds UI dumps."


class Player(Activity):
    """`state["trail"]` is every screen on the way here, the present one last."""

    title = "Replay"
    bare = True

    def on_create(self) -> None:
        self.state["trail"] = []
        if self.replay.recording is not None:
            self.show(0)

    @property
    def replay(self) -> Replay:
        return cast("Replay", self.app)

    @property
    def recording(self) -> Recording:
        recording = self.replay.recording
        assert recording is not None  # noqa: S101
        return recording

    @property
    def number(self) -> int:
        return int(self.state["trail"][-1])

    @property
    def steps(self) -> Steps:
        existing = self.replay.steps
        if self.number not in existing:
            existing[self.number] = steps_from(self.recording, self.number)
        return existing[self.number]

    def build(self) -> View:
        if self.replay.recording is None:
            return column(text("Nothing recorded", "headline"), text(_ADVICE), padding=48.0, height="fill")
        shot = self.recording.shots[self.number]
        display = self.phone.display
        return screen_view(shot, (display.width, display.height), self.phone.units.sp, self.dress)

    def dress(self, node: Recorded, view: View) -> None:
        steps = self.steps
        tap = steps.taps.get(node.order, steps.taps.get(ANY) if node.clickable else None)
        if tap is not None:
            view.on_click = partial(self.show, tap)
            view.clickable = recorded_flag(view, "clickable", node.clickable)
        hold = steps.long_presses.get(
            node.order, steps.long_presses.get(ANY) if node.long_clickable else None
        )
        if hold is not None:
            view.on_long_click = partial(self.show, hold)
            view.long_clickable = recorded_flag(view, "long-clickable", node.long_clickable)
        if node.is_field:
            self.dress_field(node, view)
        if node.parent is None or not node.parent.class_name:
            view.on_swipe = self.swiped

    def dress_field(self, node: Recorded, view: View) -> None:
        """A recorded field can be typed into; what it held is its text, what was its hint stays one."""
        view.editable = True
        if node.text and node.text == node.says("hint"):
            view.text = ""
        typed = self.steps.typed.get(node.order) or self.steps.typed.get(ANY)
        if typed is not None:
            view.on_change = partial(self.typed, *typed)
            view.on_submit = partial(self.show, typed[1])

    def typed(self, wanted: str, goal: int, words: str) -> None:
        if words == wanted:
            self.show(goal)

    def swiped(self, way: str) -> None:
        goal = self.steps.swipes.get(way)
        if goal is not None:
            self.show(goal)

    def show(self, number: int) -> None:
        self.state["trail"].append(number)
        self.mark_visited()

    def mark_visited(self) -> None:
        prefs = self.app.prefs("replay")
        name = self.recording.shots[self.number].name
        prefs["screen"], prefs["visited"] = name, f"{prefs.get('visited', '')}\n{name}".strip()
        self.window.memory.clear()

    def back(self) -> bool:
        """The way it came, unless the recording knows better; from the first screen one leaves the app."""
        if not self.state["trail"]:
            return False
        if self.steps.back is not None:
            self.show(self.steps.back)
            return True
        if len(self.state["trail"]) < 2:
            return False
        self.state["trail"].pop()
        self.mark_visited()
        return True


@declared
class Replay(App):
    """The app of one recording; the class itself has none and says so."""

    activities = {"PlayerActivity": Player}
    recording: ClassVar[Recording | None] = None
    steps: ClassVar[dict[int, Steps]] = {}  # worked out when a screen is first shown

    def state(self) -> dict[str, Any]:
        prefs = self.prefs("replay")
        visited = [name for name in str(prefs.get("visited", "")).split("\n") if name]
        return {"screen": str(prefs.get("screen", "")), "visited": visited}


def at(folder: str | Path) -> type[App]:
    recording = load(folder)
    return type("RecordedReplay", (Replay,), {"recording": recording, "steps": {}})


APP = Replay
