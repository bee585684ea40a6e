"""Flows as tidy YAML, the way a person would write them: short forms, no defaults, no needless quotes.

Also edits one value of a text that exists, and keeps comments, order and layout of everything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.document import Place, StepPath
from handrail.flow.parse import (
    Fields,
    Items,
    Node,
    Problem,
    Scalar,
    Unreadable,
    invalid_flow,
    plain_data,
    read_json,
    read_plain,
    read_yaml,
)
from handrail.flow.variables import map_texts
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.flow import AnyStep, Branch, Flow, Parallel, Repeat, RunFlow, Step
from handrail.protocol.model import Model
from handrail.protocol.target import REF_PATTERN

Elements = Mapping[StepPath, Mapping[str, Any]]
"""What a recording knows of the elements that steps touch, by the step's path."""

_VARIABLE = re.compile(r"\$\{(?!secret:)")
_BESIDE = ("expect", "reason", "device")


def write_flow(flow: Flow, elements: Elements | None = None) -> str:
    """The whole file. `load` reads it back as the same flow: a `${` in it is meant literally."""
    lines = entry_lines("name", flow.name)
    lines += entry_lines("app", _escape_variables(flow.app)) if flow.app else []
    lines += entry_lines("tags", list(flow.tags)) if flow.tags else []
    lines += entry_lines("env", _escape_variables(flow.env)) if flow.env else []
    lines += entry_lines("devices", list(flow.devices)) if flow.devices else []
    lines += entry_lines("retry", flow.retry) if flow.retry else []
    lines += entry_lines("attempts", flow.attempts) if flow.attempts else []
    return "\n".join([*lines, "steps:", *indented(_write_each_step(flow.steps, (), elements or {}))]) + "\n"


def write_steps(steps: Sequence[AnyStep], elements: Elements | None = None) -> str:
    """Steps alone: a flow without a head."""
    return "\n".join(_write_each_step(steps, (), elements or {})) + "\n"


def _write_each_step(steps: Sequence[AnyStep], path: StepPath, elements: Elements) -> list[str]:
    return [
        line
        for index, step in enumerate(steps)
        for line in list_item_lines(_write_step(step, (*path, index), elements))
    ]


def _write_step(step: AnyStep, path: StepPath, elements: Elements) -> list[str]:
    match step:
        case Step():
            return _write_action(step, elements.get(path))
        case Repeat():
            inner = _field_lines(shorten(_chosen_fields(step, "times", "while_", "until", "max_times")))
            inner += ["steps:", *indented(_write_each_step(step.steps, path, elements))]
            return ["repeat:", *indented(inner), *_write_options(step)]
        case Branch():
            if step.when is not None:
                raise InvalidAction(
                    "a branch can't have a `when` of its own in a file", path="when", hint="Nest two."
                )
            lines = _field_lines({"when": shorten(_chosen_fields(step, "condition"))["condition"]})
            lines += ["then:", *indented(_write_each_step(step.then, (*path, "then"), elements))]
            if step.otherwise is not None:
                lines += ["else:", *indented(_write_each_step(step.otherwise, (*path, "else"), elements))]
            return [*lines, *_write_options(step)]
        case RunFlow():
            env = {"env": dict(step.env)} if step.env else {}
            file = {"file": step.file, **env} if env else step.file
            return [*_field_lines({"run_flow": file}), *_write_options(step)]
        case Parallel():
            lines = ["parallel:"]
            for name, steps in step.devices.items():
                lines += indented(
                    [f"{scalar_yaml(name)}:", *indented(_write_each_step(steps, (*path, name), elements))]
                )
            return [*lines, *_write_options(step)]


def _write_action(step: Step, element: Mapping[str, Any] | None) -> list[str]:
    action = step.action
    own = action.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    own.pop("type", None)
    own = own if action.type in DESK_ACTIONS else shorten(own)
    beside = {name: own.pop(name) for name in _BESIDE if name in own}
    if "timeout_ms" in type(action).model_fields:
        if step.timeout_ms is not None:  # both are given, so the action's own must stand inside
            own["timeout_ms"] = getattr(action, "timeout_ms")  # noqa: B009  (not a field of every action)
        elif "timeout_ms" in own:
            beside["timeout_ms"] = own.pop("timeout_ms")
    short = action.traits.shorthand
    shown = own[short] if short and own.keys() == {short} else own
    head = _field_lines({action.type: shown}) if own else [action.type]
    rest = [
        *_write_options(step),
        *_field_lines(beside),
        *_field_lines({"element": element} if element else {}),
    ]
    if head == [action.type] and rest:
        head = [f"{action.type}:"]
    return [*head, *rest]


def _write_options(step: AnyStep) -> list[str]:
    """What every step may say besides, and what only actions may."""
    when = () if isinstance(step, Branch) else ("when",)
    acting = ("retry", "settle") if isinstance(step, Step) else ()
    return _field_lines(shorten(_chosen_fields(step, "label", *when, "timeout_ms", *acting, "optional")))


def _field_lines(fields: Mapping[str, Any]) -> list[str]:
    return [line for key, value in fields.items() for line in entry_lines(key, _escape_variables(value))]


def _chosen_fields(step: Model, *names: str) -> dict[str, Any]:
    dumped = step.model_dump(mode="json", exclude_none=True, exclude_defaults=True, include=set(names))
    order = [name.rstrip("_") for name in names]
    return {name: dumped[name] for name in order if name in dumped}


def _escape_variables(value: Any) -> Any:
    """Texts with a literal `${` written as `$${`; placeholders of secrets stay."""
    return map_texts(value, lambda text: _VARIABLE.sub("$${", text))


