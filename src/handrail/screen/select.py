"""From a target to one element of a screen, or to a failure that tells the caller how to go on.

Works over the whole tree. Refs and compact labels belong to the session; they come in as `Handles`.
A grade says how far the reading of a selector was stretched, 0 for not at all; the worst field decides.

The lower half says whether a finger can reach an element, and where: on the screen, with a size, enabled, not
covered. Dumps tell bounds and clickability, not opacity: what covers is a later window, or a later-drawn node
that takes touches. A later-drawn scroll container or plain text lets them through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from handrail.errors import AmbiguousTarget, ElementNotFound, StaleReference
from handrail.protocol.target import Point, Selector
from handrail.screen.node import ENABLED, PASSWORD, Bounds, Node, Screen, ScreenPoint, receiver, touchable
from handrail.screen.reach import element_at, tap_point
from handrail.screen.text import GUESSED, clean, describe, element_facts, name_of
from handrail.screen.windows import is_input_method, visible


class Handles(Protocol):
    """Implemented by `refs.Registry`."""

    def resolve(self, ref: str) -> Node: ...

    def ref_of(self, node: Node) -> str | None: ...

    def label_of(self, node: Node) -> str: ...


class NoHandles:
    """For a screen outside a session: no refs, and labels by the tree alone."""

    def resolve(self, ref: str) -> Node:
        raise StaleReference(f"{ref} is not known: no screen with refs was read yet", ref=ref)

    def ref_of(self, node: Node) -> str | None:  # noqa: ARG002
        return None

    def label_of(self, node: Node) -> str:
        return name_of(node) if receiver(node) is node else ""


NO_HANDLES = NoHandles()

_LISTED = 8  # candidates in a message
DID_YOU_MEAN = "Did you mean"
"""Begins a hint that names the candidates."""


def ambiguous(selector: Selector, nodes: list[Node], every: list[Node], handles: Handles) -> AmbiguousTarget:
    """Several match equally well; `every` also holds the worse ones, which `index` counts."""
    indexes = {node: index for index, node in enumerate(every)}
    return AmbiguousTarget(
        f"{len(nodes)} elements match {selector} equally well",
        selector=selector_fields(selector),
        candidates=[
            element_facts(node, ref_near(node, handles), index=indexes[node]) for node in nodes[:_LISTED]
        ],
    )


def no_such_index(selector: Selector, nodes: list[Node], handles: Handles) -> ElementNotFound:
    """The selector matches, but its index is beyond the last match."""
    count = f"Only {len(nodes)} elements match" if len(nodes) > 1 else "Only one element matches"
    return ElementNotFound(
        f"{count}, there is no index {selector.index}: {describe_nodes(nodes, handles)}",
        hint=f"Use an index from 0 to {len(nodes) - 1}." if len(nodes) > 1 else "Leave `index` out.",
        selector=selector_fields(selector),
        candidates=candidate_list(nodes, handles),
    )


def did_you_mean(nodes: Sequence[Node], handles: Handles) -> str | None:
    """A hint that names the nodes; None if there are none, so the error's own hint is used."""
    return f"{DID_YOU_MEAN} {describe_nodes(nodes, handles, ' or ')}?" if nodes else None


def selector_fields(selector: Selector) -> dict[str, Any]:
    return selector.model_dump(exclude_none=True)


def candidate_list(nodes: Sequence[Node], handles: Handles) -> list[dict[str, Any]]:
    return [element_facts(node, ref_near(node, handles)) for node in nodes[:_LISTED]]


def describe_nodes(nodes: Sequence[Node], handles: Handles, between: str = ", ") -> str:
    listed = [describe(node, ref_near(node, handles)) for node in nodes[:_LISTED]]
    more = len(nodes) - len(listed)
    return between.join(listed) + (f" and {more} more" if more > 0 else "")


