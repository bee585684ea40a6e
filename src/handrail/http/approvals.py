"""The engine's questions on the desk, and the answers that people let it remember.

Questions of other processes of this home are found in the store.
An answer goes where every answer goes. What it brings along is passed on, and neither kept nor logged here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any, Literal, cast

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.clock import iso_time
from handrail.desk.desk import Desk
from handrail.desk.questions import Recall, Remember
from handrail.engine.approval import AskedApproval
from handrail.engine.approval.grants import Allowance
from handrail.engine.policy import Span
from handrail.engine.policy.permissions import Permissions
from handrail.errors import InvalidAction
from handrail.http.auth import Visitor
from handrail.http.responses import json_object, number
from handrail.protocol.message import DialogFeedback
from handrail.protocol.model import CamelModel, Count, Flag, Name, Text
from handrail.protocol.read import invalid_action
from handrail.runtime import Runtime

TICK_MS = 250.0
"""How soon a question, or its answer elsewhere, is seen."""
DIALOG = "approval:"
"""Dialogs of the engine begin so; no agent's dialog may."""


class DeskApprovals:
    """From the store to every screen, and back."""

    def __init__(self, runtime: Runtime, desk: Desk, name_of: Callable[[str], str] = str) -> None:
        self._runtime = runtime
        self._desk = desk
        self._name_of = name_of
        self._shown: dict[str, dict[str, Any]] = {}
        self._looking = asyncio.Lock()
        self.on_asked: list[Callable[[str], object]] = []
        """Called with the id of a question that is new here."""

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self.look()
            await self._runtime.clock.sleep_ms(TICK_MS)

    async def look(self) -> None:
        """Show what is new, take away what is answered."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        pending = {one.id: one for one in await self._runtime.approvals.pending()}
        gone = [id_ for id_ in self._shown if id_ not in pending]
        new = [one for id_, one in pending.items() if id_ not in self._shown]
        for one in new:
            self._shown[one.id] = await self._described(one)
        for id_ in gone:
            del self._shown[id_]
        if gone or new:
            self._desk.set_approvals(list(self._shown.values()))
        for one in new:
            self._desk.publish("APPROVAL_REQUEST", **self._shown[one.id])
            for tell in self.on_asked:
                tell(one.id)
        for id_ in gone:
            await self._tell_end(id_)

    async def _tell_end(self, id_: str) -> None:
        try:
            one = await self._runtime.approvals.get(id_)
        except InvalidAction:  # deleted from the store
            decision = "withdrawn"
        else:
            decision = one.state
        self._desk.publish("APPROVAL_RESOLVED", approvalId=id_, dialogId=DIALOG + id_, decision=decision)

    async def _described(self, one: AskedApproval) -> dict[str, Any]:
        asked = one.request
        is_person = asked.kind == "human_auth"
        told = {
            "approvalId": one.id,
            "dialogId": DIALOG + one.id,
            "title": _title(one),
            "message": asked.instruction,
            "reason": asked.reason or None,
            "why": asked.why or None,
            "device": asked.device or None,
            "phone": self._name_of(asked.device) if asked.device else None,
            "askedBy": asked.asked_by or None,
            "capability": asked.capability if is_person else None,
            "expiresAt": iso_time(one.expires_ms),
            "imageData": await self._picture(asked.screenshot),
        }
        kept = {name: value for name, value in told.items() if value is not None}
        if asked.may_allow:
            kept["canAllow"] = asked.may_allow
        secret = {"isSecret": asked.is_secret} if asked.wants_data else {}
        return kept | {"canRemember": asked.remember, "wantsData": asked.wants_data} | secret

    async def _picture(self, name: str | None) -> str | None:
        png = await asyncio.to_thread(self._runtime.journal.blob, name) if name else None
        return base64.b64encode(png).decode() if png else None

    async def hear(self, feedback: DialogFeedback, visitor: Visitor) -> None:
        """The answer to a dialog of the engine's."""
        await self.answer(
            AnswerBody(
                id=feedback.dialog_id.removeprefix(DIALOG),
                approve=feedback.confirmed,
                data=_data(feedback.data),
                remember=feedback.remember,
                minutes=feedback.minutes,
                times=feedback.times,
            ),
            visitor,
        )

    async def answer(self, given: AnswerBody, visitor: Visitor) -> AskedApproval:
        """From whatever door; the first answer counts, and every screen hears of it at once."""
        visitor.must_be_person("Answering a request")
        approvals = self._runtime.approvals
        known = await approvals.get(given.id)
        done = await approvals.answer(
            known.id,
            given.approve,
            f"{visitor.name} at the desk",
            data=given.data,
            remember=_span(given.remember, known),
            allow=Allowance.read(None if given.minutes is None else given.minutes * 60_000, given.times),
            note=given.note,
        )
        await self.look()
        return done


class AnswerBody(CamelModel):
    """What `POST /api/approvals` takes."""

    id: Name
    approve: Flag
    data: Any = None
    """What was asked for: a code, a text, a choice."""
    remember: Literal["session", "always"] | Flag | None = None
    """True: for as long as the rule allows."""
    minutes: Count | None = None
    """With a yes: allow the like of it too, for so long."""
    times: Count | None = None
    """And so often."""
    note: Text = ""


