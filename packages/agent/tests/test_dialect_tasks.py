"""One task in every dialect: a model that prints it makes a contact, turns Wi-Fi off and reads a code.

Checked on the phone: its databases and settings at the end, and what was done to which elements on the way.
Each maker's words are written here by hand, with its numbers; nothing of the product writes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.screen.node import Node
from handrail_agent.computer import Speech
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import Mode, Prompt, Reply, finished
from handrail_agent.task import Task
from tests.scenario.world import FastClock, World, play, world

CODE = "482913"
PLAN: list[tuple[str, str]] = [
    ("tap", "Contacts"),
    ("tap", "Create new contact"),
    ("tap", "First name"),
    ("type", "Ada"),
    ("tap", "Last name"),
    ("type", "Lovelace"),
    ("tap", "Save"),
    ("back", ""),
    ("back", ""),
    ("tap", "Settings"),
    ("tap", "Network & internet"),
    ("tap", "Internet"),
    ("tap", "Wi‑Fi"),
    ("back", ""),
    ("back", ""),
    ("back", ""),
    ("tap", "Messaging"),
    ("tap", "Your parcel code is"),
    ("answer", ""),
    ("end", ""),
]
Place = tuple[int, int]
Say = Callable[[str, Any], Any]


def _json(maker: Callable[[str, Any], dict[str, Any] | None]) -> Say:
    def say(what: str, value: Any) -> Any:
        made = maker(what, value)
        return json.dumps(made) if made is not None else None

    return say


def _half(at: Place) -> list[int]:
    """Pixels of the picture that models are shown: 706x1568 of 1080x2400."""
    return [round(at[0] * 706 / 1080), round(at[1] * 1568 / 2400)]


def _resized(at: Place) -> tuple[int, int]:
    """706x1568 brought to multiples of 28 is 700x1568."""
    return round(at[0] * 700 / 1080), round(at[1] * 1568 / 2400)


def _thousand(at: Place) -> list[int]:
    return [round(at[0] * 1000 / 1080), round(at[1] * 1000 / 2400)]


def anthropic(what: str, value: Any) -> dict[str, Any] | None:
    made = {
        "tap": lambda: {"action": "left_click", "coordinate": _half(value)},
        "type": lambda: {"action": "type", "text": value},
        "back": lambda: {"action": "key", "text": "Escape"},
    }
    if what not in made:
        return None
    call = {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": made[what]()}
    return {"role": "assistant", "content": [{"type": "text", "text": "I go on."}, call]}


def openai(what: str, value: Any) -> dict[str, Any] | None:
    made = {
        "tap": lambda: dict(zip("xy", _half(value), strict=True)) | {"type": "click", "button": "left"},
        "type": lambda: {"type": "type", "text": value},
        "back": lambda: {"type": "keypress", "keys": ["ESC"]},
    }
    if what not in made:
        return None
    return {"type": "computer_call", "call_id": "c", "pending_safety_checks": [], "actions": [made[what]()]}


def androidworld(what: str, value: Any) -> str:
    made: dict[str, dict[str, Any]] = {
        "type": {"action_type": "input_text", "text": value},
        "back": {"action_type": "navigate_back"},
        "answer": {"action_type": "answer", "text": value},
        "end": {"action_type": "status", "goal_status": "complete"},
    }
    action = {"action_type": "click", "x": value[0], "y": value[1]} if what == "tap" else made[what]
    return f"Reason: I go on.\nAction: {json.dumps(action)}"


def androidcontrol(what: str, value: Any) -> dict[str, Any] | None:
    made = {
        "tap": lambda: {"action_type": "click", "x": value[0], "y": value[1]},
        "type": lambda: {"action_type": "input_text", "text": value},
        "back": lambda: {"action_type": "navigate_back"},
    }
    return made[what]() if what in made else None


def aitw(what: str, value: Any) -> dict[str, Any] | None:
    if what == "tap":
        yx = [value[1] / 2400, value[0] / 1080]
        return {"results/action_type": 4, "results/yx_touch": yx, "results/yx_lift": yx}
    made = {
        "type": {"results/action_type": 3, "results/type_action": value},
        "back": {"results/action_type": 5},
        "end": {"results/action_type": 10},
    }
    return made.get(what)


def ui_tars(what: str, value: Any) -> str | None:
    made = {
        "tap": lambda: "click(point='<point>{} {}</point>')".format(*_resized(value)),
        "type": lambda: f"type(content='{value}')",
        "back": lambda: "press_back()",
        "end": lambda: f"finished(content='{CODE}')",
    }
    return f"Thought: I go on.\nAction: {made[what]()}" if what in made else None


def autoglm(what: str, value: Any) -> str | None:
    made = {
        "tap": lambda: f'do(action="Tap", element={_thousand(value)})',
        "type": lambda: f'do(action="Type", text="{value}")',
        "back": lambda: 'do(action="Back")',
        "end": lambda: f'finish(message="{CODE}")',
    }
    return f"<think>I go on.</think><answer>{made[what]()}</answer>" if what in made else None


def mobile_use(what: str, value: Any) -> str | None:
    made = {
        "tap": lambda: {"action": "click", "coordinate": _thousand(value)},
        "type": lambda: {"action": "type", "text": value},
        "back": lambda: {"action": "system_button", "button": "Back"},
        "answer": lambda: {"action": "answer", "text": value},
    }
    if what not in made:
        return None
    call = json.dumps({"name": "mobile_use", "arguments": made[what]()})
    return f"Action: I go on.\n<tool_call>\n{call}\n</tool_call>"


def w3c(what: str, value: Any) -> dict[str, Any] | None:
    if what == "tap":
        steps = [
            {"type": "pointerMove", "duration": 0, "x": value[0], "y": value[1], "origin": "viewport"},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        return {"actions": [{"type": "pointer", "id": "f", "actions": steps}]}
    if what not in ("type", "back"):
        return None
    keys = value if what == "type" else "\ue00c"
    pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
    return {"actions": [{"type": "key", "id": "k", "actions": pressed}]}


def mobile_mcp(what: str, value: Any) -> dict[str, Any] | None:
    made = {
        "tap": lambda: ("mobile_click_on_screen_at_coordinates", {"x": value[0], "y": value[1]}),
        "type": lambda: ("mobile_type_keys", {"text": value, "submit": False}),
        "back": lambda: ("mobile_press_button", {"button": "BACK"}),
    }
    if what not in made:
        return None
    name, arguments = made[what]()
    return {"name": name, "arguments": arguments}


def agent_device(what: str, value: Any) -> dict[str, Any] | None:
    made = {
        "tap": lambda: ("click", {"target": {"kind": "point", "x": value[0], "y": value[1]}}),
        "type": lambda: ("type", {"text": value}),
        "back": lambda: ("back", {}),
    }
    if what not in made:
        return None
    name, arguments = made[what]()
    return {"name": name, "arguments": arguments}


MAKERS: dict[str, Say] = {
    "anthropic_computer": _json(anthropic),
    "openai_computer": _json(openai),
    "androidworld": androidworld,
    "androidcontrol": _json(androidcontrol),
    "aitw": _json(aitw),
    "ui_tars": ui_tars,
    "autoglm": autoglm,
    "mobile_use": mobile_use,
    "w3c_actions": _json(w3c),
    "mobile_mcp": _json(mobile_mcp),
    "agent_device": _json(agent_device),
}


class Printing:
    """A model that knows the plan, sees the screen, and prints one dialect."""

    mode: Mode = "text"
    sees = False
    name = "printing"

    def __init__(self, w: World, say: Say) -> None:
        self._world = w
        self._say = say
        self._plan = list(PLAN)
        self.code = ""

    async def step(self, prompt: Prompt) -> Reply:
        del prompt
        while self._plan:
            what, value = self._plan.pop(0)
            said = self._say(what, self._value(what, value))
            if said is not None:  # a dialect without a word for it leaves it out
                return Reply("", None, said)
        return finished(self.code)

    def _value(self, what: str, value: str) -> Any:
        if what == "tap":
            return self._find(value).bounds.center
        if what == "answer":
            texts = " ".join(node.text or "" for node in self._nodes())
            found = re.search(r"code is (\d+)", texts)
            self.code = found[1] if found else ""
            return self.code
        return value

    def _nodes(self) -> list[Node]:
        seen = self._world.session.screens.last
        assert seen is not None
        return list(seen.screen.nodes)

    def _find(self, label: str) -> Node:
        named = [one for one in self._nodes() if label in (one.text, one.description, one.hint_text)]
        named = named or [one for one in self._nodes() if (one.text or "").startswith(label)]
        assert named, (label, " ".join(one.text or one.description or one.hint_text for one in self._nodes()))
        return named[-1]

    async def close(self) -> None:
        """Nothing is open."""


async def _solved(w: World, name: str) -> list[tuple[Any, ...]]:
    w.phone.receive_sms("+44 20 7946 0001", f"Your parcel code is {CODE}.")
    await w.session.wait(15_000)  # the notification has gone up again
    model = Printing(w, MAKERS[name])
    result = await run_task(
        w.session,
        Task.of("Make a contact, turn Wi-Fi off, read the code", None),
        model,
        clock=w.runtime.clock,
        terms=Terms(speech=Speech.of(name)),
    )
    assert result.outcome == "finished", (result.message, [one.told for one in result.steps])
    assert model.code == CODE
    people = [one["name"] for one in w.app_state("com.google.android.contacts")["contacts"]]
    assert "Ada Lovelace" in people
    assert w.phone.settings["global"]["wifi_on"] == "0"
    return _sequence(w)


def _sequence(w: World) -> list[tuple[Any, ...]]:
    """What touched the phone: kind, element, text or key; without ids, times and how it was named."""
    found = []
    for event in w.events():
        envelope = event.get("envelope") or {}
        if not envelope or envelope.get("semantic") in ("observation", "control"):
            continue
        resolved = (envelope.get("target") or {}).get("resolved") or {}
        found.append((envelope["action_type"], resolved.get("resource_id"), str(resolved.get("bounds"))))
    return found


@pytest.mark.slow
def test_every_dialect_solves_the_same_task_by_the_same_actions(tmp_path: Path) -> None:
    sequences: dict[str, list[tuple[Any, ...]]] = {}

    async def story(name: str) -> None:
        async with world(tmp_path / name, clock=FastClock(10)) as w:
            sequences[name] = await _solved(w, name)

    for name in MAKERS:
        play(story(name))
    first = sequences["androidcontrol"]
    assert [one[0] for one in first].count("tap") == 11
    assert {name: told for name, told in sequences.items() if told != first} == {}
