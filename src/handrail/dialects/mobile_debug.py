"""Seed 002: mobile-debug's tools in, its action envelope out, with its own names and idea of success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handrail.clock import iso_time
from handrail.dialects.rules import FULL_SIZE, ToolRule, from_native, to_native, tool_rule, unknown_name
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, ResolvedElement

_SELECTOR = {"text": "text", "resourceId": "id", "contentDesc": "description", "className": "class_name"}
_WAIT_SELECTOR = {"text": "text", "resource_id": "id", "accessibility_id": "description"}


def _rule(native: str, takes: str = "", says: str = "", fixed: Mapping[str, Any] | None = None) -> ToolRule:
    """Every tool takes a device, and a reason although none is asked for."""
    rule = tool_rule(native, f"{takes} platform?= deviceId?=device", says, fixed=fixed, ignored=("platform",))
    return replace(rule, fields={**rule.fields, "reason": "reason"})


_TOOLS: dict[str, ToolRule] = {
    "tap": _rule("tap", "x:number=target.x y:number=target.y", "Tap at a point."),
    "tap_element": _rule(
        "tap", "elementId=target.element_id", "Tap an element by the id that wait_for_ui gave."
    ),
    "swipe": _rule(
        "swipe",
        "x1:number=from.x y1:number=from.y x2:number=to.x y2:number=to.y duration:number=duration_ms",
        "Swipe.",
    ),
    "scroll_to_element": _rule(
        "scroll_to",
        "selector=target direction? maxScrolls:number?=max_scrolls scrollAmount:number?=amount",
        "Scroll until an element is visible.",
    ),
    "type_text": _rule("type_text", "text", "Type into the focused field."),
    "press_back": _rule("press_key", "", "Press back.", {"key": "back"}),
    "start_app": _rule("start_app", "appId=package", "Start an app."),
    "restart_app": _rule("restart_app", "appId=package", "Stop an app and start it again."),
    "terminate_app": _rule("stop_app", "appId=package", "Stop an app."),
    "reset_app_data": _rule("reset_app", "appId=package", "Delete an app's data."),
    "install_app": _rule("install_app", "appPath=path", "Install an APK."),
    "adjust_control": _rule(
        "set_value",
        "selector=target targetValue=value property?= tolerance:number? maxAttempts:number?=max_moves",
        "Set a slider or picker.",
    ),
    "get_ui_tree": _rule("get_ui_tree", "", "Read the screen."),
    "get_logs": _rule("get_logs", "appId?=package level? limit:number?=max_lines", "Read the log."),
    "capture_screenshot": _rule("screenshot", "", "Take a picture of the screen.", FULL_SIZE),
    "wait_for_ui": _rule(
        "wait_for",
        "selector= condition?= timeout_ms:number?= poll_interval_ms:number?= match?= retry?=",
        "Wait for an element.",
    ),
    "wait_for_screen_change": _rule(
        "wait_for",
        "timeoutMs:number?=timeout_ms",
        "Wait until the screen is another one.",
        {"condition.screen_changed": True},
    ),
    "expect_screen": _rule("expect_screen", "fingerprint? screen?=activity", "Check which screen is shown."),
    "expect_element_visible": _rule(
        "expect_visible", "selector=target timeout_ms:number?", "Check that an element is visible."
    ),
    "expect_state": _rule(
        "expect_state", "selector=target property expected=value", "Check a property of an element."
    ),
}
TOOLS = {name: rule for name, rule in _TOOLS.items() if name != "wait_for_ui"}
"""Tools whose meaning is one action."""
NATIVE = {name: rule.native for name, rule in _TOOLS.items()}
"""The native action of each tool."""
ROWS = {name: rule.row for name, rule in _TOOLS.items()} | {
    "tap_element": (_TOOLS["tap_element"].row[0], "elementId")
}
"""Each tool in words, and its parameters."""

WAIT_CONDITIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "exists": ("condition.state.target", {"property": "exists", "value": True}),
    "not_exists": ("condition.state.target", {"property": "exists", "value": False}),
    "visible": ("condition.visible", {}),
    "clickable": ("condition.state.target", {"property": "interactable", "value": True}),
}
"""Where the selector goes, and what else is asked of the element. What exists may be out of sight; what is
clickable is seen, enabled and not covered."""

FAILURE_CODES = frozenset({
    "ELEMENT_NOT_FOUND", "ELEMENT_NOT_INTERACTABLE", "TIMEOUT", "NAVIGATION_NO_CHANGE", "AMBIGUOUS_TARGET",
    "STALE_REFERENCE", "ACTION_REJECTED", "VERIFICATION_FAILED", "EXPECT_STATE_MISMATCH",
    "CONTROL_CONVERGENCE_FAILED", "SEMANTIC_MISMATCH", "UNKNOWN",
})  # fmt: skip
"""All that this dialect knows; the rest has a nearest one, or is UNKNOWN."""

_RESOLVES_NOTHING = frozenset({"tap", "swipe", "type_text", "press_back", "start_app", "restart_app"})
"""Their `target.resolved` is always null in the document, whatever lies under the finger."""
_REFUSED = frozenset({
    "INVALID_ACTION", "UNSUPPORTED", "DEVICE_BUSY", "POLICY_UNUSABLE", "ADB_CONNECTION_ERROR",
    "APP_NOT_INSTALLED", "IOS_CONNECTION_ERROR",
})  # fmt: skip
"""Nothing was dispatched, and the same call would end the same way: of its codes that is ACTION_REJECTED."""
_NEAREST_CODE = {
    "ASSERTION_FAILED": "VERIFICATION_FAILED",
    "IDLE_TIMEOUT": "TIMEOUT",
    **dict.fromkeys(_REFUSED, "ACTION_REJECTED"),
}


def read_tool(name: str, arguments: Mapping[str, Any]) -> AnyAction:
    platform = arguments.get("platform", "android")
    if platform not in ("android", "ios"):
        raise Unsupported(f"platform {platform!r}: Handrail drives Android and iOS", path="platform")
    if platform == "ios":  # an iPhone's id is a UDID there, and the only one needs no name
        named = str(arguments.get("deviceId") or "")
        device = named if named.partition(":")[0] == "ios" else f"ios:{named}".rstrip(":")
        arguments = {**arguments, "deviceId": device}
    if name == "wait_for_ui":
        return _read_wait(arguments)
    if name not in TOOLS:
        raise unknown_name(name, [*TOOLS, "wait_for_ui"])
    return to_native(name, TOOLS[name], _with_native_selector(name, dict(arguments)))


def write_tool(action: Act) -> tuple[str, dict[str, Any]]:
    own = {native: foreign for foreign, native in _SELECTOR.items()}
    for name, rule in TOOLS.items():
        arguments = from_native(rule, action)
        selector = (arguments or {}).get("selector", {})
        if arguments is not None and selector.keys() <= own.keys():
            if selector:
                arguments["selector"] = {own[key]: value for key, value in selector.items()}
            return name, arguments
    raise Unsupported(f"{action.type} with these fields has no tool in mobile-debug")


def write_envelope(
    envelope: Envelope, tool: str, arguments: Mapping[str, Any], *, secret: bool = False
) -> dict[str, Any]:
    """mobile-debug's envelope: `success` means delivered, and only expectations prove outcomes."""
    delivered = envelope.success if tool == "scroll_to_element" else envelope.delivery == "delivered"
    resolved = envelope.target.resolved if envelope.target and tool not in _RESOLVES_NOTHING else None
    written: dict[str, Any] = {
        "action_id": tool + envelope.action_id.removeprefix(envelope.action_type),
        "timestamp": envelope.timestamp,
        "action_type": tool,
        "lifecycle_state": "pending_verification" if delivered else "failed",
        "source_module": "interact" if tool == "tap_element" else "server",
    }
    if envelope.device:
        written["device"] = envelope.device.to_dict()
    written["target"] = {
        "selector": selector_for_answer(tool, arguments, secret=secret),
        "resolved": write_resolved(resolved) if resolved else None,
    }
    written["success"] = delivered
    if not delivered:
        written |= failure_fields(
            envelope.failure_code, retryable=bool(envelope.retryable), delivery=envelope.delivery
        )
    written["ui_fingerprint_before"] = envelope.ui_fingerprint_before
    written["ui_fingerprint_after"] = envelope.ui_fingerprint_after
    if envelope.details:
        written["details"] = envelope.details
    return written


