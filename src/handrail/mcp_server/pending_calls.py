"""Tool calls that wait: for a person where policy asks for one, or for an end that a request can't wait for.

Each call has a task of its own, so that it can outlive a request that has to be answered before the person
has (2026-07-28), and so that a cancelled request stops the phone. A waiting call is found again by its token,
by the same call, or by its id as a task (the tasks extension, SEP-2663), and never started a second time.

`Client` is who sent one request: what it can show to its person, and how it is asked. A question is an MCP
form; codes and passwords never travel in one, because a client may show forms to its model. Progress is
told once a second, as the seconds that passed: it always grows, as the protocol wants.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, cast

import anyio
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
from pydantic import ValidationError

from handrail.clock import Clock
from handrail.engine.events import Listener
from handrail.engine.session import Session
from handrail.errors import ActionRejected, HandrailError
from handrail.mcp_server.calls import ToolAnswer
from handrail.protocol.traits import Span
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.screen.text import clean, cut
from handrail.waiting import Background, Deadline, Expired, beside, first

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which a client asks after calls that have not ended."""


class Client:
    """For the length of one request."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx

    @property
    def name(self) -> str:
        params = self._ctx.session.client_params
        return params.client_info.name[:60] if params else "an MCP client"

    @property
    def wants_progress(self) -> bool:
        return bool(self._ctx.meta) and (self._ctx.meta or {}).get("progress_token") is not None

    @property
    def _is_modern(self) -> bool:
        return self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def takes_input_requests(self) -> bool:
        """Since 2026-07-28 a server can't ask; it answers that it needs an answer."""
        return self._is_modern and self._shows_forms

    @property
    def takes_elicitation(self) -> bool:
        return self._ctx.session.can_send_request and self._shows_forms

    @property
    def _shows_forms(self) -> bool:
        # An empty elicitation capability means forms: the only kind there was before 2025-11-25.
        capabilities = self._ctx.session.client_capabilities
        offered = capabilities.elicitation if capabilities else None
        return offered is not None and (offered.form is not None or offered.url is None)

    async def report(self, progress: float, total: float | None, message: str) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody listens any more
            await self._ctx.session.report_progress(progress, total, message)

    @property
    def takes_tasks(self) -> bool:
        """Said with each request; older protocols have no such results."""
        can = self._ctx.session.client_capabilities
        return self._is_modern and can is not None and TASKS in (can.extensions or {})

    async def elicit(self, form: ElicitRequestFormParams) -> ElicitResult | None:
        """The person's answer to a form; None where the client could not ask after all."""
        try:
            return await self._ctx.session.elicit_form(
                form.message, form.requested_schema, self._ctx.request_id
            )
        except (MCPError, ValidationError):
            return None

    def form_result(self, params: CallToolRequestParams, key: str) -> ElicitResult | None:
        """What a repeated request brings as the answer to one question."""
        response = (params.input_responses or {}).get(key)
        return response if isinstance(response, ElicitResult) else None


YES, SESSION, ALWAYS, NO = "allow once", "allow for this session", "always allow", "do not allow"
_SPANS: dict[str, Span | None] = {YES: None, SESSION: "session", ALWAYS: "always"}
_LABEL = 80  # characters
_TEXT = 300


def form_of(approval: AskedApproval) -> ElicitRequestFormParams:
    request = approval.request
    label = f' "{cut(clean(request.label), _LABEL)}"' if request.label else ""
    also = f"Also: `handrail approve {approval.id}`"
    if request.kind == "human_auth" and request.is_secret:
        by_terminal = f"`handrail approve {approval.id} --data -`"
        also = f"Do it on the phone, then answer here. A code goes by {by_terminal}."
    lines = [
        request.shown(_TEXT),
        f"{approval.action_type}{label} on {clean(request.device)}",
        f"Why asked: {cut(clean(request.why), _TEXT)}" if request.why else "",
        f"The agent says: {cut(clean(request.reason), _TEXT)}" if request.reason else "",
        also,
    ]
    return ElicitRequestFormParams(
        message="\n".join(filter(None, lines)), requested_schema=schema_of(approval)
    )


