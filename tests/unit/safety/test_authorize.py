"""Between an action and its dispatch: who is asked what, and what an answer is good for."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail.engine.gestures import pressed_by_keys
from handrail.errors import ActionRejected
from handrail.protocol.read import action_from
from handrail.safety.caller import Caller
from handrail.screen.node import Node, Screen
from tests.unit.safety.authorizing import PAY, Office, play, shop
from tests.unit.safety.policy_subjects import policy

URL = {"type": "open_url", "url": "https://example.org/a"}
CODE = {"type": "type_text", "text": "hunter22", "target": {"id": "code"}}


def rule(*parts: str, verdict: str = "deny", remember: str = "never") -> str:
    return "\n".join(
        ["[[rule]]", "name = 'careful'", *parts, f"verdict = '{verdict}'", f"remember = '{remember}'\n"]
    )


REST = "[[rule]]\nname = 'rest'\nverdict = 'allow'\n"


# what policy says


@pytest.mark.parametrize(("verdict", "refused"), [("deny", True), ("ask", False), ("allow", False)])
def test_only_what_is_denied_is_refused_before_a_screen_is_read(
    tmp_path: Path, verdict: str, refused: bool
) -> None:
    async def story(o: Office) -> None:
        run = await o.run(URL)
        if not refused:
            o.guard.authorizer.refuse_early(run)
            return
        with pytest.raises(ActionRejected, match="careful denies it"):
            o.guard.authorizer.refuse_early(run)

    play(tmp_path, story, rule("action = 'open_url'", verdict=verdict))


def test_what_depends_on_the_screen_is_not_refused_early(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.guard.authorizer.refuse_early(await o.run(PAY))

    play(tmp_path, story, rule("label = 'Pay*'"))


def test_what_is_denied_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        with pytest.raises(ActionRejected, match="careful denies it"):
            await o.guard.authorize_named(await o.stage(PAY))
        assert await o.approvals.history() == []

    play(tmp_path, story, rule("label = 'Pay*'"))


def test_what_is_allowed_needs_nobody(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        await o.guard.authorize_named(stage)
        assert stage.run.approval is None
        assert await o.approvals.history() == []
        assert o.revealed == [None]

    play(tmp_path, story, rule("label = 'Pay*'", verdict="allow"))


@pytest.mark.parametrize(
    ("part", "caller", "denied"),
    [
        ("device = 'phone-1'", Caller(), True),
        ("device = 'phone-2'", Caller(), False),
        ("door = 'mcp'", Caller(door="mcp"), True),
        ("door = 'mcp'", Caller(door="cli"), False),
        ("caller = 'remote'", Caller(is_remote=True), True),
        ("caller = 'remote'", Caller(), False),
        ("caller = 'local'", Caller(), True),
    ],
)
def test_rules_hear_of_the_device_the_door_and_the_caller(
    tmp_path: Path, part: str, caller: Caller, denied: bool
) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY, caller)
        if not denied:
            await o.guard.authorize_named(stage)
            return
        with pytest.raises(ActionRejected):
            await o.guard.authorize_named(stage)

    play(tmp_path, story, rule(part) + REST)


def test_a_host_that_was_allowed_once_is_known(tmp_path: Path) -> None:
    """Built in: an address on a host that nobody has opened yet is asked about."""

    async def story(o: Office) -> None:
        await o.answered(o.guard.authorize_named(await o.stage(URL)))
        o.lock = asyncio.Lock()
        again = await o.stage({"type": "open_url", "url": "https://example.org/b"})
        await o.guard.authorize_named(again)
        assert again.run.approval is None

    play(tmp_path, story, "")


def test_a_host_that_was_refused_is_not_known(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        for _ in range(2):
            o.lock = asyncio.Lock()
            with pytest.raises(ActionRejected):
                await o.answered(o.guard.authorize_named(await o.stage(URL)), approved=False)
        assert len(await o.approvals.history()) == 2

    play(tmp_path, story, "")


# what it touches


def test_without_a_target_the_app_in_front_is_touched(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        with pytest.raises(ActionRejected):
            await o.guard.authorize_named(await o.stage({"type": "press_key", "key": "back"}))

    play(tmp_path, story, rule("app = 'com.example.app'") + REST)


def test_the_last_look_counts_where_the_action_itself_needed_none(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await o.stand.screens.refresh()
        with pytest.raises(ActionRejected):
            await o.guard.authorize_named(await o.stage({"type": "press_key", "key": "back"}, reads=False))

    play(tmp_path, story, rule("app = 'com.example.app'") + REST)


def test_where_nothing_was_ever_seen_nothing_is_touched(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await o.guard.authorize_named(await o.stage({"type": "press_key", "key": "back"}, reads=False))

    play(tmp_path, story, rule("app = 'com.example.app'") + REST)


def test_what_has_the_focus_is_touched_by_a_key(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage({"type": "press_key", "key": "enter"})
        await o.guard.authorize_named(stage)
        with pytest.raises(ActionRejected):
            await o.guard.authorize_press(stage, pressed_by_keys("enter"))

    play(tmp_path, story, rule("id = 'code'") + REST, drawn=shop(focused=True))


def test_a_rule_that_let_an_action_begin_and_denies_now_stops_it(tmp_path: Path) -> None:
    """Its name alone proves nothing: the file may have changed since."""

    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        await o.guard.authorize_named(stage)
        o.gate.policy = policy(rule("action = 'tap'"))
        with pytest.raises(ActionRejected):
            await o.guard.authorize_press(stage, lambda screen: [screen.nodes[3]])

    play(tmp_path, story, rule("action = 'tap'", verdict="allow"))


def named(tail: str) -> Callable[[Screen], list[Node]]:
    return lambda shown: [one for one in shown.nodes if one.id_tail == tail]


@pytest.mark.parametrize(
    ("about", "counts"),
    [("app = 'com.example.app'", True), ("id = ['pay', 'note']", False), ("action = 'tap'", True)],
)
def test_a_yes_counts_for_what_is_pressed_later_if_its_rule_is_about_no_place(
    tmp_path: Path, about: str, counts: bool
) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        assert not o.guard.may_press(stage, named("note")), "nobody was asked yet"
        await o.answered(o.guard.authorize_named(stage))
        assert o.guard.may_press(stage, named("pay"))
        assert o.guard.may_press(stage, named("note")) is counts

    play(tmp_path, story, rule(about, verdict="ask"))


@pytest.mark.parametrize(("verdict", "allowed"), [("deny", False), ("ask", False), ("allow", True)])
def test_only_what_is_simply_allowed_is_done_beside_the_actions(
    tmp_path: Path, verdict: str, allowed: bool
) -> None:
    async def story(o: Office) -> None:
        for package, expected in (("com.bank", allowed), ("com.example.app", True)):
            picture = action_from({"type": "screenshot"})
            assert o.guard.authorizer.allows(picture, Caller("tester"), 0, package) is expected

    play(tmp_path, story, rule("app = 'com.bank'", verdict=verdict) + REST)


# passwords


def test_a_bare_password_is_hidden_and_can_not_be_filled_in_again(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await o.guard.authorize_named(await o.stage(CODE))
        o.lock = asyncio.Lock()
        await o.guard.authorize_named(await o.stage(CODE))
        assert o.revealed == ["${secret:TYPED_1}", "${secret:TYPED_2}"]
        assert "hunter22" not in o.secrets.redact("it was hunter22")
        assert o.secrets.names() == []

    play(tmp_path, story, REST)


@pytest.mark.parametrize(
    "action",
    [
        {**CODE, "text": "${secret:CODE}"},  # filled in at dispatch
        {**CODE, "target": {"id": "note"}},  # no password field
        {"type": "tap", "target": {"id": "code"}},
    ],
)
def test_what_is_no_bare_password_is_not_hidden(tmp_path: Path, action: dict[str, Any]) -> None:
    async def story(o: Office) -> None:
        await o.guard.authorize_named(await o.stage(action))
        assert o.revealed == [None]
        assert o.secrets.redact("hunter22") == "hunter22"

    play(tmp_path, story, REST)


def test_plain_parts_beside_a_placeholder_are_hidden_unless_too_short_to_look_for(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await o.guard.authorize_named(await o.stage({**CODE, "text": "abc${secret:CODE}de${secret:PIN}xyz"}))
        assert o.revealed == ["${secret:TYPED_1}"]
        assert o.secrets.redact("abc") == "${secret:TYPED_1}"
        assert o.secrets.redact("xyz") == "${secret:TYPED_1}"
        assert [o.secrets.redact(one) for one in ("de", "CODE")] == ["de", "CODE"]

    play(tmp_path, story, REST)


# asking


def test_a_question_says_everything_a_person_needs(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage({**PAY, "reason": "the cat is hungry"}, Caller("agent-7", door="mcp"))
        seen: list[bool] = []
        one = await o.answered(
            o.guard.authorize_named(stage), meanwhile=lambda _: seen.append(stage.turn.is_held)
        )
        assert seen == [False]  # others may act while a person thinks
        assert stage.turn.is_held
        request = one.request
        assert (request.kind, request.device, request.label) == ("policy", "phone-1", "Pay now")
        assert request.instruction == "Allow tap 'Pay now' in com.example.app?"
        assert (request.reason, request.why) == ("the cat is hungry", "it costs")
        assert (request.door, request.asked_by, request.remember) == ("mcp", "agent-7", "always")
        assert request.action["type"] == "tap"
        assert "approval" in stage.run.timings

    play(tmp_path, story)


def test_a_yes_is_used_up_and_written_down(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        one = await o.answered(o.guard.authorize_named(stage))
        assert (await o.approvals.get(one.id)).consumed_ms is not None
        told = stage.run.approval
        assert told is not None
        assert (told.id, told.decision, told.by, told.remembered) == (one.id, "approved", "lena", None)
        assert o.book.events == [
            {
                "kind": "approval",
                "action_id": "act_1",
                "device": "phone-1",
                "approval": one.id,
                "decision": "approved",
                "policy": "",
                "actor": {"kind": "person", "id": "lena"},
                "remembered": False,
            }
        ]

    play(tmp_path, story)


def test_a_no_ends_the_action_and_is_written_down(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        with pytest.raises(ActionRejected, match="lena said no"):
            await o.answered(o.guard.authorize_named(stage), approved=False)
        assert stage.run.approval is not None
        assert stage.run.approval.decision == "denied"
        assert o.book.events[0]["decision"] == "denied"

    play(tmp_path, story)


def test_when_nobody_answers_nobody_is_named(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        task = asyncio.ensure_future(o.guard.authorize_named(stage))
        one = await o.question(task)
        await o.approvals.withdraw(one.id)
        while not task.done():
            await o.clock.advance(100)
            await asyncio.sleep(0)
        with pytest.raises(ActionRejected):
            await task
        assert o.book.events[0]["actor"] is None
        assert stage.run.approval is not None
        assert stage.run.approval.by is None

    play(tmp_path, story)


def test_a_password_is_not_shown_to_who_is_asked_and_its_yes_counts(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        one = await o.answered(o.guard.authorize_named(await o.stage(CODE)))
        assert "hunter22" not in str(one.to_dict())
        assert (await o.approvals.get(one.id)).consumed_ms is not None

    play(tmp_path, story, rule("id = 'code'", verdict="ask"))


def test_an_action_without_a_screen_can_be_asked_about(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        one = await o.answered(
            o.guard.authorize_named(await o.stage({"type": "press_key", "key": "back"}, reads=False))
        )
        assert (one.request.fingerprint, one.request.reason) == ("", "")
        assert (await o.approvals.get(one.id)).consumed_ms is not None

    play(tmp_path, story, rule("action = 'press_key'", verdict="ask"))


# the picture


def white(width: int = 1080, height: int = 2400) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(out, "PNG")
    return out.getvalue()


def test_the_picture_marks_what_would_be_touched(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.stand.driver.picture = white()
        one = await o.answered(o.guard.authorize_named(await o.stage(PAY)))
        assert one.request.screenshot == "blob-1"
        [(data, kind, no_secret)] = o.book.blobs
        assert (kind, no_secret) == ("image/png", True)
        assert data != o.stand.driver.picture
        colours = Image.open(io.BytesIO(data)).convert("RGB").getcolors(1 << 20) or []
        assert (220, 38, 38) in [colour for _, colour in colours]

    play(tmp_path, story)


def test_a_picture_of_an_action_without_target_is_as_it_is(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.stand.driver.picture = white(20, 20)
        await o.answered(o.guard.authorize_named(await o.stage({"type": "press_key", "key": "back"})))
        assert o.book.blobs[0][0] == o.stand.driver.picture

    play(tmp_path, story, rule("action = 'press_key'", verdict="ask"))


def test_a_picture_that_might_show_a_secret_is_said_to(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.secrets.add("CODE", "hunter22")
        o.secrets.fill("${secret:CODE}")
        o.stand.driver.picture = white(20, 20)
        await o.answered(o.guard.authorize_named(await o.stage(PAY)))
        assert o.book.blobs[0][2] is False

    play(tmp_path, story)


def test_a_screen_that_may_not_be_shown_is_asked_about_without_a_picture(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        one = await o.answered(o.guard.authorize_named(stage))
        assert one.request.screenshot is None
        assert stage.run.diagnostics == ["[approval] no picture: this screen may not be shown"]
        assert o.book.blobs == []

    play(tmp_path, story)


def test_where_there_is_no_screen_there_is_no_picture_and_no_word_about_it(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage({"type": "press_key", "key": "back"}, reads=False)
        o.stand.driver.picture = white(20, 20)
        o.stand.driver.can = set()
        one = await o.answered(o.guard.authorize_named(stage))
        assert one.request.screenshot is None
        assert stage.run.diagnostics == []

    play(tmp_path, story, rule("action = 'press_key'", verdict="ask"))
