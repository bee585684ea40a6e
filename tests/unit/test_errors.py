"""The tree of failures: codes are API, families decide how each door says it."""

import re
from typing import Any

import pytest

from handrail import errors
from handrail.bind import listen
from handrail.errors import ERRORS, FAMILIES, HandrailError, PortInUse
from tests.cases import each

CODES = """INVALID_ACTION UNSUPPORTED ACTION_REJECTED POLICY_UNUSABLE DEVICE_BUSY ELEMENT_NOT_FOUND
STALE_REFERENCE AMBIGUOUS_TARGET ELEMENT_NOT_INTERACTABLE SEMANTIC_MISMATCH TIMEOUT IDLE_TIMEOUT
NAVIGATION_NO_CHANGE VERIFICATION_FAILED ASSERTION_FAILED EXPECT_STATE_MISMATCH CONTROL_CONVERGENCE_FAILED
SCRIPT_FAILED
ADB_CONNECTION_ERROR ADB_COMMAND_ERROR DEVICE_OFFLINE APP_NOT_INSTALLED APP_CRASHED TREE_PARSE_ERROR
SECURE_SCREEN PICTURE_UNREADABLE GRPC_CONNECTION_ERROR GRPC_RPC_ERROR BROWSER_CONNECTION_ERROR
BROWSER_COMMAND_ERROR IOS_CONNECTION_ERROR IOS_COMMAND_ERROR STORE_UNUSABLE STORE_FULL
MODEL_UNAVAILABLE MODEL_REFUSED CANCELLED UNKNOWN NO_MODEL NO_SUCH_FILE PORT_IN_USE""".split()

SEED_003 = """ADB_CONNECTION_ERROR ADB_COMMAND_ERROR ELEMENT_NOT_FOUND IDLE_TIMEOUT ASSERTION_FAILED
APP_NOT_INSTALLED TREE_PARSE_ERROR GRPC_CONNECTION_ERROR""".split()

RETRYABLE = "STALE_REFERENCE ELEMENT_NOT_INTERACTABLE TIMEOUT NAVIGATION_NO_CHANGE STORE_FULL".split()
"""What may be sent again as it is: it was not dispatched, or its repetition does no harm."""

EXIT_CODES = {
    1: {"target", "outcome", "unknown"},
    2: {"invalid"},
    3: {"device", "unsupported", "store", "model"},
    4: {"refused", "busy"},
    130: {"cancelled"},
}


def test_the_codes_are_those_of_the_design() -> None:
    assert sorted(ERRORS) == sorted(CODES)
    assert set(SEED_003) <= ERRORS.keys()


@each("code", CODES)
def test_a_code_belongs_to_one_class_with_its_own_name(code: str) -> None:
    cls = ERRORS[code]
    assert [one for one in _tree() if vars(one).get("code") == code] == [cls]
    made = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).upper()
    assert cls is HandrailError or made == code


def _tree() -> list[type[HandrailError]]:
    found = [HandrailError]
    for cls in found:
        found.extend(cls.__subclasses__())
    return found


@each("code", CODES)
def test_every_failure_says_what_to_do_next(code: str) -> None:
    cls = ERRORS[code]
    assert cls.__doc__
    assert cls.hint.endswith(".")
    assert len(cls.hint) < 200


@each("code", CODES)
def test_every_family_has_its_exits(code: str) -> None:
    exits = ERRORS[code]("message").exits
    assert exits is FAMILIES[ERRORS[code].family]
    assert 400 <= exits.http_status < 600
    assert exits.meaning


def test_the_exit_codes_are_those_of_the_design() -> None:
    found: dict[int, set[str]] = {}
    for family, exits in FAMILIES.items():
        found.setdefault(exits.exit_code, set()).add(family)
    assert found == EXIT_CODES


def test_no_family_is_without_a_failure() -> None:
    assert {cls.family for cls in ERRORS.values()} == FAMILIES.keys()


@each("code", CODES)
def test_what_may_be_tried_again_says_so(code: str) -> None:
    assert ERRORS[code]("message").retryable is (code in RETRYABLE)


def test_a_timeout_after_dispatch_is_not_tried_again() -> None:
    error = errors.Timeout("no answer", retryable=False, delivery="unknown")
    assert error.retryable is False
    assert errors.Timeout("no answer").retryable is True


def test_a_stale_reference_is_an_element_that_was_not_found() -> None:
    assert issubclass(errors.StaleReference, errors.ElementNotFound)


@pytest.mark.parametrize(
    ("error", "data"),
    [
        (
            errors.InvalidAction("x: is required", path="x"),
            {
                "code": "INVALID_ACTION",
                "message": "x: is required",
                "hint": errors.InvalidAction.hint,
                "retryable": False,
                "path": "x",
            },
        ),
        (
            errors.AdbCommandError("exit 1", hint="Look.", retryable=True, command="ls"),
            {
                "code": "ADB_COMMAND_ERROR",
                "message": "exit 1",
                "hint": "Look.",
                "retryable": True,
                "command": "ls",
            },
        ),
    ],
)
def test_a_failure_is_the_same_data_at_every_door(error: HandrailError, data: dict[str, Any]) -> None:
    assert error.to_dict() == data
    assert str(error) == data["message"]


def test_a_hint_of_one_failure_does_not_become_the_hint_of_all() -> None:
    errors.Timeout("a", hint="Special.", retryable=False)
    assert errors.Timeout("b").hint == errors.Timeout.hint != "Special."
    assert errors.Timeout("b").retryable is True


def test_a_port_in_use_is_named() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortInUse, match=str(port)) as caught:
            listen("127.0.0.1", port)
    assert caught.value.code == "PORT_IN_USE"
