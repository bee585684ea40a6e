"""The engine's questions on the desk, and the answers of people, some of which are remembered.

Questions of other processes of this home are read from the store. What an answer brings along, such as a
code, is passed on and neither kept nor logged here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any, Literal, cast

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

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
from handrail.web_server.responses import json_body, number

TICK_MS = 250.0
"""How soon a question, or its answer elsewhere, is seen."""
DIALOG = "approval:"
"""Prefix of the engine's dialog ids; no agent's dialog may have it."""
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
    """Shows open questions on every screen, and takes their answers."""

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
                self._shown[id_] = await self._described(pending[id_])
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

    async def _described(self, approval: AskedApproval) -> dict[str, Any]:
        request = approval.request
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
            "title": _title(approval),
            "message": request.instruction,
            "expiresAt": iso_time(approval.expires_ms),
            "canRemember": request.remember,
            "wantsData": request.wants_data,
        } | {name: field for name, field in optional.items() if field is not None}

    async def answer_dialog(self, feedback: DialogFeedback, visitor: Visitor) -> None:
        """The page has one field, `value`: its text is passed on bare, as from every other client."""
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


def _title(approval: AskedApproval) -> str:
    request = approval.request
    if request.kind == "human_auth":
        return _TITLES.get(request.capability, f"The agent needs your {request.capability}")
    action = approval.action_type.replace("_", " ").replace(".", " ")
    return f"May the agent {action} “{request.label}”?" if request.label else f"May the agent {action}?"


async def list_approvals(request: Request) -> JSONResponse:
    """What waits for an answer; with `history=1` everything, newest first."""
    context = request.app.state.context
    runtime: Runtime = context.runtime
    if request.query_params.get("history") != "1":
        pending = await runtime.approvals.pending()
        return JSONResponse({"approvals": [_listed(approval, context.phones.name) for approval in pending]})
    limit = max(1, number(request, "limit", 50, 500))
    before = number(request, "before", 0, 10**15) or None
    page = await runtime.approvals.history(limit, before)
    rows = [_listed(approval, context.phones.name) for approval in page]
    return JSONResponse({"approvals": rows, "next": page[-1].seq if len(page) == limit else None})


async def answer_approval(request: Request) -> JSONResponse:
    """A person's yes or no."""
    body = await json_body(request, AnswerBody)
    context = request.app.state.context
    answered = await context.approvals.answer(body, request.state.visitor)
    return JSONResponse(_listed(answered, context.phones.name))


def _listed(approval: AskedApproval, name_of: NameOf) -> dict[str, Any]:
    asked = approval.request
    row = approval.to_dict() | {
        "wants_data": asked.wants_data,
        "is_secret": asked.is_secret,
        "phone": name_of(asked.device),
    }
    return row | ({"picture": f"/api/journal/blob/{asked.screenshot}"} if asked.screenshot else {})


async def list_permissions(request: Request) -> JSONResponse:
    """Answers that are remembered."""
    answers = await asyncio.to_thread(request.app.state.context.runtime.permissions.all)
    return JSONResponse({"permissions": [{"key": key, "allow": allow} for key, allow in answers.items()]})


async def forget_permission(request: Request) -> JSONResponse:
    """Forget one of them: `key` names it."""
    request.state.visitor.must_be_person("Revoking a permission")
    key = request.query_params.get("key")
    if not key:
        raise InvalidAction("key: is required", path="key", hint="GET /api/permissions lists the keys.")
    await asyncio.to_thread(request.app.state.context.runtime.permissions.forget, key)
    return JSONResponse({"forgotten": key})


async def list_grants(request: Request) -> JSONResponse:
    """What people allowed for a time."""
    grants = await request.app.state.context.runtime.approvals.grants.active()
    return JSONResponse({"grants": [grant.to_dict() for grant in grants]})


async def revoke_grant(request: Request) -> JSONResponse:
    """End one of them: `id` names it."""
    visitor: Visitor = request.state.visitor
    visitor.must_be_person("Revoking a grant")
    runtime: Runtime = request.app.state.context.runtime
    grant = await runtime.approvals.grants.revoke(request.query_params.get("id") or "")
    actor = {"kind": "person", "id": visitor.name}
    entry = {"kind": "grant_revoked", "device": grant.device, "actor": actor, "door": "desk"}
    await runtime.journal.seal(entry | {"grant": grant.id})
    return JSONResponse({"revoked": grant.id})


def remember_in(permissions: Permissions) -> Remember:
    """Keys begin with `agent:`, which policy never reads."""

    def remember(key: str, allow: bool) -> None:
        permissions.remember_for_agent(*_parts(key), allow)

    return remember


def recall_from(permissions: Permissions) -> Recall:
    """The context's own answer comes first, then the tool's."""
    return lambda key: permissions.lookup_for_agent(*_parts(key))


def _parts(key: str) -> tuple[str, str, str | None]:
    """Agent, tool and context of `agent:<id>:<tool>[:context]`, which `permission_key` writes."""
    _, agent, tool, *context = key.split(":", 3)
    agent, tool = (part.replace("%3A", ":").replace("%25", "%") for part in (agent, tool))
    return agent, tool, context[0] if context else None


ROUTES = [
    Route("/api/approvals", list_approvals),
    Route("/api/approvals", answer_approval, methods=["POST"]),
    Route("/api/permissions", list_permissions),
    Route("/api/permissions", forget_permission, methods=["DELETE"]),
    Route("/api/grants", list_grants),
    Route("/api/grants", revoke_grant, methods=["DELETE"]),
]
