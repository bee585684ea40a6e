"""Tool calls that wait: for a person where policy asks for one, or for an end that a request can't wait for.

Each call has a task of its own, so that it can outlive a request that has to be answered before the person
has (2026-07-28), and so that a cancelled request stops the phone. A waiting call is found again by its token,
by the same call, or by its id as a task (the tasks extension, SEP-2663), and never started a second time.
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
from datetime import UTC, datetime
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from handrail.clock import Clock
from handrail.errors import ActionRejected, HandrailError
from handrail.mcp_server.answer import ToolAnswer
from handrail.mcp_server.client import TASKS, Client, Ticker, decision_of, form_of
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.waiting import Background, Deadline, Expired, beside, first

MOST_WAITING = 64
"""Calls that may wait at one time."""
KEPT_MS = 600_000.0
"""How long the outcome of a call that nobody came back for can still be asked for."""
TASK_TTL_MS = 600_000
"""A call that became a task can be asked for at least this long after it began, and while it runs."""
MOST_TASKS = 256
"""Tasks that are kept. Calls beyond are answered by their own requests, as for clients that know no tasks."""


class Question(Protocol):
    """What a call asks a person, in a form that clients can show."""

    id: str
    """Random; the answer comes back under it."""
    form: ElicitRequestFormParams
    elsewhere: str
    """For a client that shows no forms: where a person can answer."""

    async def is_open(self) -> bool:
        """Whether anybody may still answer."""
        ...

    async def hear(self, result: ElicitResult, by: str) -> bool:
        """A person's answer to the form; False where it leaves the question as it was."""
        ...


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """One question, with the token that its answer has to bring."""

    question: Question
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def state(self) -> str:
        """For the client to give back, unread."""
        return f"{self.question.id}.{self.token}"


@dataclass(slots=True, eq=False)
class WaitingCall:
    """One call, in a task of its own."""

    key: str
    """Who calls what on which device, with which arguments."""
    owner: str
    task: asyncio.Task[ToolAnswer]
    questions: CallQuestions
    ticker: Ticker | None
    began_ms: int
    """On the wall clock, as clients are told it."""
    changed_ms: int = 0
    """Likewise: when it last asked something, or ended."""
    open: PendingQuestion | None = None
    """The last question that was asked."""
    attended: int = 0
    """Requests that wait for it now."""
    ended_ms: float | None = None
    task_id: str | None = None
    """As what the client asks after it; None for a call that is answered by its own request."""
    is_told: bool = False
    """The client has heard how it ended: the same call again is a new one."""

    @property
    def is_joined(self) -> bool:
        """By the same call: it asked a person, or is a task at work. Sooner, two may be meant as two."""
        is_at_work = self.task_id is not None and not self.task.done()
        return not self.is_told and (bool(self.questions.all) or is_at_work)

    def matches_open_token(self, state: str) -> bool:
        return self.open is not None and hmac.compare_digest(self.open.state.encode(), state.encode())

    def changed(self, clock: Clock) -> None:
        self.changed_ms = clock.now_ms()

    async def pending(self) -> list[Question]:
        """All that it asks now; a flow on several devices may ask several things at once."""
        if self.task.done():
            return []
        return [each.question for each in self.questions.all if await each.question.is_open()]


