"""A person between a tool call and the phone, by every way that a client may have to reach one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestParams, ElicitResult, InputRequiredResult

from handrail.mcp_server.pending_calls import ALWAYS, NO, SESSION, YES
from tests.mcp_conformance.door import MODERN, OLDER, Door, door, text_of
from tests.scenario.people import BANK, asked, at_checkout
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

PAY = {"target": "Pay €4.90", "reason": "I pay for the order"}
BOTH = pytest.mark.parametrize("mode", [MODERN, OLDER])


class Person:
    """Answers every form with the same choice, and keeps what it was shown."""

    def __init__(self, decision: str | None, *, action: str = "accept", **more: Any) -> None:
        self._content = {"decision": decision, **more} if decision else None
        self._action: Any = action
        self.forms: list[ElicitRequestParams] = []

    async def __call__(self, _: Any, params: ElicitRequestParams) -> ElicitResult:
        self.forms.append(params)
        return ElicitResult(action=self._action, content=self._content)


def presses(d: Door) -> int:
    return sum(event.get("action") == "down" for event in d.world.inputs())


@BOTH
async def test_a_yes_in_the_clients_form_lets_the_action_run_once(d: Door, mode: str) -> None:
    await at_checkout(d.world)
    lena = Person(YES)
    async with d.client(mode, elicitation_callback=lena) as client:
        result = await client.call_tool("tap", PAY)
    assert not result.is_error, text_of(result)
    assert presses(d) == 1
    [form] = lena.forms
    assert "I pay for the order" in form.message
    assert "it costs money" in form.message
    [kept] = await d.world.runtime.approvals.history()
    assert (kept.state, kept.answered_by) == ("approved", "person at mcp")
    assert kept.consumed_ms


@BOTH
@pytest.mark.parametrize(
    "person", [Person(NO), Person(None, action="decline")], ids=["chose no", "declined the form"]
)
async def test_a_no_in_the_clients_form_is_a_rejection(d: Door, mode: str, person: Person) -> None:
    await at_checkout(d.world)
    async with d.client(mode, elicitation_callback=person) as client:
        result = await client.call_tool("tap", PAY)
    assert result.is_error
    assert "ACTION_REJECTED" in text_of(result)
    assert presses(d) == 0


@BOTH
async def test_a_form_that_was_closed_leaves_the_question_to_others(d: Door, mode: str) -> None:
    await at_checkout(d.world)
    person = Person(None, action="cancel")
    async with d.client(mode, elicitation_callback=person) as client:
        calling = asyncio.create_task(client.call_tool("tap", PAY))
        await until(lambda: person.forms)
        [one] = await asked(d.world)
        await d.world.runtime.approvals.answer(one.id, True, "lena")
        result = await calling
    assert not result.is_error, text_of(result)
    assert "Approved by lena" in text_of(result)
    assert presses(d) == 1


@BOTH
async def test_a_form_that_comes_back_untouched_allows_nothing(tmp_path: Path, mode: str) -> None:
    async with door(tmp_path, patience_ms=50) as d:
        await at_checkout(d.world)
        async with d.client(mode, elicitation_callback=Person("whatever")) as client:
            if mode == MODERN:
                first = await client.session.call_tool("tap", PAY, allow_input_required=True)
                assert isinstance(first, InputRequiredResult)
                again = await client.session.call_tool(
                    "tap",
                    PAY,
                    request_state=first.request_state,
                    input_responses={
                        key: ElicitResult(action="accept") for key in first.input_requests or {}
                    },
                    allow_input_required=True,
                )
                assert isinstance(again, InputRequiredResult)
            else:
                assert "Not done yet" in text_of(await client.call_tool("tap", PAY))
        assert presses(d) == 0
        assert len(await d.world.runtime.approvals.pending()) == 1


@pytest.mark.parametrize(("choice", "span"), [(SESSION, "session"), (ALWAYS, "always")])
async def test_a_choice_that_is_to_be_remembered_is(d: Door, choice: str, span: str) -> None:
    await at_checkout(d.world)
    person = Person(choice)
    async with d.client(MODERN, elicitation_callback=person) as client:
        assert not (await client.call_tool("tap", PAY)).is_error
        await at_checkout(d.world)
        assert not (await client.call_tool("tap", PAY)).is_error
    assert len(person.forms) == 1
    [kept] = await d.world.runtime.approvals.history()
    assert kept.remember == span


@BOTH
async def test_a_client_without_forms_is_told_how_a_person_approves_and_can_call_again(
    tmp_path: Path, mode: str
) -> None:
    async with door(tmp_path, patience_ms=50) as d:
        await at_checkout(d.world)
        async with d.client(mode) as client:
            first = await client.call_tool("tap", PAY)
            [one] = await asked(d.world)
            assert f"handrail approve {one.id}" in text_of(first)
            assert presses(d) == 0
            again = await client.call_tool("tap", PAY)
            assert one.id in text_of(again)
            assert len(await d.world.runtime.approvals.pending()) == 1
            await d.world.runtime.approvals.answer(one.id, True, "lena")
            last = await client.call_tool("tap", PAY)
        assert "Approved by lena" in text_of(last)
        assert presses(d) == 1


async def test_another_call_does_not_join_the_one_that_waits(tmp_path: Path) -> None:
    async with door(tmp_path, patience_ms=50) as d:
        await at_checkout(d.world)
        async with d.client(MODERN) as client:
            await client.call_tool("tap", PAY)
            seen = await client.call_tool("get_ui_tree", {})
            assert "Pay" in text_of(seen)
            await client.call_tool("tap", {**PAY, "reason": "I really pay"})
        assert len(await d.world.runtime.approvals.pending()) == 2


# the answer of 2026-07-28: the same call again


async def _first(client: Any, arguments: dict[str, Any] = PAY) -> InputRequiredResult:
    first = await client.session.call_tool("tap", arguments, allow_input_required=True)
    assert isinstance(first, InputRequiredResult)
    return first


def _yes(first: InputRequiredResult) -> dict[str, Any]:
    answers = {
        key: ElicitResult(action="accept", content={"decision": YES}) for key in first.input_requests or {}
    }
    return {"request_state": first.request_state, "input_responses": answers}


def _client(d: Door) -> Any:
    return d.client(MODERN, elicitation_callback=Person(YES))


async def test_an_answer_is_taken_once_and_starts_nothing_anew(d: Door) -> None:
    await at_checkout(d.world)
    async with _client(d) as client:
        first = await _first(client)
        done = await client.session.call_tool("tap", PAY, **_yes(first))
        assert not done.is_error, text_of(done)
        with pytest.raises(MCPError, match="Nothing waits"):
            await client.session.call_tool("tap", PAY, **_yes(first))
    assert presses(d) == 1


@pytest.mark.parametrize("change", ["token", "arguments", "tool"])
async def test_an_answer_with_another_token_or_call_counts_for_nothing(d: Door, change: str) -> None:
    await at_checkout(d.world)
    async with _client(d) as client:
        first = await _first(client)
        given = _yes(first)
        if change == "token":
            given["request_state"] = str(first.request_state)[:-3] + "abc"
        tool = "long_press" if change == "tool" else "tap"
        arguments = {**PAY, "target": "This is a gift"} if change == "arguments" else PAY
        with pytest.raises(MCPError):
            await client.session.call_tool(tool, arguments, **given)
    assert presses(d) == 0
    assert len(await d.world.runtime.approvals.pending()) == 1


async def test_a_client_that_never_comes_back_leaves_it_to_a_terminal(d: Door) -> None:
    await at_checkout(d.world)
    async with _client(d) as client:
        await _first(client)
    [one] = await asked(d.world)
    await d.world.runtime.approvals.answer(one.id, True, "lena")
    await until(lambda: presses(d) == 1)
    async with _client(d) as client:
        told = await client.call_tool("tap", PAY)
    assert "Approved by lena" in text_of(told)
    assert presses(d) == 1


async def test_closing_the_door_withdraws_what_waits(d: Door) -> None:
    await at_checkout(d.world)
    async with _client(d) as client:
        await _first(client)
    [one] = await asked(d.world)
    await d.attendant.close()
    assert (await d.world.runtime.approvals.get(one.id)).state == "withdrawn"
    assert any(event.get("envelope", {}).get("failure_code") == "CANCELLED" for event in d.world.events())


# request_human_auth


@BOTH
async def test_a_code_is_never_asked_for_in_a_form(d: Door, mode: str) -> None:
    await d.world.open(BANK)
    person = Person(YES, data="774411")
    async with d.client(mode, elicitation_callback=person) as client:
        asking = {"instruction": "Enter the code.", "capability": "2fa", "reason": "I sign in"}
        result = await client.call_tool("request_human_auth", asking)
    assert not result.is_error, text_of(result)
    [form] = person.forms
    assert list(form.requested_schema["properties"]) == ["decision"]
    assert "--data -" in form.message
    assert "774411" not in text_of(result)


@BOTH
async def test_plain_data_may_come_by_a_form(d: Door, mode: str) -> None:
    asking = {"instruction": "Where are you?", "capability": "location", "reason": "I need it"}
    for answer, is_read in (
        ({"data": "53.54,9.98"}, True),
        ({"data": "53.54,9.98", "readable": True}, True),
        ({"data": "53.54,9.98", "readable": False}, False),
        ({"data": "774411", "readable": True}, False),
    ):
        person = Person(YES, **answer)
        async with d.client(mode, elicitation_callback=person) as client:
            result = await client.call_tool("request_human_auth", asking)
        assert not result.is_error, text_of(result)
        assert (answer["data"] in text_of(result)) is is_read
