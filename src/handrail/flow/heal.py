"""The successor of an element that a selector no longer finds: the one most like it, if it clearly is.

Never across kinds, never to a label that promises something else, never where two are alike. Proposes an edit
of the flow's file as a unified diff; goes on with it, and writes it, only if somebody allows it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.engine.look.resolve import targets_of
from handrail.engine.policy.grave import what_it_does
from handrail.engine.policy.subject import Resolved
from handrail.engine.session import Session
from handrail.errors import InvalidAction, TargetError
from handrail.flow.document import loads
from handrail.flow.likeness import likeness, may_follow
from handrail.flow.places import StepPath
from handrail.flow.plan import PlannedStep, StepSource
from handrail.flow.write import replace_target, replace_value
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.target import Selector
from handrail.tree.element.find import elements
from handrail.tree.mention import mention
from handrail.tree.node import Node, Screen
from handrail.tree.portrait import identity, in_list, robust
from handrail.tree.select import Handles, find

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
    known = by_field(recorded or {})
    for name, target in targets_of(action).items():
        spelled = name.rstrip("_")
        if not isinstance(target, Selector) or spelled not in known or _is_there(screen, target, handles):
            continue
        proposal = successor(known[spelled], screen, handles)
        if proposal is not None:
            return Healed(action.model_copy(update={name: proposal.selector}), spelled, proposal)
    return None


def by_field(recorded: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The identities of a step; a lone target's stands without the field's name."""
    if "class" in recorded or "bounds" in recorded:
        return {"target": recorded}
    return {name: one for name, one in recorded.items() if isinstance(one, Mapping)}


def _is_there(screen: Screen, target: Selector, handles: Handles) -> bool:
    try:
        find(screen, target, handles)
    except TargetError:
        return False
    return True


def successor(recorded: Mapping[str, Any], screen: Screen, handles: Handles) -> Proposal | None:
    """The element that has taken the recorded one's place; None where that is not clear."""
    scored: list[tuple[float, Node, dict[str, Any]]] = []
    for node in _candidates(recorded, screen):
        now = identity(screen, node, handles)
        if _keeps_its_promise(recorded, now, screen, node, handles):
            scored.append((_alike(recorded, now, node), node, now))
    scored.sort(key=lambda one: -one[0])
    if not scored or scored[0][0] < ENOUGH or (len(scored) > 1 and scored[0][0] - scored[1][0] < MARGIN):
        return None
    score, node, now = scored[0]
    selector = robust(screen, node, handles)
    return Proposal(selector, now, round(score, 2), mention(node), _called(recorded))


def _alike(recorded: Mapping[str, Any], now: Mapping[str, Any], node: Node) -> float:
    """From 0 to 1; less than enough where too little of its names is left."""
    is_row = in_list(node)
    was = {key: value for key, value in recorded.items() if not (is_row and key in _TEMPLATE)}
    alike = likeness(was, now)
    is_named = any(was.get(name) for name in _NAMES)
    is_left = alike.by_name >= (SAME_ROW if is_row else NAMED) and not alike.contradicted
    return alike.score if is_left or not (is_named or is_row) else min(alike.score, ENOUGH / 2)


def _candidates(recorded: Mapping[str, Any], screen: Screen) -> Iterator[Node]:
    """What can be acted on in the same way, without those who stood beside it then and still do."""
    beside = set(map(str, recorded.get("neighbours", ()))) - {str(recorded.get("text"))}
    for element in elements(screen):
        stood_beside = not beside.isdisjoint(element.pieces[:1])
        if _is_kind(recorded, element.node, element.kind) and not stood_beside and not element.is_key:
            yield element.node


def _is_kind(recorded: Mapping[str, Any], node: Node, kind: str) -> bool:
    """Of the same app, and something that the same action fits."""
    role = str(recorded.get("role", ""))
    if recorded.get("package") not in (None, node.package_name):
        return False  # a prompt of the system in front of the app has an OK, too
    if role in _KINDS or node.role in _KINDS:
        return node.role == role
    return (kind == "s") == (role in ("list", "scroll_view"))


def _keeps_its_promise(
    recorded: Mapping[str, Any], now: Mapping[str, Any], screen: Screen, node: Node, handles: Handles
) -> bool:
    """Neither money nor an account nor a post comes into play, and the words mean the same."""
    said = (str(recorded.get("text", "")), str(recorded.get("description", "")))
    was = what_it_does(Resolved(label=said[0], says=said[1:]))
    is_as_grave = was == what_it_does(Resolved.of(screen, node, handles.label_of))
    return is_as_grave and may_follow(_names(recorded), _names(now))


def _names(one: Mapping[str, Any]) -> str:
    return " ".join(str(one[name]) for name in _NAMES if one.get(name))


def _called(recorded: Mapping[str, Any]) -> str:
    return next((str(recorded[name]) for name in ("text", "description", "id") if recorded.get(name)), "")


class FileRepair:
    """The edits of one file during one run."""

    def __init__(self, document: StepSource) -> None:
        self._path = document.path
        self._before = document.text
        self._now = loads(document.text, document.path)
        self._healed: dict[tuple[StepPath, str], Selector] = {}

    @property
    def text(self) -> str:
        """The file as it would be."""
        return self._now.text

    def add(self, at: StepPath, healed: Healed) -> str:
        """One more edit; it alone as a unified diff."""
        before = self._now.text
        text = replace_target(before, self._now.places.of((*at, healed.field)), healed.proposal.selector)
        self._now = loads(text, self._path)
        if self._now.element(at) is not None:
            element = self._element(at, healed)
            text = replace_value(text, self._now.places.of((*at, "element")), element)
            self._now = loads(text, self._path)
        self._healed[at, healed.field] = healed.proposal.selector
        return _diff(before, text, self._path)

    def _element(self, at: StepPath, healed: Healed) -> dict[str, Any]:
        """The identity of the successor, where that of the old element stood."""
        known = self._now.element(at) or {}
        fields = by_field(known)
        now = dict(healed.proposal.element)
        return now if fields.get("target") is known else {**known, healed.field: now}

    def mended(self, at: StepPath, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a repeated step asks only once."""
        found = {field: new for (place, field), new in self._healed.items() if place == at}
        update = {("from_" if field == "from" else field): new for field, new in found.items()}
        return action.model_copy(update=update) if update else action

    def diff(self) -> str:
        """All edits."""
        return _diff(self._before, self._now.text, self._path)

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


def _diff(before: str, after: str, path: Path | None) -> str:
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

    def known(self, one: PlannedStep, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a step that is repeated is healed once."""
        repair = self._repairs.get(one.document.path)
        return repair.mended(one.at, action) if repair and self.allowed else action

    def heal(
        self, one: PlannedStep, action: AnyAction, envelope: Envelope, session: Session
    ) -> Healed | None:
        """A successor of the lost element; the edit of the file that follows from it is kept."""
        if envelope.failure_code not in _LOST or envelope.delivery != "not_delivered":
            return None
        recorded, last = one.document.element(one.at), session.looks.last
        if recorded is None or last is None:
            return None
        healed = heal_action(action, recorded, last.screen, session.looks.registry)
        if healed is not None:
            path = one.document.path
            repair = self._repairs.setdefault(path, FileRepair(one.document))
            self.proposals.append(repair.add(one.at, healed))
        return healed

    def save(self) -> None:
        """Into the files, once the flow has passed with it."""
        for repair in self._repairs.values() if self.allowed else ():
            try:
                repair.save()
            except InvalidAction as error:
                self.proposals.append(error.message)
