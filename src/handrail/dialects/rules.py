"""The engine of the tool-shaped dialects: a `ToolRule` maps one foreign name and its fields, both ways."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.model import camel
from handrail.protocol.read import action_from, nearest, nearest_kind

_FRACTIONS = {"value", "tolerance", "scale", "amount", "start_angle_deg", "end_angle_deg"}
"""Every other number becomes an integer: seeds say `number`, the vocabulary wants pixels and milliseconds."""
FULL_SIZE = {"scale": 1.0}
"""Of a screenshot: whoever aims at points takes them from the picture, so its pixels are the screen's."""

Row = tuple[str, str]
"""What a tool does, and its parameters: `x:number y:number duration:number? reason`."""


class FieldPart(Protocol):
    """A field that is not only called otherwise: `talk` is what the dialect's reader knows besides."""

    @property
    def path(self) -> str: ...

    def read(self, value: Any, name: str, talk: Any) -> Any:
        """Raises `InvalidAction` at `name`."""

    def write(self, value: Any, talk: Any) -> Any:
        """Returns None for what the dialect can't say."""


@dataclass(frozen=True, slots=True)
class ToolRule:
    """One foreign action. `fields` maps foreign names to native paths: `{"startX": "from.x"}`."""

    native: str
    fields: Mapping[str, str | FieldPart] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()  # accepted, and without a native counterpart
    row: Row = ("", "")


def tool_rule(
    native: str,
    takes: str = "",
    says: str = "",
    *,
    fixed: Mapping[str, Any] | None = None,
    ignored: tuple[str, ...] = (),
) -> ToolRule:
    """A rule from one line of parameters: `x:number=target.x duration:number?=duration_ms reason`.

    The native path is the parameter's own name where none follows; `name=` is read by the dialect itself.
    """
    split = [token.partition("=") for token in takes.split()]
    names = {head: head.removesuffix("?").partition(":")[0] for head, _, _ in split}
    fields = {names[head]: path or names[head] for head, sign, path in split if path or not sign}
    required = tuple(names[head] for head, _, _ in split if names[head] in fields and head[-1] != "?")
    return ToolRule(native, fields, required, fixed or {}, ignored, (says, " ".join(names)))


class FurtherField(InvalidAction):
    """A field that the word does not have. A maker's dialect leaves it out and says so; a seed refuses it."""


def unknown_name(name: Any, candidates: Iterable[str], path: str = "type") -> InvalidAction:
    names = list(candidates)
    if name is None:
        return InvalidAction.at(path, "is required", hint=f"One of: {', '.join(names)}.")
    close = nearest_kind(str(name), names)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(names)}."
    return InvalidAction.at(path, f"{str(name)[:60]!r} is not known", hint=hint)


def to_native(
    name: str,
    rule: ToolRule,
    arguments: Mapping[str, Any],
    placed: Mapping[str, Any] | None = None,
    talk: Any = None,
) -> AnyAction:
    """The native action; errors name the foreign field. `placed` is what was read already, by native path."""
    native = _fields_in_native_paths(name, rule, arguments, talk)
    for path, value in (placed or {}).items():
        put_at_path(native, path, value)
    try:
        return action_from(native)
    except InvalidAction as error:
        path = str(error.details.get("path", ""))
        for foreign, part in rule.fields.items():
            own = native_path_of(part)
            if path == own or path.startswith(own + "."):
                renamed = foreign + path.removeprefix(own)
                message = error.message.replace(f"{path}:", f"{renamed}:", 1)
                raise InvalidAction(message, hint=error.hint, path=renamed) from None
        raise


def from_native(rule: ToolRule, action: Act) -> dict[str, Any] | None:
    """The foreign fields that say the same, or None where this rule can't say it."""
    converted = from_native_with_places(rule, action)
    return None if converted is None else converted[0]


def from_native_with_places(
    rule: ToolRule, action: Act, places: Iterable[str] = (), talk: Any = None
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The same, and what lies at these native paths, which the caller says in its own way."""
    rest = _flatten(action.to_dict())
    if rest.pop("type") != rule.native:
        return None
    for path, value in _flatten(dict(rule.fixed)).items():
        if rest.pop(path, None) != value:
            return None
    taken_apart = {path: taken for path in places if (taken := _take_at_path(rest, path)) is not None}
    foreign: dict[str, Any] = {}
    for name, part in rule.fields.items():
        taken = _take_at_path(rest, native_path_of(part))
        if taken is not None and not isinstance(part, str):
            taken = part.write(taken, talk)
            if taken is None:
                return None
        if taken is not None:
            foreign[name] = taken
    infos = type(action).model_fields
    leftover = any(path not in infos or infos[path].default != value for path, value in rest.items())
    if leftover or any(name not in foreign for name in rule.required):
        return None
    return foreign, taken_apart


def native_path_of(part: str | FieldPart) -> str:
    return part if isinstance(part, str) else part.path


def round_half_up(number: float) -> int:
    """2.5 → 3, -2.5 → -2: what a person does, not what banks do."""
    floor = math.floor(number)
    return floor + (number - floor >= 0.5)  # not floor(number + 0.5): that sum rounds 0.49999999999999994 up


def _fields_in_native_paths(
    name: str, rule: ToolRule, arguments: Mapping[str, Any], talk: Any
) -> dict[str, Any]:
    native: dict[str, Any] = {"type": rule.native}
    for path, value in rule.fixed.items():
        put_at_path(native, path, value)
    used: set[str] = set()
    for key, value in arguments.items():
        field_name = key if key in rule.fields or key in rule.ignored else camel(key)
        if field_name in used:
            raise InvalidAction.at(key, "is given twice, in both spellings")
        if value is not None:
            used.add(field_name)
        if field_name in rule.fields:
            if value is not None:
                part = rule.fields[field_name]
                path = native_path_of(part)
                read = value if isinstance(part, str) else part.read(value, key, talk)
                if isinstance(part, str) and isinstance(read, float) and math.isfinite(read):
                    read = read if path in _FRACTIONS else round_half_up(read)
                put_at_path(native, path, read)
        elif field_name not in rule.ignored:
            close = nearest(key, [*rule.fields, *rule.ignored])
            takes = ", ".join(rule.fields) or "nothing"
            hint = f"Did you mean {' or '.join(close)}?" if close else f"{name} takes: {takes}."
            raise FurtherField.at(key, f"is not a field of {name}", hint=hint)
    for key in rule.required:
        if key not in used:  # null is not a value
            raise InvalidAction.at(key, "is required")
    return native


def put_at_path(native: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        native = native.setdefault(parent, {})
    native[last] = value


def _take_at_path(flat: dict[str, Any], path: str) -> Any:
    """Remove and return what lies at the path: a value, or the object below it."""
    if path in flat:
        return flat.pop(path)
    below = {key: flat.pop(key) for key in list(flat) if key.startswith(path + ".")}
    nested: dict[str, Any] = {}
    for key, value in below.items():
        put_at_path(nested, key.removeprefix(path + "."), value)
    return nested or None


def _flatten(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat
