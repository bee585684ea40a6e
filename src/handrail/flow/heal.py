"""The successor of an element that a selector no longer finds: the one most like it, if it clearly is.

Never across kinds, never to a label that promises something else, never where two are alike. Proposes an edit
of the flow's file as a unified diff; goes on with it, and writes it, only if somebody allows it.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from handrail.engine.resolve import targets_of
from handrail.engine.session import Session
from handrail.errors import InvalidAction, TargetError
from handrail.flow.document import StepPath, loads
from handrail.flow.plan import PlannedStep, StepSource
from handrail.flow.write import replace_target, replace_value
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.target import Selector
from handrail.safety.labels import committing_effect
from handrail.safety.subject import TouchedElement
from handrail.screen.elements import elements
from handrail.screen.node import Node, Screen
from handrail.screen.robust_selector import identity, in_list, robust_selector
from handrail.screen.select import Handles, edit_distance, find
from handrail.screen.text import describe

ENOUGH = 0.5
"""Less alike than this is another element."""
MARGIN = 0.1
"""The best must be so much more alike than the second best."""
NAMED = 0.5
"""So much of one of its names must be left, if it had any."""
SAME_ROW = 0.9
"""In a list, where a row with other words is another row."""
_TEMPLATE = frozenset({"id", "path"})
"""What a row has from the template of its list."""
_NAMES = ("id", "text", "description")
_KINDS = ("text_field", "slider", "spinner", "switch", "check_box", "radio_button")
"""Roles that can't become something else: other actions fit them."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An element that stands where the recorded one stood, and how to aim at it."""

    selector: Selector
    element: Mapping[str, Any]
    score: float
    mention: str
    was: str

    @property
    def text(self) -> str:
        return f"{self.mention} looks like what was {self.was!r} ({self.score:.0%} alike)"


@dataclass(frozen=True, slots=True)
class Healed:
    """An action whose lost target was found again."""

    action: AnyAction
    field: str
    """As a file spells it: target, from, to or within."""
    proposal: Proposal


def heal_action(
    action: AnyAction, recorded: Mapping[str, Any] | None, screen: Screen, handles: Handles
) -> Healed | None:
    """The action aimed at the successor of the first target that is not found any more."""
    elements_by_field = identities_by_field(recorded or {})
    for name, target in targets_of(action).items():
        spelled = name.rstrip("_")
        if (
            not isinstance(target, Selector)
            or spelled not in elements_by_field
            or _is_on_screen(screen, target, handles)
        ):
            continue
        proposal = find_successor(elements_by_field[spelled], screen, handles)
        if proposal is not None:
            return Healed(action.model_copy(update={name: proposal.selector}), spelled, proposal)
    return None


