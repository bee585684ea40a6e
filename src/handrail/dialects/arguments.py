"""A native tool's arguments as one action. The seeds' spellings are read too, although not advertised. Pure.

Only `InvalidAction` comes out of it, with the path of the bad argument.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.model import camel
from handrail.protocol.read import action_from, nearest
from handrail.protocol.target import Condition, Selector

Arguments = Mapping[str, Any]

_POINTS = {
    "target": (("x", "y"),),
    "from": (("startX", "startY"), ("start_x", "start_y"), ("x1", "y1")),
    "to": (("endX", "endY"), ("end_x", "end_y"), ("x2", "y2")),
}
"""Two numbers that are one place."""
_NAMES = {
    "duration": "duration_ms",
    "packageName": "package",
    "appId": "package",
    "deviceId": "device",
    "keycode": "key",
    "selector": "target",
    "scrollTarget": "within",
    "element_id": "elementId",
    "timeoutMs": "timeout_ms",
    "durationMs": "duration_ms",
}
"""What the seeds call a field, where the vocabulary's own aliases do not cover it."""
_IGNORED = frozenset({"platform", "noParams"})
_SELECTOR = frozenset({camel(name) for name in Selector.model_fields} | set(Selector.model_fields))
_CONDITIONS = frozenset({camel(name) for name in Condition.model_fields} | set(Condition.model_fields))
_COMPARED = ("equals", "contains")
_MAY_BE_EMPTY = ("equals", "value")
"""A field without text is something to check for. All other empty texts of `expect` say nothing."""
_OTHER_CHECKS = {"visible", "absent", "app", "contains", "property", "fingerprint", "activity"}
_NO_CHECK = "Give visible, absent or app, or target with equals, contains, or property and value."


def action_of_tool(name: str, arguments: Arguments) -> AnyAction:
    """The action of a tool that is one; what touches the device has a reason."""
    return require_reason(action_from({"type": name, **native_arguments(name, arguments)}))


def native_arguments(name: str, arguments: Arguments) -> dict[str, Any]:
    cls = ACTIONS[name]
    fields = _in_native_spelling(cls, arguments)
    if name == "wait_for":
        # `visible`, `absent` and the others may stand beside the time-out; several must all hold.
        flat = [{key: fields[key]} for key in fields if key in _CONDITIONS]
        if not flat and "condition" not in fields:
            raise InvalidAction(
                "wait_for: nothing to wait for", path="visible", hint="Give visible, absent or app."
            )
        if not flat:
            return fields
        rest = {key: value for key, value in fields.items() if key not in _CONDITIONS}
        return {**rest, "condition": flat[0] if len(flat) == 1 else {"all": flat}}
    # `elementId` and a selector's fields beside the target belong to it.
    own = {camel(field) for field in cls.model_fields} | set(cls.model_fields)
    beside = {key: fields[key] for key in fields if key not in own and key in _SELECTOR}
    if "target" not in own or not beside:
        return fields
    rest = {key: value for key, value in fields.items() if key not in beside}
    target = rest.get("target")
    if isinstance(target, str):
        target = {"ref" if target.startswith("@") else "text": target}
    return {**rest, "target": {**cast("dict[str, Any]", target or {}), **beside}}


def require_reason(action: AnyAction) -> AnyAction:
    """The action, if it has a reason."""
    if action.effect != "read":
        check_reason(action.reason)
    return action


def check_reason(reason: object) -> str:
    """A blank reason counts as missing."""
    if isinstance(reason, str) and reason.strip():
        return reason
    raise InvalidAction.at("reason", "is required", hint="Say in the first person what you do and why.")


def check_names(tool: str, arguments: Arguments, names: Collection[str]) -> None:
    """For tools that are no action: whatever they do not take is told, not overlooked."""
    unknown = [name for name in arguments if name not in (*names, "reason", *_IGNORED)]
    if unknown:
        close = [near[0] for name in unknown if (near := nearest(name, names))]
        hint = f"Did you mean {' and '.join(close)}?" if close else None
        message = "; ".join(f"{name}: is not a field of {tool}" for name in unknown)
        raise InvalidAction(message, path=unknown[0], hint=hint)


def device_named_in(arguments: Arguments) -> str | None:
    wanted = arguments.get("device") or arguments.get("deviceId")
    if wanted is not None and not isinstance(wanted, str):
        raise InvalidAction.at("device", "should be a valid string")
    return wanted


def expectation_of(arguments: Arguments) -> AnyAction:
    """`expect` as one of the vocabulary's six checks."""
    present = {_NAMES.get(key, key): value for key, value in arguments.items() if value is not None}
    present = {key: value for key, value in present.items() if value != "" or key in _MAY_BE_EMPTY}
    if present.get("value") == "" and "property" not in present:
        del present["value"]
    if present.get("equals") == "" and present.keys() & _OTHER_CHECKS:
        del present["equals"]
    shared = {key: present.pop(key) for key in ("reason", "device", "timeout_ms") if key in present}
    kind, fields = _choose_check(present)
    return action_from({"type": kind, **fields, **shared})


def _choose_check(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if "condition" in fields:  # as `wait_for` takes it
        return "wait_for", fields
    for word, kind in (("visible", "expect_visible"), ("absent", "expect_absent")):
        if word in fields:
            return kind, {"target": fields.pop(word), **fields}
    if "app" in fields:
        return "expect_app", {"package": fields.pop("app"), **fields}
    if "fingerprint" in fields or "activity" in fields:
        return "expect_screen", fields
    if any(word in fields for word in _COMPARED):
        return "expect_text", fields
    if "property" in fields:
        # The schema says text, to be one type for all clients; a state is mostly true or false.
        value = fields.get("value")
        words: dict[Any, bool] = {"true": True, "false": False}
        state = words.get(value.strip().lower(), value) if isinstance(value, str) else value
        return "expect_state", {**fields, "value": state}
    if "target" in fields:
        return "expect_visible", fields
    raise InvalidAction("expect: nothing to check", path="visible", hint=_NO_CHECK)


def _in_native_spelling(cls: type[Act], arguments: Arguments) -> dict[str, Any]:
    """In the vocabulary's own names. Nulls say nothing, nor do empty texts where one may be left out: strict
    mode makes a model fill in every field."""
    own = {field.serialization_alias for field in cls.model_fields.values()} | set(cls.model_fields)
    fields = {key: value for key, value in arguments.items() if value is not None and key not in _IGNORED}
    fields = {(key if key in own else _NAMES.get(key, key)): value for key, value in fields.items()}
    needed = {
        field.serialization_alias or name for name, field in cls.model_fields.items() if field.is_required()
    }
    fields = {key: value for key, value in fields.items() if value != "" or key in needed}
    for field, pairs in _POINTS.items():
        for x, y in pairs:
            if field in own and field not in fields and x in fields and y in fields and x not in own:
                fields[field] = {"x": _integer(fields.pop(x)), "y": _integer(fields.pop(y))}
    return {key: _integer(value) if key.endswith("_ms") else value for key, value in fields.items()}


def _integer(value: Any) -> Any:
    """JSON of some languages has no integers: 540.0 is 540."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
