"""From a target to one element of a screen, or to a failure that tells the caller how to go on.

Works over the whole tree. Refs and compact labels belong to the session; they come in as `Handles`.
A grade says how far the reading of a selector was stretched, 0 for not at all; the worst field decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handrail.errors import ElementNotFound
from handrail.protocol.target import Point, Selector
from handrail.tree.mention import NO_HANDLES, Handles, receiver, touchable
from handrail.tree.node import ENABLED, PASSWORD, Bounds, Node, Screen, ScreenPoint
from handrail.tree.quote import clean
from handrail.tree.reach import element_at, tap_point
from handrail.tree.select.missed import ambiguous, no_such_index, not_found, nothing_at
from handrail.tree.windows import visible

_DEEPEST = 8  # selectors inside selectors
_CONTROLS = frozenset({"text_field", "switch", "check_box", "radio_button", "slider", "spinner"})
_HOW = ("exact", "label", "part", "ignoring_case")  # by grade


@dataclass(frozen=True, slots=True)
class FoundElement:
    """One element, how it was found, and where to touch it."""

    screen: Screen
    node: Node
    how: str
    """ref, point, exact, label, part or ignoring_case."""
    handles: Handles
    notes: list[str] = field(default_factory=list)
    place: ScreenPoint | None = None
    """Given by the caller; decides alone where to touch."""

    @property
    def receiver(self) -> Node:
        """What a tap reaches: the node, or the row that a plain text belongs to."""
        return receiver(self.node) or self.node

    @property
    def point(self) -> ScreenPoint:
        """Where to touch. Raises `ElementNotInteractable`."""
        return self.place or tap_point(self.screen, self.node, self.handles.ref_of)


@dataclass(frozen=True, slots=True)
class _Matches:
    """The nodes with the best grade, in document order, and the anchors they were measured by."""

    nodes: list[Node]
    grade: int
    anchors: Mapping[str, Node]


def find(screen: Screen, target: Selector | Point, handles: Handles = NO_HANDLES) -> FoundElement:
    """The one element a target means. Raises `ElementNotFound`, `StaleReference` or `AmbiguousTarget`."""
    return _find(screen, target, handles, _DEEPEST)


def find_all(screen: Screen, target: Selector | Point, handles: Handles = NO_HANDLES) -> list[Node]:
    """Every element that matches equally well, in document order; [] for none."""
    if isinstance(target, Point):
        node = element_at(screen, target.x, target.y)
        return [node] if node else []
    if target.handle:
        return [handles.resolve(target.handle)]
    return _matches(screen, target, handles, _DEEPEST).nodes


def _find(screen: Screen, target: Selector | Point, handles: Handles, depth: int) -> FoundElement:
    if isinstance(target, Point):
        return _at_point(screen, ScreenPoint(target.x, target.y), handles)
    if target.handle:
        return FoundElement(screen, handles.resolve(target.handle), "ref", handles)
    matches = _matches(screen, target, handles, depth)
    if not matches.nodes:
        raise not_found(screen, target, handles)
    if target.index is None:
        node = _only_one(screen, target, matches, handles)
    elif target.index < len(matches.nodes):
        node = matches.nodes[target.index]
    else:
        raise no_such_index(target, matches.nodes, handles)
    notes = [NOTES[matches.grade]] if matches.grade in NOTES else []
    return FoundElement(screen, node, _HOW[matches.grade], handles, notes)


def _at_point(screen: Screen, point: ScreenPoint, handles: Handles) -> FoundElement:
    node = element_at(screen, *point)
    if node is None:
        raise nothing_at(screen, point)
    return FoundElement(screen, node, "point", handles, place=point)


def _matches(screen: Screen, selector: Selector, handles: Handles, depth: int) -> _Matches:
    nodes = screen.nodes
    if selector.within is not None:
        nodes = screen.inside(room_of(_anchor(screen, selector.within, handles, depth)))
    wish = Wish.of(selector)
    graded = [(grade, node) for node in nodes if (grade := wish.grade(node, handles.label_of)) is not None]
    anchors = {
        relation: _anchor(screen, target, handles, depth)
        for relation in RELATIONS
        if (target := getattr(selector, relation)) is not None
    }
    for relation, anchor in anchors.items():
        graded = [(grade, node) for grade, node in graded if related(node, relation, anchor)]
    best = _best_grade(graded)
    return _Matches([node for grade, node in graded if grade == best], best, anchors)


def _best_grade(graded: list[tuple[int, Node]]) -> int:
    """The lowest there is; but a caption that nobody could tap gives way to the control it names."""
    best = min((grade for grade, _ in graded), default=EXACT)
    if best == EXACT and any(grade == BY_LABEL and node.role in _CONTROLS for grade, node in graded):
        captions = [node for grade, node in graded if grade == EXACT]
        if all(receiver(node) is None and not node.scrollable for node in captions):
            return BY_LABEL
    return best


def _anchor(screen: Screen, target: Selector | Point, handles: Handles, depth: int) -> Node:
    if depth <= 0:
        raise ElementNotFound("The selector is nested too deeply", hint="Use a ref instead.")
    return _find(screen, target, handles, depth - 1).node


def _only_one(screen: Screen, selector: Selector, matches: _Matches, handles: Handles) -> Node:
    nodes = matches.nodes
    if len(nodes) == 1:
        return nodes[0]
    ranks = _ranks(screen, nodes)
    best = min(ranks)
    good = [node for node, rank in zip(nodes, ranks, strict=True) if rank == best]
    for anchor in matches.anchors.values():
        good = _closest(good, anchor)
    good = _fields_in_boxes(_one_per_receiver(good))
    if len(good) > 1:
        raise ambiguous(selector, good, nodes, handles)
    return good[0]


def _ranks(screen: Screen, nodes: list[Node]) -> list[int]:
    """0 visible, enabled and actionable; 1 visible and enabled; 2 visible; 3 not visible."""
    shown = visible(screen)
    ranks = []
    for node in nodes:
        touched = receiver(node)
        enabled = node.flags & ENABLED and (touched is None or touched.flags & ENABLED)
        if not shown[node.order]:
            ranks.append(3)
        elif not enabled:
            ranks.append(2)
        else:
            ranks.append(0 if touched is not None or node.scrollable else 1)
    return ranks


def _closest(nodes: list[Node], anchor: Node) -> list[Node]:
    far = [distance(node.bounds, anchor.bounds) for node in nodes]
    return [node for node, pixels in zip(nodes, far, strict=True) if pixels == min(far)]


def _fields_in_boxes(nodes: list[Node]) -> list[Node]:
    """A search bar and the field in it have one name; whoever says it means the field."""
    fields = [node for node in nodes if node.role in _TYPED]
    return [node for node in nodes if node.role in _TYPED or not any(one.is_inside(node) for one in fields)]


def _one_per_receiver(nodes: list[Node]) -> list[Node]:
    """A row and the text in it are one target; the innermost says best where to touch."""
    kept: dict[Node, Node] = {}
    for node in nodes:
        touched = receiver(node) or node
        held = kept.get(touched)
        if held is None or node.is_inside(held):
            kept[touched] = node
    return list(kept.values())


_TYPED = frozenset({"text_field"})
LabelOf = Callable[[Node], str]

EXACT, BY_LABEL, PARTLY, LOOSE = range(4)
NOTES = {
    BY_LABEL: "matched the label (description, hint or text inside), not the element's own text",
    PARTLY: "matched a part of the field, nothing equals it",
    LOOSE: "matched ignoring case, nothing matches exactly",
}
_FIELDS = ("id", "id_contains", "text", "text_contains", "class_name", "description", "hint", "state", "role")


@dataclass(frozen=True, slots=True)
class Wish:
    """A selector's own fields, with the spelling variants that are compared."""

    fields: Mapping[str, str]
    clean: Mapping[str, str]
    loose: Mapping[str, str]

    @classmethod
    def of(cls, selector: Selector) -> Wish:
        fields = {name: value for name in _FIELDS if (value := getattr(selector, name)) is not None}
        cleaned = {name: clean(value) or value for name, value in fields.items()}
        return cls(fields, cleaned, {name: value.casefold() for name, value in cleaned.items()})

    def grade(self, node: Node, label_of: LabelOf) -> int | None:
        """The grade of the worst field; None if one does not fit at all."""
        worst = EXACT
        for name in self.fields:
            grade = self._grade_field(name, node, label_of)
            if grade is None:
                return None
            worst = max(worst, grade)
        return worst

    def _grade_field(self, name: str, node: Node, label_of: LabelOf) -> int | None:
        wanted = self.fields[name]
        match name:
            case "id":
                return EXACT if wanted in (node.resource_id, node.id_tail) else None
            case "id_contains":
                return EXACT if wanted in node.resource_id else None
            case "role":
                return EXACT if wanted == node.role else None
            case "class_name":
                return self._grade_class(node)
            case "text" | "text_contains":
                return self._grade_text(name, node, label_of)
            case _:
                return self._grade_other(name, node)

    def _grade_class(self, node: Node) -> int | None:
        if self.fields["class_name"] in (node.class_name, node.short_class):
            return EXACT
        loose = self.loose["class_name"]
        return LOOSE if loose in (node.class_name.casefold(), node.short_class.casefold()) else None

    def _grade_text(self, name: str, node: Node, label_of: LabelOf) -> int | None:
        label = label_of(node)
        if not (label or node.text or node.description or node.hint_text):
            return None  # as most of a screen's nodes are: nothing is ever wanted that is empty
        text = "" if node.flags & PASSWORD else clean(node.text)
        labels = (clean(node.description), clean(node.hint_text), label)
        said = [one for one in (text, *labels) if one]
        fits = _equals if name == "text" else _contains
        wanted, loose = self.clean[name], self.loose[name]
        if fits(text, wanted):
            return EXACT
        if any(fits(one, wanted) for one in labels):
            return BY_LABEL
        for one in said:
            if fits(one.casefold(), loose):
                return LOOSE
        return None

    def _grade_other(self, name: str, node: Node) -> int | None:
        said = clean(_OTHER[name](node))
        if not said:
            return None
        wanted, loose = self.clean[name], self.loose[name]
        if said == wanted:
            return EXACT
        if wanted in said:
            return PARTLY
        return LOOSE if loose in said.casefold() else None


