"""Tool calls that wait: for a person where policy asks for one, or for an end that a request can't wait for.

Each call has a task of its own, so that it can outlive a request that has to be answered before the person
has (2026-07-28), and so that a cancelled request stops the phone. A waiting call is found again by its token,
by the same call, or by its id as a task (the tasks extension, SEP-2663), and never started a second time.

`RequestClient` is who sent one request: what it can show to its person, and how it is asked. A question is
an MCP form; codes and passwords never travel in one, because a client may show forms to its model.
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
from typing import Any, cast

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
from handrail.errors import ActionRejected, HandrailError
from handrail.mcp_server.calls import Ticker, ToolAnswer
from handrail.protocol.traits import Span
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.screen.text import clean, cut
from handrail.waiting import Background, Deadline, Expired, beside, first

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which a client asks after calls that have not ended."""


class RequestClient:
    """The client of one request: what it supports, and how its person is asked."""

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
        """Whether the answer to this request may be a form. Since 2026-07-28 servers can't send requests."""
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
        """Whether a long call may become a task."""
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


def question_form(approval: AskedApproval) -> ElicitRequestFormParams:
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
        message="\n".join(filter(None, lines)), requested_schema=form_schema(approval)
    )


def form_schema(approval: AskedApproval) -> dict[str, Any]:
    """The form's fields. The decision has no default, so a form that is sent back untouched allows
    nothing."""
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


def answer_from_form(approval: AskedApproval, result: ElicitResult) -> dict[str, Any] | None:
    """What `Approvals.answer` takes; None where the person closed the form, or a client sent back something
    else than was asked. `readable` None: the agent may read the data, unless it looks like a secret."""
    if result.action == "decline":
        return {"approved": False}
    content, fields = result.content or {}, form_schema(approval)["properties"]
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


MOST_WAITING = 64  # calls that may wait at one time
KEPT_MS = 600_000.0  # how long the outcome of a call that nobody came back for can still be asked for
TASK_TTL_MS = 600_000
"""A call that became a task can be asked for at least this long after it began, and while it runs."""
MOST_TASKS = 256
"""Tasks that are kept. Calls beyond are answered by their own requests, as for clients that know no tasks."""


class Question:
    """What a call asks a person: a question of policy's, or of `request_human_auth`."""

    def __init__(self, approvals: Approvals, approval: AskedApproval) -> None:
        self._approvals = approvals
        self._approval = approval
        self.id = approval.id
        self.form = question_form(approval)
        ways = f"`handrail approve {approval.id}` (or `handrail reject {approval.id}`)"
        self.elsewhere = f"Ask them to run {ways} in a terminal."  # for a client that shows no forms

    async def is_unanswered(self) -> bool:
        return (await self._approvals.get(self.id)).is_open

    async def take_answer(self, result: ElicitResult, by: str) -> bool:
        """False where the person's answer leaves the question as it was."""
        answer = answer_from_form(self._approval, result)
        if answer is None:
            return False
        with suppress(ActionRejected):  # somebody else was faster, and the call's end says so
            await self._approvals.answer(self.id, by=f"person at {by}", **answer)
        return True


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
    """When it ended."""
    open: Question | None = None
    """The last question that was asked."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """The secret that an answer has to carry."""
    attended: int = 0
    """How many requests wait for it now."""
    ended_ms: float | None = None
    task_id: str | None = None
    """Its id as an MCP task; None if its own request answers it."""
    is_where_told: bool = False
    """Whether the client knows where its question waits."""
    is_told: bool = False
    """Whether the client knows how it ended. After that the same call is a new one."""

    @property
    def takes_repeats(self) -> bool:
        """Whether the same call joins this one: only if it has asked a person or is a running task."""
        is_at_work = self.task_id is not None and not self.task.done()
        return not self.is_told and (bool(self.questions.all) or is_at_work)

    @property
    def input_required(self) -> InputRequiredResult:
        """The answer that asks the client to show the form. The client sends `request_state` back
        unchanged."""
        question = cast("Question", self.open)
        requests = {question.id: ElicitRequest(params=question.form)}
        return InputRequiredResult(input_requests=requests, request_state=f"{question.id}.{self.token}")

    def is_state_of_open_question(self, state: str) -> bool:
        expected = f"{self.open.id}.{self.token}" if self.open is not None else ""
        return bool(expected) and hmac.compare_digest(expected.encode(), state.encode())

    def note_end(self, clock: Clock) -> None:
        self.changed_ms = clock.now_ms()

    async def pending(self) -> list[Question]:
        """Lists its open questions. A flow on several devices may have several."""
        if self.task.done():
            return []
        return [question for question in self.questions.all if await question.is_unanswered()]

    async def open_question(self) -> Question | None:
        """The last question, if it is still open."""
        if self.open is None or self.task.done():
            return None
        return self.open if await self.open.is_unanswered() else None


class CallQuestions:
    """The questions of one call. `bell` is done when there is a new one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.waiting: list[Question] = []
        """Questions that no request has taken yet."""
        self.all: list[Question] = []
        self.bell: asyncio.Future[None] = loop.create_future()

    def put(self, question: Question) -> None:
        self.waiting.append(question)
        self.all.append(question)
        if not self.bell.done():
            self.bell.set_result(None)

    def take_oldest(self) -> Question | None:
        """None when no question waits."""
        if not self.waiting:
            return None
        if len(self.waiting) == 1:
            self.bell = self._loop.create_future()
        return self.waiting.pop(0)


