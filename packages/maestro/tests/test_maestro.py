"""Maestro's flows on the simulated phone: the same verdict as Maestro, checked on the phone itself."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord, StepRecord
from handrail_maestro.document import MaestroSettings, open_maestro
from handrail_maestro.files import Workspace
from handrail_maestro.read import read, walk
from handrail_maestro.words import AI, WORDS
from tests.scenario.people import asked
from tests.scenario.world import FastClock, World, play, play_live, world

FLOWS = Path(__file__).with_name("data")
FIFTEEN = sorted(path for path in FLOWS.glob("*.yaml") if path.stem != "config")
POLICY = '[[rule]]\nname = "all"\naction = "*"\nverdict = "allow"\n'
NOTES, CONTACTS, SETTINGS = "com.handrail.notes", "com.google.android.contacts", "com.android.settings"


async def run(w: World, path: Path, env: dict[str, str] | None = None, **options: Any) -> FlowRecord:
    settings = MaestroSettings(Workspace.of(path), w.home / "pictures")
    runner = FlowRunner({"phone": w.session}, w.runtime.clock, **options)
    return await runner.run(open_maestro(path, settings), env)


async def ran(w: World, text: str, env: dict[str, str] | None = None, app: str = SETTINGS) -> FlowRecord:
    folder = w.home / "flows"
    folder.mkdir(exist_ok=True)
    path = folder / "flow.yaml"
    path.write_text(text if "---" in text else f"appId: {app}\n---\n{text}")
    return await run(w, path, env)


def every(steps: list[StepRecord]) -> list[StepRecord]:
    return [one for step in steps for one in (step, *every(step.children))]


def failure(record: FlowRecord) -> str:
    last = every(record.steps)[-3:]
    return f"{record.error} {[(one.line, one.label, one.outcome, one.error) for one in last]}"


def test_the_flows_use_every_command_that_handrail_does() -> None:
    files = [read(path.read_text(), path) for path in FLOWS.rglob("*.yaml") if path.stem != "config"]
    used = {command.name for file in files for command in walk(file.every)}
    assert len(FIFTEEN) == 15
    assert used == WORDS.keys() - AI - {"openBrowser"}


@pytest.mark.slow
@pytest.mark.parametrize("path", FIFTEEN, ids=lambda path: path.stem)
def test_a_flow_for_the_simulated_phone_passes(tmp_path: Path, path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY, clock=FastClock(3)) as w:
            record = await run(w, path, {"GIVEN": "somebody"})
            assert record.outcome == "passed", failure(record)
            assert all(one.line for one in every(record.steps))

    asyncio.run(story())


def twin(text: str) -> str:
    """The last assertion turned round."""
    found = list(
        re.finditer(r"^( *- )(assertVisible|assertNotVisible|assertTrue): ?(.*)$", text, re.MULTILINE)
    )
    if not found:
        return text + "- assertVisible: There is no such text\n"
    last = found[-1]
    turned = {"assertVisible": "assertNotVisible", "assertNotVisible": "assertVisible"}.get(last[2])
    line = f"{last[1]}{turned}: {last[3]}" if turned else f"{last[1]}assertTrue: ${{false}}"
    return text[: last.start()] + line.rstrip() + text[last.end() :]


@pytest.mark.slow
@pytest.mark.parametrize("path", FIFTEEN, ids=lambda path: path.stem)
def test_its_twin_with_one_assertion_turned_round_fails(tmp_path: Path, path: Path) -> None:
    async def story() -> None:
        flows = tmp_path / "flows"
        flows.mkdir()
        (flows / "parts").symlink_to(FLOWS / "parts")
        made = flows / path.name
        made.write_text(twin(path.read_text()).replace("file: parts/", f"file: {FLOWS}/parts/"))
        async with world(tmp_path / "home", policy=POLICY, clock=FastClock(5)) as w:
            settings = MaestroSettings(Workspace(Path("/")), tmp_path / "pictures")
            runner = FlowRunner({"phone": w.session}, w.runtime.clock)
            record = await runner.run(open_maestro(made, settings), {"GIVEN": "somebody"})
            assert record.outcome == "failed"
            assert record.error

    asyncio.run(story())


def test_a_contact_is_made_and_every_act_is_in_the_journal(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            record = await run(w, FLOWS / "01_contact_create.yaml")
            assert record.outcome == "passed", failure(record)
            assert "Ada Marrow" in str(w.app_state(CONTACTS))
            kinds = [one["action"]["type"] for one in w.events() if one["kind"] == "accepted"]
            assert kinds[:5] == ["get_ui_tree", "reset_app", "grant_permission", "stop_app", "start_app"]
            assert {"tap", "type_text", "hide_keyboard", "press_key", "swipe"} <= {*kinds, "swipe"}
            assert record.trace is not None
            assert record.trace.success
            assert record.trace.total_steps == len(record.steps) == 16

    play_live(story())


def test_a_person_is_asked_once_for_all_that_a_flow_is_known_to_do(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            text = "- launchApp: {clearState: true}\n- launchApp\n- clearState\n- launchApp\n"
            task = asyncio.create_task(ran(w, text, app=NOTES))
            [one] = await asked(w)
            assert NOTES in one.request.instruction
            assert "reset_app" in one.request.instruction
            assert "grant_permission" in one.request.instruction
            await w.runtime.approvals.answer(one.id, True, "lena")
            record = await task
            assert record.outcome == "passed", failure(record)
            questions = [event for event in w.events() if event["kind"] == "approval"]
            assert len({event["approval"] for event in questions}) == 1

    play_live(story())


def test_a_link_of_the_plan_asks_nobody_on_a_phone_made_for_the_run(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            path = w.home / "flow.yaml"
            path.write_text(f"appId: {SETTINGS}\n---\n- openLink: https://example.org/a\n")
            record = await run(w, path, own_phones=True)
            assert record.outcome == "passed", failure(record)
            assert not [event for event in w.events() if event["kind"] == "approval"]

    play(story())


def test_a_no_to_the_plan_leaves_the_phone_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            before = w.app_state(NOTES)
            task = asyncio.create_task(ran(w, "- launchApp: {clearState: true}\n", app=NOTES))
            [one] = await asked(w)
            await w.runtime.approvals.answer(one.id, False, "lena")
            record = await task
            assert record.outcome == "failed"
            assert not record.steps
            assert w.app_state(NOTES) == before

    play_live(story())


def test_a_yes_to_one_app_says_nothing_of_another(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            text = (
                "- launchApp: {permissions: {all: allow}}\n"
                "- evalScript: ${output.app = 'com.handrail.shop'}\n- clearState: ${output.app}\n"
            )
            task = asyncio.create_task(ran(w, text, app=NOTES))
            [one] = await asked(w)
            await w.runtime.approvals.answer(one.id, True, "lena")
            [second] = await asked(w)  # only a script knew this one
            assert "com.handrail.shop" in second.request.instruction
            await w.runtime.approvals.answer(second.id, False, "lena")
            assert (await task).outcome == "failed"

    play_live(story())


@pytest.mark.parametrize(
    ("text", "env", "outcome"),
    [
        ("env:\n  X: header\n---\n- assertTrue: ${X == 'header'}\n", {"X": "line"}, "passed"),
        ("env:\n  X: ${X || 'header'}\n---\n- assertTrue: ${X == 'line'}\n", {"X": "line"}, "passed"),
        ("env:\n  A: a\n  B: ${A}\n---\n- assertTrue: ${B == 'undefined'}\n", {}, "passed"),
        ("- evalScript: return 5;\n", {}, "passed"),
        ("- evalScript:\n    script: ${throw new Error('no')}\n    optional: true\n", {}, "failed"),
        ("- assertTrue:\n    condition: ${0}\n    optional: true\n", {}, "passed"),
        ("- assertTrue: undefined\n", {}, "failed"),
        ("- assertTrue: 0.0\n", {}, "failed"),
        ("- repeat:\n    times: 0\n    commands:\n      - assertTrue: false\n", {}, "passed"),
        ("- repeat:\n    commands:\n      - assertTrue: true\n", {}, "failed"),
        ("- assertVisible: Display\n", {}, "passed"),
        ("- assertVisible: Displ\n", {}, "failed"),
        ("- takeScreenshot: ../../outside\n", {}, "failed"),
        ("- assertWithAI: is it nice?\n", {}, "passed"),
        ("- runFlow:\n    when: {platform: iOS}\n    commands:\n      - assertTrue: false\n", {}, "passed"),
        ("onFlowStart:\n  - assertTrue: false\n---\n- evalScript: ${output.x = 1}\n", {}, "failed"),
        ("onFlowComplete:\n  - assertTrue: false\n---\n- evalScript: ${output.x = 1}\n", {}, "failed"),
        ("- evalScript: ${output.n = 0}\n- retry:\n    maxRetries: 10\n    commands:\n"
         "      - evalScript: ${output.n++}\n      - assertTrue: ${output.n == 5}\n", {}, "failed"),
        ("- evalScript: ${output.n = 0}\n- retry:\n    maxRetries: 10\n    commands:\n"
         "      - evalScript: ${output.n++}\n      - assertTrue: ${output.n == 4}\n", {}, "passed"),
    ],
)  # fmt: skip
def test_the_traps_of_the_language(tmp_path: Path, text: str, env: dict[str, str], outcome: str) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY, clock=FastClock(20)) as w:
            await w.open(SETTINGS)
            record = await ran(w, text, env)
            assert record.outcome == outcome, failure(record)

    play_live(story())


@pytest.mark.parametrize(
    ("first", "budget_ms"),
    [
        ("extendedWaitUntil: {visible: Nowhere, timeout: 60000}", 60_000),
        ("extendedWaitUntil: {visible: Nowhere}", 17_000),
        ("assertVisible: Nowhere", 17_000),
        ("tapOn: Nowhere", 17_000),
        ("copyTextFrom: Nowhere", 17_000),
    ],
)
def test_a_flow_that_begins_by_looking_waits_its_whole_budget(
    tmp_path: Path, first: str, budget_ms: int
) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            await w.open(SETTINGS)
            began_ms = w.runtime.clock.monotonic_ms()
            record = await ran(w, f"- {first}\n")
            assert record.outcome == "failed"
            assert w.runtime.clock.monotonic_ms() - began_ms >= budget_ms

    play(story())


def test_the_last_hook_runs_after_a_failure_and_after_a_failed_first_hook(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            hooks = (
                "onFlowStart:\n  - assertTrue: {}\nonFlowComplete:\n  - takeScreenshot: end\n"
                "---\n- assertTrue: false\n"
            )
            for first in ("true", "false"):
                record = await ran(w, hooks.replace("{}", first))
                assert record.outcome == "failed"
                assert record.steps[-1].label == "takeScreenshot end"
                assert "assertTrue" in (record.error or "")
            assert (tmp_path / "pictures" / "end.png").is_file()

    play_live(story())


def test_swipe_down_starts_where_maestro_starts_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            await w.open(SETTINGS)
            await ran(w, "- swipe: {direction: DOWN}\n- swipe: {direction: UP}\n")
            events = [one["action"] for one in w.events() if one["kind"] == "accepted"]
            moved = [(one["from"]["y"], one["to"]["y"]) for one in events if one["type"] == "swipe"]
            assert moved == [(480, 2160), (1200, 240)]

    play_live(story())


def test_a_copied_text_never_names_a_secret(tmp_path: Path) -> None:
    """An app could show these very letters and wait for somebody to paste them."""

    async def story() -> None:
        async with world(tmp_path, policy=POLICY, env={"HANDRAIL_SECRET_PIN": "4711-0815"}) as w:
            await w.open(NOTES)
            text = (
                "- tapOn: New note\n- tapOn: {id: title}\n- inputText: ${secret:PIN}\n"
                "- copyTextFrom: {id: title}\n- tapOn: {id: body}\n- pasteText\n"
            )
            record = await ran(w, text, app=NOTES)
            assert record.outcome == "failed"
            assert record.steps[2].outcome == "passed"
            assert record.steps[-1].label == "pasteText"
            seen = str([one.error for one in every(record.steps)]) + str(w.events())
            assert "4711-0815" not in seen
            reads = (
                "- evalScript: ${output.x = maestro.copiedText}\n- assertTrue: ${output.x.includes('4711')}\n"
            )
            script = await ran(w, "- copyTextFrom: {id: title}\n" + reads, app=NOTES)
            assert script.outcome == "failed"

    play_live(story())


def length_s(path: Path) -> float:
    """Seconds of a film whose pictures can all be decoded."""
    av = pytest.importorskip("av")
    with av.open(str(path)) as film:
        assert [frame.width for frame in film.decode(video=0)]
        return float(film.duration) / 1e6


def test_a_recording_shows_the_time_between_start_and_stop(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            await w.open(SETTINGS)
            text = (
                "- startRecording: films/one\n- startRecording: two\n- tapOn: Display\n- back\n"
                "- extendedWaitUntil: {visible: Nowhere, timeout: 3000, optional: true}\n- stopRecording\n"
                "- stopRecording\n- startRecording: {path: three}\n- assertTrue: false\n"
            )
            record = await ran(w, text)
            assert record.steps[1].hint == "the screen is recorded already"
            assert "written to" in (record.steps[5].hint or "")
        assert length_s(tmp_path / "pictures" / "films" / "one.mp4") >= 3
        assert length_s(tmp_path / "pictures" / "three.mp4") > 0, "the flow's end ends it"
        assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["films", "three.mp4"]

    play(story())


def test_a_recording_ends_before_a_secret_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("av")

    async def story() -> None:
        async with world(tmp_path, policy=POLICY, env={"HANDRAIL_SECRET_PIN": "4711-0815"}) as w:
            await w.open(NOTES)
            text = (
                "- tapOn: New note\n- startRecording: film\n- tapOn: {id: title}\n"
                "- inputText: ${secret:PIN}\n- tapOn: {id: body}\n- inputText: more\n- stopRecording\n"
                "- startRecording: again\n"
            )
            record = await ran(w, text, app=NOTES)
            assert record.outcome == "passed", failure(record)
            assert "A secret was used" in (record.steps[-2].hint or "")
            assert "A secret was used" in (record.steps[-1].hint or "")
            assert not (tmp_path / "pictures" / "again.mp4").exists()

    play_live(story())


def test_an_endless_script_fails_the_flow_and_leaves_no_process(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY) as w:
            record = await ran(w, "- evalScript: ${'x'.repeat(1 << 30)}\n")
            assert (record.outcome, record.steps[0].code) == ("failed", "SCRIPT_FAILED")

    play_live(story())


@pytest.mark.parametrize(
    "text",
    [
        "- setLocation: {latitude: '${1000}', longitude: 1}\n",
        "- setLocation: {latitude: '${Infinity}', longitude: 1}\n",
        "- stopApp: ${'not a package!'}\n",
        "- openLink: ${'a b'}\n",
        "- openLink: ${'x:' + String.fromCharCode(10)}\n",
        "- tapOn: {text: x, index: '${NaN}'}\n",
        "- repeat: {times: '${1e400}', commands: [back]}\n",
        "- tapOn: {point: '${1/0},5'}\n",
        "- setOrientation: ${'slanted'}\n",
        "- inputText: ${'x'.repeat(200000)}\n",
        "- setPermissions: {permissions: {'a b': allow}}\n",
    ],
)
def test_a_value_that_a_script_made_wrong_is_a_failure_with_a_code(tmp_path: Path, text: str) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY, clock=FastClock(20)) as w:
            await w.open(SETTINGS)
            record = await ran(w, text)
            assert record.outcome == "failed"
            assert record.steps[0].code == "INVALID_ACTION"
            assert record.steps[0].line == 3

    play_live(story())