class CallQuestions:
    """What a call asked. Most ask nothing, so the bell is no task."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.waiting: list[PendingQuestion] = []
        """What nobody has taken up yet."""
        self.all: list[PendingQuestion] = []
        self.bell: asyncio.Future[None] = loop.create_future()

    def put(self, question: Question) -> None:
        pending = PendingQuestion(question)
        self.waiting.append(pending)
        self.all.append(pending)
        if not self.bell.done():
            self.bell.set_result(None)

    def take(self) -> PendingQuestion | None:
        """The oldest one, if there is any."""
        if not self.waiting:
            return None
        if len(self.waiting) == 1:
            self.bell = self._loop.create_future()
        return self.waiting.pop(0)


QUESTIONS: ContextVar[CallQuestions | None] = ContextVar("questions", default=None)
"""Set in a call's task and inherited by every task below it, the engine's included."""


@dataclass(slots=True)
class CallList:
    """The calls that wait."""

    clock: Clock
    calls: list[WaitingCall] = field(default_factory=list)
    tasks: Background = field(default_factory=Background)

    def by_key(self, key: str) -> WaitingCall | None:
        """The same call by the same caller, if it is waiting for a person or has not told its end."""
        self._forget_old()
        return next((call for call in self.calls if call.key == key and call.is_joined), None)

    def by_state(self, state: str) -> WaitingCall | None:
        self._forget_old()
        return next((call for call in self.calls if call.matches_open_token(state)), None)

    def by_task(self, task_id: str, owner: str) -> WaitingCall | None:
        """None for everybody but the caller who started it."""
        self._forget_old()
        for call in self.calls:
            if hmac.compare_digest((call.task_id or "").encode(), task_id.encode()) and call.task_id:
                return call if call.owner == owner else None
        return None

    def has_room(self) -> bool:
        """For one more task: none is forgotten before its time to make it."""
        return sum(call.task_id is not None for call in self.calls) < MOST_TASKS

    def add(self, call: WaitingCall) -> None:
        self._forget_old()
        waiting = sum(bool(other.questions.all) and not other.is_told for other in self.calls)
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
        for call in list(self.calls):
            if call.task.done():
                call.ended_ms = now if call.ended_ms is None else call.ended_ms
                is_over = call.task_id is None or self.clock.now_ms() - call.began_ms > TASK_TTL_MS
                if call.attended == 0 and now - call.ended_ms > KEPT_MS and is_over:
                    self.calls.remove(call)

    async def close(self) -> None:
        """End everything that waits: its questions are withdrawn, its envelopes journalled."""
        await self.tasks.close()
        self.calls.clear()


PATIENCE_MS = 45_000.0
"""How long a call waits for an answer from elsewhere; many clients give a call up after a minute."""

TASK_AFTER_MS = 5_000.0
"""A call that takes longer is a task for a client that knows tasks: most actions end sooner."""

Work = Callable[[Ticker | None], Coroutine[Any, Any, ToolAnswer]]

Reply = ToolAnswer | InputRequiredResult | WaitingCall
"""A call that has not ended is the client's to ask for as a task."""


