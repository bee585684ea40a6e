"""Seed 002: mobile-debug's tools in, its action envelope out, with its own names and idea of success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.clock import iso_time
from handrail.dialects.rules import FULL_SIZE, Row, ToolRule, from_native, to_native, unknown_name
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, ResolvedElement

_DEVICE = {"deviceId": "device", "reason": "reason"}
_SELECTOR = {"text": "text", "resourceId": "id", "contentDesc": "description", "className": "class_name"}
_WAIT_SELECTOR = {"text": "text", "resource_id": "id", "accessibility_id": "description"}


def _rule(
    native: str,
    fields: Mapping[str, str],
    required: tuple[str, ...] = (),
    fixed: Mapping[str, Any] | None = None,
) -> ToolRule:
    return ToolRule(native, {**fields, **_DEVICE}, required, fixed or {}, ignored=("platform",))


TOOLS: dict[str, ToolRule] = {
    "tap": _rule("tap", {"x": "target.x", "y": "target.y"}, ("x", "y")),
    "tap_element": _rule("tap", {"elementId": "target.element_id"}, ("elementId",)),
    "swipe": _rule(
        "swipe",
        {"x1": "from.x", "y1": "from.y", "x2": "to.x", "y2": "to.y", "duration": "duration_ms"},
        ("x1", "y1", "x2", "y2", "duration"),
    ),
    "scroll_to_element": _rule(
        "scroll_to",
        {
            "selector": "target",
            "direction": "direction",
            "maxScrolls": "max_scrolls",
            "scrollAmount": "amount",
        },
        ("selector",),
    ),
    "type_text": _rule("type_text", {"text": "text"}, ("text",)),
    "press_back": _rule("press_key", {}, fixed={"key": "back"}),
    "start_app": _rule("start_app", {"appId": "package"}, ("appId",)),
    "restart_app": _rule("restart_app", {"appId": "package"}, ("appId",)),
    "terminate_app": _rule("stop_app", {"appId": "package"}, ("appId",)),
    "reset_app_data": _rule("reset_app", {"appId": "package"}, ("appId",)),
    "install_app": _rule("install_app", {"appPath": "path"}, ("appPath",)),
    "adjust_control": _rule(
        "set_value",
        {
            "selector": "target",
            "targetValue": "value",
            "tolerance": "tolerance",
            "maxAttempts": "max_moves",
        },
        ("selector", "targetValue"),
    ),
    "get_ui_tree": _rule("get_ui_tree", {}),
    "get_logs": _rule("get_logs", {"appId": "package", "level": "level", "limit": "max_lines"}),
    "capture_screenshot": _rule("screenshot", {}, fixed=FULL_SIZE),
    "wait_for_screen_change": _rule(
        "wait_for", {"timeoutMs": "timeout_ms"}, fixed={"condition.screen_changed": True}
    ),
    "expect_screen": _rule("expect_screen", {"fingerprint": "fingerprint", "screen": "activity"}),
    "expect_element_visible": _rule(
        "expect_visible", {"selector": "target", "timeout_ms": "timeout_ms"}, ("selector",)
    ),
    "expect_state": _rule(
        "expect_state",
        {"selector": "target", "property": "property", "expected": "value"},
        ("selector", "property", "expected"),
    ),
}
"""Tools whose meaning is one action."""

NATIVE = {name: rule.native for name, rule in TOOLS.items()} | {"wait_for_ui": "wait_for"}
"""The native action of each tool."""

_ANY = "platform? deviceId?"
_APP = f"appId {_ANY}"
ROWS: dict[str, Row] = {
    "tap": ("Tap at a point.", f"x:number y:number {_ANY}"),
    "tap_element": ("Tap an element by the id that wait_for_ui gave.", "elementId"),
    "swipe": ("Swipe.", f"x1:number y1:number x2:number y2:number duration:number {_ANY}"),
    "scroll_to_element": (
        "Scroll until an element is visible.",
        f"selector direction? maxScrolls:number? scrollAmount:number? {_ANY}",
    ),
    "type_text": ("Type into the focused field.", f"text {_ANY}"),
    "press_back": ("Press back.", _ANY),
    "start_app": ("Start an app.", _APP),
    "restart_app": ("Stop an app and start it again.", _APP),
    "terminate_app": ("Stop an app.", _APP),
    "reset_app_data": ("Delete an app's data.", _APP),
    "install_app": ("Install an APK.", f"appPath {_ANY}"),
    "adjust_control": (
        "Set a slider or picker.",
        f"selector targetValue property? tolerance:number? maxAttempts:number? {_ANY}",
    ),
    "get_ui_tree": ("Read the screen.", _ANY),
    "get_logs": ("Read the log.", f"appId? level? limit:number? {_ANY}"),
    "capture_screenshot": ("Take a picture of the screen.", _ANY),
    "wait_for_ui": (
        "Wait for an element.",
        f"selector condition? timeout_ms:number? poll_interval_ms:number? match? retry? {_ANY}",
    ),
    "wait_for_screen_change": ("Wait until the screen is another one.", f"timeoutMs:number? {_ANY}"),
    "expect_screen": ("Check which screen is shown.", f"fingerprint? screen? {_ANY}"),
    "expect_element_visible": ("Check that an element is visible.", f"selector timeout_ms:number? {_ANY}"),
    "expect_state": ("Check a property of an element.", f"selector property expected {_ANY}"),
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

_REFUSED = frozenset({
    "INVALID_ACTION", "UNSUPPORTED", "DEVICE_BUSY", "POLICY_UNUSABLE", "ADB_CONNECTION_ERROR",
    "APP_NOT_INSTALLED",
})  # fmt: skip
"""Nothing was dispatched, and the same call would end the same way: of its codes that is ACTION_REJECTED."""
_NEAREST_CODE = {
    "ASSERTION_FAILED": "VERIFICATION_FAILED",
    "IDLE_TIMEOUT": "TIMEOUT",
    **dict.fromkeys(_REFUSED, "ACTION_REJECTED"),
}


def read_tool(name: str, arguments: Mapping[str, Any]) -> AnyAction:
    if arguments.get("platform", "android") != "android":
        raise Unsupported(f"platform {arguments['platform']!r}: Handrail drives Android", path="platform")
    if name == "wait_for_ui":
        return _read_wait(arguments)
    if name not in TOOLS:
        raise unknown_name(name, [*TOOLS, "wait_for_ui"])
    return to_native(name, TOOLS[name], _with_native_selector(name, dict(arguments)))


def write_tool(action: Act) -> tuple[str, dict[str, Any]]:
    for name, rule in TOOLS.items():
        arguments = from_native(rule, action)
        selector = (arguments or {}).get("selector", {})
        if arguments is not None and selector.keys() <= set(_SELECTOR.values()):
            if isinstance(arguments.get("selector"), Mapping):
                own = {native: foreign for foreign, native in _SELECTOR.items()}
                arguments["selector"] = {
                    own.get(key, key): value for key, value in arguments["selector"].items()
                }
            return name, arguments
    raise Unsupported(f"{action.type} with these fields has no tool in mobile-debug")


def write_envelope(
    envelope: Envelope, tool: str, arguments: Mapping[str, Any], *, secret: bool = False
) -> dict[str, Any]:
    """mobile-debug's envelope: `success` means delivered, and only expectations prove outcomes."""
    delivered = envelope.success if tool == "scroll_to_element" else envelope.delivery == "delivered"
    resolved = envelope.target.resolved if envelope.target else None
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
        "selector": selector_of(tool, arguments, secret=secret),
        "resolved": write_resolved(resolved) if resolved else None,
    }
    written["success"] = delivered
    if not delivered:
        written |= why(envelope.failure_code, retryable=bool(envelope.retryable), delivery=envelope.delivery)
    written["ui_fingerprint_before"] = envelope.ui_fingerprint_before
    written["ui_fingerprint_after"] = envelope.ui_fingerprint_after
    if envelope.details:
        written["details"] = envelope.details
    return written


