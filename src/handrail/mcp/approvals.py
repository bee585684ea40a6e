"""A tool call from its request to its answer, with a person in between where policy asks for one.

The call has a task of its own, so that it can outlive a request that has to be answered before the person has
(2026-07-28), and so that a cancelled request stops the phone. A call that waits is found again by its token,
or by the same call, and never started a second time. Knows requests and questions, not tools.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, ElicitRequest, ElicitResult, InputRequiredResult

from handrail.clock import Clock
from handrail.engine.approval import Approvals, AskedApproval
from handrail.errors import ActionRejected, HandrailError
from handrail.mcp.answer import ToolAnswer
from handrail.mcp.client import Client, Ticker, decision_of, form_of
from handrail.mcp.waiting_calls import QUESTIONS, Asked, CallQuestions, Lot, WaitingCall
from handrail.waiting import Deadline, Expired, beside, first

PATIENCE_MS = 45_000.0
"""How long a call waits for an answer from elsewhere; many clients give a call up after a minute."""
TASK_AFTER_MS = 5_000.0
"""A call that takes longer is a task for a client that knows tasks: most actions end sooner."""
Work = Callable[[Ticker | None], Coroutine[Any, Any, ToolAnswer]]
Reply = ToolAnswer | InputRequiredResult | WaitingCall
"""A call that has not ended is the client's to ask for as a task."""


class Attendant:
    """Attends every tool call of one server."""

    def __init__(
        self,
        approvals: Approvals,
        clock: Clock,
        *,
        patience_ms: float = PATIENCE_MS,
        task_after_ms: float = TASK_AFTER_MS,
    ) -> None:
        self._approvals = approvals
        self._clock = clock
        self._patience_ms = patience_ms
        self._task_after_ms = task_after_ms
        self.lot = Lot(clock)

    def install(self) -> None:
        """Hear of every question; whoever was told of them before still is."""
        earlier = self._approvals.notify

        async def tell(one: AskedApproval, token: str | None) -> None:
            questions = QUESTIONS.get()
            if questions is not None:
                questions.put(ApprovalQuestion(self._approvals, one))
            if earlier is not None:
                await earlier(one, token)

        self._approvals.notify = tell

    async def __call__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: CallToolRequestParams,
        owner: str,
        device: str | None,
        work: Work,
    ) -> Reply:
        """`owner` says who calls; `work` does it on that device, unless it waits for a person already."""
        client = Client(ctx)
        key = json.dumps([owner, device, params.name, params.arguments or {}], sort_keys=True)
        try:
            call = self._find(params, key) or self._start(params, (key, owner), work, client)
        except HandrailError as error:
            return _failure(error)
        async with self._attended(call, client):
            if client.takes_tasks and params.request_state is None and self.lot.has_room():
                return await self._hand_out(call)
            if params.request_state is None:
                return await self._attend(call, client, await self._open_question(call))
            return await self._hear(call, client, params) or await self._attend(call, client, None)

    async def close(self) -> None:
        """Stop what waits."""
        await self.lot.close()

    # which call

    def _find(self, params: CallToolRequestParams, key: str) -> WaitingCall | None:
        if params.request_state is None:
            return self.lot.by_key(key)
        call = self.lot.by_state(params.request_state)
        if call is None:
            raise _refusal("Nothing waits for this answer: the call ended, or the server was started again.")
        if call.key != key:
            raise _refusal(f"The answer belongs to another call than this {params.name}.")
        return call

    def _start(
        self, params: CallToolRequestParams, whose: tuple[str, str], work: Work, client: Client
    ) -> WaitingCall:
        questions = CallQuestions(asyncio.get_running_loop())
        is_told = client.wants_progress or client.takes_tasks
        ticker = Ticker(params.name, self._clock) if is_told else None

        async def run() -> ToolAnswer:
            QUESTIONS.set(questions)
            return await work(ticker)

        task = self.lot.tasks.start(run(), f"call of {params.name}", log_failure=False)
        call = WaitingCall(*whose, task, questions, ticker, self._clock.now_ms())
        self.lot.add(call)
        return call

    @asynccontextmanager
    async def _attended(self, call: WaitingCall, client: Client) -> AsyncIterator[None]:
        """A request that is cancelled stops its call, unless another request waits for it too."""
        call.attended += 1
        ticker = call.ticker if client.wants_progress else None
        ticking = beside(ticker.run(client.report), "progress") if ticker else nullcontext()
        try:
            async with ticking:
                yield
        except asyncio.CancelledError:
            if call.attended == 1:
                call.task.cancel()
                call.task.add_done_callback(lambda _: self.lot.remove(call))
            raise
        finally:
            call.attended -= 1

    # as a task

    async def _hand_out(self, call: WaitingCall) -> Reply:
        """Its answer where that comes soon; else the call itself, for the client to ask after."""
        if call.task_id is None:
            await self._next(call, self._task_after_ms)
        if call.task.done() and call.task_id is None:
            self.lot.remove(call)
            return call.task.result()
        if call.task_id is None:
            call.task_id = secrets.token_urlsafe(32)
            call.task.add_done_callback(lambda _: call.changed(self._clock))
        return call

    # its questions

    async def _hear(self, call: WaitingCall, client: Client, params: CallToolRequestParams) -> Reply | None:
        """The answer that came with a request; None when the call goes on."""
        asked = call.open
        if asked is None or call.task.done():
            return None
        result = client.form_result(params, asked.question.id)
        if result is not None and result.action == "cancel":
            return None  # closed, not answered: it may still be answered elsewhere
        if result is None or not await asked.question.hear(result, client.name):
            return _input_required(asked)
        return None

    async def _attend(self, call: WaitingCall, client: Client, asked: Asked | None) -> Reply:
        """To the call's end, or to a question that this request can't wait for."""
        while True:
            if asked is not None and (reply := await self._ask(call, asked, client)) is not None:
                return reply
            asked = await self._next(call, self._patience_ms)
            if asked is None and call.task.done():
                self.lot.remove(call)
                return call.task.result()
            if asked is None and (still := await self._open_question(call)):
                return _pending(still)

    async def _next(self, call: WaitingCall, patience_ms: float) -> Asked | None:
        """Its next question; None at its end, or when this request has waited long enough."""
        if not call.questions.asked:
            with suppress(Expired):
                async with Deadline(self._clock, patience_ms):
                    ends: set[asyncio.Future[Any]] = {call.task, call.questions.bell}
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        asked = call.questions.take()
        call.open = asked or call.open
        return asked

    async def _open_question(self, call: WaitingCall) -> Asked | None:
        """The one that the call waits for now, if it does."""
        if call.open is None or call.task.done():
            return None
        return call.open if await call.open.question.is_open() else None

    async def _ask(self, call: WaitingCall, asked: Asked, client: Client) -> Reply | None:
        """By the best way that the client knows; None when there is nothing to do but wait."""
        if client.takes_input_requests:
            return _input_required(asked)
        if not client.takes_elicitation:
            return None
        # Answered elsewhere, the call ends first: the client may close its form.
        asking, _ = await first(client.elicit(asked.question.form), asyncio.wait({call.task}))
        result = None if asking.cancelled() else asking.result()
        if result is not None:
            await asked.question.hear(result, client.name)
        return None


