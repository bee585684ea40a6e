"""A run from its first look to its folder: stopped, taken over, shown, kept, and several at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests.agent_world import SETTINGS, Scripted, Silent, fingers, finish, start, tap, work

from handrail.errors import ModelUnavailable
from handrail.protocol.content import is_table_content_data
from handrail.safety.caller import Caller
from handrail.safety.leases import Holder, StopRequests
from handrail_agent.budget import Budget
from handrail_agent.console import result_table
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import Prompt, Reply
from handrail_agent.run_data import RunFolder, RunProgress
from handrail_agent.task import Task
from handrail_sim.clock import ManualClock
from tests.scenario.people import BANK, asked, found_in
from tests.scenario.world import FastClock, World, play, until, world

ASYNC_RUNNER = play

WAIT = {"type": "wait", "duration_ms": 600_000}


def journal_ids(w: World, run: str) -> list[str]:
    """Every action of the run, in the order in which they began."""
    return [
        event["action_id"]
        for event in w.events()
        if event["kind"] == "accepted" and event.get("actor", {}).get("id") == run
    ]


def folder_ids(folder: Path) -> list[str]:
    return [id_ for step in RunFolder(folder).steps() for id_ in step.action_ids]


async def test_a_run_leaves_a_folder_that_says_what_the_journal_says(tmp_path: Path) -> None:
    async with world(tmp_path / "home", clock=FastClock()) as w:
        folder = tmp_path / "runs" / "agent-1"
        model = Scripted(start(), tap("Display"), tap("No such thing"), finish("Seen."))
        result = await work(w, model, "Look at the display", folder=folder)
        assert result.success
        assert folder_ids(folder) == journal_ids(w, "agent-1")
        task = json.loads((folder / "task.json").read_text())
        assert task["task"] == "Look at the display"
        lines = [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]
        assert [line["number"] for line in lines] == [1, 2, 3, 4]
        assert [line["outcome"] for line in lines] == ["verified", "changed", "failed", "verified"]
        assert lines[2]["code"] == "ELEMENT_NOT_FOUND"
        assert (folder / lines[0]["picture"]).read_bytes().startswith(b"\x89PNG")
        page = (folder / "report.html").read_text()
        assert page.count("<li ") == 4
        assert page.count("data:image/png;base64,") == 4
        assert "<script" not in page
        assert "://" not in page  # pictures are in it, as base64, which may spell anything else


@pytest.mark.parametrize("moment", ["thinking", "acting"])
async def test_a_stop_ends_the_run_at_once_and_is_written_down(tmp_path: Path, moment: str) -> None:
    async with world(tmp_path / "home") as w:
        folder, stop, reached = tmp_path / "agent-2", asyncio.Event(), asyncio.Event()

        def tell(progress: RunProgress) -> None:
            if progress.phase == moment and progress.number == 2:
                reached.set()

        model = _ThenSilent() if moment == "thinking" else Scripted(start(), WAIT)
        terms = Terms(stop=stop, tell=tell, pictures=False)
        running = asyncio.create_task(work(w, model, folder=folder, terms=terms))
        await reached.wait()
        if moment == "acting":
            await until(lambda: any("wait_" in one for one in journal_ids(w, "agent-2")))
        stop.set()
        result = await running
        assert result.outcome == "stopped"
        assert result.steps[-1].outcome == "unfinished"
        assert folder_ids(folder) == journal_ids(w, "agent-2")
        assert (folder / "report.html").exists()


class _ThenSilent(Silent):
    """One action, then it thinks for ever."""

    async def step(self, prompt: Prompt) -> Reply:
        return Reply("", start(), "") if prompt.step == 1 else await super().step(prompt)


async def test_a_stop_by_another_process_is_heard_while_the_model_thinks(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        model = Silent()
        running = asyncio.create_task(work(w, model))
        await model.asked.wait()
        lena = Caller("lena", "person")
        await StopRequests(w.runtime.store).ask(w.serial, lena, w.runtime.clock.now_ms())
        assert (await running).outcome == "stopped"


async def test_time_runs_out_also_in_the_middle_of_an_action(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        clock, budget, folder = ManualClock(), Budget(seconds=20), tmp_path / "agent-8"
        terms, task = Terms(pictures=False), Task.of("Wait")
        running = asyncio.create_task(
            run_task(w.session, task, Scripted(WAIT), clock=clock, budget=budget, folder=folder, terms=terms)
        )
        await until(lambda: any(one.startswith("wait_") for one in journal_ids(w, "agent-8")))
        await clock.advance(20_000)
        assert (await running).outcome == "out_of_time"
        assert folder_ids(folder) == journal_ids(w, "agent-8")
        ends = [event for event in w.events() if event.get("envelope", {}).get("action_type") == "wait"]
        assert [event["envelope"]["failure_code"] for event in ends] == ["CANCELLED"]


def test_a_model_that_is_gone_ends_the_run_with_its_code(tmp_path: Path) -> None:
    class Gone(Scripted):
        async def step(self, prompt: Prompt) -> Reply:
            raise ModelUnavailable(f"Nobody answers at step {prompt.step}")

    async def story() -> None:
        async with world(tmp_path / "home", clock=FastClock()) as w:
            folder = tmp_path / "agent-3"
            result = await work(w, Gone(finish()), folder=folder, terms=Terms(pictures=False))
            assert (result.outcome, result.code) == ("failed", "MODEL_UNAVAILABLE")
            assert "Nobody answers" in result.message
            assert folder_ids(folder) == journal_ids(w, "agent-3")

    play(story())


async def test_the_run_waits_while_a_person_has_the_phone_and_looks_again_afterwards(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        await w.open(SETTINGS)
        phases: list[str] = []
        model = Scripted(tap("Display"), tap("Storage"), finish())
        person = Holder("lena", "person", label="lena", door="cli")
        await w.runtime.leases.take_over(w.serial, person)
        terms = Terms(tell=lambda progress: phases.append(progress.phase))
        running = asyncio.create_task(work(w, model, terms=terms))
        await until(lambda: "waiting" in phases)
        assert fingers(w) == []
        await w.runtime.leases.hand_back(w.serial)
        result = await running
        assert result.success, result
        assert [step.code for step in result.steps] == ["DEVICE_BUSY", None, None]
        assert len(fingers(w)) == 1  # what was chosen before was not done after the hand-back


async def test_a_stop_while_a_person_has_the_phone_writes_nothing_twice(tmp_path: Path) -> None:
    async with world(tmp_path / "home", clock=FastClock()) as w:
        await w.open(SETTINGS)
        folder, stop, waits = tmp_path / "agent-6", asyncio.Event(), asyncio.Event()

        def tell(progress: RunProgress) -> None:
            if progress.phase == "waiting":
                waits.set()

        await w.runtime.leases.take_over(w.serial, Holder("lena", "person", label="lena", door="cli"))
        terms = Terms(stop=stop, tell=tell, pictures=False)
        running = asyncio.create_task(work(w, Scripted(tap("Display")), folder=folder, terms=terms))
        await waits.wait()
        stop.set()
        assert (await running).outcome == "stopped"
        assert folder_ids(folder) == journal_ids(w, "agent-6")


def test_asking_for_information_brings_a_placeholder_that_can_be_typed(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path / "home", clock=FastClock()) as w:
            folder, secret = tmp_path / "home" / "runs" / "agent-4", "correct horse battery"

            def type_it(prompt: Prompt) -> dict[str, Any]:
                place = prompt.turns[0].text.split('answered "')[1].split('"')[0]
                assert place.startswith("${secret:")
                return {"type": "type_text", "target": {"id": "password"}, "text": place}

            w.phone.start_activity(BANK)
            question = {"type": "request_human_auth", "instruction": "What is the password?"}
            model = Scripted(question, type_it, finish())
            running = asyncio.create_task(work(w, model, folder=folder))
            [one] = await asked(w)
            await w.runtime.approvals.answer(one.id, True, "lena", data=secret)
            result = await running
            assert result.success, result
            assert result.steps[1].outcome == "verified", result.steps[1]
            assert found_in(tmp_path, secret) == []
            assert result.steps[2].picture is None  # it would show how long the password is
            assert all(secret not in turn.text for prompt in model.prompts for turn in prompt.turns)

    play(story())


async def test_the_answer_to_a_plain_question_is_read_by_the_model(tmp_path: Path) -> None:
    async with world(tmp_path / "home", clock=FastClock()) as w:
        question = {"type": "request_human_auth", "instruction": "Which of them, Ada or Ben?"}
        model = Scripted(question, finish())
        running = asyncio.create_task(work(w, model))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, True, "lena", data="The younger one, Ben.")
        assert (await running).success
        assert 'answered "The younger one, Ben."' in model.prompts[1].turns[0].text


@pytest.mark.parametrize(
    "question",
    [
        *({"capability": one} for one in ("sms", "2fa", "oauth", "payment", "biometric")),
        {"instruction": "What is the code of the door?"},
        {"capability": "unknown", "instruction": "Please answer.", "reason": "I need the password"},
    ],
    ids=str,
)
async def test_a_secret_that_a_person_gives_is_in_no_text_no_journal_and_no_report(
    tmp_path: Path, question: dict[str, Any]
) -> None:
    async with world(tmp_path / "home", clock=FastClock()) as w:
        secret = "correct horse battery"
        asking = {"type": "request_human_auth", "instruction": "Which one?", **question}
        model = Scripted(asking, finish())
        running = asyncio.create_task(work(w, model, folder=tmp_path / "agent-7"))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, True, "lena", data=secret)
        assert (await running).success
        assert "${secret:" in model.prompts[1].turns[0].text
        assert all(secret not in turn.text for prompt in model.prompts for turn in prompt.turns)
        assert (tmp_path / "agent-7" / "report.html").exists()
    assert found_in(tmp_path, secret) == []


async def test_a_known_secret_in_the_answer_to_a_plain_question_stays_one(tmp_path: Path) -> None:
    secret = "correct horse battery"
    env = {"HANDRAIL_SECRET_BANK": secret}
    async with world(tmp_path / "home", clock=FastClock(), env=env) as w:
        model = Scripted({"type": "request_human_auth", "instruction": "Which one?"}, finish())
        running = asyncio.create_task(work(w, model, folder=tmp_path / "agent-8"))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, True, "lena", data=f"It is {secret}.")
        assert (await running).success
        assert all(secret not in turn.text for prompt in model.prompts for turn in prompt.turns)
    assert found_in(tmp_path, secret) == []


async def test_a_password_that_a_model_types_in_plain_is_not_written_into_the_folder(tmp_path: Path) -> None:
    policy = '[[rule]]\nname = "typing"\naction = ["type_text"]\nverdict = "allow"\n'
    async with world(tmp_path / "home", clock=FastClock(), policy=policy) as w:
        folder, password = tmp_path / "agent-5", "hunter2hunter2"
        w.phone.start_activity(BANK)
        typing = {"type": "type_text", "target": {"id": "password"}, "text": password}
        model = Scripted({**typing, "thought": f"I type {password}."}, finish())
        result = await work(w, model, folder=folder, terms=Terms(pictures=False))
        assert result.steps[0].outcome == "verified", result.steps[0]
        assert found_in(tmp_path, password) == []


def test_several_runs_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def one(home: Path) -> list[Any]:
        async with world(home, clock=FastClock()) as w:
            model = Scripted(start(), tap("Display"), {"type": "press_key", "key": "back"}, finish())
            result = await work(w, model)
            return [(step.outcome, step.told, step.fingerprint) for step in result.steps]

    async def story() -> None:
        first, other = await asyncio.gather(*(one(tmp_path / str(number)) for number in range(2)))
        assert len(first) == 4
        assert other == first

    play(story())


def test_tools_and_pictures_are_given_to_models_that_can_use_them(tmp_path: Path) -> None:
    class Seeing(Scripted):
        mode = "tools"
        sees = True

    async def story() -> None:
        async with world(tmp_path, clock=FastClock()) as w:
            model = Seeing(start(), finish())
            await work(w, model)
            [first, _] = model.prompts
            assert {"tap", "finish"} <= {tool["name"] for tool in first.tools}
            assert (first.turns[0].image or b"").startswith(b"\x89PNG")
            assert "its picture is attached" in first.turns[0].text
            blind = Scripted(finish())
            await work(w, blind)
            assert blind.prompts[0].turns[0].image is None
            assert '{"thought"' in blind.prompts[0].system

    play(story())


async def test_the_result_table_is_what_a_window_can_show(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        result = await work(w, Scripted(start(), finish()))
        table = result_table(result)
        assert is_table_content_data(table)
        assert table["rows"][1][2] == 'Finished: "Done."'


async def test_what_was_odd_about_an_answer_that_was_run_is_told_with_the_next_question(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        odd = Reply("", start(), "", problem="2 tools were called; only the first was taken.")
        model = Scripted(odd, tap("Display"), finish())
        await work(w, model)
        told = ["only the first was taken" in text for text in model.shown]
        assert told == [False, True, False]


async def test_a_call_that_is_cut_off_has_cost_what_was_sent(tmp_path: Path) -> None:
    async with world(tmp_path / "home", clock=FastClock()) as w:
        folder, model, stop = tmp_path / "agent-9", _ThenSilent(), asyncio.Event()
        terms = Terms(stop=stop, pictures=False)
        running = asyncio.create_task(work(w, model, folder=folder, terms=terms))
        await model.asked.wait()
        stop.set()
        result = await running
        first, cut = RunFolder(folder).steps()
        assert (result.outcome, first.asks, cut.asks) == ("stopped", 1, 1)
        assert result.spend.calls == 2
        sent = sum(len(turn.text) for turn in model.prompts[-1].turns) + len(model.prompts[-1].system)
        assert cut.input_tokens >= sent // 5
        assert result.spend.input_tokens == first.input_tokens + cut.input_tokens


def test_a_call_that_fails_is_counted(tmp_path: Path) -> None:
    class Away(Scripted):
        async def step(self, prompt: Prompt) -> Reply:
            raise ModelUnavailable("It is away")

    async def story() -> None:
        async with world(tmp_path / "home", clock=FastClock()) as w:
            result = await work(w, Away({}))
            assert (result.outcome, result.spend.calls) == ("failed", 1)

    play(story())