def replace_target(text: str, place: Place, new: Model | Mapping[str, Any] | str) -> str:
    """The text with another target at this place, in its shortest form."""
    data = new.model_dump(mode="json", exclude_defaults=True) if isinstance(new, Model) else new
    return replace_value(text, place, shorten({"target": data})["target"])


def replace_value(text: str, place: Place, new: Any) -> str:
    root, is_json = _read_text(text, place)
    here = (place.line, place.column)
    node = next((node for node in _every_node(root) if (node.start.line, node.start.column) == here), None)
    if node is None:
        hint = "Take the place from the document of this very text."
        raise InvalidAction(f"{place}: no value starts here", path="", hint=hint)
    for start, end, written in reversed(_find_edits(text, node, new, is_json)):
        text = text[:start] + written + text[end:]
    return text


def _read_text(text: str, place: Place) -> tuple[Node, bool]:
    problems: list[Problem] = []
    try:
        if text.lstrip()[:1] in ("{", "["):
            return read_json(text, problems), True
    except Unreadable:
        pass  # YAML may start with a bracket, too
    try:
        root = read_yaml(text, problems)
    except Unreadable as error:
        raise invalid_flow([error.problem], place.file) from None
    return root or Fields(), False


def _every_node(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Items):
        for child in node.items:
            yield from _every_node(child)
    elif isinstance(node, Fields):
        for entry in node.entries.values():
            yield from _every_node(entry.value)


def _find_edits(text: str, node: Node, new: Any, is_json: bool) -> list[tuple[int, int, str]]:
    """What to write where, first place first."""
    start, end = node.start.offset, _end_of_value(text, node)
    if is_json:
        return [(start, end, json.dumps(new, ensure_ascii=False))]
    if not isinstance(node, Fields) or text[start] == "{" or not isinstance(new, Mapping):
        return [(start, end, flat_yaml(new))]
    if node.entries.keys() == new.keys():  # below each other: what stays the same keeps its comments
        changed = [
            (entry.value, new[key])
            for key, entry in node.entries.items()
            if plain_data(entry.value) != new[key]
        ]
        return [(old.start.offset, _end_of_value(text, old), flat_yaml(value)) for old, value in changed]
    indent = "\n" + " " * (node.start.column - 1)
    return [(start, end, indent.join(block_lines(new, WIDTH - node.start.column)))]


def _end_of_value(text: str, node: Node) -> int:
    """Where the value's last character is behind; a block text's last line break is not part of it."""
    if isinstance(node, Scalar) and node.end == node.start.offset:
        return node.end
    return node.start.offset + len(text[node.start.offset : node.end].rstrip())


WIDTH = 100
_SAFE = re.compile(r"[\w/]([\w ./+$%&()'…€£!?-]*[\w./+$%&()'…€£!?-])?")
"""Texts that are the same text in every place of a YAML file."""
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar_yaml(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _SAFE.fullmatch(value) and isinstance(read_plain(value), str):
        return value
    return f'"{"".join(_escape(char) for char in value)}"'


def flat_yaml(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, Mapping):
        pairs = (f"{scalar_yaml(str(key))}: {flat_yaml(part)}" for key, part in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flat_yaml(part) for part in value) + "]"
    return scalar_yaml(value)


def entry_lines(key: str, value: Any, width: int = WIDTH) -> list[str]:
    """`key: value`, over several lines where one would be too long."""
    line = f"{scalar_yaml(key)}: {flat_yaml(value)}"
    if len(line) <= width or not value or not isinstance(value, Mapping | list | tuple):
        return [line]
    return [f"{scalar_yaml(key)}:", *indented(block_lines(value, width - 2))]


def block_lines(value: Mapping[str, Any] | list[Any] | tuple[Any, ...], width: int = WIDTH) -> list[str]:
    if isinstance(value, Mapping):
        return [line for key, part in value.items() for line in entry_lines(str(key), part, width)]
    return [f"- {flat_yaml(part)}" for part in value]


def indented(lines: list[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]


def list_item_lines(lines: list[str]) -> list[str]:
    return [f"- {lines[0]}", *indented(lines[1:])]


def _escape(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


_REF = re.compile(REF_PATTERN)
_POINT = re.compile(r"\s*-?\d{1,5}\s*,\s*-?\d{1,5}\s*", re.ASCII)
_TARGETS = frozenset({
    "target", "from", "to", "within", "near", "left_of", "right_of", "above", "below", "visible", "absent",
})  # fmt: skip
_CONDITIONS = frozenset({"expect", "when", "condition", "while", "until"})


def is_ref(text: str) -> bool:
    """A target in short that means a handle."""
    return bool(_REF.fullmatch(text))


def is_point(text: str) -> bool:
    """A target in short that means a place on the screen."""
    return bool(_POINT.fullmatch(text))


def shorten(value: Any, key: str = "") -> Any:
    """The same data with every target and condition in it as short as it can be."""
    if isinstance(value, list):
        inner = "condition" if key in ("all", "any") else ""
        return [shorten(part, inner) for part in value]
    if not isinstance(value, dict):
        return value
    inside = {name: shorten(part, name) for name, part in value.items()}
    if key in _TARGETS:
        if inside.keys() == {"text"} and not is_ref(inside["text"]) and not is_point(inside["text"]):
            return inside["text"]
        if inside.keys() == {"ref"}:
            return inside["ref"]
        if inside.keys() == {"x", "y"}:
            return f"{inside['x']},{inside['y']}"
        return inside
    return _shorten_condition(inside) if key in _CONDITIONS else inside


def _shorten_condition(value: dict[str, Any]) -> Any:
    visible = value.get("visible")
    return visible if value.keys() == {"visible"} and isinstance(visible, str) else value