def write_failure(
    error: HandrailError, tool: str, arguments: Mapping[str, Any], now_ms: int, *, secret: bool = False
) -> dict[str, Any]:
    """The envelope of a call that never became an action: it has the same shape, and nothing was resolved."""
    return {
        "action_id": f"{tool}_{now_ms}_0",
        "timestamp": iso_time(now_ms),
        "action_type": tool,
        "lifecycle_state": "failed",
        "source_module": "interact" if tool == "tap_element" else "server",
        "target": {"selector": selector_of(tool, arguments, secret=secret), "resolved": None},
        "success": False,
        **why(error.code, retryable=error.retryable, delivery="not_delivered"),
        "ui_fingerprint_before": None,
        "ui_fingerprint_after": None,
        "message": error.message,
        "hint": error.hint,
        "error": {"tool": tool, "message": error.message, "hint": error.hint},
    }


def why(code: str | None, *, retryable: bool, delivery: str | None) -> dict[str, Any]:
    """Its own code, and ours beside it, which says more."""
    own = failure_code(code)
    if own == "ACTION_REJECTED" and delivery == "unknown":
        own = "UNKNOWN"
    return {"failure_code": own, "retryable": retryable, "code": code or "UNKNOWN"}


def selector_of(tool: str, arguments: Mapping[str, Any], *, secret: bool = False) -> dict[str, Any] | None:
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
    if code in FAILURE_CODES:
        return str(code)
    return _NEAREST_CODE.get(str(code), "UNKNOWN")


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
        raise InvalidAction("property: only value can be set", path="property", hint=hint)
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
        raise InvalidAction(f"selector.contains: {problem}", path="selector.contains")
    if contains:
        native["text_contains"] = native.pop("text")
    return native