def schema_of(approval: AskedApproval) -> dict[str, Any]:
    """One choice without a default: a form that is sent back untouched allows nothing."""
    longest = approval.request.remember
    remembered = {"session": [SESSION], "always": [SESSION, ALWAYS]}.get(longest, [])
    choices = [YES, *remembered, NO]
    fields: dict[str, Any] = {"decision": {"type": "string", "title": "Your decision", "enum": choices}}
    if approval.request.wants_data and not approval.request.is_secret:
        fields["data"] = {"type": "string", "title": "What was asked for, if anything"}
        hint = "A code or a password is kept from it in any case."
        fields["readable"] = {
            "type": "boolean", "title": "The agent may read this", "description": hint, "default": True
        }  # fmt: skip
    return {"type": "object", "properties": fields, "required": ["decision"]}


def answer_in(approval: AskedApproval, result: ElicitResult) -> dict[str, Any] | None:
    """What `Approvals.answer` takes; None where the person closed the form, or a client sent back something
    else than was asked. `readable` None: the agent may read the data, unless it looks like a secret."""
    if result.action == "decline":
        return {"approved": False}
    content, fields = result.content or {}, schema_of(approval)["properties"]
    chosen = content.get("decision")
    if result.action != "accept" or chosen not in fields["decision"]["enum"]:
        return None
    if chosen == NO:
        return {"approved": False}
    data = content.get("data") if "data" in fields else None
    return {
        "approved": True,
        "remember": _SPANS[str(chosen)],
        "data": data if isinstance(data, str) and data else None,
        "readable": None if content.get("readable", True) is True else False,
    }


FIRST_MS = 1_000.0
"""What is done sooner needs no report."""
Send = Callable[[float, float | None, str], Awaitable[None]]
"""Seconds, a total where one is known, what is going on."""


class Ticker:
    """The progress of one call."""

    def __init__(self, tool: str, clock: Clock) -> None:
        self._tool = tool
        self._clock = clock
        self._step = ""
        self._state = ""

    def step(self, done: int, total: int, what: str) -> None:
        self._step = f"step {min(done + 1, total)} of {total}, {what}"

    @asynccontextmanager
    async def watching(self, session: Session) -> AsyncIterator[None]:
        """While an action runs, its state is in the message."""
        try:
            async with beside(self._listen(session.events()), f"progress of {self._tool}"):
                yield
        finally:
            self._state = ""

    async def _listen(self, events: Listener) -> None:
        action_id: str | None = None
        async for event in events:
            action_id = action_id or event.action_id  # actions of others on the same device come later
            if event.action_id == action_id:
                self._state = event.waits_for or event.state.replace("_", " ")

    @property
    def message(self) -> str:
        return f"{self._tool}: {', '.join(filter(None, [self._step, self._state])) or 'at work'}"

    async def run(self, send: Send) -> None:
        """Until it is cancelled, at the end of a request that waits for the call."""
        began = self._clock.monotonic_ms()
        while True:
            await self._clock.sleep_ms(FIRST_MS)
            elapsed = (self._clock.monotonic_ms() - began) / 1000
            await send(round(elapsed, 3), None, self.message)


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
    open: Question | None = None
    """The last question that was asked."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What an answer to it has to bring."""
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

    @property
    def input_required(self) -> InputRequiredResult:
        """The client gives `request_state` back, unread."""
        question = cast("Question", self.open)
        requests = {question.id: ElicitRequest(params=question.form)}
        return InputRequiredResult(input_requests=requests, request_state=f"{question.id}.{self.token}")

    def matches_open_token(self, state: str) -> bool:
        expected = f"{self.open.id}.{self.token}" if self.open is not None else ""
        return bool(expected) and hmac.compare_digest(expected.encode(), state.encode())

    async def pending(self) -> list[Question]:
        """All that it asks now; a flow on several devices may ask several things at once."""
        if self.task.done():
            return []
        return [question for question in self.questions.all if await question.is_open()]

    async def open_question(self) -> Question | None:
        """The one that the call waits for now, if it does."""
        if self.open is None or self.task.done():
            return None
        return self.open if await self.open.is_open() else None


