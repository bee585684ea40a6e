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


def action_of(name: str, arguments: Arguments) -> AnyAction:
    """The action of a tool that is one; what touches the device has a reason."""
    return reasoned(action_from({"type": name, **spelled(name, arguments)}))


def spelled(name: str, arguments: Arguments) -> dict[str, Any]:
    """A tool's arguments as its action's own fields."""
    cls = ACTIONS[name]
    fields = _spelled(cls, arguments)
    if name == "wait_for":
        return _condition(fields)
    return _target(cls, fields) if "target" in cls.model_fields else fields


def reasoned(action: AnyAction) -> AnyAction:
    """The same, if it says why."""
    if action.effect != "read":
        check_reason(action.reason)
    return action


def check_reason(reason: object) -> str:
    """A blank one says nothing."""
    if isinstance(reason, str) and reason.strip():
        return reason
    raise InvalidAction(
        "reason: is required", path="reason", hint="Say in the first person what you do and why."
    )


def check_names(tool: str, arguments: Arguments, known: Collection[str]) -> None:
    """For tools that are no action: whatever they do not take is told, not overlooked."""
    for name in arguments:
        if name not in (*known, "reason", *_IGNORED):
            close = nearest(name, known)
            takes = f"Did you mean {' or '.join(close)}?" if close else None
            raise InvalidAction(f"{name}: is not a field of {tool}", path=name, hint=takes)


def device_of(arguments: Arguments) -> str | None:
    """The device that a tool of many actions is for."""
    wanted = arguments.get("device") or arguments.get("deviceId")
    if wanted is not None and not isinstance(wanted, str):
        raise InvalidAction("device: should be a valid string", path="device")
    return wanted


def expectation_of(arguments: Arguments) -> AnyAction:
    """`expect` as one of the vocabulary's six checks."""
    given = {_NAMES.get(key, key): value for key, value in arguments.items() if value is not None}
    given = {key: value for key, value in given.items() if value != "" or key in _MAY_BE_EMPTY}
    if given.get("value") == "" and "property" not in given:
        del given["value"]
    if given.get("equals") == "" and given.keys() & _OTHER_CHECKS:
        del given["equals"]
    shared = {key: given.pop(key) for key in ("reason", "device", "timeout_ms") if key in given}
    kind, fields = _check(given)
    return action_from({"type": kind, **fields, **shared})


def _check(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for word, kind in (("visible", "expect_visible"), ("absent", "expect_absent")):
        if word in given:
            return kind, {"target": given.pop(word), **given}
    if "app" in given:
        return "expect_app", {"package": given.pop("app"), **given}
    if "fingerprint" in given or "activity" in given:
        return "expect_screen", given
    if any(word in given for word in _COMPARED):
        return "expect_text", given
    if "property" in given:
        return "expect_state", {**given, "value": _typed(given.get("value"))}
    if "target" in given:
        return "expect_visible", given
    raise InvalidAction("expect: nothing to check", path="visible", hint=_NO_CHECK)


def _typed(value: Any) -> Any:
    """The schema says text, to be one type for all clients; a state is mostly true or false."""
    words: dict[Any, bool] = {"true": True, "false": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def _spelled(cls: type[Act], arguments: Arguments) -> dict[str, Any]:
    """In the vocabulary's own names. Nulls say nothing, nor do empty texts where one may be left out: strict
    mode makes a model fill in every field."""
    own = {field.serialization_alias for field in cls.model_fields.values()} | set(cls.model_fields)
    given = {key: value for key, value in arguments.items() if value is not None and key not in _IGNORED}
    given = {(key if key in own else _NAMES.get(key, key)): value for key, value in given.items()}
    needed = {
        field.serialization_alias or name for name, field in cls.model_fields.items() if field.is_required()
    }
    given = {key: value for key, value in given.items() if value != "" or key in needed}
    for field, pairs in _POINTS.items():
        for x, y in pairs:
            if field in own and field not in given and x in given and y in given and x not in own:
                given[field] = {"x": _whole(given.pop(x)), "y": _whole(given.pop(y))}
    return {key: _whole(value) if key.endswith("_ms") else value for key, value in given.items()}


def _whole(value: Any) -> Any:
    """JSON of some languages has no integers: 540.0 is 540."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _target(cls: type[Act], given: dict[str, Any]) -> dict[str, Any]:
    """`elementId` and a selector's fields beside the target belong to it."""
    own = {camel(name) for name in cls.model_fields} | set(cls.model_fields)
    beside = {key: given[key] for key in given if key not in own and key in _SELECTOR}
    if not beside:
        return given
    rest = {key: value for key, value in given.items() if key not in beside}
    target = rest.get("target")
    if isinstance(target, str):
        target = {"ref" if target.startswith("@") else "text": target}
    return {**rest, "target": {**cast("dict[str, Any]", target or {}), **beside}}


def _condition(given: dict[str, Any]) -> dict[str, Any]:
    """`visible`, `absent` and the others may stand beside the time-out; several must all hold."""
    flat = [{key: given[key]} for key in given if key in _CONDITIONS]
    if not flat and "condition" not in given:
        raise InvalidAction(
            "wait_for: nothing to wait for", path="visible", hint="Give visible, absent or app."
        )
    if not flat:
        return given
    rest = {key: value for key, value in given.items() if key not in _CONDITIONS}
    return {**rest, "condition": flat[0] if len(flat) == 1 else {"all": flat}}