def write_failure(
    error: HandrailError,
    tool: str,
    arguments: Mapping[str, Any],
    now_ms: int,
    number: int,
    *,
    secret: bool = False,
) -> dict[str, Any]:
    """The envelope of a call that never became an action: it has the same shape, and nothing was resolved.

    The 0 before its number tells its id from those of actions.
    """
    return {
        "action_id": f"{tool}_{now_ms}_0{number}",
        "timestamp": iso_time(now_ms),
        "action_type": tool,
        "lifecycle_state": "failed",
        "source_module": "interact" if tool == "tap_element" else "server",
        "target": {"selector": selector_for_answer(tool, arguments, secret=secret), "resolved": None},
        "success": False,
        **failure_fields(error.code, retryable=error.retryable, delivery="not_delivered"),
        "ui_fingerprint_before": None,
        "ui_fingerprint_after": None,
        "message": error.message,
        "hint": error.hint,
        "error": {"tool": tool, "message": error.message, "hint": error.hint},
    }


def failure_fields(code: str | None, *, retryable: bool, delivery: str | None) -> dict[str, Any]:
    """Puts our code, which says more, beside the dialect's own."""
    own = failure_code(code)
    if own == "ACTION_REJECTED" and delivery == "unknown":
        own = "UNKNOWN"
    return {"failure_code": own, "retryable": retryable, "code": code or "UNKNOWN"}


