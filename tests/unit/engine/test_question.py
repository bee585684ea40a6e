"""What people read before they say yes names the thing itself."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.engine.approval.wording import LONGEST, question
from handrail.engine.policy import Resolved, Subject
from handrail.protocol.read import action_from

BUTTON = Resolved(package="com.handrail.shop", label="Pay now")


def asked(action: dict[str, Any], touched: Resolved = BUTTON) -> str:
    return question(Subject.of(action_from(action), resolved=touched, at_ms=0))


@pytest.mark.parametrize(
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


def test_an_action_without_an_element_names_the_app() -> None:
    assert (
        asked({"type": "reset_app", "package": "a.b"}, Resolved(package="x.y")) == "Allow reset_app in a.b?"
    )


def test_a_long_command_is_cut_and_can_not_steer_a_terminal() -> None:
    said = asked({"type": "shell", "command": ["echo", "\x1b[2J" + "x" * 1_000]})
    assert "\x1b" not in said
    assert LONGEST - 40 < len(said) < LONGEST + 40 == 280
