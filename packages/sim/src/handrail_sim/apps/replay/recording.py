"""Recorded screens read from a folder, and the steps that lead from one screen to the next."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from handrail_sim.errors import UnreadableDump

_NUMBER = re.compile(r"-?\d+")
_DROIDBOT_NAMES = {
    "content-desc": "content_description",
    "resource-id": "resource_id",
    "long-clickable": "long_clickable",
    "password": "is_password",
    "visible-to-user": "visible",
}
_NOT_XML = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:[0-8]|1[1-2]|1[4-9]|2\d|3[01]|x[0-8bcef]|x1[0-9a-f]);", re.I
)


class Box(NamedTuple):
    """Pixels of the recorded screen."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        return max(0, self.width) * max(0, self.height)

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def holds(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


@dataclass(slots=True, eq=False, repr=False)
class Recorded:
    """One recorded element: its attributes under UI Automator's names, and its place among the others."""

    attrs: Mapping[str, str]
    bounds: Box
    parent: Recorded | None = None
    children: list[Recorded] = field(default_factory=list)
    order: int = 0
    end: int = 0  # the order just past its last descendant

    def says(self, name: str) -> str:
        return self.attrs.get(name, "")

    def is_(self, name: str) -> bool:
        return self.attrs.get(name) == "true"

    @property
    def class_name(self) -> str:
        return self.says("class")

    @property
    def short_class(self) -> str:
        return self.class_name.rpartition(".")[2]

    @property
    def resource_id(self) -> str:
        return self.says("resource-id")

    @property
    def id_tail(self) -> str:
        return self.resource_id.rpartition("/")[2]

    @property
    def package(self) -> str:
        return self.says("package")

    @property
    def text(self) -> str:
        return self.says("text")

    @property
    def description(self) -> str:
        return self.says("content-desc")

    @property
    def clickable(self) -> bool:
        return self.is_("clickable")

    @property
    def long_clickable(self) -> bool:
        return self.is_("long-clickable")

    @property
    def enabled(self) -> bool:
        return self.attrs.get("enabled") != "false"

    @property
    def hidden(self) -> bool:
        return "false" in (self.attrs.get("visible-to-user"), self.attrs.get("displayed"))

    @property
    def is_field(self) -> bool:
        return self.short_class.endswith(("EditText", "AutoCompleteTextView"))

    @property
    def path(self) -> str:
        """Its place in the tree, such as `0.1.3`; names a view for as long as the screen is shown."""
        at = "0" if self.parent is None else str(self.parent.children.index(self))
        return at if self.parent is None else f"{self.parent.path}.{at}"

    def ancestors(self) -> Iterator[Recorded]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Screen:
    """One dump: its windows, and all elements in the order in which they were written."""

    def __init__(self, windows: Sequence[Recorded]) -> None:
        self.windows = tuple(windows)
        self.nodes: list[Recorded] = []
        for window in windows:
            self._count(window)
        visible = [node.bounds for node in self.nodes if node.bounds.area]
        if not visible:
            raise UnreadableDump("it shows nothing that has a size")
        self.width = max(box.right for box in visible)
        self.height = max(box.bottom for box in visible)
        self.package = max(self.windows, key=lambda window: window.bounds.area).package

    def _count(self, node: Recorded) -> None:
        node.order = len(self.nodes)
        self.nodes.append(node)
        for child in node.children:
            self._count(child)
        node.end = len(self.nodes)

    @property
    def area(self) -> int:
        return self.width * self.height

    def inside(self, node: Recorded) -> list[Recorded]:
        return self.nodes[node.order + 1 : node.end]


def read_screen(data: bytes) -> Screen:
    """The screen that a dump shows; raises `UnreadableDump`."""
    if data.lstrip().startswith((b"{", b"[")):
        return Screen(_droidbot(data))
    start = data.find(b"<")
    try:
        root = ElementTree.fromstring(_NOT_XML.sub(b"", data[max(0, start) :]))  # noqa: S314 - a file of one's own
    except ElementTree.ParseError as error:
        raise UnreadableDump(f"no XML: {error}") from None
    tops = list(root) if root.tag == "hierarchy" else [root]
    windows = [_element(top, None) for top in tops if _is_node(top)]
    if not windows:
        raise UnreadableDump(f"<{root.tag}> holds no elements of a screen")
    return Screen(windows)


def _is_node(element: ElementTree.Element) -> bool:
    return "bounds" in element.attrib


def _element(element: ElementTree.Element, parent: Recorded | None) -> Recorded:
    attrs = dict(element.attrib)
    attrs.setdefault("class", element.tag)
    node = Recorded(attrs, _box(attrs["bounds"]), parent)
    node.children = [_element(child, node) for child in element if _is_node(child)]
    return node


def _box(text: str) -> Box:
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if len(numbers) != 4:
        raise UnreadableDump(f"bounds are {text!r}")
    return Box(*numbers)


def _droidbot(data: bytes) -> list[Recorded]:
    """DroidBot keeps a screen as a list of views that name their parents by number."""
    try:
        views: list[Mapping[str, Any]] = json.loads(data)["views"]
        nodes = [Recorded(_named(view), Box(*view["bounds"][0], *view["bounds"][1])) for view in views]
        for node, view in zip(nodes, views, strict=True):
            above = view.get("parent", -1)
            if isinstance(above, int) and 0 <= above < len(nodes):
                node.parent = nodes[above]
                nodes[above].children.append(node)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UnreadableDump(f"no list of views: {error}") from None
    windows = [node for node in nodes if node.parent is None]
    if not windows:
        raise UnreadableDump("no view stands at the top")
    return windows


def _named(view: Mapping[str, Any]) -> dict[str, str]:
    names = ("class", "text", "package", "checkable", "checked", "clickable", "enabled", "focusable")
    listed = {name: view.get(name) for name in (*names, "focused", "scrollable", "selected")}
    listed |= {name: view.get(theirs) for name, theirs in _DROIDBOT_NAMES.items()}
    return {
        name: (str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in listed.items()
        if value is not None
    }


ACTIONS = ("tap", "long_press", "type", "back", "swipe_up", "swipe_down", "swipe_left", "swipe_right")
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
    """The folder's description file; empty if it is missing."""
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
    matches = (_read_event(path) for path in paths)
    return [transition for transition in matches if transition]


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


DUMPS = frozenset({".xml", ".uix", ".json"})
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_NOT_DUMPS = ("transitions.json", "__event.json")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Shot:
    """One recorded screen."""

    name: str
    screen: Screen
    picture: Path | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """All screens in their order; `skipped` says which files could not be read, and why.

    `complete`: the folder's own file says how screens lead to each other, so nothing is to be guessed.
    """

    shots: tuple[Shot, ...]
    transitions: tuple[Transition, ...]
    skipped: tuple[str, ...] = ()
    complete: bool = False

    def number(self, name: str) -> int | None:
        """The place of a screen, by file name with or without its ending."""
        stem = name.rpartition("/")[2]
        for place, shot in enumerate(self.shots):
            if stem in (shot.name, shot.name.rpartition(".")[0]):
                return place
        return None


def load(place: str | Path) -> Recording:
    """Reads a folder, or the files that a pattern such as `walks/login_*` fits."""
    folder, paths = _listed(Path(place))
    shots: list[Shot] = []
    skipped: list[str] = []
    for path in paths:
        if path.suffix.lower() not in DUMPS or path.name.endswith(_NOT_DUMPS):
            continue
        try:
            shots.append(Shot(path.name, read_screen(path.read_bytes()), _picture_of(path)))
        except UnreadableDump as error:
            skipped.append(f"{path.name}: {error.message}")
    if not shots:
        raise UnreadableDump(f"{place} holds no readable UI dump", hint="; ".join(skipped))
    written = read_transitions(folder)
    events = read_events([path for path in paths if path.name.endswith("__event.json")])
    return Recording(tuple(shots), tuple(written + events), tuple(skipped), bool(written))


def _listed(place: Path) -> tuple[Path, list[Path]]:
    if place.is_dir():
        return place, sorted(place.iterdir(), key=_order)
    return place.parent, sorted(place.parent.glob(place.name), key=_order)


def _order(path: Path) -> list[tuple[int, int, str]]:
    """2 before 10, and `…__before` before `…__after`."""
    stem = path.stem.replace("__before", "__0").replace("__after", "__1")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(stem) if part]


def _picture_of(path: Path) -> Path | None:
    matches = (path.with_suffix(ending) for ending in PICTURES)
    return next((picture for picture in matches if picture.is_file()), None)


_WORD = re.compile(r"[^\W_]{3,}")
_CLOSERS = frozenset({"ok", "done", "save", "allow", "yes", "got it", "close"})
_EMPTY_WORDS = frozenset(
    {"button", "btn", "view", "layout", "item", "text", "container", "icon", "image", "the"}
)
SURE = 3.0
_MOVED = 3


@dataclass(frozen=True, slots=True)
class Guess:
    """What was done, and on which element; none for a swipe over the whole screen."""

    action: str
    node: Recorded | None = None


def explain(before: Screen, after: Screen) -> Guess | None:
    """The best explanation of the step, or None when nothing speaks clearly enough."""
    if finger := _scrolled(before, after):
        return Guess(finger)
    # The words of the second screen that the first does not show.
    news = set(_texts(after)) - set(_texts(before))
    scored = [
        (_score(node, before, after, news), node)
        for node in before.nodes
        if (node.clickable and node.enabled and node.bounds.area > 0)
    ]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].bounds.area, pair[1].order))
    if not ranked or ranked[0][0] < SURE:
        return None
    return Guess("tap", ranked[0][1])


