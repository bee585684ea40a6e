"""Every failure that Handrail reports: one tree of classes, one code per class, one table of exit codes.

Codes are API: they never change their meaning. A message carries values; `hint` says what to do next.
`docs/errors.md` lists them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self


class DoorCodes(NamedTuple):
    """How one family of failures looks at each door. Every failure is `isError` in MCP."""

    http_status: int
    exit_code: int
    meaning: str


FAMILIES: dict[str, DoorCodes] = {
    "invalid": DoorCodes(422, 2, "the input is wrong; correct it and send it again"),
    "unsupported": DoorCodes(501, 3, "this device or channel can't do it"),
    "refused": DoorCodes(403, 4, "a rule, a person or a model said no; nothing was dispatched"),
    "busy": DoorCodes(409, 4, "another person or agent has the device"),
    "target": DoorCodes(404, 1, "the element could not be used"),
    "outcome": DoorCodes(409, 1, "it was tried, and the result is not the expected one"),
    "device": DoorCodes(503, 3, "the device, its screen or a channel to it failed"),
    "store": DoorCodes(507, 3, "what Handrail keeps on this machine can't be read or written"),
    "model": DoorCodes(502, 3, "the model, or the way to it, failed"),
    "cancelled": DoorCodes(499, 130, "it was stopped"),
    "unknown": DoorCodes(500, 1, "a failure without a name; the log has the traceback"),
}


class HandrailError(Exception):
    """A failure without a better name."""

    code: ClassVar[str] = "UNKNOWN"
    family: ClassVar[str] = "unknown"
    retryable: bool = False
    hint: str = "Look at the screen before you try again."
    delivery: Any = property(lambda error: error.details.get("delivery"))
    envelope: Any = None  # of the action that failed, where one did

    def __init__(
        self, message: str, *, hint: str | None = None, retryable: bool | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.hint = self.hint if hint is None else hint
        self.retryable = self.retryable if retryable is None else retryable

    @classmethod
    def at(cls, path: str, problem: str, *, hint: str | None = None) -> Self:
        """About one field of an input: the message begins with its path."""
        return cls(f"{path}: {problem}", hint=hint, path=path)

    @property
    def exits(self) -> DoorCodes:
        return FAMILIES[self.family]

    def to_dict(self) -> dict[str, Any]:
        """The failure as data: the same keys at every door, details last."""
        fields = {"code": self.code, "message": self.message, "hint": self.hint, "retryable": self.retryable}
        return {**fields, **self.details}


def did_you_mean(names: Sequence[str], otherwise: str) -> str:
    """The hint that names what is spelt like it, where there is something."""
    return f"Did you mean {' or '.join(names)}?" if names else otherwise


def _detail(name: str) -> Any:
    """An attribute of a failure that is one of its details; None where this one has it not."""
    return property(lambda error: error.details.get(name))


class InvalidAction(HandrailError):
    """The action, or one of its fields, is not in the vocabulary. `path` names the field."""

    code = "INVALID_ACTION"
    family = "invalid"
    hint = "Correct the field named in `path`; `handrail actions` lists every action and its fields."


class NoSuchFile(InvalidAction):
    """A file or folder that was named is not there."""

    code = "NO_SUCH_FILE"
    hint = "Name one that exists."


class PortInUse(InvalidAction):
    """Another program listens on the port."""

    code = "PORT_IN_USE"
    hint = "Choose another --port, or stop the other server."


class NoModel(InvalidAction):
    """Nothing says which model answers."""

    code = "NO_MODEL"
    hint = "Name one with --model."


class Misused(InvalidAction, TypeError):
    """The Python API was called in a way that can't work, for example after its block ended."""

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


class Unsupported(HandrailError):
    """This device or channel can't do it, for example a pinch without gRPC or helper."""

    code = "UNSUPPORTED"
    family = "unsupported"
    hint = "Use another action, or a device or channel that can."


class Refused(HandrailError):
    """A rule, a person or a model stands in the way; nothing was dispatched."""

    family = "refused"


class ActionRejected(Refused):
    """Policy refused it, a person denied it, or no one answered in time."""

    code = "ACTION_REJECTED"
    hint = "Do not repeat it. Choose another way or ask the person."


