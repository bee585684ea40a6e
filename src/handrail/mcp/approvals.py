"""A tool call from its request to its answer, with a person in between where policy asks for one.

The call has a task of its own, so that it can outlive a request that has to be answered before the person has
(2026-07-28), and so that a cancelled request stops the phone. A call that waits is found again by its token,
or by the same call, and never started a second time. Knows requests and questions, not tools.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, InputRequiredResult

from handrail.clock import Clock
from handrail.engine.approval import Approvals, AskedApproval
from handrail.errors import ActionRejected, HandrailError
from handrail.mcp.answer import ToolAnswer
from handrail.mcp.client import Client, Decision, Ticker, decision_of, request_of
from handrail.waiting import Background, Deadline, Expired, beside, first

PATIENCE_MS = 45_000.0
"""How long a call waits for an answer from elsewhere; many clients give a call up after a minute."""
Work = Callable[[Ticker | None], Coroutine[Any, Any, ToolAnswer]]
Reply = ToolAnswer | InputRequiredResult


class Attendant:
    """Attends every tool call of one server."""

    def __init__(self, approvals: Approvals, clock: Clock, *, patience_ms: float = PATIENCE_MS) -> None:
        self._approvals = approvals
        self._clock = clock
        self._patience_ms = patience_ms
        self._lot = Lot(clock)

    def install(self) -> None:
        """Hear of every question; whoever was told of them before still is."""
        earlier = self._approvals.notify

        async def tell(one: AskedApproval, token: str | None) -> None:
            questions = QUESTIONS.get()
            if questions is not None:
                questions.put(Asked(one, secrets.token_urlsafe(32)))
            if earlier is not None:
                await earlier(one, token)

        self._approvals.notify = tell

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams, key: str, work: Work
    ) -> Reply:
        """`key` says who calls, on which device; `work` does it, unless it waits for a person already."""
        client = Client(ctx)
        try:
            call = self._find(params, key) or self._start(params, key, work, client)
        except HandrailError as error:
            return _failure(error)
        async with self._attended(call, client):
            if params.request_state is None:
                return await self._attend(call, client, await self._open_question(call))
            return await self._hear(call, client, params) or await self._attend(call, client, None)

    async def close(self) -> None:
        """Stop what waits."""
        await self._lot.close()

    # which call

    def _find(self, params: CallToolRequestParams, key: str) -> WaitingCall | None:
        full = _full(key, params)
        if params.request_state is None:
            return self._lot.by_key(full)
        call = self._lot.by_state(params.request_state)
        if call is None:
            raise _refusal("Nothing waits for this answer: the call ended, or the server was started again.")
        if call.key != full:
            raise _refusal(f"The answer belongs to another call than this {params.name}.")
        return call

    def _start(self, params: CallToolRequestParams, key: str, work: Work, client: Client) -> WaitingCall:
        questions = CallQuestions(asyncio.get_running_loop())
        ticker = Ticker(params.name, self._clock) if client.wants_progress else None

        async def run() -> ToolAnswer:
            QUESTIONS.set(questions)
            return await work(ticker)

        task = self._lot.tasks.start(run(), f"call of {params.name}", log_failure=False)
        call = WaitingCall(_full(key, params), task, questions, ticker)
        self._lot.add(call)
        return call

    @asynccontextmanager
    async def _attended(self, call: WaitingCall, client: Client) -> AsyncIterator[None]:
        """A request that is cancelled stops its call, unless another request waits for it too."""
        call.attended += 1
        ticking = beside(call.ticker.run(client.report), "progress") if call.ticker else nullcontext()
        try:
            async with ticking:
                yield
        except asyncio.CancelledError:
            if call.attended == 1:
                call.task.cancel()
                call.task.add_done_callback(lambda _: self._lot.remove(call))
            raise
        finally:
            call.attended -= 1

    # its questions

    async def _hear(self, call: WaitingCall, client: Client, params: CallToolRequestParams) -> Reply | None:
        """The answer that came with a request; None when the call goes on."""
        asked = call.open
        if asked is None or call.task.done():
            return None
        result = client.form_result(params, asked.approval.id)
        if result is not None and result.action == "cancel":
            return None  # closed, not answered: it may still be answered elsewhere
        decision = decision_of(asked.approval, result) if result is not None else None
        if decision is None:
            return _input_required(asked)
        await self._answer(asked, decision, client)
        return None

    async def _attend(self, call: WaitingCall, client: Client, asked: Asked | None) -> Reply:
        """To the call's end, or to a question that this request can't wait for."""
        while True:
            if asked is not None and (reply := await self._ask(call, asked, client)) is not None:
                return reply
            asked = await self._next(call)
            if asked is not None:
                call.open = asked
            elif call.task.done():
                self._lot.remove(call)
                return call.task.result()
            elif still := await self._open_question(call):
                return _pending(still.approval)

    async def _next(self, call: WaitingCall) -> Asked | None:
        """Its next question; None at its end, or when this request has waited long enough."""
        if not call.questions.asked:
            with suppress(Expired):
                async with Deadline(self._clock, self._patience_ms):
                    ends: set[asyncio.Future[Any]] = {call.task, call.questions.bell}
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        return call.questions.take()

    async def _open_question(self, call: WaitingCall) -> Asked | None:
        """The one that the call waits for now, if it does."""
        if call.open is None or call.task.done():
            return None
        known = await self._approvals.get(call.open.approval.id)
        return call.open if known.is_open else None

    async def _ask(self, call: WaitingCall, asked: Asked, client: Client) -> Reply | None:
        """By the best way that the client knows; None when there is nothing to do but wait."""
        if client.takes_input_requests:
            return _input_required(asked)
        if not client.takes_elicitation:
            return None
        # Answered elsewhere, the call ends first: the client may close its form.
        asking, _ = await first(client.elicit(asked.approval), asyncio.wait({call.task}))
        result = None if asking.cancelled() else asking.result()
        decision = decision_of(asked.approval, result) if result is not None else None
        if decision is not None:
            await self._answer(asked, decision, client)
        return None

    async def _answer(self, asked: Asked, decision: Decision, client: Client) -> None:
        with suppress(ActionRejected):  # somebody else was faster, and the call's end says so
            await self._approvals.answer(
                asked.approval.id,
                decision.approved,
                f"person at {client.name}",
                data=decision.data,
                remember=decision.remember,
            )


def _input_required(asked: Asked) -> InputRequiredResult:
    one = asked.approval
    return InputRequiredResult(input_requests={one.id: request_of(one)}, request_state=asked.state)


def _pending(one: AskedApproval) -> ToolAnswer:
    text = (
        f"Not done yet: a person has to allow it ({one.id}).\n"
        f"Ask them to run `handrail approve {one.id}` (or `handrail reject {one.id}`) in a terminal.\n"
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


def _full(key: str, params: CallToolRequestParams) -> str:
    return json.dumps([key, params.name, params.arguments or {}], sort_keys=True)


MOST_WAITING = 64
"""Calls that may wait at one time."""
KEPT_MS = 600_000.0
"""How long the outcome of a call that nobody came back for can still be asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with the token that its answer has to bring."""

    approval: AskedApproval
    token: str

    @property
    def state(self) -> str:
        """For the client to give back, unread."""
        return f"{self.approval.id}.{self.token}"


@dataclass(slots=True, eq=False)
class WaitingCall:
    """One call, in a task of its own."""

    key: str
    task: asyncio.Task[ToolAnswer]
    questions: CallQuestions
    ticker: Ticker | None
    open: Asked | None = None
    """The last question that was asked."""
    attended: int = 0
    """Requests that wait for it now."""
    ended_ms: float | None = None

    def is_token(self, state: str) -> bool:
        return self.open is not None and hmac.compare_digest(self.open.state.encode(), state.encode())


class CallQuestions:
    """What a call asked and nobody has taken up yet. Most ask nothing, so the bell is no task."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.asked: list[Asked] = []
        self.bell: asyncio.Future[None] = loop.create_future()

    def put(self, one: Asked) -> None:
        self.asked.append(one)
        if not self.bell.done():
            self.bell.set_result(None)

    def take(self) -> Asked | None:
        """The oldest one, if there is any."""
        if not self.asked:
            return None
        if len(self.asked) == 1:
            self.bell = self._loop.create_future()
        return self.asked.pop(0)


