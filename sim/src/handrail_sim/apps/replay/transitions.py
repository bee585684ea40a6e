"""How one recorded screen leads to another: the written forms of it, and the element that each one means.

`transitions.tsv` has the columns from, action, target, to and text; `transitions.json` is a list of objects
with those keys; `NAME__event.json` is a DroidBot event between NAME__before and NAME__after.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail_sim.apps.replay.recorded import Box, Recorded, Screen
from handrail_sim.errors import UnreadableDump

ACTIONS = (
    "tap",
    "long_press",
    "type",
    "back",
    "swipe_up",
    "swipe_down",
    "swipe_left",
    "swipe_right",
)
_EVENTS = {
    "click": "tap",
    "touch": "tap",
    "long_click": "long_press",
    "long_touch": "long_press",
    "set_text": "type",
}
_FINGER = {"DOWN": "swipe_up", "UP": "swipe_down", "RIGHT": "swipe_left", "LEFT": "swipe_right"}
_NUMBERS = re.compile(r"-?\d+")
_PLACE = re.compile(r"\s*-?\d+\s*,\s*-?\d+\s*")


@dataclass(frozen=True, slots=True)
class Transition:
    """On screen `source`, `action` on `target` shows screen `goal`; screens are named by their files.

    `target` is a label, a resource id, `x,y` or `[left,top][right,bottom]`; "" means any that takes it.
    """

    source: str
    action: str
    target: str
    goal: str
    text: str = ""


def read_transitions(folder: Path) -> list[Transition]:
    """What the folder's own file says; nothing when there is none."""
    if (table := folder / "transitions.tsv").is_file():
        with table.open(encoding="utf-8", newline="") as lines:
            return [_read(row, table.name) for row in csv.DictReader(lines, delimiter="\t")]
    if (listed := folder / "transitions.json").is_file():
        return [_read(row, listed.name) for row in json.loads(listed.read_text(encoding="utf-8"))]
    return []


def _read(row: Mapping[str, Any], name: str) -> Transition:
    action = row.get("action") or "tap"
    if action not in ACTIONS or not row.get("from") or not row.get("to"):
        hint = f"Every line needs `from`, `to` and an action: {', '.join(ACTIONS)}."
        raise UnreadableDump(f"{name} has a transition that can't be read: {dict(row)}", hint=hint)
    return Transition(row["from"], action, row.get("target") or "", row["to"], row.get("text") or "")


def read_events(paths: Sequence[Path]) -> list[Transition]:
    """DroidBot's events; one that is no gesture on an element or BACK is left out."""
    found = (_read_event(path) for path in paths)
    return [transition for transition in found if transition]


def _read_event(path: Path) -> Transition | None:
    event = json.loads(path.read_text(encoding="utf-8")).get("event") or {}
    stem = path.name.removesuffix("__event.json")
    ends = f"{stem}__before", f"{stem}__after"
    kind = event.get("event_type", "")
    if kind == "key" and event.get("name") == "BACK":
        return Transition(ends[0], "back", "", ends[1])
    action = _EVENTS.get(kind) or _FINGER.get(event.get("direction", "")) if kind != "key" else None
    if not action:
        return None
    return Transition(ends[0], action, _event_target(event), ends[1], event.get("text") or "")


def _event_target(event: Mapping[str, Any]) -> str:
    view = event.get("view") or {}
    if box := view.get("bounds"):
        (left, top), (right, bottom) = box
        return f"[{left},{top}][{right},{bottom}]"
    return f"{event['x']},{event['y']}" if event.get("x") is not None else ""


def find_target(screen: Screen, target: str) -> Recorded | None:
    """The element that a written target means: the innermost of several."""
    if target.startswith("[") and len(numbers := _NUMBERS.findall(target)) == 4:
        return _innermost(screen, Box(*map(int, numbers)))
    if _PLACE.fullmatch(target):
        x, y = map(int, _NUMBERS.findall(target))
        return next((node for node in reversed(screen.nodes) if node.bounds.holds(x, y)), None)
    return _labelled(screen, target)


def _innermost(screen: Screen, bounds: Box) -> Recorded | None:
    exact = [node for node in screen.nodes if node.bounds == bounds]
    if exact:
        return next((node for node in exact if node.clickable), exact[-1])
    x, y = bounds.center
    return next((node for node in reversed(screen.nodes) if node.bounds.holds(x, y)), None)


def _labelled(screen: Screen, label: str) -> Recorded | None:
    wanted = label.casefold()
    for node in screen.nodes:
        if wanted in (node.text.casefold(), node.description.casefold(), node.resource_id, node.id_tail):
            return node
    return None


def taker(node: Recorded, long: bool = False) -> Recorded:
    """The element that takes a tap on `node`: itself or the nearest ancestor that is clickable."""
    for candidate in (node, *node.ancestors()):
        if candidate.long_clickable if long else candidate.clickable:
            return candidate
    return node