def selector_for_answer(
    tool: str, arguments: Mapping[str, Any], *, secret: bool = False
) -> dict[str, Any] | None:
    match tool:
        case "press_back":
            return {"key": "back"}
        case "type_text":
            return {"text": "[secret]" if secret else arguments.get("text", "")}
        case (
            "scroll_to_element" | "adjust_control" | "wait_for_ui" | "expect_element_visible" | "expect_state"
        ):
            selector = arguments.get("selector")
            return dict(selector) if isinstance(selector, Mapping) else None
        case _:
            own = ("x", "y", "x1", "y1", "x2", "y2", "duration", "elementId", "appId")
            return {key: arguments[key] for key in own if key in arguments} or None


def failure_code(code: str | None) -> str:
    return str(code) if code in FAILURE_CODES else _NEAREST_CODE.get(str(code), "UNKNOWN")


def write_resolved(element: ResolvedElement) -> dict[str, Any]:
    return {
        "elementId": element.element_id,
        "text": element.text,
        "resource_id": element.resource_id,
        "accessibility_id": element.accessibility_id,
        "class": element.class_,
        "bounds": list(element.bounds) if element.bounds else None,
        "index": element.index,
    }


def _with_native_selector(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """`resourceId` and `resource_id` become our `id`; an `element_id` beside the selector decides alone."""
    takes = "selector" in TOOLS[name].fields
    element_id = arguments.pop("element_id", None) if takes else None
    if name == "adjust_control" and arguments.pop("property", None) not in (None, "value"):
        hint = "Use type_text for texts, tap for switches."
        raise InvalidAction.at("property", "only value can be set", hint=hint)
    if isinstance(arguments.get("targetValue"), list):
        raise InvalidAction.at("targetValue", "should be a number or a text")
    if element_id is not None:
        return {**arguments, "selector": {"element_id": element_id}}
    if isinstance(arguments.get("selector"), Mapping):
        arguments["selector"] = _native_selector(arguments["selector"])
    return arguments


def _native_selector(selector: Mapping[str, Any]) -> dict[str, Any]:
    names = {**_SELECTOR, **_WAIT_SELECTOR}
    native = {names.get(key, key): value for key, value in selector.items() if key != "contains"}
    contains = selector.get("contains", False)
    if not isinstance(contains, bool) or (contains and "text" not in native):
        problem = "is about a text, and there is none" if contains is True else "should be true or false"
        raise InvalidAction.at("selector.contains", f"{problem}")
    if contains:
        native["text_contains"] = native.pop("text")
    return native


def _read_wait(arguments: Mapping[str, Any]) -> AnyAction:
    """`wait_for_ui`: its selector and condition together are one native condition."""
    present = dict(arguments)
    condition = present.pop("condition", "exists")
    if not isinstance(condition, str) or condition not in WAIT_CONDITIONS:
        words = ", ".join(WAIT_CONDITIONS)
        raise InvalidAction.at("condition", f"must be one of: {words}")
    wait_tries(present.pop("retry", None))
    match = _object_with_fields("match", present.pop("match", None), ("index",))
    if isinstance(present.get("selector"), Mapping):
        present["selector"] = _native_selector(present["selector"])
        if match.get("index") is not None:
            present["selector"]["index"] = match["index"]
    target, more = WAIT_CONDITIONS[condition]
    fixed = {f"condition.state.{name}": value for name, value in more.items()}
    rule = _rule("wait_for", f"selector={target} timeout_ms? poll_interval_ms?=every_ms", "", fixed)
    return to_native("wait_for_ui", rule, {"timeout_ms": 60_000, **present})


def wait_tries(retry: Any) -> tuple[int, int]:
    """How often `wait_for_ui` waits, and the milliseconds between two waits."""
    retries = _object_with_fields("retry", retry, ("max_attempts", "backoff_ms"))
    numbers = []
    for name, otherwise, least, most in (("max_attempts", 1, 1, 20), ("backoff_ms", 0, 0, 60_000)):
        number = retries.get(name, otherwise)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            path = f"retry.{name}"
            raise InvalidAction.at(path, f"should be a whole number from {least} to {most}")
        numbers.append(number)
    return numbers[0], numbers[1]


def _object_with_fields(name: str, value: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidAction.at(name, f"should be an object with {' and '.join(names)}")
    for key in value:
        if key not in names:
            path = f"{name}.{key}"
            raise InvalidAction.at(path, "is not known", hint=f"{name} takes: {', '.join(names)}.")
    return value