class ApprovalQuestion:
    """A question of policy's, or of `request_human_auth`."""

    def __init__(self, approvals: Approvals, one: AskedApproval) -> None:
        self._approvals = approvals
        self._one = one
        self.id = one.id
        self.form = form_of(one)
        self.elsewhere = (
            f"Ask them to run `handrail approve {one.id}` (or `handrail reject {one.id}`) in a terminal."
        )

    async def is_open(self) -> bool:
        return (await self._approvals.get(self.id)).is_open

    async def hear(self, result: ElicitResult, by: str) -> bool:
        decision = decision_of(self._one, result)
        if decision is None:
            return False
        with suppress(ActionRejected):  # somebody else was faster, and the call's end says so
            await self._approvals.answer(
                self.id,
                decision.approved,
                f"person at {by}",
                data=decision.data,
                remember=decision.remember,
            )
        return True


def _input_required(asked: Asked) -> InputRequiredResult:
    one = asked.question
    return InputRequiredResult(
        input_requests={one.id: ElicitRequest(params=one.form)}, request_state=asked.state
    )


def _pending(asked: Asked) -> ToolAnswer:
    one = asked.question
    text = (
        f"Not done yet: a person has to allow it ({one.id}).\n"
        f"{one.elsewhere}\n"
        "Call this tool again with the same arguments to wait on and to learn what came of it. "
        "Do not try another way."
    )
    return ToolAnswer(text, structured={"pending": True, "approval": one.id})


def _failure(error: HandrailError) -> ToolAnswer:
    return ToolAnswer(
        f"{error.code}: {error.message}\n{error.hint}", is_error=True, structured=error.to_dict()
    )


def _refusal(said: str) -> MCPError:
    """The protocol wants a request state that is not ours refused as such, before any tool is asked."""
    return MCPError(INVALID_PARAMS, f"{said} Look at the screen before you call the tool again.")
