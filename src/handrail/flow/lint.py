"""What a flow's own text tells without a device: one function per rule, in the order of `RULES`.

Errors can't work, warnings will surprise, hints are better done otherwise. Other files are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from handrail.flow.document import FlowDocument
from handrail.flow.nodes import Fields, Items, Node, Scalar, scalars
from handrail.flow.problems import Problem
from handrail.flow.shorthand import StepDraft
from handrail.flow.variables import VariableReference, references
from handrail.flow.yaml_text import is_point, is_ref
from handrail.protocol.actions import ACTIONS
from handrail.protocol.observe import Finish, Wait
from handrail.protocol.read import nearest

_HANDLES = ("ref", "element_id", "elementId")
_ANCHORS = frozenset({
    "target", "from", "to", "within", "near", "left_of", "right_of", "above", "below", "leftOf", "rightOf",
    "visible", "absent", "scrollTarget", "when", "condition", "expect", "while", "until", "all", "any",
})  # fmt: skip
"""Keys whose bare text may be a ref."""


@dataclass(frozen=True, slots=True)
class Use:
    """A variable in a text, and where."""

    reference: VariableReference
    scalar: Scalar


def every_draft(drafts: list[StepDraft | None]) -> Iterator[StepDraft]:
    """All steps, outer ones first."""
    for draft in drafts:
        if draft:
            yield draft
            for inner in draft.inner.values():
                yield from every_draft(inner)


def uses(document: FlowDocument) -> list[Use]:
    """Every variable that the file's texts name."""
    places = [document.root.get(key) for key in ("env", "app", "steps")]
    texts = [one for node in places if node and not document.is_agentest for one in scalars(node)]
    named = [one for one in texts if isinstance(one.value, str) and "${" in one.value]
    return [Use(reference, one) for one in named for reference in references(one.value)]


def own_names(document: FlowDocument) -> list[str]:
    """The variables that the file gives a value to."""
    env = document.root.get("env")
    return [*(env.entries if isinstance(env, Fields) else ()), *sorted(document.late)]


def lint(document: FlowDocument) -> list[Problem]:
    """What the rules find, in the file's order."""
    found = [problem for rule in RULES for problem in rule(document)]
    return sorted(found, key=lambda one: one.mark.offset)


def _unused_variables(document: FlowDocument) -> Iterator[Problem]:
    used = {use.reference.name for use in uses(document)}
    env = document.root.get("env")
    for name, entry in env.entries.items() if isinstance(env, Fields) else ():
        if name not in used:
            yield _warning(f"env.{name}", "is not used", entry.key, "Remove it.", "unused-variable")


def _unreachable(document: FlowDocument) -> Iterator[Problem]:
    lists = [
        document.drafts,
        *(steps for one in every_draft(document.drafts) for steps in one.inner.values()),
    ]
    for steps in lists:
        drafts = [one for one in steps if one]
        for one, following in pairwise(drafts):
            if ACTIONS.get(one.head) is Finish and one.fields.get("when") is None:
                hint = "Remove them, or give `finish` a `when`."
                yield _warning(
                    following.path, "and what follows is never reached", following.source, hint, "unreachable"
                )
                break


def _stale_refs(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        for ref in _refs(draft.fields, False):
            hint = "Refs belong to one screen. Name the element by id, text or description."
            yield _warning(draft.path, f"{ref.text} will be stale when this runs", ref, hint, "stale-ref")


def _refs(node: Node, anchors: bool) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        if anchors and isinstance(node.value, str) and is_ref(node.value):
            yield node
    elif isinstance(node, Items):
        for one in node.items:
            yield from _refs(one, anchors)
    else:
        for key, entry in node.entries.items():
            yield from _refs(entry.value, key in _HANDLES or key in _ANCHORS)


def _coordinates(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        target = _action_field(draft, "target")
        if _touches(draft) and target is not None and _is_point(target):
            hint = "Name the element by id, text or description: it survives another screen size."
            yield _hint(f"{draft.path}.{draft.head}", "aims at a point", target, hint, "coordinates")


def _touches(draft: StepDraft) -> bool:
    cls = ACTIONS.get(draft.head)
    return cls is not None and cls.traits.effect != "read"


def _is_point(node: Node) -> bool:
    if isinstance(node, Fields):
        return "x" in node.entries
    return isinstance(node, Scalar) and isinstance(node.value, str) and is_point(node.value)


def _fixed_waits(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        if ACTIONS.get(draft.head) is Wait:
            hint = (
                "wait_for a condition, or wait_for_stable: faster when the phone is, and safe when it is not."
            )
            yield _hint(f"{draft.path}.{draft.head}", "waits a fixed time", draft.source, hint, "fixed-wait")


def _undeclared_devices(document: FlowDocument) -> Iterator[Problem]:
    node = document.root.get("devices")
    declared = [one.text for one in scalars(node)] if node else []
    for draft in every_draft(document.drafts):
        for name, key in _device_names(draft):
            if name in declared:
                continue
            close = nearest(name, declared)
            hint = (
                f"Did you mean {close[0]}?"
                if close
                else f"Add it: `devices: [{', '.join([*declared, name])}]`."
            )
            path = f"{draft.path}.{draft.head}"
            yield _warning(path, f"the device {name!r:.60} is not declared", key, hint, "undeclared-device")


def _device_names(draft: StepDraft) -> Iterator[tuple[str, Node]]:
    if draft.head == "parallel" and isinstance(draft.source, Fields):
        devices = draft.source.get("parallel")
        yield from (
            ((name, one.key) for name, one in devices.entries.items()) if isinstance(devices, Fields) else ()
        )
    device = _action_field(draft, "device")
    if isinstance(device, Scalar):
        yield device.text, device


def _same_labels(document: FlowDocument) -> Iterator[Problem]:
    seen: dict[str, Scalar] = {}
    for draft in every_draft(document.drafts):
        label = draft.fields.get("label")
        if isinstance(label, Scalar):
            first = seen.setdefault(label.text, label)
            if first is not label:
                message = f"{label.text!r:.60} is also the label of the step in line {first.start.line}"
                hint = "Reports tell steps apart by their labels."
                yield _warning(f"{draft.path}.label", message, label, hint, "same-label")


def _action_field(draft: StepDraft, name: str) -> Node | None:
    action = draft.fields.get("action")
    return action.get(name) if isinstance(action, Fields) else None


def _warning(path: str, message: str, node: Node, hint: str, rule: str) -> Problem:
    return Problem(path, message, node.start, hint, "warning", rule)


def _hint(path: str, message: str, node: Node, hint: str, rule: str) -> Problem:
    return Problem(path, message, node.start, hint, "hint", rule)


RULES: tuple[Callable[[FlowDocument], Iterator[Problem]], ...] = (
    _unused_variables,
    _unreachable,
    _stale_refs,
    _coordinates,
    _fixed_waits,
    _undeclared_devices,
    _same_labels,
)