def _texts(screen: Screen) -> Counter[str]:
    return Counter(words for node in screen.nodes for words in (node.text, node.description) if words)


def _scrolled(before: Screen, after: Screen) -> str | None:
    """Several unique words that moved by the same distance: a list was scrolled."""
    moves = Counter(
        (there.bounds.left - here.bounds.left, there.bounds.top - here.bounds.top)
        for words, here in _unique(before).items()
        if (there := _unique(after).get(words)) and there.bounds[:2] != here.bounds[:2]
    )
    if not moves or not any(node.is_("scrollable") for node in before.nodes):
        return None
    (dx, dy), count = moves.most_common(1)[0]
    if count < _MOVED or count < sum(moves.values()) * 0.6 or (dx and dy):
        return None
    return ("swipe_up" if dy < 0 else "swipe_down") if dy else ("swipe_left" if dx < 0 else "swipe_right")


def _unique(screen: Screen) -> dict[str, Recorded]:
    counts = _texts(screen)
    return {node.text: node for node in screen.nodes if node.text and counts[node.text] == 1}


def _label(node: Recorded, screen: Screen) -> list[str]:
    parts = [node, *screen.inside(node)[:12]]
    return [words for part in parts for words in (part.text, part.description) if words]


def _score(node: Recorded, before: Screen, after: Screen, news: set[str]) -> float:
    labels = _label(node, before)
    score = _as_title(labels, after) + _as_words(node, labels, news)
    score += _as_selection(node, labels, after)
    score += _as_closer(labels, before, after) + _as_popup(labels, after)
    small = node.bounds.area * 4 < before.area
    return score if small else score / 2


