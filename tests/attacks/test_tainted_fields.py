"""A field that received a secret stays hidden as a whole, and what ends that; checked on the phone itself."""

from __future__ import annotations

import asyncio
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail.cli.options import DeviceOptions, open_device_for_command
from handrail.cli.watch import _watch_events
from handrail.config import Config
from handrail.flow import report
from handrail.flow.document import loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.run import FlowRunner
from handrail.runtime import Runtime
from tests.attacks.echo_app import Main
from tests.attacks.leak_judge import boxes_with, is_uniform, leaks_in, leaks_in_files, without_pictures
from tests.attacks.leak_moves import ALLOW_ALL, PACKAGE, Siege, begin, siege
from tests.scenario.world import play, until

ASYNC_RUNNER = play

VALUE = "Qz7#Kp2!vX9+m"
WORD = {"id": "word"}
HIDDEN = "${secret:WORD}"
DELETE = 67


async def says(s: Siege, target: dict[str, str] = WORD) -> str:
    """What an agent reads in a field."""
    seen = await s.session.run({"type": "tap", "target": target})
    assert seen.target
    assert seen.target.resolved
    return seen.target.resolved.text or ""


def held(s: Siege, name: str = "word") -> str:
    """What the field really holds."""
    assert s.phone.tasks.top
    return str(s.phone.tasks.top.field(name))


async def delete(s: Siege, count: int) -> None:
    for _ in range(count):
        await s.session.run({"type": "press_key", "key": "delete"})


@pytest.mark.parametrize("keeps_value", [True, False])
async def test_a_restart_ends_no_taint_also_when_the_value_is_gone(tmp_path: Path, keeps_value: bool) -> None:
    async with siege(tmp_path, VALUE) as s:
        async with s.opened():
            await begin(s, "com.handrail.notes")
        if not keeps_value:
            del s.env["HANDRAIL_SECRET_WORD"]
        async with s.opened():
            await delete(s, 2)
            assert await says(s, {"id": "title"}) == HIDDEN
            assert held(s, "title") == VALUE[:-2]
            await s.act(type="screenshot")
        s.judge()