class CallQuestions:
    """What a call asked. Most ask nothing, so the bell is no task."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.waiting: list[Question] = []
        """What nobody has taken up yet."""
        self.all: list[Question] = []
        self.bell: asyncio.Future[None] = loop.create_future()

    def put(self, question: Question) -> None:
        self.waiting.append(question)
        self.all.append(question)
        if not self.bell.done():
            self.bell.set_result(None)

    def take(self) -> Question | None:
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
                    call.task.add_done_callback(partial(_note_end, call, self._clock))
                return call
            if params.request_state is None:
                return await self._attend(call, client, await call.open_question())
            # The answer that came with a request; a form that was closed may still be answered elsewhere.
            if call.open is not None and not call.task.done():
                result = client.form_result(params, call.open.id)
                is_closed = result is not None and result.action == "cancel"
                if not is_closed and (result is None or not await call.open.hear(result, client.name)):
                    return call.input_required
            return await self._attend(call, client, None)

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

    async def _attend(self, call: WaitingCall, client: Client, pending: Question | None) -> Reply:
        """To the call's end, or to a question that this request can't wait for."""
        while True:
            if pending is not None and (reply := await self._ask(call, pending, client)) is not None:
                return reply
            pending = await self._next(call, self._patience_ms)
            if pending is None and call.task.done():
                self.waiting.remove(call)
                return call.task.result()
            if pending is None and (still := await call.open_question()):
                text = (
                    f"Not done yet: a person has to allow it ({still.id}).\n"
                    f"{still.elsewhere}\n"
                    "Call this tool again with the same arguments to wait on and to learn what came of it. "
                    "Do not try another way."
                )
                return ToolAnswer(text, structured={"pending": True, "approval": still.id})

    async def _next(self, call: WaitingCall, patience_ms: float) -> Question | None:
        """Its next question; None at its end, or when this request has waited long enough."""
        if not call.questions.waiting:
            with suppress(Expired):
                async with Deadline(self._clock, patience_ms):
                    ends: set[asyncio.Future[Any]] = {call.task, call.questions.bell}
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        pending = call.questions.take()
        call.open = pending or call.open
        return pending

    async def _ask(self, call: WaitingCall, pending: Question, client: Client) -> Reply | None:
        """By the best way that the client knows; None when there is nothing to do but wait."""
        if client.takes_input_requests:
            return call.input_required
        if not client.takes_elicitation:
            return None
        # Answered elsewhere, the call ends first: the client may close its form.
        asking, _ = await first(client.elicit(pending.form), asyncio.wait({call.task}))
        result = None if asking.cancelled() else asking.result()
        if result is not None:
            await pending.hear(result, client.name)
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
        answer = answer_in(self._approval, result)
        if answer is None:
            return False
        with suppress(ActionRejected):  # somebody else was faster, and the call's end says so
            await self._approvals.answer(self.id, by=f"person at {by}", **answer)
        return True


def _note_end(call: WaitingCall, clock: Clock, _: object) -> None:
    call.changed_ms = clock.now_ms()


def _refusal(message: str) -> MCPError:
    """The protocol demands this error for a request state or a task that is not ours."""
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

    async def discover(ctx: Context, _: types.RequestParams) -> types.DiscoverResult:
        """The extension is announced where there is no handshake: older protocols have no such results."""
        can = server.get_capabilities(extensions={TASKS: {}}, protocol_version=ctx.protocol_version)
        versions = list(MODERN_PROTOCOL_VERSIONS)
        return types.DiscoverResult(
            supported_versions=versions, capabilities=can, instructions=server.instructions
        )

    def own_call(ctx: Context, params: TaskParams) -> WaitingCall:
        check_client(ctx)
        # Over HTTP the id stands in a header too, for those in between; the library knows no such methods.
        headers = ctx.request.headers if ctx.request is not None else None
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != params.task_id:
            message = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
            raise MCPError(types.HEADER_MISMATCH, message)
        call = waiting.by_task(params.task_id, owner_of(ctx))
        if call is None:
            raise _refusal("There is no such task: it is too old, or the server was started again.")
        return call

    async def get(ctx: Context, params: TaskParams) -> Wire:
        return {**await _shown(own_call(ctx, params), Client(ctx), dress), "resultType": "complete"}

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

    server.add_request_handler("server/discover", types.RequestParams, discover)
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


def _basics(call: WaitingCall) -> Wire:
    began, changed = (
        datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        for at_ms in (call.began_ms, max(call.began_ms, call.changed_ms))
    )
    times = {"createdAt": began, "lastUpdatedAt": changed, "ttlMs": TASK_TTL_MS, "pollIntervalMs": POLL_MS}
    return {"taskId": call.task_id, **times}


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
