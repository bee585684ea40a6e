"""`handrail agent --tools computer` as a person runs it: the page's session, exit codes, going on later."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from packages.agent.tests.agent_world import SETTINGS
from packages.agent.tests.hosted import anthropic_wire
from packages.agent.tests.hosted.anthropic_wire import message, text, use
from packages.agent.tests.hosted.asking import KEY
from packages.agent.tests.hosted.makers import ANTHROPIC, MAKERS, Maker
from packages.agent.tests.hosted.server import Answer, Planned, serving

from handrail.errors import InvalidAction
from handrail_agent.command import agent
from tests.scenario.people import command
from tests.scenario.world import play_live

PAGE = Path(__file__).parents[4] / "docs" / "agent.md"
RULE = '[[rule]]\nname = "no saver"\nlabel = ["Battery Saver*"]\nverdict = "deny"\nwhy = "not today"\n'
both = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


async def ran(home: Path, maker: Maker, words: list[str], *plan: Planned) -> tuple[int, str, list[str]]:
    """Exit code, what was printed, and every request as text."""
    async with serving(*plan) as server:
        base = ["--base-url", server.url + maker.base]
        code, said = await command(home, "agent", *words, *base, "--sim")
        return code, said, [json.dumps(got.body, ensure_ascii=False) for got in server.got]


def clicked(says: str, x: int, y: int) -> Answer:
    block = {**use("left_click", {"coordinate": [x, y]}), "toolset_name": "computer"}
    return message(text(says), block)


def compared(session: str) -> list[str]:
    """Without what differs between two runs: the phone's address, the run's folder, tokens."""
    lines = [re.sub(r"  \[.*?\]$| on 127.*$", "", line) for line in session.splitlines()]
    return [line for line in lines if line and not re.match(r"report:|\d+ steps", line)]


@pytest.mark.slow
def test_the_session_of_the_page_is_a_real_one(tmp_path: Path) -> None:
    blocks = re.findall(
        r"```console\n(\$ handrail agent [^\n]* --tools computer)\n(.*?)```", PAGE.read_text(), re.S
    )
    [(said, shown)] = blocks
    task = re.findall(r'"(.*?)"', said)[0]
    (tmp_path / "config").mkdir(mode=0o700)
    (tmp_path / "config" / "policy.toml").write_text(RULE)
    plan = [
        message(text("I open the settings."), use("start_app", {"package": SETTINGS})),
        clicked("Battery is in the list.", 140, 868),
        clicked("The saver is here.", 620, 446),
        ANTHROPIC.says("The battery is at 84 %. A rule of yours forbids the battery saver."),
    ]
    words = [task, "--model", ANTHROPIC.spec, "--tools", "computer"]
    code, printed, _ = play_live(ran(tmp_path, ANTHROPIC, words, *plan))
    assert code == 0, printed
    assert compared(printed) == compared(shown)


@pytest.mark.slow
@both
def test_a_run_goes_on_with_the_same_tool(tmp_path: Path, maker: Maker) -> None:
    words = ["Open it", "--model", maker.spec, "--tools", "computer", "--max-steps", "1"]
    start = maker.call("start_app", {"package": SETTINGS})
    code, printed, _ = play_live(ran(tmp_path, maker, words, start))
    assert (code, "out of steps" in printed) == (1, True), printed
    run = re.findall(r"--resume (\S+)", printed)[0]
    code, printed, sent = play_live(
        ran(tmp_path, maker, ["--resume", run, "--max-steps", "5"], maker.says("It is open."))
    )
    assert (code, "finished: It is open." in printed) == (0, True), printed
    assert "1. Started com.android.settings" in sent[0]
    assert '"type": "computer' in sent[0]


@pytest.mark.slow
@both
def test_a_refusal_has_an_exit_code_of_its_own(tmp_path: Path, maker: Maker) -> None:
    words = ["Do harm", "--model", maker.spec, "--tools", "computer"]
    code, printed, sent = play_live(ran(tmp_path, maker, words, maker.refuses("I will not.")))
    assert (code, len(sent)) == (4, 1)
    assert "refused: The model refused: I will not." in printed


@pytest.mark.slow
def test_an_older_tool_is_said_in_one_line(tmp_path: Path) -> None:
    unknown = anthropic_wire.error(400, "invalid_request_error", "computer_toolset_20260801: unknown")
    words = ["Look", "--model", ANTHROPIC.spec, "--tools", "computer"]
    code, printed, _ = play_live(ran(tmp_path, ANTHROPIC, words, unknown, ANTHROPIC.says("Seen.")))
    assert code == 0
    assert printed.count("does not take computer_toolset_20260801; computer_20251124 is used.") == 1


@pytest.mark.parametrize("more", [["--text"], ["--no-see"], ["--stream"], ["--dialect", "ui_tars"]])
def test_options_that_do_not_go_together_are_bad_input(tmp_path: Path, more: list[str]) -> None:
    words = ["Do it", "--model", ANTHROPIC.spec, "--tools", "computer", "--sim", *more]
    said = CliRunner().invoke(agent, words, env={"HANDRAIL_HOME": str(tmp_path)})
    assert isinstance(said.exception, InvalidAction)
    assert said.exception.details["path"] == "tools"
