"""Ways past the screen: for what a task wants to be so, the system actions that make it so at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from handrail.protocol.act import Act
from handrail.protocol.read import read_as
from handrail.protocol.system import SetAppearance, SetNetwork, Shell
from handrail_eval.app_names import state_path
from handrail_eval.baselines import finish
from handrail_eval.conditions import AnswerIs, PhoneStateIs
from handrail_eval.task import EvalTask

_SWITCHES = {"airplane_mode_on": "airplane_mode", "wifi_on": "wifi"}


def shortcuts(task: EvalTask) -> Iterator[list[Mapping[str, Any]]]:
    """Lists of actions, each with an end that claims what is right."""
    right = next((str(one.answer) for one in task.check if isinstance(one, AnswerIs)), None)
    end = finish(task.status, right)
    wanted = [one for one in task.check if isinstance(one, PhoneStateIs) and one.tests == ["equals"]]
    by_shell: list[Act] = []
    by_switch: list[Act] = []
    for one in wanted:
        parts = state_path(one.state).split(".")
        if parts[0] == "settings" and len(parts) == 3:
            words = ["settings", "put", parts[1], parts[2], str(one.equals)]
            by_shell.append(Shell(command=words))
        if parts[-1] in _SWITCHES:
            by_switch.append(read_as(SetNetwork, {_SWITCHES[parts[-1]]: str(one.equals) == "1"}))
        if parts[-1] == "ui_night_mode":
            by_switch.append(SetAppearance(appearance="dark" if str(one.equals) == "2" else "light"))
    for way in (by_shell, by_switch):
        if way and not {one.type for one in way} & set(task.allows):
            yield [*(one.to_dict() for one in way), end]
    if right is not None or task.kind == "impossible":
        yield [end]  # knows it by heart, and has looked at nothing


def told(actions: list[Mapping[str, Any]]) -> str:
    """For the report of lint."""
    return " → ".join(json.dumps(action, ensure_ascii=False)[:80] for action in actions)
