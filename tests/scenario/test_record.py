"""What somebody did once is done again: recordings as flows, replayed on a phone with moods."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from handrail.engine.session import Session
from handrail.flow.document import load, loads
from handrail.flow.recording import Recording, ended_actions
from handrail.flow.run import FlowRunner
from handrail.protocol.device import PressKey, Tap, TypeText
from handrail.protocol.flow import Step
from tests.scenario.world import FastClock, World, on_both_phones, play, play_live, world
from tests.unit.cli.command import Handrail, handrail

ASYNC_RUNNER = play_live

__all__ = ["handrail"]
CONTACTS = "com.google.android.contacts"
EXAMPLES = Path(__file__).parents[2] / "examples" / "flows"
REPLAYS = 20
TYPING = """
[[rule]]
name = "typing"
action = "type_text"
verdict = "allow"
"""


async def make_contact(session: Session, first: str = "Ada") -> None:
    """As an agent does it: refs, a point, a slip, and looks in between."""
    assert (await session.start_app(CONTACTS)).success
    assert (await session.tap("Create new contact")).success
    field = next(node for node in session.screens.registry.screen.nodes if node.id_tail == "first")
    assert (await session.tap({"ref": session.screens.registry.ref_of(field)})).success
    assert (await session.type_text(first[:2])).success
    assert (await session.type_text(first[2:])).success
    assert not (await session.tap("No such thing")).success
    assert (await session.type_text("Marrow", target={"id": "last"})).success
    assert (await session.get_ui_tree()).success
    save = next(
        node for node in session.screens.registry.screen.nodes if "Save" in (node.text, node.description)
    )
    assert (await session.tap({"x": save.center.x, "y": save.center.y})).success
    assert (await session.press_key("back")).success


def told(stage: World) -> Recording:
    recording = Recording()
    for _, shown in ended_actions(stage.runtime.journal, device=stage.serial):
        recording.add_action(shown)
    return recording


def names(stage: World) -> list[str]:
    return [one["name"] for one in stage.app_state(CONTACTS)["contacts"]]


def actions(text: str) -> list[object]:
    """Without the waits, of which a slow machine needs more."""
    steps = [step.action for step in loads(text).flow.steps if isinstance(step, Step)]
    return [action for action in steps if action.type != "wait_for"]


@on_both_phones
def test_a_session_becomes_a_flow_without_refs_points_slips_and_looks(tmp_path: Path) -> None:
    async def story() -> str:
        async with world(tmp_path, clock=FastClock()) as stage:
            await make_contact(stage.session)
            return told(stage).text("Contact")

    text = play(story())
    assert loads(text).flow.app == CONTACTS
    kinds = [(action.type, str(getattr(action, "text", ""))) for action in actions(text)]  # type: ignore[attr-defined]
    assert kinds == [
        ("tap", ""),
        ("type_text", "Ada"),
        ("type_text", "Marrow"),
        ("tap", ""),
        ("press_key", ""),
    ]
    assert "ref" not in text
    assert "x:" not in text


@on_both_phones
def test_every_navigation_proves_itself_by_something_new(tmp_path: Path) -> None:
    async def story() -> str:
        async with world(tmp_path, clock=FastClock()) as stage:
            await make_contact(stage.session)
            return told(stage).text("Contact")

    opens, _, _, saves, leaves = actions(play(story()))
    assert isinstance(opens, Tap)
    assert isinstance(saves, Tap)
    assert isinstance(leaves, PressKey)
    assert all(one.expect is not None for one in (opens, saves, leaves))
    assert saves.expect.to_dict() == {"visible": {"text": "Ada Marrow"}}


@on_both_phones
@pytest.mark.slow
async def test_a_recording_replays_green_twenty_times_in_a_row_with_random_latency(tmp_path: Path) -> None:
    clock = FastClock(20)
    async with world(tmp_path, clock=clock) as stage:
        stage.phone.snapshot("before")
        await make_contact(stage.session)
        file = tmp_path / "contact.yaml"
        file.write_text(told(stage).text("Contact"))
        stage.phone.faults.add("latency", ms=20, jitter_ms=20)
        stage.phone.faults.add("latency", command="uiautomator", ms=100, jitter_ms=100)
        runner = FlowRunner({"phone": stage.session}, clock)
        for round_ in range(REPLAYS):
            stage.phone.restore("before")
            assert not any("Marrow" in name for name in names(stage))
            record = await runner.run(load(file))
            assert record.outcome == "passed", (round_, record.error)
            assert "Ada Marrow" in names(stage)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["loading", "long_list", "react_lab", "shop"])
async def test_what_an_example_does_can_be_recorded_and_done_again(tmp_path: Path, name: str) -> None:
    """Late buttons, long lists, frameworks without ids: a flow stands for a person who knows the app."""
    clock = FastClock()
    async with world(tmp_path, clock=clock) as stage:
        stage.phone.snapshot("before")
        runner = FlowRunner({"phone": stage.session}, clock)
        first = await runner.run(load(EXAMPLES / f"{name}.yaml"))
        assert first.outcome == "passed", first.error
        text = told(stage).text("Again")
        stage.phone.restore("before")
        again = await runner.run(loads(text))
        assert again.outcome == "passed", (again.error, text)


@on_both_phones
def test_a_password_is_recorded_as_a_secret_to_be_made(tmp_path: Path) -> None:
    async def story() -> tuple[str, str]:
        async with world(tmp_path, clock=FastClock(), policy=TYPING) as stage:
            await stage.open("com.handrail.bank")
            pin = next(node for node in stage.session.screens.registry.screen.nodes if node.password)
            await stage.session.type_text("2468", target={"id": pin.id_tail})
            return told(stage).text("Log in"), pin.id_tail

    text, tail = play(story())
    assert "2468" not in text
    typed = actions(text)[0]
    assert isinstance(typed, TypeText)
    assert typed.text == f"${{secret:{tail.upper()}}}"


@on_both_phones
def test_the_journal_of_a_session_is_exported_as_a_flow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handrail: Handrail
) -> None:
    async def story() -> None:
        async with world(tmp_path, clock=FastClock()) as stage:
            await make_contact(stage.session)

    play(story())
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    done = handrail("journal", "export", "--flow", "--name", "From the journal")
    assert done.code == 0
    assert loads(done.out).flow.name == "From the journal"
    assert len(actions(done.out)) == 5
    later = handrail("journal", "export", "--flow", "--since", "2100-01-01T00:00")
    assert later.code == 2
    assert "nothing was recorded" in later.err


@on_both_phones
def test_a_flow_of_two_phones_has_to_be_asked_for_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handrail: Handrail
) -> None:
    async def story() -> None:
        for _ in range(2):
            async with world(tmp_path, clock=FastClock()) as stage:
                await stage.open(CONTACTS)

    play(story())
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    done = handrail("journal", "export", "--flow")
    assert done.code == 2
    assert "--device" in done.err


@on_both_phones
def test_the_command_records_what_other_processes_do_until_it_is_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "made.yaml"

    async def story() -> tuple[int | None, str]:
        async with world(tmp_path / "home", clock=FastClock()) as stage:
            command = [sys.executable, "-m", "handrail.cli.main", "record", str(out)]
            env = {**os.environ, "HANDRAIL_HOME": str(stage.home)}
            recorder = await asyncio.create_subprocess_exec(
                *command, "--device", stage.serial, env=env, stderr=asyncio.subprocess.PIPE
            )
            said = [(await recorder.stderr.readline()).decode()]
            await make_contact(stage.session)
            while "press_key" not in said[-1]:
                said.append((await recorder.stderr.readline()).decode())
            recorder.send_signal(signal.SIGINT)
            said.append((await recorder.stderr.read()).decode())
            return await recorder.wait(), "".join(said)

    code, said = play(story())
    assert code == 0
    assert "type_text" in said
    assert f"steps in {out}" in said
    assert loads(out.read_text()).flow.app == CONTACTS


def test_a_file_that_is_there_is_not_overwritten_unless_forced(tmp_path: Path, handrail: Handrail) -> None:
    out = tmp_path / "made.yaml"
    out.write_text("name: Mine\n")
    done = handrail("record", str(out), "--device", "127.0.0.1:1")
    assert done.code == 2
    assert "--force" in done.err
    assert out.read_text() == "name: Mine\n"