_ASKED = {
    "2fa": "A code is needed",
    "sms": "A code from a text message is needed",
    "oauth": "A sign-in is needed",
    "payment": "A payment needs your yes",
    "biometric": "Your fingerprint or face is needed",
    "permission": "A permission needs your yes",
    "unknown": "The agent needs you",
}


def _title(one: AskedApproval) -> str:
    """What a person sees first."""
    asked = one.request
    if asked.kind == "human_auth":
        return _ASKED.get(asked.capability, f"The agent needs your {asked.capability}")
    what = one.action_type.replace("_", " ").replace(".", " ")
    return f"May the agent {what} “{asked.label}”?" if asked.label else f"May the agent {what}?"


def _data(given: dict[str, str] | None) -> Any:
    """The page has one field, `value`: what stands in it is given as it is, as from every other door."""
    return given["value"] if given and list(given) == ["value"] else given or None


def _span(remember: str | bool | None, known: AskedApproval) -> Span | None:
    if remember is True:
        return known.request.remember if known.request.remember in ("session", "always") else None
    return cast("Span", remember) if remember else None


async def list_approvals(request: Request) -> JSONResponse:
    """What waits for an answer; with `history=1` everything, newest first."""
    context = request.app.state.context
    runtime: Runtime = context.runtime
    name_of = context.phones.name
    if request.query_params.get("history") != "1":
        found = await runtime.approvals.pending()
        return JSONResponse({"approvals": [_shown(one, name_of) for one in found]})
    limit = max(1, number(request, "limit", 50, 500))
    before = number(request, "before", 0, 10**15) or None
    found = await runtime.approvals.history(limit, before)
    last = found[-1].seq if len(found) == limit else None
    return JSONResponse({"approvals": [_shown(one, name_of) for one in found], "next": last})


async def answer_approval(request: Request) -> JSONResponse:
    """A person's yes or no."""
    given = await json_object(request)
    try:
        body = AnswerBody.model_validate(given)
    except ValidationError as error:
        raise invalid_action(error, given) from None
    context = request.app.state.context
    done = await context.approvals.answer(body, request.state.visitor)
    return JSONResponse(_shown(done, context.phones.name))


def _shown(one: AskedApproval, name_of: Callable[[str], str]) -> dict[str, Any]:
    asked = one.request
    more = {"wants_data": asked.wants_data, "is_secret": asked.is_secret, "phone": name_of(asked.device)}
    told, picture = one.to_dict() | more, asked.screenshot
    return told | ({"picture": f"/api/journal/blob/{picture}"} if picture else {})


async def list_permissions(request: Request) -> JSONResponse:
    """Answers that count again."""
    known = await asyncio.to_thread(request.app.state.context.runtime.permissions.all)
    return JSONResponse({"permissions": [{"key": key, "allow": allow} for key, allow in known.items()]})


async def forget_permission(request: Request) -> JSONResponse:
    """Revoke one of them: `key` names it."""
    request.state.visitor.must_be_person("Revoking a permission")
    key = request.query_params.get("key")
    if not key:
        raise InvalidAction("key: is required", path="key", hint="GET /api/permissions lists the keys.")
    await asyncio.to_thread(request.app.state.context.runtime.permissions.forget, key)
    return JSONResponse({"forgotten": key})


async def list_grants(request: Request) -> JSONResponse:
    """What people allowed for a time."""
    found = await request.app.state.context.runtime.approvals.grants.active()
    return JSONResponse({"grants": [one.to_dict() for one in found]})


async def revoke_grant(request: Request) -> JSONResponse:
    """End one of them: `id` names it."""
    visitor: Visitor = request.state.visitor
    visitor.must_be_person("Revoking a grant")
    runtime: Runtime = request.app.state.context.runtime
    ended = await runtime.approvals.grants.revoke(request.query_params.get("id") or "")
    actor = {"kind": "person", "id": visitor.name}
    told = {
        "kind": "grant_revoked",
        "device": ended.device,
        "actor": actor,
        "door": "desk",
        "grant": ended.id,
    }
    await runtime.journal.seal(told)
    return JSONResponse({"revoked": ended.id})


def remember_in(permissions: Permissions) -> Remember:
    """Under `agent:…` only: policy never reads such a key."""

    def remember(key: str, allow: bool) -> None:
        permissions.remember_for_agent(*_parts(key), allow)

    return remember


def recall_from(permissions: Permissions) -> Recall:
    """The context's own answer first, then the tool's."""
    return lambda key: permissions.lookup_for_agent(*_parts(key))


def _parts(key: str) -> tuple[str, str, str | None]:
    """Agent, tool and context of `agent:<id>:<tool>[:context]`."""
    _, agent, tool, *context = key.split(":", 3)
    return _plain(agent), _plain(tool), context[0] if context else None


def _plain(part: str) -> str:
    return part.replace("%3A", ":").replace("%25", "%")


ROUTES = [
    Route("/api/approvals", list_approvals),
    Route("/api/approvals", answer_approval, methods=["POST"]),
    Route("/api/permissions", list_permissions),
    Route("/api/permissions", forget_permission, methods=["DELETE"]),
    Route("/api/grants", list_grants),
    Route("/api/grants", revoke_grant, methods=["DELETE"]),
]