class PolicyUnusable(Refused):
    """The rules, or the folder that holds them, can't be read or trusted: nothing is allowed meanwhile."""

    code = "POLICY_UNUSABLE"
    hint = "Only the person who owns the policy can fix it; `handrail policy check` says what is wrong."


class ModelRefused(Refused):
    """A model, or its maker's filter, will not work on the task."""

    code = "MODEL_REFUSED"
    hint = "Say the task otherwise, or give it to another model."


class DeviceBusy(Refused):
    """Another session or a person holds the device."""

    code = "DEVICE_BUSY"
    family = "busy"
    hint = "Wait until the holder hands the device back."


class TargetError(HandrailError):
    """The element that an action aims at could not be used."""

    family = "target"


class ElementNotFound(TargetError):
    """No element matches the selector; those that are spelt like it are listed."""

    code = "ELEMENT_NOT_FOUND"
    selector = _detail("selector")
    hint = "Nothing on the screen is like it: scroll_to it, or get_ui_tree to look again."


class StaleReference(ElementNotFound):
    """The element behind this ref is gone; a ref is never bound to another element."""

    code = "STALE_REFERENCE"
    retryable = True
    hint = "Call get_ui_tree for fresh refs."


class AmbiguousTarget(TargetError):
    """Two or more elements match equally well; the candidates are listed with their refs."""

    code = "AMBIGUOUS_TARGET"
    hint = "Use the ref of one candidate, or add `index` or `within`."


class ElementNotInteractable(TargetError):
    """The element is there, and disabled, covered, without size or off the screen."""

    code = "ELEMENT_NOT_INTERACTABLE"
    retryable = True
    hint = "Wait for it, scroll to it, or close what covers it."


class SemanticMismatch(TargetError):
    """The element is of the wrong kind, for example a button to type into."""

    code = "SEMANTIC_MISMATCH"
    hint = "Aim at an element that can do this: its ref's letter tells its kind."


class OutcomeError(HandrailError):
    """It was tried, and what was observed is not what should be there."""

    family = "outcome"


class Timeout(OutcomeError):
    """The condition did not come true, or the deadline passed. Not retryable once dispatched."""

    code = "TIMEOUT"
    retryable = True
    hint = "get_ui_tree shows what is there; give more time only if something is still going on."


class IdleTimeout(OutcomeError):
    """The screen did not come to rest."""

    code = "IDLE_TIMEOUT"
    hint = "Act anyway if what you need is visible, or wait_for a condition."


class NavigationNoChange(OutcomeError):
    """The gesture or key arrived, and neither screen nor scroll position changed."""

    code = "NAVIGATION_NO_CHANGE"
    retryable = True
    hint = "It may be the end of the list or the first screen; try another direction or element."


class VerificationFailed(OutcomeError):
    """The action's `expect`, or the read-back of what was typed, does not hold."""

    code = "VERIFICATION_FAILED"
    hint = "get_ui_tree shows what is there: look before you repeat it."


class AssertionFailed(OutcomeError):
    """expect_visible, expect_absent or expect_text does not hold."""

    code = "ASSERTION_FAILED"
    expected, actual = _detail("expected"), _detail("actual")
    hint = "get_ui_tree shows what is there; wait_for waits for what is still to come."


class ExpectStateMismatch(OutcomeError):
    """expect_state, expect_screen or expect_app does not hold."""

    code = "EXPECT_STATE_MISMATCH"
    expected, actual = _detail("expected"), _detail("actual")
    hint = "get_ui_tree shows what is there; wait_for waits for what is still to come."


class ControlConvergenceFailed(OutcomeError):
    """The slider or picker would not take the value."""

    code = "CONTROL_CONVERGENCE_FAILED"
    hint = "Read the control's present value; it may move in steps."


class ScriptFailed(OutcomeError):
    """A script of a Maestro flow threw an error, wanted what it may not have, or did not end in time."""

    code = "SCRIPT_FAILED"
    hint = "Read the script; docs/maestro.md says what scripts can do."


class AppCrashed(OutcomeError):
    """The app's process died, or its crash dialog is up."""

    code = "APP_CRASHED"
    hint = "get_logs shows why; start_app to go on."


