"""What a prompt shows of the screen, for models that are no models: its refs and its fingerprint. Pure."""

from __future__ import annotations

import re

from handrail.agent.model import Prompt

_FRAME = re.compile(r"<screen-data [^\n]*>\n(.*?)\n</screen-data ", re.S)
_FINGERPRINT = re.compile(r"screen \S+(?: \S+)? #(\w+)", re.ASCII)
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.M | re.ASCII)


def screen_text(prompt: Prompt) -> str:
    """The newest screen in the prompt; empty where none is shown."""
    for turn in reversed(prompt.turns):
        if turn.role == "user" and (frames := _FRAME.findall(turn.text)):
            return str(frames[-1])
    return ""


def visible_refs(prompt: Prompt) -> list[str]:
    """In the order of the screen. Only what begins a line is a ref: a label may hold anything."""
    return list(dict.fromkeys(_REF.findall(screen_text(prompt))))


def fingerprint(prompt: Prompt) -> str:
    """As the screen's first line tells it; empty where it tells none."""
    found = _FINGERPRINT.match(screen_text(prompt))
    return found[1] if found else ""