def ref_near(node: Node, handles: Handles) -> str | None:
    """The node's own ref, or that of the row it belongs to."""
    touched = receiver(node)
    return handles.ref_of(node) or (handles.ref_of(touched) if touched else None)


def nearest_nodes(screen: Screen, wanted: str, handles: Handles, *, by_id: bool = False) -> list[Node]:
    """Up to three visible elements with a similar label, or id."""
    if not wanted:
        return []
    shown = visible(screen)
    labels: list[tuple[str, int]] = []
    for node in screen.nodes:
        label = node.id_tail if by_id else node.text or node.description or handles.label_of(node)
        if shown[node.order] and label and not is_input_method(node.package_name):
            labels.append((label, node.order))
    close = [screen.nodes[order] for order in nearest_labels(wanted, labels, count=_MOST)]
    # A row and the text in it are one candidate.
    return list({receiver(node) or node: node for node in reversed(close)}.values())[::-1][:3]


_LENGTH = 60  # characters compared
_MOST = 500  # labels compared
_ALIKE = 1 / 3
"""Share of letters that a slip may change: `Dispaly` is `Display`, `Zebra` is not `Storage`."""
_WORD = re.compile(r"\w+")


def nearest_labels(wanted: str, labels: Iterable[tuple[str, int]], count: int = 3) -> list[int]:
    """The keys of similar labels, best first."""
    goal = wanted.casefold()[:_LENGTH]
    scored = [
        (difference, key)
        for label, key in islice(labels, _MOST)
        if (difference := _label_difference(goal, label.casefold()[:_LENGTH])) <= _ALIKE
    ]
    return [key for _, key in sorted(scored)[:count]]


def _label_difference(goal: str, label: str) -> float:
    """0 for equal, 1 for nothing in common."""
    longest = max(len(goal), len(label), 1)
    if _share_words(goal, label):
        return _ALIKE * abs(len(goal) - len(label)) / longest
    return edit_distance(goal, label, int(longest * _ALIKE)) / longest


def _share_words(goal: str, label: str) -> bool:
    """True if they begin alike, or one has all the words of the other."""
    words, others = _WORD.findall(goal), _WORD.findall(label)
    if not words or not others:
        return False
    begins = min(len(goal), len(label)) > 1 and (goal.startswith(label) or label.startswith(goal))
    same = words[0] == others[0] and len(words[0]) > 2
    return begins or same or set(words) <= set(others) or set(others) <= set(words)


