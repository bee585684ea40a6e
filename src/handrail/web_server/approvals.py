"""The engine's questions on the desk, the answers of people, and those that are remembered.

Questions of other processes of this home are read from the store. What an answer brings along, such as a
code, is passed on and neither kept nor logged here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any, Literal, cast

from pydantic import Field

from handrail.clock import iso_time
from handrail.desk.desk import Desk
from handrail.desk.questions import Recall, Remember
from handrail.errors import InvalidAction
from handrail.protocol.message import DialogFeedback
from handrail.protocol.model import CamelModel, Count, Flag, Name, Text
from handrail.protocol.traits import Span
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval, GrantTerms
from handrail.safety.permissions import Permissions
from handrail.web_server.auth import Visitor
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_body, read_number

ROUTES = RouteTable()
TICK_MS = 250.0  # how often open requests are read from the store
DIALOG = "approval:"  # prefix of the engine's dialog ids; no agent's dialog may have it
_TITLES = {
    "2fa": "A code is needed",
    "sms": "A code from a text message is needed",
    "oauth": "A sign-in is needed",
    "payment": "A payment needs your yes",
    "biometric": "Your fingerprint or face is needed",
    "permission": "A permission needs your yes",
    "unknown": "The agent needs you",
}
NameOf = Callable[[str], str]
"""What people call the phone with this serial."""


class AnswerBody(CamelModel):
    """What `POST /api/approvals` takes."""

    id: Name
    approve: Flag
    data: Any = None
    """What was asked for: a code, a text, a choice."""
    readable: Flag | None = None
    """Whether the agent may read `data`; by default not if question or data looks like a secret."""
    remember: Literal["session", "always"] | Flag | None = None
    """True: for as long as the rule allows."""
    minutes: Count | None = None
    """With a yes: allow similar actions too, for this long."""
    times: Count | None = None
    """With a yes: allow similar actions too, this often."""
    note: Text = ""
    may_change: list[Count] = Field(default_factory=list)
    """With a yes: numbers, from 1, of the elements in `volatile` that may change meanwhile."""


class DeskApprovals:
    """Shows open approvals in every browser that shows this desk, and takes their answers."""

    def __init__(self, runtime: Runtime, desk: Desk, name_of: NameOf = str) -> None:
        self._runtime = runtime
        self._desk = desk
        self._name_of = name_of
        self._shown: dict[str, dict[str, Any]] = {}
        self._refreshing = asyncio.Lock()
        self.on_asked: list[Callable[[str], object]] = []
        """Called with the id of a question that is new here."""

    async def run(self) -> None:
        while True:
            await self.refresh()
            await self._runtime.clock.sleep_ms(TICK_MS)

    async def refresh(self) -> None:
        """Shows new questions and takes answered ones away."""
        async with self._refreshing:
            pending = {approval.id: approval for approval in await self._runtime.approvals.pending()}
            closed = [id_ for id_ in self._shown if id_ not in pending]
            new = [id_ for id_ in pending if id_ not in self._shown]
            for id_ in new:
                self._shown[id_] = await self._request_frame(pending[id_])
            for id_ in closed:
                del self._shown[id_]
            if closed or new:
                self._desk.set_approvals(list(self._shown.values()))
            for id_ in new:
                self._desk.publish("APPROVAL_REQUEST", **self._shown[id_])
                for notify in self.on_asked:
                    notify(id_)
            for id_ in closed:
                try:
                    decision = (await self._runtime.approvals.get(id_)).state
                except InvalidAction:  # deleted from the store
                    decision = "withdrawn"
                frame = {"approvalId": id_, "dialogId": DIALOG + id_, "decision": decision}
                self._desk.publish("APPROVAL_RESOLVED", **frame)

    async def _request_frame(self, approval: AskedApproval) -> dict[str, Any]:
        request, action = approval.request, approval.action_type.replace("_", " ").replace(".", " ")
        if request.kind == "human_auth":
            title = _TITLES.get(request.capability, f"The agent needs your {request.capability}")
        else:
            title = (
                f"May the agent {action} “{request.label}”?" if request.label else f"May the agent {action}?"
            )
        blob = request.screenshot
        png = await asyncio.to_thread(self._runtime.journal.blob, blob) if blob else None
        optional = {
            "reason": request.reason or None,
            "why": request.why or None,
            "device": request.device or None,
            "phone": self._name_of(request.device) if request.device else None,
            "askedBy": request.asked_by or None,
            "capability": request.capability if request.kind == "human_auth" else None,
            "imageData": base64.b64encode(png).decode() if png else None,
            "canAllow": request.may_allow or None,
            "isSecret": request.is_secret if request.wants_data else None,
        }
        return {
            "approvalId": approval.id,
            "dialogId": DIALOG + approval.id,
            "title": title,
            "message": request.instruction,
            "expiresAt": iso_time(approval.expires_ms),
            "canRemember": request.remember,
            "wantsData": request.wants_data,
        } | {name: field for name, field in optional.items() if field is not None}

    async def answer_dialog(self, feedback: DialogFeedback, visitor: Visitor) -> None:
        """Answers a request from its dialog. The dialog's only field is passed on as plain text."""
        fields = feedback.data
        body = AnswerBody(
            id=feedback.dialog_id.removeprefix(DIALOG),
            approve=feedback.confirmed,
            data=fields["value"] if fields and list(fields) == ["value"] else fields or None,
            readable=feedback.readable,
            remember=feedback.remember,
            minutes=feedback.minutes,
            times=feedback.times,
        )
        await self.answer(body, visitor)

    async def answer(self, body: AnswerBody, visitor: Visitor) -> AskedApproval:
        """The first answer counts, and every screen shows it at once."""
        visitor.must_be_person("Answering a request")
        approval = await self._runtime.approvals.get(body.id)
        span: str | bool | None = body.remember or None
        if span is True:
            span = approval.request.remember if approval.request.remember in ("session", "always") else None
        answered = await self._runtime.approvals.answer(
            approval.id,
            body.approve,
            f"{visitor.name} at the desk",
            data=body.data,
            readable=body.readable,
            remember=cast("Span | None", span),
            allow=GrantTerms.read(None if body.minutes is None else body.minutes * 60_000, body.times),
            note=body.note,
            may_change=body.may_change,
        )
        await self.refresh()
        return answered