def _as_title(labels: list[str], after: Screen) -> float:
    head = after.height // 5
    titles = {node.text.casefold() for node in after.nodes if node.text and node.bounds.bottom <= head}
    return 3.0 if labels and titles & {label.casefold() for label in labels[:2]} else 0.0


def _as_words(node: Recorded, labels: list[str], news: set[str]) -> float:
    own = _words(" ".join(labels[:3]) + " " + node.id_tail.replace("_", " "))
    new = _words(" ".join(sorted(news)[:80]))
    return 2.5 * len(own & new) / len(own) if own else 0.0


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _EMPTY_WORDS


def _as_selection(node: Recorded, labels: list[str], after: Screen) -> float:
    """It is selected, checked or focused now, and was not."""
    for other in after.nodes:
        same = (other.class_name, other.resource_id) == (node.class_name, node.resource_id)
        if not same or (labels and labels[0] not in (other.text, other.description, *_label(other, after))):
            continue
        if (other.is_("selected") and not node.is_("selected")) or (
            other.is_("checked") and not node.is_("checked")
        ):
            return 4.0
        if other.is_("focused") and not node.is_("focused") and other.bounds == node.bounds:
            return 3.0
    return 0.0


def _is_popup(screen: Screen) -> bool:
    """Its window is a good deal smaller than the display: a dialog or a menu."""
    return max(root.bounds.area for root in screen.windows) < screen.area * 0.8


