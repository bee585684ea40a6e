"""Whole runs by the makers' own computer tools: a simulated phone, the loop and a server of each protocol.

What was done is judged by the phone's own touches and state.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests.agent_world import SETTINGS, fingers
from packages.agent.tests.hosted import anthropic_wire
from packages.agent.tests.hosted.asking import ENV
from packages.agent.tests.hosted.makers import ANTHROPIC, MAKERS, OPENAI, Act, Maker, click, middle, types
from packages.agent.tests.hosted.openai_wire import error
from packages.agent.tests.hosted.responses_wire import REASONING, computer, response
from packages.agent.tests.hosted.server import Answer, Got, Planned, Server, serving

import handrail_agent.computer
from handrail.errors import ModelRefused
from handrail_agent.budget import DEFAULT, Budget
from handrail_agent.computer import NOT_DONE, RULES, ComputerSpeech
from handrail_agent.loop import Terms, run_task
from handrail_agent.models import open_model
from handrail_agent.run_data import RunFolder, RunProgress, RunResult, silent
from handrail_agent.task import Task
from handrail_sim.phone import Phone
from tests.scenario.people import asked
from tests.scenario.world import FastClock, World, play_live, world

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow

both = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
NO_DISPLAY = '[[rule]]\nname = "no"\nlabel = ["Display*"]\nverdict = "deny"\nwhy = "not today"\n'
ALLOW = '[[rule]]\nname = "yes"\naction = ["type_text"]\nverdict = "allow"\n'
CHECK = {"id": "cu_sc_1", "code": "malicious_instructions", "message": "The page tells the model what to do."}


def place(w: World, label: str) -> tuple[float, float]:
    """The middle of a text on the phone, in pixels of its screen."""
    w.phone.catch_up()
    views = [view for window in w.phone.windows() for view in window.views()]
    view = next(view for view in views if view.text == label)
    return view.x + view.w / 2, view.y + view.h / 2


def shown_at(w: World, maker: Maker, got: Got, label: str) -> Act:
    """A click on a text where the newest picture of the request has it."""
    x, y = place(w, label)
    width, height = maker.sizes(got)[-1]
    return click(x * width / w.phone.display.width, y * height / w.phone.display.height)


def clicks(w: World, maker: Maker, *labels: str, **more: Any) -> Callable[[Got], Answer]:
    """One answer that clicks these one after another, as if all were on the screen that it was shown."""
    return lambda got: maker.acts(*(shown_at(w, maker, got, label) for label in labels), **more)


async def run(
    w: World, server: Server, maker: Maker, task: Task, *, folder: Path | None = None,
    budget: Budget = DEFAULT, tell: Callable[[RunProgress], None] = silent, **more: Any,
) -> RunResult:  # fmt: skip
    clock = FastClock()
    base = server.url + maker.base
    model = open_model(maker.spec, env=ENV, clock=clock, base_url=base, tools="computer")
    terms = Terms(tell=tell, speech=ComputerSpeech.of_maker(model.dialect), pictures=False, **more)  # type: ignore[attr-defined]
    try:
        return await run_task(w.session, task, model, clock=clock, budget=budget, folder=folder, terms=terms)
    finally:
        await model.close()


def story(
    tmp_path: Path,
    maker: Maker,
    plan: Callable[[World], list[Planned]],
    then: Callable[[World, Server, RunResult], Any],
    *,
    opens: str | None = SETTINGS,
    task: Task = Task.of("Do it."),  # noqa: B008  (a value)
    policy: str | None = None,
    phone: Callable[[FastClock], Phone] | None = None,
    **more: Any,
) -> None:
    async def told() -> None:
        clock = FastClock()
        made = (phone or small)(clock)
        async with world(tmp_path / "home", clock=clock, policy=policy, phone=made) as w:
            if opens:
                await w.open(opens)
            w.phone.input_log.clear()
            async with serving(*plan(w)) as server:
                then(w, server, await run(w, server, maker, task, **more))

    play_live(told())


def small(clock: FastClock) -> Phone:
    """Its pictures are sent as they are: the quickest phone to look at."""
    return Phone(clock=clock, width=540, height=1200, density=210)


def touched(w: World) -> list[tuple[float, float]]:
    return [(one["x"], one["y"]) for one in fingers(w)]


@both
def test_a_task_is_done_by_the_makers_own_tool(tmp_path: Path, maker: Maker) -> None:
    folder = tmp_path / "runs" / "agent-1"

    at: list[tuple[float, float]] = []

    def plan(w: World) -> list[Planned]:
        def second(got: Got) -> Answer:
            at.append(place(w, "Display"))
            return clicks(w, maker, "Display")(got)

        return [
            maker.call("start_app", {"package": SETTINGS, "reason": "the settings are there"}),
            second,
            maker.says("The display settings are open."),
        ]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert (result.outcome, result.message) == ("finished", "The display settings are open.")
        assert [step.kind for step in RunFolder(folder).steps()] == ["start_app", "tap", "finish"]
        assert touched(w) == [pytest.approx(at[0], abs=1)]
        assert [got.path for got in server.got] == [maker.path] * 3
        assert result.spend.calls == 3
        assert result.spend.tokens == {"anthropic": 3 * 940, "openai": 3 * 750}[maker.name]
        ids = {id_ for step in RunFolder(folder).steps() for id_ in step.action_ids}
        run_ids = {e["action_id"] for e in w.events() if e.get("actor", {}).get("id") == "agent-1"}
        assert ids == run_ids

    story(
        tmp_path, maker, plan, then, opens=None, folder=folder, task=Task.of("Open it.", "Brightness level")
    )


@both
def test_the_display_is_as_large_as_the_picture_that_is_sent(tmp_path: Path, maker: Maker) -> None:
    older = error(400, "tool type 'computer' is not supported by this model")
    spec = {"anthropic": ANTHROPIC.spec, "openai": "openai:computer-use-preview"}[maker.name]
    named = Maker(**{**vars(maker), "spec": spec})
    plans: list[Planned] = [older, maker.says("Done.")] if maker is ANTHROPIC else [maker.says("Done.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        tool = server.got[-1].body["tools"][0]
        [size] = maker.sizes(server.got[-1])
        told = {name: value for name, value in tool.items() if name.startswith("display")}
        assert sorted(told.values()) == sorted(size)
        assert result.outcome == "finished"

    story(tmp_path, named, lambda w: plans, then)


@both
def test_a_batch_is_done_in_order(tmp_path: Path, maker: Maker) -> None:
    def plan(w: World) -> list[Planned]:
        def first(got: Got) -> Answer:
            return maker.acts(shown_at(w, maker, got, "Search settings"), types("Wallpaper"))

        return [first, maker.says("Typed.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [step.kind for step in result.steps] == ["tap", "type_text", "finish"]
        assert len(touched(w)) >= 1
        assert any(view.text == "Wallpaper" for window in w.phone.windows() for view in window.views())
        assert len(server.got) == 2

    story(tmp_path, maker, plan, then)


@both
def test_a_batch_ends_at_what_policy_forbids_and_the_rest_is_told_as_not_done(
    tmp_path: Path, maker: Maker
) -> None:
    def plan(w: World) -> list[Planned]:
        return [clicks(w, maker, "Settings", "Display", "Battery"), maker.says("Then not.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [step.outcome for step in result.steps[:2]] == ["unchanged", "refused"]
        assert len(touched(w)) == 1
        told = "\n".join(maker.told(server.got[-1]))
        assert "ACTION_REJECTED" in told
        assert NOT_DONE in told
        if maker is ANTHROPIC:
            results = [
                block for block in server.got[-1].body["messages"][-1]["content"] if "tool_use_id" in block
            ]
            assert [bool(block.get("is_error")) for block in results] == [False, True, True]
            assert [block["tool_use_id"] for block in results] == ["toolu_0", "toolu_1", "toolu_2"]
            assert {block["toolset_name"] for block in results} == {"computer"}

    story(tmp_path, maker, plan, then, policy=NO_DISPLAY)


@both
def test_a_batch_ends_at_what_a_phone_can_not_do(tmp_path: Path, maker: Maker) -> None:
    def plan(w: World) -> list[Planned]:
        def first(got: Got) -> Answer:
            one, other = (shown_at(w, maker, got, label) for label in ("Settings", "Battery"))
            return maker.acts(one, middle(9, 9), other)

        return [first, maker.says("Then not.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [step.kind for step in result.steps] == ["tap", "finish"]
        assert len(touched(w)) == 1
        assert "a phone has no" in "\n".join(maker.told(server.got[-1]))

    story(tmp_path, maker, plan, then)


@both
def test_a_batch_ends_when_the_screen_is_turned(tmp_path: Path, maker: Maker) -> None:
    turned: list[World] = []

    def plan(w: World) -> list[Planned]:
        turned.append(w)
        return [clicks(w, maker, "Settings", "Battery"), maker.says("Then not.")]

    def tell(progress: RunProgress) -> None:
        if progress.phase == "step" and progress.number == 1:
            turned[0].phone.set_rotation(1)

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [step.kind for step in result.steps] == ["tap", "finish"]
        assert len(touched(w)) == 1
        assert maker.sizes(server.got[-1]) == [(1200, 540)]  # a new talk, about another display

    story(tmp_path, maker, plan, then, tell=tell)


@both
def test_an_answer_that_can_not_be_run_is_told_and_asked_again(tmp_path: Path, maker: Maker) -> None:
    def plan(w: World) -> list[Planned]:
        return [maker.acts(middle(9, 9)), clicks(w, maker, "Display"), maker.says("Open.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [step.kind for step in result.steps] == ["tap", "finish"]
        assert result.steps[0].asks == 2
        assert "a phone has no" in "\n".join(maker.told(server.got[1]))
        assert len(touched(w)) == 1

    story(tmp_path, maker, plan, then)


@both
def test_a_place_outside_the_picture_is_refused(tmp_path: Path, maker: Maker) -> None:
    def then(w: World, server: Server, result: RunResult) -> None:
        assert touched(w) == []
        assert "lies outside" in "\n".join(maker.told(server.got[1]))

    story(tmp_path, maker, lambda w: [maker.acts(click(5000, 9)), maker.says("No.")], then)


@both
def test_a_refusal_ends_the_run_with_a_code(tmp_path: Path, maker: Maker) -> None:
    def then(w: World, server: Server, result: RunResult) -> None:
        assert (result.outcome, result.code, result.exit_code) == ("refused", ModelRefused.code, 4)
        assert "I will not do that." in result.message
        assert len(server.got) == 1
        assert touched(w) == []
        assert result.spend.calls == 1
        assert result.spend.tokens > 0

    story(tmp_path, maker, lambda w: [maker.refuses("I will not do that.")], then)


@both
def test_the_end_counts_only_while_the_condition_holds(tmp_path: Path, maker: Maker) -> None:
    def plan(w: World) -> list[Planned]:
        return [maker.says("It is open."), clicks(w, maker, "Display"), maker.says("Now it is.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert (result.outcome, result.message) == ("finished", "Now it is.")
        assert "The task is not done" in "\n".join(maker.told(server.got[1]))

    story(tmp_path, maker, plan, then, task=Task.of("Open it.", "Brightness level"))


@both
def test_a_large_screen_is_sent_by_the_makers_rule_and_touched_exactly(tmp_path: Path, maker: Maker) -> None:
    sent: list[tuple[Act, tuple[int, int]]] = []

    def plan(w: World) -> list[Planned]:
        def first(got: Got) -> Answer:
            act = shown_at(w, maker, got, "Display")
            sent.append((act, maker.sizes(got)[-1]))
            return maker.acts(act)

        return [first, maker.says("Open.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        (_, at), (width, height) = sent[0]
        rule = RULES[f"{maker.name}_computer"]
        assert max(width, height) <= rule.long_side
        assert min(width, height) <= rule.short_side
        assert width * height <= rule.pixels * 1.01
        [(x, y)] = touched(w)
        assert x == pytest.approx(at["x"] * 2560 / width, abs=0.51)
        assert y == pytest.approx(at["y"] * 2720 / height, abs=0.51)
        assert result.steps[0].outcome == "changed"
        assert f"Tapped at ({at['x']}, {at['y']})" in "\n".join(maker.told(server.got[-1]))

    story(
        tmp_path, maker, plan, then,
        phone=lambda clock: Phone(clock=clock, width=2560, height=2720, density=480),
    )  # fmt: skip


@both
def test_old_pictures_are_not_sent_for_ever(
    tmp_path: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handrail_agent.computer, "MAX_EXCHANGES", 2)
    plan = [maker.acts(click(200 + 9 * number, 70)) for number in range(4)]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert [len(maker.pictures(got)) for got in server.got] == [1, 2, 3, 1]
        assert len(touched(w)) == 4
        talk = json.dumps(server.got[3].body.get("messages") or server.got[3].body["input"])
        assert all(f"{number}. Tapped" in talk for number in (1, 2, 3))  # told in words
        assert "toolu_0" not in talk
        assert "computer_call" not in talk

    story(tmp_path, maker, lambda w: list(plan), then, budget=Budget(steps=4))


@both
def test_an_answer_may_not_be_longer_than_what_is_left_of_the_budget(tmp_path: Path, maker: Maker) -> None:
    def then(w: World, server: Server, result: RunResult) -> None:
        limits = [got.body[maker.limit] for got in server.got]
        used = {"anthropic": 940, "openai": 750}[maker.name]
        assert limits == [1_000, 1_000 - used]
        assert result.outcome == "out_of_tokens"

    story(tmp_path, maker, lambda w: [clicks(w, maker, "Settings")], then, budget=Budget(tokens=1_000))


def approving(yes: bool) -> Callable[[World], Any]:
    async def person(w: World) -> None:
        [one] = await asked(w)
        assert CHECK["message"] in json.dumps(one.to_dict(), ensure_ascii=False)
        assert touched(w) == []
        await w.runtime.approvals.answer(one.id, yes, "lena")

    return person


@pytest.mark.parametrize("yes", [True, False])
async def test_a_safety_check_is_a_persons_to_acknowledge(tmp_path: Path, yes: bool) -> None:
    maker = OPENAI
    async with world(tmp_path / "home", clock=(clock := FastClock()), phone=small(clock)) as w:
        await w.open(SETTINGS)
        w.phone.input_log.clear()
        plan = [clicks(w, maker, "Display", checks=[CHECK]), maker.says("That was it.")]
        async with serving(*plan) as server:
            person = asyncio.create_task(approving(yes)(w))
            result = await run(w, server, maker, Task.of("Open it."))
            await person
        assert result.outcome == "finished"
        assert len(touched(w)) == int(yes)
        items = server.got[-1].body["input"]
        outputs = [item for item in items if item.get("type") == "computer_call_output"]
        if yes:
            assert [item["acknowledged_safety_checks"] for item in outputs] == [[CHECK]]
        else:
            assert outputs == []
            assert "acknowledged_safety_checks" not in json.dumps(items)
            assert not [item for item in items if item.get("type") in ("computer_call", "reasoning")]
            assert "no one did" in "\n".join(maker.told(server.got[-1]))


@pytest.mark.parametrize("checks", ["sure?", [None]])
async def test_a_check_that_can_not_be_read_is_asked_about_all_the_same(tmp_path: Path, checks: Any) -> None:
    maker = OPENAI
    async with world(tmp_path / "home", clock=(clock := FastClock()), phone=small(clock)) as w:
        await w.open(SETTINGS)
        w.phone.input_log.clear()
        act = {"type": "click", "button": "left", "x": 110, "y": 950}
        plan = [response(REASONING, computer(act, checks=checks)), maker.says("No.")]
        async with serving(*plan) as server:
            running = asyncio.create_task(run(w, server, maker, Task.of("Open it.")))
            [one] = await asked(w)
            await w.runtime.approvals.answer(one.id, False, "lena")
            await running
        assert touched(w) == []


def test_an_older_server_is_asked_with_an_older_tool_and_that_is_said(tmp_path: Path) -> None:
    unknown = anthropic_wire.error(
        400, "invalid_request_error", "tools.0: Input tag 'computer_toolset_20260801' found, unknown"
    )
    header = anthropic_wire.error(400, "invalid_request_error", "does not support computer_20251124")
    told: list[str] = []

    def tell(progress: RunProgress) -> None:
        if progress.phase == "notice":
            told.append(progress.doing)

    def plan(w: World) -> list[Planned]:
        def first(got: Got) -> Answer:
            act = shown_at(w, ANTHROPIC, got, "Display")[1]
            given = {"action": "left_click", "coordinate": [act["x"], act["y"]]}
            return anthropic_wire.message(anthropic_wire.use("computer", given))

        return [unknown, header, first, ANTHROPIC.says("Open.")]

    def then(w: World, server: Server, result: RunResult) -> None:
        assert result.outcome == "finished"
        tools = [got.body["tools"][0]["type"] for got in server.got]
        assert tools == [
            "computer_toolset_20260801", "computer_20251124", "computer_20250124", "computer_20250124",
        ]  # fmt: skip
        betas = [got.headers.get("anthropic-beta") for got in server.got]
        assert betas == [None, "computer-use-2025-11-24", *["computer-use-2025-01-24"] * 2]
        assert len(touched(w)) == 1
        assert [words.partition(";")[0] for words in told] == [
            "anthropic:claude-sonnet-5 does not take computer_20251124"
        ]

    story(tmp_path, ANTHROPIC, plan, then, tell=tell)


def test_a_region_is_shown_beside_the_whole_screen(tmp_path: Path) -> None:
    zoom = {**anthropic_wire.use("zoom", {"region": [0, 0, 270, 300]}), "toolset_name": "computer"}

    def then(w: World, server: Server, result: RunResult) -> None:
        [block] = [one for one in server.got[-1].body["messages"][-1]["content"] if "tool_use_id" in one]
        assert [one["type"] for one in block["content"]] == ["text", "image", "image"]
        _, part, whole = ANTHROPIC.sizes(server.got[-1])
        assert part != whole
        assert part == (270, 300)
        assert whole == (540, 1200)

    story(tmp_path, ANTHROPIC, lambda w: [anthropic_wire.message(zoom), ANTHROPIC.says("Seen.")], then)


@both
def test_while_a_secret_is_seen_no_picture_is_sent_and_elements_are_named(
    tmp_path: Path, maker: Maker
) -> None:
    """The model types it, and from then on works by words and refs."""

    async def told() -> None:
        clock = FastClock()
        secret = {"HANDRAIL_SECRET_PIN": "4711-0815"}
        async with world(tmp_path / "home", clock=clock, phone=small(clock), env=secret, policy=ALLOW) as w:
            await w.open(SETTINGS)
            w.phone.input_log.clear()

            def first(got: Got) -> Answer:
                return maker.acts(shown_at(w, maker, got, "Search settings"), types("${secret:pin}"))

            back = maker.call("press_key", {"key": "back"})
            async with serving(first, back, maker.says("Done.")) as server:
                result = await run(w, server, maker, Task.of("Search for it."))
            assert result.outcome == "finished", result
            assert len(maker.pictures(server.got[0])) == 1
            assert [maker.pictures(got) for got in server.got[1:]] == [[], []]
            assert "4711" not in json.dumps([got.body for got in server.got])
            tools = json.dumps(server.got[1].body["tools"])
            assert '"tap"' in tools
            assert "screen-data" in json.dumps(server.got[1].body)
            assert [step.kind for step in result.steps][-2:] == ["press_key", "finish"]

    play_live(told())