def edit_distance(first: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; above `limit` it answers the longer
    length.
    """
    longest = max(len(first), len(other))
    if abs(len(first) - len(other)) > limit:
        return longest
    before, previous = [0], list(range(len(other) + 1))
    for row, char in enumerate(first, 1):
        current = [row]
        for column, other_char in enumerate(other, 1):
            change = previous[column - 1] + (char != other_char)
            best = min(change, previous[column] + 1, current[-1] + 1)
            if row > 1 and column > 1 and char == other[column - 2] and first[row - 2] == other_char:
                best = min(best, before[column - 2] + 1)
            current.append(best)
        if min(current) > limit:
            return longest
        before, previous = previous, current
    return previous[-1]


_DEEPEST = 8  # selectors inside selectors
_HOW = ("exact", "label", "part", "ignoring_case", "guess")  # by grade


@dataclass(frozen=True, slots=True)
class FoundElement:
    """One element, how it was found, and where to touch it."""

    screen: Screen
    node: Node
    how: str
    """ref, point, exact, label, part, ignoring_case or guess."""
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
class _BestMatches:
    """The nodes with the best grade, in document order, and the anchors they were measured by."""

    nodes: list[Node]
    grade: int
    anchors: Mapping[str, Node]


def find(screen: Screen, target: Selector | Point, handles: Handles = NO_HANDLES) -> FoundElement:
    """The only element a target means. Raises `ElementNotFound`, `StaleReference` or `AmbiguousTarget`."""
    return _find_to_depth(screen, target, handles, _DEEPEST)


def find_all(screen: Screen, target: Selector | Point, handles: Handles = NO_HANDLES) -> list[Node]:
    """Every element that matches equally well, in document order; [] for none."""
    if isinstance(target, Point):
        node = element_at(screen, target.x, target.y)
        return [node] if node else []
    if target.handle:
        return [handles.resolve(target.handle)]
    return _find_best_matches(screen, target, handles, _DEEPEST).nodes


def _find_to_depth(screen: Screen, target: Selector | Point, handles: Handles, depth: int) -> FoundElement:
    if isinstance(target, Point):
        point = ScreenPoint(target.x, target.y)
        hit = element_at(screen, *point)
        if hit is None:
            raise ElementNotFound(
                f"Nothing is at {point.x},{point.y}: the screen is {screen.width}x{screen.height}",
                hint="Give a point on the screen, or name an element.",
                selector={"x": point.x, "y": point.y},
            )
        return FoundElement(screen, hit, "point", handles, place=point)
    if target.handle:
        return FoundElement(screen, handles.resolve(target.handle), "ref", handles)
    matches = _find_best_matches(screen, target, handles, depth)
    if not matches.nodes:
        fields = (target.text, target.text_contains, target.description, target.hint, target.state)
        words = next((field for field in fields if field), "")
        wanted_id = (target.id or target.id_contains or "").rpartition("/")[2]
        close = nearest_nodes(screen, words or wanted_id, handles, by_id=not words)
        raise ElementNotFound(
            f"No element matches {target}",
            hint=did_you_mean(close, handles),
            selector=selector_fields(target),
            candidates=candidate_list(close, handles),
        )
    if target.index is None:
        node = _only_match(screen, target, matches, handles)
    elif target.index < len(matches.nodes):
        node = matches.nodes[target.index]
    else:
        raise no_such_index(target, matches.nodes, handles)
    notes = [NOTES[matches.grade]] if matches.grade in NOTES else []
    return FoundElement(screen, node, _HOW[matches.grade], handles, notes)


def _find_best_matches(screen: Screen, selector: Selector, handles: Handles, depth: int) -> _BestMatches:
    nodes = screen.nodes
    if selector.within is not None:
        nodes = screen.inside(search_scope(_find_anchor(screen, selector.within, handles, depth)))
    wish = SelectorMatcher.of(selector)
    graded = [(grade, node) for node in nodes if (grade := wish.grade(node, handles.label_of)) is not None]
    words = wish.clean.get("text", "")
    if not graded and words.startswith(
        GUESSED
    ):  # a guess counts with its mark alone: no word finds it by chance
        rest = SelectorMatcher.of(selector.model_copy(update={"text": None}))
        graded = [
            (BY_GUESS, node)
            for node in nodes
            if screen.memo.get((GUESSED, node)) == words and rest.grade(node, handles.label_of) is not None
        ]
    anchors = {
        relation: _find_anchor(screen, target, handles, depth)
        for relation in RELATIONS
        if (target := getattr(selector, relation)) is not None
    }
    for relation, anchor in anchors.items():
        graded = [(grade, node) for grade, node in graded if is_related(node, relation, anchor)]
    nodes, best = _best_matches(graded, handles.label_of, words)
    return _BestMatches(nodes, best, anchors)


def _best_matches(graded: list[tuple[int, Node]], label_of: LabelOf, wanted: str) -> tuple[list[Node], int]:
    """Those with the lowest grade, and that grade.

    Elements that are shown by the wanted name count as much as those whose text it is: a caption that nothing
    receives yields to them, and of two elements with one name none is taken silently. A row and what is in it
    are one.
    """
    best = min((grade for grade, _ in graded), default=EXACT)
    nodes = [node for grade, node in graded if grade == best]
    named = [
        node for grade, node in graded if best == EXACT and grade == BY_LABEL and label_of(node) == wanted
    ]
    if not named:
        return nodes, best
    received = {
        node: receiver(node) or node for node in nodes if receiver(node) is not None or node.scrollable
    }
    if not received:
        return named, BY_LABEL
    apart = [
        node
        for node in named
        if not any(node is row or node.is_inside(row) or row.is_inside(node) for row in received.values())
    ]
    return sorted({*(received if apart else nodes), *apart}, key=lambda node: node.order), EXACT


def _find_anchor(screen: Screen, target: Selector | Point, handles: Handles, depth: int) -> Node:
    if depth <= 0:
        raise ElementNotFound("The selector is nested too deeply", hint="Use a ref instead.")
    return _find_to_depth(screen, target, handles, depth - 1).node


def _only_match(screen: Screen, selector: Selector, matches: _BestMatches, handles: Handles) -> Node:
    nodes = matches.nodes
    if len(nodes) == 1:
        return nodes[0]
    ranks = _reachability_ranks(screen, nodes)
    best = min(ranks)
    good = [node for node, rank in zip(nodes, ranks, strict=True) if rank == best]
    for anchor in matches.anchors.values():
        far = [distance(node.bounds, anchor.bounds) for node in good]
        good = [node for node, pixels in zip(good, far, strict=True) if pixels == min(far)]
    # A row and the text in it are one target; the innermost node is the best place to touch.
    by_receiver: dict[Node, Node] = {}
    for node in good:
        touched = receiver(node) or node
        held = by_receiver.get(touched)
        if held is None or node.is_inside(held):
            by_receiver[touched] = node
    good = _prefer_fields_to_boxes(list(by_receiver.values()))
    # A touch in the middle of the outer one comes down on the inner one.
    good = [
        node
        for node in good
        if not any(each.is_inside(node) and each.bounds.holds(*node.bounds.center) for each in good)
    ]
    if len(good) > 1:
        raise ambiguous(selector, good, nodes, handles)
    return good[0]


def _reachability_ranks(screen: Screen, nodes: list[Node]) -> list[int]:
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
            is_moved = node.scrollable or node.role == "slider"
            ranks.append(0 if touched is not None or is_moved else 1)
    return ranks


def _prefer_fields_to_boxes(nodes: list[Node]) -> list[Node]:
    """A search bar and the field in it have the same name; the caller means the field."""
    fields = [node for node in nodes if node.role in _TYPED]
    return [
        node for node in nodes if node.role in _TYPED or not any(inner.is_inside(node) for inner in fields)
    ]


_TYPED = frozenset({"text_field"})
LabelOf = Callable[[Node], str]

EXACT, BY_LABEL, PARTLY, LOOSE, BY_GUESS = range(5)
NOTES = {
    BY_LABEL: "matched the label (description, hint or text inside), not the element's own text",
    PARTLY: "matched a part of the field, nothing equals it",
    LOOSE: "matched ignoring case, nothing matches exactly",
    BY_GUESS: "matched a guessed name: the app names nothing so",
}
_TEXT_FIELDS = ("text", "text_contains")
_FIELDS = ("id", "id_contains", "text", "text_contains", "class_name", "description", "hint", "state", "role")


@dataclass(frozen=True, slots=True)
class SelectorMatcher:
    """A selector's own fields, with the spelling variants that are compared."""

    fields: Mapping[str, str]
    clean: Mapping[str, str]
    loose: Mapping[str, str]

    @classmethod
    def of(cls, selector: Selector) -> SelectorMatcher:
        fields = {name: value for name in _FIELDS if (value := getattr(selector, name)) is not None}
        cleaned = {name: clean(value) or value for name, value in fields.items()}
        return cls(fields, cleaned, {name: value.casefold() for name, value in cleaned.items()})

    def grade(self, node: Node, label_of: LabelOf) -> int | None:
        """The grade of the worst field; None if one does not fit at all."""
        worst = EXACT
        for name in self.fields:
            if name in _TEXT_FIELDS:
                grade = self._grade_text(name, node, label_of)
            else:
                grade = self._grade_field(name, node)
            if grade is None:
                return None
            worst = max(worst, grade)
        return worst

    def _grade_field(self, name: str, node: Node) -> int | None:
        wanted = self.fields[name]
        match name:
            case "id":
                return EXACT if wanted in (node.resource_id, node.id_tail) else None
            case "id_contains":
                return EXACT if wanted in node.resource_id else None
            case "role":
                return EXACT if wanted == node.role else None
            case "class_name":
                if wanted in (node.class_name, node.short_class):
                    return EXACT
                loose = self.loose[name]
                return LOOSE if loose in (node.class_name.casefold(), node.short_class.casefold()) else None
            case _:
                return self._grade_other(name, node)

    def _grade_text(self, name: str, node: Node, label_of: LabelOf) -> int | None:
        label = label_of(node)
        if not (label or node.text or node.description or node.hint_text):
            return None  # as most of a screen's nodes are: nothing is ever wanted that is empty
        text = "" if node.flags & PASSWORD else clean(node.text)
        labels = (clean(node.description), clean(node.hint_text), label)
        wanted, loose = self.clean[name], self.loose[name]
        if name == "text":
            if text == wanted:
                return EXACT
            if wanted in labels:
                return BY_LABEL
            return LOOSE if loose in [spoken.casefold() for spoken in (text, *labels) if spoken] else None
        if wanted in text:
            return EXACT
        if any(wanted in spoken for spoken in labels):
            return BY_LABEL
        return LOOSE if any(loose in spoken.casefold() for spoken in (text, *labels) if spoken) else None

    def _grade_other(self, name: str, node: Node) -> int | None:
        text = clean(_OTHER[name](node))
        if not text:
            return None
        wanted, loose = self.clean[name], self.loose[name]
        if text == wanted:
            return EXACT
        if wanted in text:
            return PARTLY
        return LOOSE if loose in text.casefold() else None


_OTHER: Mapping[str, Callable[[Node], str]] = {
    "description": lambda node: node.description,
    "hint": lambda node: node.hint_text,
    "state": lambda node: node.state_description,
}


_SLACK_PX = 2


def _share_rows(first: Bounds, other: Bounds) -> bool:
    return first.top < other.bottom and other.top < first.bottom


def _share_columns(first: Bounds, other: Bounds) -> bool:
    return first.left < other.right and other.left < first.right


RELATIONS: Mapping[str, Callable[[Bounds, Bounds], bool]] = {
    "left_of": lambda box, other: box.right <= other.left + _SLACK_PX and _share_rows(box, other),
    "right_of": lambda box, other: box.left >= other.right - _SLACK_PX and _share_rows(box, other),
    "above": lambda box, other: box.bottom <= other.top + _SLACK_PX and _share_columns(box, other),
    "below": lambda box, other: box.top >= other.bottom - _SLACK_PX and _share_columns(box, other),
    "near": lambda box, other: bool(box.area or other.area),
}
"""By the selector's field."""


def is_related(node: Node, relation: str, anchor: Node) -> bool:
    """Whether the relation holds and neither contains the other."""
    if node is anchor or node.is_inside(anchor) or anchor.is_inside(node):
        return False
    return RELATIONS[relation](node.bounds, anchor.bounds)


def distance(first: Bounds, other: Bounds) -> tuple[int, int]:
    """Pixels between the nearest edges; between the centres, for those equally near."""
    across = max(0, first.left - other.right, other.left - first.right)
    down = max(0, first.top - other.bottom, other.top - first.bottom)
    centres = abs(first.center.x - other.center.x) + abs(first.center.y - other.center.y)
    return across + down, centres


def search_scope(node: Node) -> Node:
    """Where `within` searches: inside the element, or for a leaf inside the row it belongs to."""
    if node.children:
        return node
    for around in node.ancestors():
        if touchable(around) or around.role == "list_item":
            return around
    return node.parent or node
