"""`handrail agent` as a person uses it: what it prints, what it leaves, how it ends, its windows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from handrail.cli.local_server import serve_local
from handrail.desk.desk import Desk
from handrail.errors import InvalidAction
from handrail_agent.command import agent
from tests.scenario.people import command
from tests.scenario.world import play_live, world

ASYNC_RUNNER = play_live

SCRIPT = [
    {"thought": "I open the settings", "action": {"type": "start_app", "package": "com.android.settings"}},
    {"finish": "Opened."},
]


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "script.yaml"
    file.write_text(yaml.safe_dump(SCRIPT))
    return f"scripted:{file}"


def run(home: Path, *words: str) -> Result:
    env = {"HANDRAIL_HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb")}
    return CliRunner().invoke(agent, words, env=env)


def test_a_run_prints_thoughts_outcomes_and_where_it_is_kept(tmp_path: Path, model: str) -> None:
    said = run(
        tmp_path, "Open the settings", "--model", model, "--sim", "--until", "app: com.android.settings"
    )
    assert said.exit_code == 0, said.output
    assert "  1. I open the settings\n     ✓ Started com.android.settings: verified" in said.output
    assert "finished: Opened." in said.output
    [folder] = (tmp_path / "runs").iterdir()
    assert f"report: {folder / 'report.html'}" in said.output
    assert json.loads((folder / "task.json").read_text())["until"] == {"app": "com.android.settings"}


def test_a_run_that_reaches_a_limit_says_which_one_to_raise(tmp_path: Path, model: str) -> None:
    said = run(tmp_path, "Open", "--model", model, "--sim", "--max-steps", "1", "--json")
    assert said.exit_code == 1
    first, last = map(json.loads, said.output.splitlines())
    assert first["step"]["outcome"] == "verified"
    assert last["result"]["outcome"] == "out_of_steps"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "Give a task or --resume"),
        (("Do it", "--resume", "agent-1"), "Give a task or --resume"),
        (("Do it", "--sim"), "No model was named"),
        (("Do it", "--sim", "--model", "telepathy:1"), "is not a model"),
        (("Do it", "--sim", "--model", "nothing", "--until", '{"colour": 1}'), "until"),
        (("--resume", "agent-of-nobody"), "is not the folder of a run"),
    ],
)
def test_bad_input_is_told_before_a_phone_is_opened(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    said = run(tmp_path, *words)
    assert isinstance(said.exception, InvalidAction)
    assert why in said.exception.message


def test_without_a_server_the_run_goes_on_and_says_that_nobody_sees_it(tmp_path: Path, model: str) -> None:
    said = run(tmp_path, "Open the settings", "--model", model, "--sim", "--desk")
    assert said.exit_code == 0, said.output
    assert "Not shown on a desk: There is no desk" in said.output


@pytest.mark.slow
async def test_the_result_is_a_window_on_the_desk_of_a_running_server(tmp_path: Path, model: str) -> None:
    async with world(tmp_path / "home") as w:
        desk = await Desk.open(w.runtime.store, w.runtime.clock)
        w.runtime.attach_desk(desk)
        async with serve_local(w.runtime, "desk"):
            words = ("Open the settings", "--model", model, "--device", w.serial, "--desk")
            code, said = await command(w.home, "agent", *words)
        assert code == 0, said
        [window] = desk.snapshot()["windows"].values()
        assert window["title"] == "Finished: Opened."
        assert [row[3] for row in window["content"]["data"]["rows"]] == ["verified", "verified"]
        await desk.close()