class ToolCalls:
    """Runs every tool call of one server."""

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
        self.waiting = CallList(clock)

    def install(self) -> None:
        """Get every question of the approvals; the earlier listener still gets them, too."""
        earlier = self._approvals.notify
        if getattr(earlier, "tells_clients", False):  # several servers share these approvals
            return

        async def tell(approval: AskedApproval, token: str | None) -> None:
            questions = QUESTIONS.get()
            if questions is not None:
                questions.put(ApprovalQuestion(self._approvals, approval))
            if earlier is not None:
                await earlier(approval, token)

        setattr(tell, "tells_clients", True)  # noqa: B010  (mypy knows no attributes of functions)
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
            return ToolAnswer(
                f"{error.code}: {error.message}\n{error.hint}", is_error=True, structured=error.to_dict()
            )
        async with self._attended(call, client):
            if client.takes_tasks and params.request_state is None and self.waiting.has_room():
                # Its answer where that comes soon; else the call itself, for the client to ask after.
                if call.task_id is None:
                    await self._next(call, self._task_after_ms)
                if call.task.done() and call.task_id is None:
                    self.waiting.remove(call)
                    return call.task.result()
                if call.task_id is None:
                    call.task_id = secrets.token_urlsafe(32)
                    call.task.add_done_callback(lambda _: call.changed(self._clock))
                return call
            if params.request_state is None:
                return await self._attend(call, client, await self._open_question(call))
            return await self._hear(call, client, params) or await self._attend(call, client, None)

    async def close(self) -> None:
        await self.waiting.close()

    def _find(self, params: CallToolRequestParams, key: str) -> WaitingCall | None:
        if params.request_state is None:
            return self.waiting.by_key(key)
        call = self.waiting.by_state(params.request_state)
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

        task = self.waiting.tasks.start(run(), f"call of {params.name}", log_failure=False)
        call = WaitingCall(*whose, task, questions, ticker, self._clock.now_ms())
        self.waiting.add(call)
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
                call.task.add_done_callback(lambda _: self.waiting.remove(call))
            raise
        finally:
            call.attended -= 1

    async def _hear(self, call: WaitingCall, client: Client, params: CallToolRequestParams) -> Reply | None:
        """The answer that came with a request; None when the call goes on."""
        pending = call.open
        if pending is None or call.task.done():
            return None
        result = client.form_result(params, pending.question.id)
        if result is not None and result.action == "cancel":
            return None  # closed, not answered: it may still be answered elsewhere
        if result is None or not await pending.question.hear(result, client.name):
            return _input_required(pending)
        return None

    async def _attend(self, call: WaitingCall, client: Client, pending: PendingQuestion | None) -> Reply:
        """To the call's end, or to a question that this request can't wait for."""
        while True:
            if pending is not None and (reply := await self._ask(call, pending, client)) is not None:
                return reply
            pending = await self._next(call, self._patience_ms)
            if pending is None and call.task.done():
                self.waiting.remove(call)
                return call.task.result()
            if pending is None and (still := await self._open_question(call)):
                text = (
                    f"Not done yet: a person has to allow it ({still.question.id}).\n"
                    f"{still.question.elsewhere}\n"
                    "Call this tool again with the same arguments to wait on and to learn what came of it. "
                    "Do not try another way."
                )
                return ToolAnswer(text, structured={"pending": True, "approval": still.question.id})

    async def _next(self, call: WaitingCall, patience_ms: float) -> PendingQuestion | None:
        """Its next question; None at its end, or when this request has waited long enough."""
        if not call.questions.waiting:
            with suppress(Expired):
                async with Deadline(self._clock, patience_ms):
                    ends: set[asyncio.Future[Any]] = {call.task, call.questions.bell}
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        pending = call.questions.take()
        call.open = pending or call.open
        return pending

    async def _open_question(self, call: WaitingCall) -> PendingQuestion | None:
        """The one that the call waits for now, if it does."""
        if call.open is None or call.task.done():
            return None
        return call.open if await call.open.question.is_open() else None

    async def _ask(self, call: WaitingCall, pending: PendingQuestion, client: Client) -> Reply | None:
        """By the best way that the client knows; None when there is nothing to do but wait."""
        if client.takes_input_requests:
            return _input_required(pending)
        if not client.takes_elicitation:
            return None
        # Answered elsewhere, the call ends first: the client may close its form.
        asking, _ = await first(client.elicit(pending.question.form), asyncio.wait({call.task}))
        result = None if asking.cancelled() else asking.result()
        if result is not None:
            await pending.question.hear(result, client.name)
        return None


class ApprovalQuestion:
    """A question of policy's, or of `request_human_auth`."""

    def __init__(self, approvals: Approvals, approval: AskedApproval) -> None:
        self._approvals = approvals
        self._approval = approval
        self.id = approval.id
        self.form = form_of(approval)
        ways = f"`handrail approve {approval.id}` (or `handrail reject {approval.id}`)"
        self.elsewhere = f"Ask them to run {ways} in a terminal."

    async def is_open(self) -> bool:
        return (await self._approvals.get(self.id)).is_open

    async def hear(self, result: ElicitResult, by: str) -> bool:
        decision = decision_of(self._approval, result)
        if decision is None:
            return False
        with suppress(ActionRejected):  # somebody else was faster, and the call's end says so
            await self._approvals.answer(
                self.id,
                decision.approved,
                f"person at {by}",
                data=decision.data,
                readable=decision.readable,
                remember=decision.remember,
            )
        return True


def _input_required(pending: PendingQuestion) -> InputRequiredResult:
    requests = {pending.question.id: ElicitRequest(params=pending.question.form)}
    return InputRequiredResult(input_requests=requests, request_state=pending.state)


def _refusal(message: str) -> MCPError:
    """The protocol demands this error for a request state that is not ours."""
    return MCPError(INVALID_PARAMS, f"{message} Look at the screen before you call the tool again.")


POLL_MS = 1_000
"""How often a client should ask."""
Context = ServerRequestContext[Any, Any]
Wire = dict[str, Any]


class TaskParams(types.RequestParams):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateParams(TaskParams):
    """`tasks/update`: answers under the ids of their questions."""

    input_responses: dict[str, Any]


