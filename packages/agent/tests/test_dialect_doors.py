"""Dialects of an agent's model: named by its script or on the command line, read from what it prints."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from packages.agent.tests.agent_world import Scripted
from PIL import Image

from handrail.errors import InvalidAction
from handrail_agent.command import agent
from handrail_agent.computer import Speech
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import Reply, finished
from handrail_agent.models import read_script
from handrail_agent.task import Task
from tests.scenario.world import FastClock, play, world

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"


def _agent(home: Path, *words: str) -> Any:
    env = {"HANDRAIL_HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb")}
    return CliRunner().invoke(agent, words, env=env)


def test_an_agent_speaks_the_dialect_that_its_script_names(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    steps = [
        '<think>I open it</think><answer>do(action="Launch", app="通讯录")</answer>',
        '<answer>finish(message="Opened.")</answer>',
    ]
    script.write_text(yaml.safe_dump({"dialect": "autoglm", "steps": steps}, allow_unicode=True))
    said = _agent(
        tmp_path, "Open it", "--model", f"scripted:{script}", "--sim", "--until", f"app: {CONTACTS}"
    )
    assert said.exit_code == 0, said.output
    assert "I open it" in said.output
    assert "finished: Opened." in said.output


def test_a_dialect_of_the_command_line_reads_what_the_model_prints(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    steps = [{"raw": "Action: open_app(app_name='Clock')"}, {"raw": "Action: finished(content='Done.')"}]
    script.write_text(yaml.safe_dump(steps))
    words = ("Open it", "--model", f"scripted:{script}", "--dialect", "ui_tars", "--sim", "--json")
    said = _agent(tmp_path, *words)
    assert said.exit_code == 0, said.output
    assert "Done." in said.output.strip().splitlines()[-1]


def test_a_model_that_gives_up_has_not_finished(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    step = {"action_type": "status", "goal_status": "infeasible"}
    script.write_text(yaml.safe_dump({"dialect": "androidworld", "steps": [step]}))
    said = _agent(tmp_path, "Fly", "--model", f"scripted:{script}", "--sim")
    assert said.exit_code == 1, said.output


def test_openpockets_json_is_a_step_of_a_script() -> None:
    [tap, key] = read_script(
        json.dumps(
            [
                {"type": "tap", "x": 540, "y": 750},
                {"thought": "t", "action": {"type": "keyevent", "keycode": "KEYCODE_BACK"}},
            ]
        )
    )
    assert tap.action is not None
    assert tap.action["target"] == {"x": 540, "y": 750}
    assert key.action is not None
    assert key.action["type"] == "press_key"
    with pytest.raises(InvalidAction):
        read_script(json.dumps([{"type": "tap", "x": "left"}]))
    with pytest.raises(InvalidAction):
        read_script(json.dumps({"dialect": "klingon", "steps": ["x"]}))


async def test_a_model_that_sees_gets_the_picture_that_its_numbers_are_about(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w:
        model = Scripted(
            Reply("", None, '{"action": "left_click", "coordinate": [353, 784]}'),
            Reply("", None, "that is no action"),
            Reply("", None, '{"action": "mouse_move", "coordinate": [1, 2]}'),
            finished("Done."),
        )
        model.sees = True
        result = await run_task(
            w.session,
            Task.of("Tap", None),
            model,
            clock=w.runtime.clock,
            terms=Terms(speech=Speech.of("anthropic_computer")),
        )
        assert result.outcome == "finished", result.message
        image = model.prompts[0].turns[-1].image
        assert image is not None
        assert Image.open(io.BytesIO(image)).size == (706, 1568)
        assert (540, 1200) in [(one["x"], one["y"]) for one in w.inputs()]
        assert "action: is required" in model.shown[2]
        assert "a phone has no pointer" in model.shown[3]
        assert not model.prompts[0].tools