def _as_closer(labels: list[str], before: Screen, after: Screen) -> float:
    """OK and its like, when a dialog went away."""
    closes = any(label.casefold() in _CLOSERS for label in labels)
    return (1.0 if not _is_popup(before) else 3.0) if closes and not _is_popup(after) else 0.0


def _as_popup(labels: list[str], after: Screen) -> float:
    if len(labels) < 2 or not _is_popup(after):
        return 0.0
    return 3.0 if set(labels) & set(_texts(after)) else 0.0


ANY = -1


@dataclass(slots=True)
class Steps:
    """The ways out of one screen. Elements are named by their order in it; ANY stands for each that can."""

    taps: dict[int, int] = field(default_factory=dict)
    long_presses: dict[int, int] = field(default_factory=dict)
    typed: dict[int, tuple[str, int]] = field(default_factory=dict)
    swipes: dict[str, int] = field(default_factory=dict)
    back: int | None = None


def steps_from(recording: Recording, number: int) -> Steps:
    """All ways out of a screen; where nothing is written, the next one is reached by a guess."""
    shot = recording.shots[number]
    steps = Steps()
    names = (shot.name, shot.name.rpartition(".")[0])
    written = [entry for entry in recording.transitions if entry.source.rpartition("/")[2] in names]
    for transition in written:
        goal = recording.number(transition.goal)
        if goal is not None:
            _add(steps, shot.screen, transition, goal)
    if not written and not recording.complete and number + 1 < len(recording.shots):
        _guess(steps, shot.screen, recording.shots[number + 1].screen, number + 1)
    return steps


def _add(steps: Steps, screen: Screen, transition: Transition, goal: int) -> None:
    action = transition.action
    if action == "back":
        steps.back = goal
    elif action.startswith("swipe_"):
        steps.swipes[action.removeprefix("swipe_")] = goal
    elif action == "type":
        node = find_target(screen, transition.target) if transition.target else None
        steps.typed[node.order if node else ANY] = (transition.text, goal)
    else:
        ways = steps.long_presses if action == "long_press" else steps.taps
        ways[_step_order(screen, transition.target, action == "long_press")] = goal


def _step_order(screen: Screen, target: str, long: bool) -> int:
    node = find_target(screen, target) if target else None
    return taker(node, long).order if node else ANY


def _guess(steps: Steps, before: Screen, after: Screen, goal: int) -> None:
    guess = explain(before, after)
    if guess is None:
        steps.taps[ANY] = goal
    elif guess.action.startswith("swipe_"):
        steps.swipes[guess.action.removeprefix("swipe_")] = goal
    else:
        node: Recorded | None = guess.node
        steps.taps[node.order if node else ANY] = goal
    if not any(node.clickable for node in before.nodes):
        steps.swipes.setdefault("left", goal)