class DeviceError(HandrailError):
    """The device, its screen, or a channel to it failed."""

    family = "device"


class AdbConnectionError(DeviceError):
    """No device, or no adb to reach it by."""

    code = "ADB_CONNECTION_ERROR"
    hint = "Check `handrail devices`; plug the phone in or start `handrail sim`."


class AdbCommandError(DeviceError):
    """A command on the device failed; `command` names it."""

    code = "ADB_COMMAND_ERROR"
    command = _detail("command")
    hint = "Read the command's own message."


class DeviceOffline(DeviceError):
    """The device is known, and does not answer or is not authorised."""

    code = "DEVICE_OFFLINE"
    hint = "Unlock the phone and accept the debugging prompt, or reconnect the cable."


class AppNotInstalled(DeviceError):
    """No such package on the device."""

    code = "APP_NOT_INSTALLED"
    hint = "Check the package name, or install_app first."


class TreeParseError(DeviceError):
    """The UI dump can't be read; the position is given."""

    code = "TREE_PARSE_ERROR"
    hint = "Read the screen again; a dump taken during an animation can be cut."


class SecureScreen(DeviceError):
    """The window forbids screenshots."""

    code = "SECURE_SCREEN"
    hint = "Use get_ui_tree, or ask the person to look."


class PictureUnreadable(DeviceError):
    """A picture is damaged, or so large that opening it would fill the memory."""

    code = "PICTURE_UNREADABLE"
    hint = "Use get_ui_tree, or take it again; if it stays so, look at what sends the pictures."


class GrpcConnectionError(DeviceError):
    """The emulator's gRPC channel can't be opened."""

    code = "GRPC_CONNECTION_ERROR"
    hint = "Start the emulator with -grpc, or work without gRPC."


class GrpcRpcError(DeviceError):
    """A call on the emulator's gRPC channel failed; `rpc_method` names it."""

    code = "GRPC_RPC_ERROR"
    rpc_method = _detail("rpc_method")
    hint = "Read the call's own message."


class BrowserConnectionError(DeviceError):
    """No browser, or the connection to it was lost."""

    code = "BROWSER_CONNECTION_ERROR"
    hint = "Install Chromium, or name it by CHROME_BIN. One that ended is started by the next session."


class BrowserCommandError(DeviceError):
    """The browser refused a call; `method` names it."""

    code = "BROWSER_COMMAND_ERROR"
    hint = "Read the browser's own message; look again, the page may be another one."


class IosConnectionError(DeviceError):
    """No iPhone, or no WebDriverAgent on it that answers."""

    code = "IOS_CONNECTION_ERROR"
    hint = "`handrail doctor` says what is missing; WebDriverAgent has to run on the iPhone."


class IosCommandError(DeviceError):
    """WebDriverAgent, or a program that works on the iPhone, refused a call; `command` names it."""

    code = "IOS_COMMAND_ERROR"
    command = _detail("command")
    hint = "Read the call's own message; look again, the screen may be another one."


class StoreUnusable(HandrailError):
    """The home of Handrail on this machine, its database, journal or files, can't be read or written."""

    code = "STORE_UNUSABLE"
    family = "store"
    hint = "Nothing is done without a record: make HANDRAIL_HOME writable, or choose another one."


class StoreFull(StoreUnusable):
    """The disk of HANDRAIL_HOME is full, or its quota is used up; it goes on when there is room again."""

    code = "STORE_FULL"
    retryable = True
    hint = "Free disk space. Nothing is done without a record; it works again as soon as there is room."


class ModelUnavailable(HandrailError):
    """A model did not answer, or asking it again would not help."""

    code = "MODEL_UNAVAILABLE"
    family = "model"
    hint = "Check the model's name, key and address, then resume the run."


class Cancelled(HandrailError):
    """Stopped by a person, a closed door or Ctrl-C."""

    code = "CANCELLED"
    family = "cancelled"
    hint = "Look at `delivery` before you repeat it."


def _classes(root: type[HandrailError] = HandrailError) -> Iterator[type[HandrailError]]:
    yield from (root, *(descendant for child in root.__subclasses__() for descendant in _classes(child)))


ERRORS: dict[str, type[HandrailError]] = {cls.code: cls for cls in _classes() if "code" in vars(cls)}
