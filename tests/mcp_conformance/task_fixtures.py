"""The slow tools that the public suite asks for, done by the machinery of Handrail's own calls.

They decide nothing about tasks but this: two of them exist only as tasks, as the suite wants.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from handrail.mcp_server.calls import ToolAnswer
from handrail.mcp_server.pending_calls import (
    QUESTIONS,
    ToolCalls,
    WaitingCall,
    Work,
    require_tasks,
    task_created,
)
from handrail.mcp_server.server import owner_of_request, tool_result

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams
NAMES = (
    "greet", "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input",
    "test_tool_with_task",
)  # fmt: skip
ONLY_AS_TASKS = ("failing_job", "test_tool_with_task")


class PlainQuestion:
    """A form whose answer, whatever it is, is one."""

    elsewhere = "Nowhere else."

    def __init__(self, message: str) -> None:
        self.id = secrets.token_hex(8)
        schema = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
        self.form = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def is_open(self) -> bool:
        return not self.answered.done()

    async def take_answer(self, result: types.ElicitResult, by: str) -> bool:
        self.answered.set_result(None)
        return result.action == "accept"


async def call(attendant: ToolCalls, ctx: Context, params: Params) -> Any:
    if params.name in ONLY_AS_TASKS:
        require_tasks(ctx)
    if params.name == "test_tool_with_task" and not params.input_responses:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        form = types.ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
        return types.InputRequiredResult(
            input_requests={"user_name": types.ElicitRequest(params=form)}, request_state="asked"
        )
    plain = params.model_copy(update={"request_state": None})
    reply = await attendant(ctx, plain, owner_of_request(ctx), None, _work(params))
    if isinstance(reply, WaitingCall):
        return task_created(reply)
    return tool_result(reply) if isinstance(reply, ToolAnswer) else reply


def _work(params: Params) -> Work:
    given = params.arguments or {}

    async def work(_: Any) -> ToolAnswer:
        match params.name:
            case "greet":
                return ToolAnswer(f"Hello, {given.get('name')}!")
            case "slow_compute":
                await asyncio.sleep(float(given.get("seconds", 0)))
                return ToolAnswer("Computed.")
            case "failing_job":
                await asyncio.sleep(1)
                return ToolAnswer("The job failed.", is_error=True)
            case "protocol_error_job":
                await asyncio.sleep(1)
                raise MCPError(types.INTERNAL_ERROR, "The job broke.")
            case "test_tool_with_task":
                await asyncio.sleep(1)
                return ToolAnswer(f"Hello, {_name(params)}!")
            case name:
                return await _ask(2 if name == "multi_input" else 1)

    return work


def _name(params: Params) -> str:
    [answer] = (params.input_responses or {}).values()
    assert isinstance(answer, types.ElicitResult)
    return str((answer.content or {})["name"])


async def _ask(count: int) -> ToolAnswer:
    questions = [PlainQuestion(f"Really? ({number})") for number in range(count)]
    call = QUESTIONS.get()
    assert call is not None
    for one in questions:
        call.put(one)
    await asyncio.gather(*(one.answered for one in questions))
    return ToolAnswer("Answered.")