def add_tasks(
    server: Server[Any],
    waiting: CallList,
    owner_of: Callable[[Context], str],
    dress: Callable[[ToolAnswer], Wire],
) -> None:
    """`owner_of` says who asks; `dress` writes an answer as the tool's own request would have."""
    server.add_request_handler("server/discover", types.RequestParams, _discover(server))

    def own_call(ctx: Context, params: TaskParams) -> WaitingCall:
        check_client(ctx)
        _check_header(ctx, params.task_id)
        call = waiting.by_task(params.task_id, owner_of(ctx))
        if call is None:
            message = "There is no such task: it is too old, or the server was started again."
            raise MCPError(
                types.INVALID_PARAMS, f"{message} Look at the screen before you call the tool again."
            )
        return call

    async def get(ctx: Context, params: TaskParams) -> Wire:
        call = own_call(ctx, params)
        shown = await _shown(call, Client(ctx), dress)
        return {**shown, "resultType": "complete"}

    async def update(ctx: Context, params: UpdateParams) -> Wire:
        call = own_call(ctx, params)
        for asks in await call.pending():
            if asks.id in params.input_responses:
                response = types.ElicitResult.model_validate(params.input_responses[asks.id])
                await asks.hear(response, Client(ctx).name)
        return {"resultType": "complete"}

    async def cancel(ctx: Context, params: TaskParams) -> Wire:
        own_call(ctx, params).task.cancel()
        return {"resultType": "complete"}

    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def created(call: WaitingCall) -> Wire:
    """The answer to a tool's request that its call goes on without."""
    return {**_basics(call), "status": "working", "resultType": "task"}


def check_client(ctx: Context) -> None:
    """Only a client that says it knows tasks is told of them."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
    if not Client(ctx).takes_tasks:
        needed: Wire = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"This needs the extension {TASKS}.", needed)


def _check_header(ctx: Context, task_id: str) -> None:
    """Over HTTP the id stands in a header too, for those in between; the library knows no such methods."""
    if ctx.request is None:
        return
    if decode_header_value(ctx.request.headers.get(MCP_NAME_HEADER)) != task_id:
        message = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
        raise MCPError(types.HEADER_MISMATCH, message)


def _discover(server: Server[Any]) -> Any:
    """The extension is announced only where there is no handshake: older protocols have no such results."""

    async def discover(ctx: Context, _: types.RequestParams) -> types.DiscoverResult:
        can = server.get_capabilities(extensions={TASKS: {}}, protocol_version=ctx.protocol_version)
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=can,
            instructions=server.instructions,
        )

    return discover


def _basics(call: WaitingCall) -> Wire:
    return {
        "taskId": call.task_id,
        "createdAt": _when(call.began_ms),
        "lastUpdatedAt": _when(max(call.began_ms, call.changed_ms)),
        "ttlMs": TASK_TTL_MS,
        "pollIntervalMs": POLL_MS,
    }


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


async def _shown(call: WaitingCall, client: Client, dress: Callable[[ToolAnswer], Wire]) -> Wire:
    task, basics = call.task, _basics(call)
    if not task.done():
        return {**basics, **await _running(call, client)}
    call.is_told = True
    if task.cancelled():
        return {**basics, "status": "cancelled"}
    error = task.exception()
    if error is None:
        return {**basics, "status": "completed", "result": dress(task.result())}
    failure = error.error if isinstance(error, MCPError) else None
    code, message = (failure.code, failure.message) if failure else (types.INTERNAL_ERROR, "The call failed.")
    return {**basics, "status": "failed", "error": {"code": code, "message": message}}


async def _running(call: WaitingCall, client: Client) -> Wire:
    questions = await call.pending()
    if questions and client.takes_input_requests:
        forms = {
            question.id: ElicitRequest(params=question.form).model_dump(
                by_alias=True, mode="json", exclude_none=True
            )
            for question in questions
        }
        return {"status": "input_required", "inputRequests": forms}
    message = call.ticker and call.ticker.message
    if questions:
        message = f"A person has to allow it. {questions[0].elsewhere}"
    return {"status": "working", **({"statusMessage": message} if message else {})}
