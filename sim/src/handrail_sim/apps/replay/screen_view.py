"""A recorded screen as views that write themselves exactly as they were recorded.

Every node stands where it stood; what a recorded node can't do by itself comes in as handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handrail_sim.apps.replay.look import NOTHING, caption, look_of
from handrail_sim.apps.replay.recorded import Box, Recorded
from handrail_sim.apps.replay.recording import Shot
from handrail_sim.view import Style, View

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
        seen = View(
            style=Style(kind="image", image=f"file:{shot.picture}"), rect=(0, 0, *size), accessible=False
        )
        root.style, root.painted, root.children = NOTHING, True, [seen, *root.children]
    if len(roots) == 1:
        # The phone lays a root out over the whole window; what was recorded says otherwise.
        root.attrs = {**(root.attrs or {}), "bounds": str(stage.bounds(roots[0]))}
    return root


def _view(node: Recorded, around: Room, stage: Stage) -> View:
    box = _seen(stage.bounds(node), around)
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
    known = node.resource_id
    return View(
        cls=node.class_name or "android.view.View",
        id=f"={known}" if known and ":" not in known else known,
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


def _seen(bounds: Box, around: Room) -> Room:
    """What of it can be touched. A node without size keeps one pixel: it was in the dump and stays there."""
    left, top = max(bounds.left, around[0]), max(bounds.top, around[1])
    right, bottom = min(bounds.right, around[2]), min(bounds.bottom, around[3])
    if left < right and top < bottom:
        return left, top, right, bottom
    return around[0], around[1], around[0] + 1, around[1] + 1


def _attributes(node: Recorded, bounds: Box, box: Room) -> dict[str, str] | None:
    """What the phone would write otherwise than it was recorded."""
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


def told(view: View, name: str, recorded: bool) -> bool:
    """Lets a view take a gesture that its record denies: real apps listen behind accessibility's back."""
    if not recorded:
        view.attrs = {**(view.attrs or {}), name: "false"}
    return True