def _read_wait(arguments: Mapping[str, Any]) -> AnyAction:
    """`wait_for_ui`: its selector and condition together are one native condition."""
    present = dict(arguments)
    condition = present.pop("condition", "exists")
    if not isinstance(condition, str) or condition not in WAIT_CONDITIONS:
        words = ", ".join(WAIT_CONDITIONS)
        raise InvalidAction(f"condition: must be one of: {words}", path="condition")
    wait_tries(present.pop("retry", None))
    match = _object_of("match", present.pop("match", None), ("index",))
    if isinstance(present.get("selector"), Mapping):
        present["selector"] = _native_selector(present["selector"])
        if match.get("index") is not None:
            present["selector"]["index"] = match["index"]
    target, more = WAIT_CONDITIONS[condition]
    fields = {"selector": target, "timeout_ms": "timeout_ms", "poll_interval_ms": "every_ms"}
    fixed = {f"condition.state.{name}": value for name, value in more.items()}
    rule = _rule("wait_for", fields, ("selector",), fixed)
    return to_native("wait_for_ui", rule, {"timeout_ms": 60_000, **present})


def wait_tries(retry: Any) -> tuple[int, int]:
    """How often `wait_for_ui` waits, and the milliseconds between two waits."""
    retries = _object_of("retry", retry, ("max_attempts", "backoff_ms"))
    numbers = []
    for name, otherwise, least, most in (("max_attempts", 1, 1, 20), ("backoff_ms", 0, 0, 60_000)):
        number = retries.get(name, otherwise)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            path = f"retry.{name}"
            raise InvalidAction(f"{path}: should be a whole number from {least} to {most}", path=path)
        numbers.append(number)
    return numbers[0], numbers[1]


def _object_of(name: str, value: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidAction(f"{name}: should be an object with {' and '.join(names)}", path=name)
    for key in value:
        if key not in names:
            path = f"{name}.{key}"
            raise InvalidAction(f"{path}: is not known", path=path, hint=f"{name} takes: {', '.join(names)}.")
    return value