QUESTIONS: ContextVar[CallQuestions | None] = ContextVar("questions", default=None)
"""The questions of the current call. Tasks that the call starts inherit it."""


@dataclass(slots=True)
class CallList:
    """The calls that wait."""

    clock: Clock
    calls: list[WaitingCall] = field(default_factory=list)
    tasks: Background = field(default_factory=Background)

    def by_key(self, key: str) -> WaitingCall | None:
        """The same call by the same caller, if it is waiting for a person or has not told its end."""
        self._forget_old()
        return next((call for call in self.calls if call.key == key and call.takes_repeats), None)

    def find_by_state(self, state: str) -> WaitingCall | None:
        self._forget_old()
        return next((call for call in self.calls if call.is_state_of_open_question(state)), None)

    def find_by_task(self, task_id: str, owner: str) -> WaitingCall | None:
        """Returns None for everybody but the caller who started it."""
        self._forget_old()
        for call in self.calls:
            if hmac.compare_digest((call.task_id or "").encode(), task_id.encode()) and call.task_id:
                return call if call.owner == owner else None
        return None

    def has_room(self) -> bool:
        return sum(call.task_id is not None for call in self.calls) < MOST_TASKS

    def add(self, call: WaitingCall) -> None:
        self._forget_old()
        waiting = sum(bool(other.questions.all) and not other.is_told for other in self.calls)
        if waiting >= MOST_WAITING:
            call.task.cancel()
            hint = "Answer some of them: `handrail approvals` lists what is asked."
            raise ActionRejected(f"{waiting} calls wait for a person already", hint=hint)
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

FIRST_MS = 8_000.0
"""How long it waits before its client has been told where the question waits."""

TASK_AFTER_MS = 5_000.0
"""A call that takes longer is a task for a client that knows tasks: most actions end sooner."""

Work = Callable[[Ticker | None], Coroutine[Any, Any, ToolAnswer]]

Reply = ToolAnswer | InputRequiredResult | WaitingCall
"""The answer of a call, a form to show, or a call that became a task."""


