"""A call that takes its time, as a task: asked after, answered, stopped, and never anybody else's.

Spoken by hand over HTTP, so that what is judged is what went over the wire.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from handrail.mcp_server import pending_calls
from handrail.mcp_server.calls import ToolAnswer
from handrail.mcp_server.pending_calls import (
    KEPT_MS,
    TASK_TTL_MS,
    TASKS,
    YES,
    CallList,
    CallQuestions,
    WaitingCall,
)
from handrail_sim.clock import ManualClock
from tests.mcp_conformance.door import Door, door, over_http
from tests.scenario.people import asked, at_checkout
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

PAY = {"target": "Pay €4.90", "reason": "I pay for the order"}
LONG = {"visible": "No such thing anywhere", "timeout_ms": 60_000}
UNKNOWN, UNDECLARED, NO_METHOD, WRONG_HEADER = -32602, -32021, -32601, -32020
Answer = dict[str, Any]


class Wire:
    """One client, by hand."""

    def __init__(self, address: str, http: httpx2.AsyncClient, name: str, capabilities: Answer) -> None:
        self.address, self._http = address, http
        self._meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }

    async def send(self, method: str, params: Answer, name: str) -> Answer:
        """The whole answer, an error too."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": self._meta}}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            "Mcp-Name": name,
        }
        sent = await self._http.post(self.address, json=message, headers=headers, timeout=60)
        data = [line[6:] for line in sent.text.splitlines() if line.startswith("data: ")]
        found: Answer = json.loads(data[-1] if data else sent.text)
        return found

    async def call(self, tool: str, arguments: Answer) -> Answer:
        answer = await self.send("tools/call", {"name": tool, "arguments": arguments}, tool)
        result: Answer = answer["result"]
        return result

    async def task(self, what: str, task_id: str, **more: Any) -> Answer:
        return await self.send(f"tasks/{what}", {"taskId": task_id, **more}, task_id)

    async def get(self, task_id: str) -> Answer:
        result: Answer = (await self.task("get", task_id))["result"]
        return result

    async def says(self, task_id: str, words: str) -> Answer | None:
        shown = await self.get(task_id)
        return shown if words in shown.get("statusMessage", "") else None

    async def until(self, task_id: str, status: str) -> Answer:
        async def reached() -> Answer | None:
            shown = await self.get(task_id)
            return shown if shown["status"] == status else None

        found: Answer = await until(reached)
        return found


FORMS: Answer = {"elicitation": {"form": {}}, "extensions": {TASKS: {}}}
NO_FORMS: Answer = {"extensions": {TASKS: {}}}


@asynccontextmanager
async def clients(home: Path, *capabilities: Answer, **more: Any) -> AsyncIterator[tuple[Door, list[Wire]]]:
    """A server at the checkout, and clients that go by the names 0, 1, …"""
    async with door(home, **{"task_after_ms": 200, **more}) as d, over_http(d) as address:
        await at_checkout(d.world)
        async with httpx2.AsyncClient() as http:
            yield d, [Wire(address, http, str(number), one) for number, one in enumerate(capabilities)]


def presses(d: Door) -> int:
    return sum(event.get("action") == "down" for event in d.world.inputs())


def ends(d: Door) -> list[str | None]:
    return [event["envelope"].get("failure_code") for event in d.world.events() if event.get("terminal")]


async def test_a_quick_call_is_no_task(tmp_path: Path) -> None:
    async with clients(tmp_path, FORMS, task_after_ms=20_000) as (_, [client]):
        done = await client.call("get_state", {})
        assert (done["resultType"], "taskId" in done) == ("complete", False)


async def test_a_call_that_a_person_has_to_allow_runs_once_when_they_do(tmp_path: Path) -> None:
    async with clients(tmp_path, FORMS) as (d, [client]):
        made = await client.call("tap", PAY)
        assert made["resultType"] == "task"
        assert not {"result", "requestState", "inputRequests"} & made.keys()
        again = await client.call("tap", PAY)
        assert again["taskId"] == made["taskId"]
        shown = await client.until(made["taskId"], "input_required")
        [(key, form)] = shown["inputRequests"].items()
        assert form["method"] == "elicitation/create"
        assert "I pay for the order" in form["params"]["message"]
        for useless in ({"nobody": {"action": "accept"}}, {key: {"action": "accept", "content": {}}}):
            await client.task("update", made["taskId"], inputResponses=useless)
            assert (await client.get(made["taskId"]))["status"] == "input_required"
        assert presses(d) == 0
        yes = {key: {"action": "accept", "content": {"decision": YES}}}
        assert (await client.task("update", made["taskId"], inputResponses=yes))["result"][
            "resultType"
        ] == "complete"
        done = await client.until(made["taskId"], "completed")
        assert done["result"]["isError"] is False
        assert presses(d) == 1
        assert await client.get(made["taskId"]) == done