_OTHER: Mapping[str, Callable[[Node], str]] = {
    "description": lambda node: node.description,
    "hint": lambda node: node.hint_text,
    "state": lambda node: node.state_description,
}


def _equals(said: str, wanted: str) -> bool:
    return said == wanted


def _contains(said: str, wanted: str) -> bool:
    return wanted in said


_SLACK_PX = 2

Relation = Callable[[Bounds, Bounds], bool]


def _left_of(one: Bounds, anchor: Bounds) -> bool:
    return one.right <= anchor.left + _SLACK_PX and _share_rows(one, anchor)


def _right_of(one: Bounds, anchor: Bounds) -> bool:
    return one.left >= anchor.right - _SLACK_PX and _share_rows(one, anchor)


def _above(one: Bounds, anchor: Bounds) -> bool:
    return one.bottom <= anchor.top + _SLACK_PX and _share_columns(one, anchor)


def _below(one: Bounds, anchor: Bounds) -> bool:
    return one.top >= anchor.bottom - _SLACK_PX and _share_columns(one, anchor)


def _anywhere(one: Bounds, anchor: Bounds) -> bool:
    return bool(one.area or anchor.area)


def _share_rows(one: Bounds, other: Bounds) -> bool:
    return one.top < other.bottom and other.top < one.bottom


def _share_columns(one: Bounds, other: Bounds) -> bool:
    return one.left < other.right and other.left < one.right


RELATIONS: Mapping[str, Relation] = {
    "left_of": _left_of,
    "right_of": _right_of,
    "above": _above,
    "below": _below,
    "near": _anywhere,
}
"""By the selector's field."""


def related(node: Node, relation: str, anchor: Node) -> bool:
    """Whether it stands so to the anchor and is neither around it nor inside it."""
    if node is anchor or node.is_inside(anchor) or anchor.is_inside(node):
        return False
    return RELATIONS[relation](node.bounds, anchor.bounds)


def distance(one: Bounds, other: Bounds) -> tuple[int, int]:
    """Pixels between the nearest edges; between the centres, for those equally near."""
    across = max(0, one.left - other.right, other.left - one.right)
    down = max(0, one.top - other.bottom, other.top - one.bottom)
    centres = abs(one.center.x - other.center.x) + abs(one.center.y - other.center.y)
    return across + down, centres


def room_of(node: Node) -> Node:
    """What `within` looks into: the element, or for one with nothing inside the row it belongs to."""
    if node.children:
        return node
    for around in node.ancestors():
        if touchable(around) or around.role == "list_item":
            return around
    return node.parent or node