class ToolCalls:
    """Runs every tool call of one server."""

    def __init__(
        self,
        approvals: Approvals,
        clock: Clock,
        *,
        patience_ms: float = PATIENCE_MS,
        task_after_ms: float = TASK_AFTER_MS,
        desk: Callable[[], str] = lambda: "",
    ) -> None:
        """`desk` tells the address of the desk that is open; "" for none."""
        self._desk = desk
        self._approvals = approvals
        self._clock = clock
        self._patience_ms = patience_ms
        self._task_after_ms = task_after_ms
        self.waiting = CallList(clock)

    def listen_to_approvals(self) -> None:
        """Get every question of the approvals; the earlier listener still gets them, too."""
        earlier = self._approvals.notify
        if getattr(earlier, "tells_clients", False):  # several servers share these approvals
            return

        async def tell(approval: AskedApproval, token: str | None) -> None:
            questions = QUESTIONS.get()
            if questions is not None:
                questions.put(Question(self._approvals, approval))
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
        client = RequestClient(ctx)
        key = json.dumps([owner, device, params.name, params.arguments or {}], sort_keys=True)
        try:
            call = self._find_waiting_call(params, key) or self._start_call(
                params, (key, owner), work, client
            )
        except HandrailError as error:
            return ToolAnswer(
                f"{error.code}: {error.message}\n{error.hint}", is_error=True, structured=error.to_dict()
            )
        async with self._while_attended(call, client):
            if client.takes_tasks and params.request_state is None and self.waiting.has_room():
                # Its answer where that comes soon; else the call itself, for the client to ask after.
                if call.task_id is None:
                    await self._next_question(call, self._task_after_ms)
                if call.task.done() and call.task_id is None:
                    self.waiting.remove(call)
                    return call.task.result()
                if call.task_id is None:
                    call.task_id = secrets.token_urlsafe(32)
                    call.task.add_done_callback(lambda _: call.note_end(self._clock))
                return call
            if params.request_state is None:
                return await self._wait_for_reply(call, client, await call.open_question())
            # The answer that came with a request; a form that was closed may still be answered elsewhere.
            if call.open is not None and not call.task.done():
                result = client.form_result(params, call.open.id)
                is_closed = result is not None and result.action == "cancel"
                if not is_closed and (result is None or not await call.open.take_answer(result, client.name)):
                    return call.input_required
            return await self._wait_for_reply(call, client, None)

    async def close(self) -> None:
        await self.waiting.close()

    def _find_waiting_call(self, params: CallToolRequestParams, key: str) -> WaitingCall | None:
        if params.request_state is None:
            return self.waiting.by_key(key)
        call = self.waiting.find_by_state(params.request_state)
        if call is None:
            raise _unknown_call(
                "Nothing waits for this answer: the call ended, or the server was started again."
            )
        if call.key != key:
            raise _unknown_call(f"The answer belongs to another call than this {params.name}.")
        return call

    def _start_call(
        self, params: CallToolRequestParams, whose: tuple[str, str], work: Work, client: RequestClient
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
    async def _while_attended(self, call: WaitingCall, client: RequestClient) -> AsyncIterator[None]:
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

    async def _wait_for_reply(
        self, call: WaitingCall, client: RequestClient, pending: Question | None
    ) -> Reply:
        """Waits for the call's end, or for a question that this request can't wait for."""
        while True:
            if pending is not None and (reply := await self._ask_person(call, pending, client)) is not None:
                return reply
            is_news = call.open is not None and not call.is_where_told
            patience_ms = min(FIRST_MS, self._patience_ms) if is_news else self._patience_ms
            pending = await self._next_question(call, patience_ms)
            if pending is None and call.task.done():
                self.waiting.remove(call)
                return call.task.result()
            if pending is None and (still := await call.open_question()):
                call.is_where_told, desk = True, self._desk()
                where = f"It waits on their desk, {desk}. Or: {still.elsewhere}" if desk else still.elsewhere
                text = (
                    f"Not done yet: a person has to allow it ({still.id}).\n"
                    f"{where}\n"
                    "Call this tool again with the same arguments to wait on and to learn what came of it. "
                    "Do not try another way."
                )
                return ToolAnswer(text, structured={"pending": True, "approval": still.id})

    async def _next_question(self, call: WaitingCall, patience_ms: float) -> Question | None:
        """Its next question; None at its end, or when this request has waited long enough."""
        if not call.questions.waiting:
            with suppress(Expired):
                async with Deadline(self._clock, patience_ms):
                    ends: set[asyncio.Future[Any]] = {call.task, call.questions.bell}
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        pending = call.questions.take_oldest()
        call.open = pending or call.open
        return pending

    async def _ask_person(self, call: WaitingCall, pending: Question, client: RequestClient) -> Reply | None:
        """Asks by a form, if the client shows forms. None: there is nothing to do but wait."""
        if client.takes_input_requests:
            return call.input_required
        if not client.takes_elicitation:
            return None
        # Answered elsewhere, the call ends first: the client may close its form.
        asking, _ = await first(client.elicit(pending.form), asyncio.wait({call.task}))
        result = None if asking.cancelled() else asking.result()
        if result is not None:
            await pending.take_answer(result, client.name)
        return None


def _unknown_call(message: str) -> MCPError:
    """The protocol demands this error for a request state or a task that is not ours."""
    return MCPError(INVALID_PARAMS, f"{message} Look at the screen before you call the tool again.")


POLL_MS = 1_000  # how often a client should ask
Context = ServerRequestContext[Any, Any]
Wire = dict[str, Any]


class TaskParams(types.RequestParams):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateParams(TaskParams):
    """`tasks/update`: answers under the ids of their questions."""

    input_responses: dict[str, Any]


def add_task_methods(
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
        require_tasks(ctx)
        # Over HTTP the id stands in a header too, for those in between; the library knows no such methods.
        headers = ctx.request.headers if ctx.request is not None else None
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != params.task_id:
            message = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
            raise MCPError(types.HEADER_MISMATCH, message)
        call = waiting.find_by_task(params.task_id, owner_of(ctx))
        if call is None:
            raise _unknown_call("There is no such task: it is too old, or the server was started again.")
        return call

    async def get(ctx: Context, params: TaskParams) -> Wire:
        return {
            **await _task_state(own_call(ctx, params), RequestClient(ctx), dress),
            "resultType": "complete",
        }

    async def update(ctx: Context, params: UpdateParams) -> Wire:
        call = own_call(ctx, params)
        for asks in await call.pending():
            if asks.id in params.input_responses:
                response = types.ElicitResult.model_validate(params.input_responses[asks.id])
                await asks.take_answer(response, RequestClient(ctx).name)
        return {"resultType": "complete"}

    async def cancel(ctx: Context, params: TaskParams) -> Wire:
        own_call(ctx, params).task.cancel()
        return {"resultType": "complete"}

    server.add_request_handler("server/discover", types.RequestParams, discover)
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def task_created(call: WaitingCall) -> Wire:
    """The answer to a tool's request that its call goes on without."""
    return {**_task_fields(call), "status": "working", "resultType": "task"}


def require_tasks(ctx: Context) -> None:
    """Raises unless the client says that it knows tasks."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
    if not RequestClient(ctx).takes_tasks:
        needed: Wire = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"This needs the extension {TASKS}.", needed)


def _task_fields(call: WaitingCall) -> Wire:
    began, changed = (
        datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        for at_ms in (call.began_ms, max(call.began_ms, call.changed_ms))
    )
    times = {"createdAt": began, "lastUpdatedAt": changed, "ttlMs": TASK_TTL_MS, "pollIntervalMs": POLL_MS}
    return {"taskId": call.task_id, **times}


async def _task_state(call: WaitingCall, client: RequestClient, dress: Callable[[ToolAnswer], Wire]) -> Wire:
    task, basics = call.task, _task_fields(call)
    if not task.done():
        return {**basics, **await _running_state(call, client)}
    call.is_told = True
    if task.cancelled():
        return {**basics, "status": "cancelled"}
    error = task.exception()
    if error is None:
        return {**basics, "status": "completed", "result": dress(task.result())}
    failure = error.error if isinstance(error, MCPError) else None
    code, message = (failure.code, failure.message) if failure else (types.INTERNAL_ERROR, "The call failed.")
    return {**basics, "status": "failed", "error": {"code": code, "message": message}}


async def _running_state(call: WaitingCall, client: RequestClient) -> Wire:
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