QUESTIONS: ContextVar[CallQuestions | None] = ContextVar("questions", default=None)
"""Set in a call's task and inherited by every task below it, the engine's included."""


@dataclass(slots=True)
class Lot:
    """The calls that wait."""

    clock: Clock
    calls: list[WaitingCall] = field(default_factory=list)
    tasks: Background = field(default_factory=Background)

    def by_key(self, key: str) -> WaitingCall | None:
        """The same call by the same caller, if it is waiting for a person or has not told its end."""
        self._forget_old()
        return next((one for one in self.calls if one.key == key and one.open is not None), None)

    def by_state(self, state: str) -> WaitingCall | None:
        self._forget_old()
        return next((one for one in self.calls if one.is_token(state)), None)

    def add(self, call: WaitingCall) -> None:
        self._forget_old()
        waiting = sum(one.open is not None for one in self.calls)
        if waiting >= MOST_WAITING:
            call.task.cancel()
            raise ActionRejected(
                f"{waiting} calls wait for a person already",
                hint="Answer some of them: `handrail approvals` lists what is asked.",
            )
        self.calls.append(call)

    def remove(self, call: WaitingCall) -> None:
        if call in self.calls:
            self.calls.remove(call)

    def _forget_old(self) -> None:
        now = self.clock.monotonic_ms()
        for one in list(self.calls):
            if one.task.done():
                one.ended_ms = now if one.ended_ms is None else one.ended_ms
                if one.attended == 0 and now - one.ended_ms > KEPT_MS:
                    self.calls.remove(one)

    async def close(self) -> None:
        """End everything that waits: its questions are withdrawn, its envelopes journalled."""
        await self.tasks.close()
        self.calls.clear()