@pytest.mark.parametrize("helper", ["none", pytest.param("u2", marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["clear_text", "clear", "delete keys"])
async def test_a_field_that_was_seen_empty_is_an_ordinary_one_again(
    tmp_path: Path, helper: str, way: str
) -> None:
    async with siege(tmp_path, VALUE, helper=helper) as s, s.opened():
        await begin(s, PACKAGE)
        if way == "clear_text":
            await s.act(type="clear_text", target=WORD)
        elif way == "delete keys":
            await delete(s, len(VALUE))
        typed = await s.act(type="type_text", text="Ada", target=WORD, clear=way == "clear")
        assert typed.verification.observed == "Ada", typed.to_json()
        assert await says(s) == held(s) == "Ada"
        s.judge()


@pytest.mark.parametrize(
    ("action", "ends"),
    [
        ({"type": "reset_app", "package": PACKAGE}, True),
        ({"type": "shell", "command": ["pm", "clear", PACKAGE]}, True),
        ({"type": "shell", "command": f"pm clear {PACKAGE}", "raw": True}, True),
        ({"type": "shell", "command": f"echo pm clear {PACKAGE}; echo Success", "raw": True}, False),
        ({"type": "shell", "command": ["pm", "clear", "com.handrail.notes"]}, False),
        ({"type": "stop_app", "package": PACKAGE}, False),
    ],
)
async def test_only_an_app_without_its_data_has_lost_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: dict[str, Any], ends: bool
) -> None:
    monkeypatch.setattr(Main, "starts_with", "")
    async with siege(tmp_path, VALUE) as s, s.opened():
        await begin(s, PACKAGE)
        await s.act(**action)
        Main.starts_with = "x"  # the app fills it in: nobody has typed it, and nobody saw it empty
        s.phone.start_activity(f"{PACKAGE}/.Main")
        assert await says(s) == ("x" if ends else HIDDEN)


async def test_an_empty_field_with_the_same_id_in_another_window_ends_nothing(tmp_path: Path) -> None:
    async with siege(tmp_path, VALUE) as s, s.opened():
        await begin(s, PACKAGE)
        await s.act(type="tap", target={"text": "Next"})
        await s.act(type="get_ui_tree")
        await s.act(type="tap", target={"text": "Up"})
        await delete(s, len(VALUE) - 2)
        assert (held(s), await says(s)) == (VALUE[:2], HIDDEN)


async def test_a_rule_sees_the_label_that_a_secret_hides(tmp_path: Path) -> None:
    """Whoever made a label a secret would be rid of the rules about it."""
    rule = '[[rule]]\nname = "no toasts"\nlabel = "Toast"\nverdict = "deny"\n'
    async with siege(tmp_path, "Toast#99") as s:
        Config.from_env(s.env).policy.write_text(rule + ALLOW_ALL)
        async with s.opened():
            await begin(s, PACKAGE)
            tree = await s.session.run({"type": "get_ui_tree"})
            assert "Toast" not in str(tree.details)
            denied = await s.session.run({"type": "tap", "target": {"id": "toast"}})
            assert denied.failure_code == "ACTION_REJECTED", denied.to_json()
            done = await s.session.run({"type": "tap", "target": {"id": "again"}})
            assert done.success, done.to_json()


async def test_another_process_that_does_not_know_the_value_hides_the_field_too(tmp_path: Path) -> None:
    async with siege(tmp_path, VALUE) as s, s.opened():
        unaware = {name: value for name, value in s.env.items() if "SECRET" not in name}
        async with Runtime.open(Config.from_env(unaware), clock=s.clock, env=unaware) as other:
            watching = await other.session(s.serial, helper="none")
            await watching.run({"type": "get_ui_tree"})
            await begin(s, PACKAGE)
            png = await watching.screens.reader.screenshot()
            tree = await watching.run({"type": "get_ui_tree", "format": "full"})
            field = next(line for line in str(tree.details).split("\\n") if "id/word" in line)
            assert HIDDEN in field
            box = min(boxes_with(s.phone, VALUE))
            assert _colours(png, box) == 1


def _colours(png: bytes, box: tuple[int, int, int, int]) -> int:
    with Image.open(io.BytesIO(png)) as opened:
        return len(opened.convert("RGB").crop(box).getcolors(1 << 20) or ())


async def test_a_picture_of_a_screen_that_can_not_be_read_is_blank(tmp_path: Path) -> None:
    async with siege(tmp_path, VALUE) as s, s.opened():
        await begin(s, PACKAGE)
        s.phone.faults.add("dump_killed")
        png = await s.session.screens.reader.screenshot()
        display = s.phone.display
        assert _colours(png, (0, 0, display.width, display.height)) == 1


async def test_a_secret_that_is_part_of_another_one_does_not_show_the_rest_of_it(tmp_path: Path) -> None:
    async with siege(tmp_path, VALUE) as s:
        s.env["HANDRAIL_SECRET_AAA"] = VALUE[:6]
        async with s.opened():
            await begin(s, PACKAGE)
            s.phone.start_activity(f"{PACKAGE}/.Main")
            await s.act(type="type_text", text="${secret:AAA}", target={"id": "second"})
            await s.act(type="get_ui_tree", format="full")
            assert await says(s) == HIDDEN
        s.judge()


async def test_a_pin_is_not_computed_with(tmp_path: Path) -> None:
    async with siege(tmp_path, "48151623") as s, s.opened():
        await begin(s, PACKAGE)
        await s.act(type="tap", target={"text": "Save"})
        ask = "SELECT CAST(word AS INTEGER) AS n, length(word) AS l FROM said"
        rows = await s.session.run(
            {"type": "query_db", "package": PACKAGE, "database": "said.db", "query": ask}
        )
        assert rows.success, rows.to_json()
        assert rows.details["rows"] == [[0, len(HIDDEN)]]  # computed with what stands for it


async def test_whoever_only_watches_a_phone_reads_no_secret_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_SECRET_WORD", VALUE)
    async with siege(tmp_path, VALUE) as s, s.opened():
        await begin(s, PACKAGE)
        await delete(s, 2)
        config = Config.from_env({**s.env, "HANDRAIL_DEVICE": s.serial})
        async with open_device_for_command(DeviceOptions(device=s.serial), config) as opened:
            news = _watch_events(opened, config, 20)
            first = await anext(news)
            await news.aclose()
        assert first["kind"] == "screen"
        assert HIDDEN in first["text"]
        assert not leaks_in(first["text"], VALUE)


async def test_an_approval_does_not_count_once_a_hidden_field_holds_something_else(tmp_path: Path) -> None:
    rule = '[[rule]]\nname = "ask"\nlabel = "Save"\nverdict = "ask"\n'
    async with siege(tmp_path, VALUE) as s:
        Config.from_env(s.env).policy.write_text(rule + ALLOW_ALL)
        async with s.opened():
            await begin(s, "com.handrail.notes")
            saving = asyncio.create_task(s.session.run({"type": "tap", "target": {"id": "action_save"}}))
            [one] = await until(s.runtime.approvals.pending)
            s.phone.key(DELETE)
            await s.runtime.approvals.answer(one.id, True, "lena")
            done = await saving
            assert done.failure_code == "ACTION_REJECTED", done.to_json()
            assert held(s, "title") == VALUE[:-1]


@pytest.mark.slow
async def test_the_report_of_a_flow_tells_nothing_and_its_when_asks_nothing(tmp_path: Path) -> None:
    """A step that is done only if a guess is right would tell by being done."""
    flow = {
        "name": "echo",
        "steps": [
            {"type_text": {"text": "${secret:WORD}", "target": WORD}},
            {"press_key": "delete"},
            {"when": {"text": {"target": WORD, "contains": VALUE[:3]}}, "then": [{"tap": {"id": "log"}}]},
            {"when": {"text": {"target": WORD, "equals": HIDDEN}}, "then": [{"tap": {"id": "log"}}]},
            {"get_logs": {}},
            {"screenshot": {}},
        ],
    }
    async with siege(tmp_path / "home", VALUE) as s, s.opened():
        s.phone.start_activity(f"{PACKAGE}/.Main")
        runner = FlowRunner({"phone": s.session}, s.clock, evidence=ReportEvidence())
        record = await runner.run(loads(json.dumps(flow)))
        assert record.outcome == "passed", record.error
        page = report.write([record], tmp_path / "report").read_text()
        written = [line.text for line in s.phone.log.lines if line.tag == "Echo"]
        assert written == [f"said {VALUE[:-1]}"], "once, by the step after the placeholder"
    assert HIDDEN in page
    assert not leaks_in(re.sub(r"base64,[\w+/=]+", "", page), VALUE)
    assert not leaks_in_files(tmp_path / "home", VALUE)


@pytest.mark.parametrize("helper", ["none", "handrail"])
async def test_a_toast_is_in_no_picture_wherever_it_is_drawn(tmp_path: Path, helper: str) -> None:
    async with siege(tmp_path, VALUE, helper=helper, speed=3) as s, s.opened():
        await begin(s, PACKAGE)
        await s.session.run({"type": "tap", "target": {"text": "Toast"}}, settle="none")
        taken = await s.session.run({"type": "screenshot"})
        [png] = without_pictures(taken.to_dict())[1]
        assert s.phone.systemui.toast, "it is gone: nothing is tested"
        shown = [view for view in s.phone.systemui.toast_window.views() if VALUE in view.text]
        assert shown
        for view in shown:
            left, top, right, bottom = map(round, view.clip)
            assert is_uniform(png, (left, top, right, bottom), s.phone.display.width)