@ROUTES("/api/approvals")
async def list_approvals(request: DeskRequest) -> JSON:
    """What waits for an answer; with `history=1` everything, newest first."""
    approvals, name_of = request.runtime.approvals, request.context.phones.name
    if request.query_params.get("history") != "1":
        return {"approvals": [_approval_row(approval, name_of) for approval in await approvals.pending()]}
    limit = max(1, read_number(request, "limit", 50, 500))
    page = await approvals.history(limit, read_number(request, "before", 0, 10**15) or None)
    rows = [_approval_row(approval, name_of) for approval in page]
    return {"approvals": rows, "next": page[-1].seq if len(page) == limit else None}


@ROUTES("/api/approvals", "POST")
async def answer_approval(request: DeskRequest) -> JSON:
    """A person's yes or no."""
    body = await json_body(request, AnswerBody)
    answered = await request.context.approvals.answer(body, request.visitor)
    return _approval_row(answered, request.context.phones.name)


def _approval_row(approval: AskedApproval, name_of: NameOf) -> dict[str, Any]:
    request = approval.request
    row = approval.to_dict() | {
        "wants_data": request.wants_data,
        "is_secret": request.is_secret,
        "phone": name_of(request.device),
    }
    return row | ({"picture": f"/api/journal/blob/{request.screenshot}"} if request.screenshot else {})


@ROUTES("/api/permissions")
async def list_permissions(request: DeskRequest) -> JSON:
    """Answers that are remembered."""
    answers = await asyncio.to_thread(request.runtime.permissions.all)
    return {"permissions": [{"key": key, "allow": allow} for key, allow in answers.items()]}


@ROUTES("/api/permissions", "DELETE", person="Revoking a permission")
async def forget_permission(request: DeskRequest) -> JSON:
    """Forget one of them: `key` names it."""
    key = request.query_params.get("key")
    if not key:
        raise InvalidAction("key: is required", path="key", hint="GET /api/permissions lists the keys.")
    await asyncio.to_thread(request.runtime.permissions.forget, key)
    return {"forgotten": key}


@ROUTES("/api/grants")
async def list_grants(request: DeskRequest) -> JSON:
    """What people allowed for a time."""
    grants = await request.runtime.approvals.grants.active()
    return {"grants": [grant.to_dict() for grant in grants]}


@ROUTES("/api/grants", "DELETE", person="Revoking a grant")
async def revoke_grant(request: DeskRequest) -> JSON:
    """End one of them: `id` names it."""
    grant = await request.runtime.approvals.grants.revoke(request.query_params.get("id") or "")
    await request.context.seal("grant_revoked", request.visitor, device=grant.device, grant=grant.id)
    return {"revoked": grant.id}


def agent_answer_writer(permissions: Permissions) -> Remember:
    """The desk's function that remembers an answer. Its keys begin with `agent:`, which policy never
    reads."""

    def remember(key: str, allow: bool) -> None:
        permissions.remember_for_agent(*_split_agent_key(key), allow)

    return remember


def agent_answer_reader(permissions: Permissions) -> Recall:
    """The desk's function that looks up a remembered answer: for the context first, then for the tool."""
    return lambda key: permissions.lookup_for_agent(*_split_agent_key(key))


def _split_agent_key(key: str) -> tuple[str, str, str | None]:
    """Agent, tool and context of `agent:<id>:<tool>[:context]`, which `permission_key` writes."""
    _, agent, tool, *context = key.split(":", 3)
    agent, tool = (part.replace("%3A", ":").replace("%25", "%") for part in (agent, tool))
    return agent, tool, context[0] if context else None
