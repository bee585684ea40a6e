"""Subjects and screens for tests of policy: short to write, complete to judge."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from handrail.protocol.read import action_from
from handrail.safety.policy import Policy
from handrail.safety.policy_file import parse_policy
from handrail.safety.subject import Subject, TouchedElement
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse

NOON_MS = int(datetime(2026, 4, 23, 12, 0).timestamp() * 1000)  # a Thursday, local time


def subject(action: dict[str, Any] | str, element: TouchedElement | None = None, **more: Any) -> Subject:
    """A tap unless something else is said; nothing on the screen unless an element is given."""
    given = {"type": action} if isinstance(action, str) else action
    if given["type"] == "tap":
        given = {"target": "540,750", **given}
    resolved = more.pop("resolved", element or TouchedElement(package="com.example.app"))
    return Subject.of(action_from(given), resolved=resolved, **{"at_ms": NOON_MS, **more})


def button(label: str, **more: Any) -> TouchedElement:
    return TouchedElement(**{"package": "com.example.app", "label": label, "role": "button", **more})


def policy(text: str) -> Policy:
    return Policy.of(parse_policy(text))


def screen(body: str) -> Screen:
    return parse(f"<hierarchy rotation='0'>{body}</hierarchy>")


def node(text: str = "", *inside: str, kind: str = "android.widget.TextView", **attributes: Any) -> str:
    """One node of a dump. `bounds` defaults to a box that holds everything."""
    facts = {
        "class": kind, "text": text, "resource-id": "", "content-desc": "", "package": "com.example.app",
        "clickable": "false", "enabled": "true", "password": "false", "bounds": "[0,0][1000,2000]",
        **{key.replace("_", "-"): value for key, value in attributes.items()},
    }  # fmt: skip
    written = " ".join(f'{key}="{value}"' for key, value in facts.items())
    return f"<node {written}>{''.join(inside)}</node>"


def box(*inside: str, **attributes: Any) -> str:
    return node("", *inside, kind="android.widget.FrameLayout", **attributes)


def push(text: str, **attributes: Any) -> str:
    return node(text, kind="android.widget.Button", **{"clickable": "true", **attributes})


def find(on: Screen, text: str) -> Node:
    return next(each for each in on.nodes if each.text == text)
