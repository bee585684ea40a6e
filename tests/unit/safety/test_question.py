"""What people read before they say yes names the thing itself."""

from __future__ import annotations

from typing import Any

from handrail.protocol.read import action_from
from handrail.safety.approval_request import LONGEST, AuthorizationRequest, question
from handrail.safety.subject import Subject, TouchedElement
from tests.cases import each

BUTTON = TouchedElement(package="com.handrail.shop", label="Pay now")


def asked(action: dict[str, Any], touched: TouchedElement = BUTTON) -> str:
    return question(Subject.of(action_from(action), resolved=touched, at_ms=0))


@each(
    ("action", "said"),
    [
        ({"type": "tap", "target": "@b1"}, "Allow tap 'Pay now' in com.handrail.shop?"),
        ({"type": "shell", "command": ["rm", "-rf", "/sdcard/a b"]}, "Allow shell: rm -rf '/sdcard/a b'?"),
        ({"type": "run_script", "script": "ls\n\necho x"}, "Allow run_script: ls ⏎ echo x?"),
        ({"type": "open_url", "url": "https://example.org/a"}, "Allow open_url: https://example.org/a?"),
        ({"type": "install_app", "path": "/tmp/a.apk"}, "Allow install_app: /tmp/a.apk?"),
        (
            {"type": "grant_permission", "package": "a.b", "permission": "CAMERA"},
            "Allow grant_permission: CAMERA for a.b?",
        ),
        ({"type": "reset_app", "package": "a.b"}, "Allow reset_app 'Pay now' in a.b?"),
    ],
)
def test_the_question_names_what_would_be_done(action: dict[str, Any], said: str) -> None:
    assert asked(action) == said


def test_a_script_is_shown_to_its_end() -> None:
    lines = [f"echo {number}" for number in range(900)]
    said = asked({"type": "run_script", "script": "\n".join([*lines, "rm -rf ~"])})
    assert said == f"Allow run_script: {' ⏎ '.join([*lines, 'rm -rf ~'])}?"


def test_where_there_is_little_room_all_but_a_script_is_cut() -> None:
    for action, shown in (
        ({"type": "shell", "command": ["echo", "one two three"]}, "Allow shell: echo…+17"),
        ({"type": "run_script", "script": "echo one\necho two"}, "Allow run_script: echo one ⏎ echo two?"),
    ):
        request = AuthorizationRequest.of(
            action_from(action), device="phone-1", fingerprint="k3x9qa", instruction=asked(action)
        )
        assert request.shown(18) == shown


def test_an_action_without_an_element_names_the_app() -> None:
    assert (
        asked({"type": "reset_app", "package": "a.b"}, TouchedElement(package="x.y"))
        == "Allow reset_app in a.b?"
    )


def test_a_page_is_named_before_its_app() -> None:
    pay = TouchedElement(package="com.browser", label="Pay", place="shop.example")
    assert asked({"type": "tap", "target": "@b1"}, pay) == "Allow tap 'Pay' in shop.example in com.browser?"


def test_a_long_command_is_cut_and_can_not_steer_a_terminal() -> None:
    said = asked({"type": "shell", "command": ["echo", "\x1b[2J" + "x" * 1_000]})
    assert "\x1b" not in said
    assert LONGEST - 40 < len(said) < LONGEST + 40 == 280