def identities_by_field(recorded: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The identities of a step; a lone target's stands without the field's name."""
    if "class" in recorded or "bounds" in recorded:
        return {"target": recorded}
    return {name: target for name, target in recorded.items() if isinstance(target, Mapping)}


def _is_on_screen(screen: Screen, target: Selector, handles: Handles) -> bool:
    try:
        find(screen, target, handles)
    except TargetError:
        return False
    return True


def find_successor(recorded: Mapping[str, Any], screen: Screen, handles: Handles) -> Proposal | None:
    """The element that has taken the recorded one's place; None where that is not clear."""
    scored: list[tuple[float, Node, dict[str, Any]]] = []
    for node in _candidates(recorded, screen):
        now = identity(screen, node, handles)
        if _has_same_effect(recorded, now, screen, node, handles):
            # From 0 to 1; less than enough where too little of its names is left.
            is_row = in_list(node)
            was = {key: value for key, value in recorded.items() if not (is_row and key in _TEMPLATE)}
            alike = likeness(was, now)
            is_named = any(was.get(name) for name in _NAMES)
            is_left = alike.by_name >= (SAME_ROW if is_row else NAMED) and not alike.contradicted
            score = alike.score if is_left or not (is_named or is_row) else min(alike.score, ENOUGH / 2)
            scored.append((score, node, now))
    scored.sort(key=lambda candidate: -candidate[0])
    if not scored or scored[0][0] < ENOUGH or (len(scored) > 1 and scored[0][0] - scored[1][0] < MARGIN):
        return None
    score, node, now = scored[0]
    selector = robust_selector(screen, node, handles)
    was_called = next(
        (str(recorded[name]) for name in ("text", "description", "id") if recorded.get(name)), ""
    )
    return Proposal(selector, now, round(score, 2), describe(node), was_called)


def _candidates(recorded: Mapping[str, Any], screen: Screen) -> Iterator[Node]:
    """What can be acted on in the same way, without those who stood beside it then and still do."""
    beside = set(map(str, recorded.get("neighbours", ()))) - {str(recorded.get("text"))}
    for element in elements(screen):
        stood_beside = not beside.isdisjoint(element.pieces[:1])
        if (
            _takes_same_action(recorded, element.node, element.kind)
            and not stood_beside
            and not element.is_key
        ):
            yield element.node


def _takes_same_action(recorded: Mapping[str, Any], node: Node, kind: str) -> bool:
    """An element of the same app that takes the same action."""
    role = str(recorded.get("role", ""))
    if recorded.get("package") not in (None, node.package_name):
        return False  # a prompt of the system in front of the app has an OK, too
    if role in _KINDS or node.role in _KINDS:
        return node.role == role
    return (kind == "s") == (role in ("list", "scroll_view"))


def _has_same_effect(
    recorded: Mapping[str, Any], now: Mapping[str, Any], screen: Screen, node: Node, handles: Handles
) -> bool:
    """Neither money nor an account nor a post comes into play, and the words mean the same."""
    promises = (str(recorded.get("text", "")), str(recorded.get("description", "")))
    was = committing_effect(TouchedElement(label=promises[0], says=promises[1:]))
    is_as_grave = was == committing_effect(TouchedElement.of(screen, node, handles.label_of))
    return is_as_grave and may_replace_label(_joined_names(recorded), _joined_names(now))


def _joined_names(names_of: Mapping[str, Any]) -> str:
    return " ".join(str(names_of[name]) for name in _NAMES if names_of.get(name))


class FileRepair:
    """The edits of one file during one run."""

    def __init__(self, document: StepSource) -> None:
        self._path = document.path
        self._before = document.text
        self._now = loads(document.text, document.path)
        self._healed: dict[tuple[StepPath, str], Selector] = {}

    @property
    def repaired_text(self) -> str:
        return self._now.text

    def add(self, at: StepPath, healed: Healed) -> str:
        before = self._now.text
        text = replace_target(before, self._now.places.of((*at, healed.field)), healed.proposal.selector)
        self._now = loads(text, self._path)
        if self._now.element(at) is not None:
            identity = self._now.element(at) or {}
            fields = identities_by_field(identity)
            now = dict(healed.proposal.element)
            element = now if fields.get("target") is identity else {**identity, healed.field: now}
            text = replace_value(text, self._now.places.of((*at, "element")), element)
            self._now = loads(text, self._path)
        self._healed[at, healed.field] = healed.proposal.selector
        return _unified_diff(before, text, self._path)

    def action_repaired_earlier(self, at: StepPath, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a repeated step asks only once."""
        new_targets = {field: new for (place, field), new in self._healed.items() if place == at}
        update = {("from_" if field == "from" else field): new for field, new in new_targets.items()}
        return action.model_copy(update=update) if update else action

    def diff(self) -> str:
        return _unified_diff(self._before, self._now.text, self._path)

    def save(self) -> None:
        """Write the file, unless somebody else did meanwhile."""
        if self._path is None or self._now.text == self._before:
            return
        if self._path.read_text(encoding="utf-8") != self._before:
            raise InvalidAction(
                f"{self._path} was changed while it ran, so the healed steps are not written into it",
                hint="Run it again, or make the edit that was printed by hand.",
                path=str(self._path),
            )
        self._path.write_text(self._now.text, encoding="utf-8")


def _unified_diff(before: str, after: str, path: Path | None) -> str:
    name = str(path or "flow.yaml")
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


_LOST = frozenset({"ELEMENT_NOT_FOUND", "AMBIGUOUS_TARGET"})


class Repairs:
    """The repairs of one run, by file."""

    def __init__(self, *, allowed: bool = False) -> None:
        self.allowed = allowed
        self.proposals: list[str] = []
        self._repairs: dict[Path | None, FileRepair] = {}

    def healed_earlier(self, planned: PlannedStep, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a step that is repeated is healed once."""
        repair = self._repairs.get(planned.document.path)
        return repair.action_repaired_earlier(planned.at, action) if repair and self.allowed else action

    def heal(
        self, planned: PlannedStep, action: AnyAction, envelope: Envelope, session: Session
    ) -> Healed | None:
        """A successor of the lost element; the edit of the file that follows from it is kept."""
        if envelope.failure_code not in _LOST or envelope.delivery != "not_delivered":
            return None
        recorded, last = planned.document.element(planned.at), session.screens.last
        if recorded is None or last is None:
            return None
        healed = heal_action(action, recorded, last.screen, session.screens.registry)
        if healed is not None:
            path = planned.document.path
            repair = self._repairs.setdefault(path, FileRepair(planned.document))
            self.proposals.append(repair.add(planned.at, healed))
        return healed

    def text(self, path: Path | None) -> str | None:
        """The healed text of a file; None where nothing in it was healed."""
        repair = self._repairs.get(path)
        return repair.repaired_text if repair else None

    def save(self) -> None:
        """Writes the repairs into the files. Called once the flow has passed with them."""
        for repair in self._repairs.values() if self.allowed else ():
            try:
                repair.save()
            except InvalidAction as error:
                self.proposals.append(error.message)


Identity = Mapping[str, Any]
_NAME_WEIGHTS = {"id": 3.0, "text": 3.0, "description": 1.5}
_SAME_MEANING = 0.8
_IN_COMMON = 0.3
_FURNITURE = frozenset({"button", "btn", "view", "layout", "text", "field", "input", "edit", "icon", "image"})
"""Words of ids that say what a thing is, not which one."""
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like two elements are in all, and how much of that rests on names."""

    score: float
    by_name: float
    """The best agreement of a name; 0 where none agrees."""
    contradicted: bool
    """Both have a description, and these have nothing in common."""


def likeness(was: Identity, now: Identity) -> Likeness:
    """How like two elements are. Features that the old one did not have do not count."""
    names = {
        name: _names_agree(name, was[name], now.get(name, "")) for name in _NAME_WEIGHTS if was.get(name)
    }
    parts = [
        *((_NAME_WEIGHTS[name], share) for name, share in names.items()),
        (1.0, float(was.get("class") == now.get("class"))),
        (1.0, float(was.get("role") == now.get("role"))),
    ]
    if was.get("neighbours"):
        before, after = ({str(name) for name in side.get("neighbours", ())} for side in (was, now))
        parts.append((2.5, len(before & after) / min(len(before), max(len(after), 1))))
    if _is_box(was.get("bounds")) and _is_box(now.get("bounds")):
        (x, y), (u, v) = _centre(was), _centre(now)
        parts.append((1.0, max(0.0, 1 - 2 * math.hypot(x - u, y - v) / math.sqrt(2))))
    if was.get("path"):
        parts.append((0.5, float(was["path"] == now.get("path"))))
    total = sum(weight for weight, _ in parts)
    score = sum(weight * share for weight, share in parts) / total
    contradicted = bool(now.get("description")) and names.get("description", 1.0) < _IN_COMMON
    return Likeness(score, max(names.values(), default=0.0), contradicted)


def _names_agree(name: str, old: str, new: str) -> float:
    old, new = str(old), str(new)
    if not new:
        return 0.0
    before, after = words_of(old), words_of(new)
    if name == "id":
        before, after = _words_that_tell(before), _words_that_tell(after)
    if before == after:
        return 1.0
    shared = len(set(before) & set(after)) / max(1, len(set(before) | set(after)))
    by_meaning = _SAME_MEANING if meanings_of(old) & meanings_of(new) else 0.0
    # 1 for equal, 0 from half of the letters on that differ.
    first, second = " ".join(before)[:_LONGEST], " ".join(after)[:_LONGEST]
    longest = max(len(first), len(second), 1)
    return max(shared, by_meaning, 1 - 2 * edit_distance(first, second, longest // 2) / longest)


def _words_that_tell(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _FURNITURE) or words


def _is_box(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 4 and all(isinstance(n, int) for n in value)


def _centre(box_of: Identity) -> tuple[float, float]:
    left, top, right, bottom = box_of["bounds"]
    size = box_of.get("screen")
    width, height = size if isinstance(size, list | tuple) and len(size) == 2 else (1080, 2400)
    return (left + right) / 2 / max(width, 1), (top + bottom) / 2 / max(height, 1)


_WEIGHTY = frozenset({"remove", "refuse", "send", "pay", "leave", "block", "disable", "end"})
"""Meanings that nobody may slip into from a label that meant nothing in particular."""
_PHRASES = re.compile(r"\b(log|sign|turn|look|hang) (in|on|out|off|up)\b")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NEGATED = re.compile(r"\b(?:don t|do not|not|nicht|ne pas) ")


@cache
def _families_by_word() -> dict[str, frozenset[str]]:
    families = tomllib.loads(files("handrail.flow").joinpath("meanings.toml").read_text(encoding="utf-8"))
    families_of: dict[str, frozenset[str]] = {}
    for family, words in families.items():
        for word in words:
            families_of[word] = families_of.get(word, frozenset()) | {family}
    return families_of


@lru_cache(maxsize=2_000)
def words_of(text: str) -> tuple[str, ...]:
    """Small words without signs; `saveButton`, `save_button` and "Save button" are the same."""
    apart = unicodedata.normalize("NFKC", _CAMEL.sub(" ", text)).casefold()
    plain = " ".join("".join(char if char.isalnum() else " " for char in apart).split())
    return tuple(_PHRASES.sub(r"\1\2", plain).split())


@lru_cache(maxsize=2_000)
def meanings_of(text: str) -> frozenset[str]:
    """The families of its words; what is negated is refused."""
    words = words_of(text)
    families = frozenset[str]().union(*(_families_by_word().get(word, ()) for word in words))
    return frozenset({"refuse"}) if families and _NEGATED.search(" ".join(words) + " ") else families


def may_replace_label(old: str, new: str) -> bool:
    """Whether a label may have become another one: the promise is the same, or neither promised anything."""
    was, now = meanings_of(old), meanings_of(new)
    if was and now:
        return not was.isdisjoint(now) and not (now - was) & _WEIGHTY and not (was - now) & _WEIGHTY
    return not (was | now) & _WEIGHTY