async def test_the_same_call_after_a_task_was_told_is_a_new_one(tmp_path: Path) -> None:
    async with clients(tmp_path, NO_FORMS) as (d, [client]):
        for count in (1, 2):
            await at_checkout(d.world)
            made = await client.call("tap", PAY)
            [one] = await asked(d.world)
            told = partial(client.says, made["taskId"], f"handrail approve {one.id}")
            assert (await until(told))["status"] == "working"
            await d.world.runtime.approvals.answer(one.id, True, "lena")
            await client.until(made["taskId"], "completed")
            assert presses(d) == count


async def test_a_cancelled_task_stops_on_the_phone_and_stays_cancelled(tmp_path: Path) -> None:
    async with clients(tmp_path, FORMS) as (d, [client]):
        made = await client.call("wait_for", LONG)
        shown = await client.get(made["taskId"])
        assert shown["statusMessage"].startswith("wait_for: ")
        for _ in range(2):
            ack = (await client.task("cancel", made["taskId"]))["result"]
            assert {key for key in ack if key != "_meta"} == {"resultType"}
            await client.until(made["taskId"], "cancelled")
        assert ends(d)[-1] == "CANCELLED"


async def test_a_task_whose_question_is_cancelled_presses_nothing(tmp_path: Path) -> None:
    async with clients(tmp_path, FORMS) as (d, [client]):
        made = await client.call("tap", PAY)
        [one] = await asked(d.world)
        await client.task("cancel", made["taskId"])
        await client.until(made["taskId"], "cancelled")
        assert (await d.world.runtime.approvals.get(one.id)).state == "withdrawn"
        assert presses(d) == 0


@pytest.mark.parametrize("what", ["get", "update", "cancel"])
async def test_nobody_but_its_caller_can_read_answer_or_stop_a_task(tmp_path: Path, what: str) -> None:
    async with clients(tmp_path, FORMS, FORMS) as (d, [owner, stranger]):
        made = await owner.call("tap", PAY)
        [one] = await asked(d.world)
        yes = {one.id: {"action": "accept", "content": {"decision": YES}}}
        more = {"inputResponses": yes} if what == "update" else {}
        refused = await stranger.task(what, made["taskId"], **more)
        none = await stranger.task(what, "x" * len(made["taskId"]), **more)
        assert refused["error"] == none["error"]
        assert refused["error"]["code"] == UNKNOWN
        near = made["taskId"][:-1] + ("A" if made["taskId"][-1] != "A" else "B")
        assert (await owner.task(what, near, **more))["error"]["code"] == UNKNOWN
        await owner.until(made["taskId"], "input_required")
        assert presses(d) == 0


async def test_tasks_are_only_for_clients_that_know_them(tmp_path: Path) -> None:
    async with clients(tmp_path, {"elicitation": {}}, FORMS) as (_, [plain, knowing]):
        for what in ("get", "update", "cancel"):
            more: Answer = {"inputResponses": {}} if what == "update" else {}
            refused = (await plain.task(what, "x", **more))["error"]
            assert refused["code"] == UNDECLARED
            assert refused["data"]["requiredCapabilities"]["extensions"] == {TASKS: {}}
        assert (await plain.call("tap", PAY))["resultType"] == "input_required"
        for gone in ("list", "result"):
            assert (await knowing.task(gone, "x"))["error"]["code"] == NO_METHOD
        wrong = await knowing.send("tasks/get", {"taskId": "x"}, "y")
        assert wrong["error"]["code"] == WRONG_HEADER


async def test_a_task_of_a_server_that_was_started_again_is_gone_and_runs_no_more(tmp_path: Path) -> None:
    async with clients(tmp_path, FORMS) as (d, [client]):
        made = await client.call("wait_for", LONG)
        await d.attendant.close()
        assert (await client.task("get", made["taskId"]))["error"]["code"] == UNKNOWN
        assert ends(d)[-1] == "CANCELLED"


async def test_a_full_house_answers_without_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_calls, "MOST_TASKS", 1)
    async with clients(tmp_path, FORMS) as (_, [client]):
        assert (await client.call("tap", PAY))["resultType"] == "task"
        other = {**PAY, "reason": "I really pay"}
        assert (await client.call("tap", other))["resultType"] == "input_required"


def test_a_task_is_kept_for_its_time_after_its_end_and_while_it_runs() -> None:
    async def story() -> None:
        clock = ManualClock()
        lot = CallList(clock)
        ending: asyncio.Event = asyncio.Event()

        async def work() -> ToolAnswer:
            await ending.wait()
            return ToolAnswer("done")

        task = lot.tasks.start(work(), "work")
        questions = CallQuestions(asyncio.get_running_loop())
        call = WaitingCall("key", "me", task, questions, None, clock.now_ms(), task_id="id")
        lot.add(call)
        await clock.advance(10 * TASK_TTL_MS)
        assert lot.find_by_task("id", "me") is call
        assert lot.find_by_task("id", "you") is None
        ending.set()
        await task
        assert lot.find_by_task("id", "me") is call
        await clock.advance(KEPT_MS - 1)
        assert lot.find_by_task("id", "me") is call
        await clock.advance(2)
        assert lot.find_by_task("id", "me") is None
        await lot.close()

    asyncio.run(story())
