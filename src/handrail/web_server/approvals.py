"""The engine's questions on the desk, the answers of people, and those that are remembered; the Settings app.

Questions of other processes of this home are read from the store. What an answer brings along, such as a
code, is passed on and neither kept nor logged here.
"""

from __future__ import annotations

import asyncio
import base64
import platform
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from handrail import __version__
from handrail.clock import iso_time
from handrail.desk.desk import Desk
from handrail.desk.questions import Recall, Remember
from handrail.errors import ActionRejected, HandrailError, InvalidAction
from handrail.protocol.message import DialogFeedback
from handrail.protocol.model import CamelModel, Count, Flag, Name, Text
from handrail.protocol.read import action_from
from handrail.protocol.traits import Span
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval, GrantTerms
from handrail.safety.permissions import Permissions
from handrail.safety.policy import Policy, rulings, unreachable
from handrail.safety.policy_file import parse_policy, remember_sentence, sentence
from handrail.safety.subject import Subject, TouchedElement
from handrail.trusted_file import replace_file
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
    """With an approval: allow similar actions too, for this long."""
    times: Count | None = None
    """With an approval: allow similar actions too, this often."""
    note: Text = ""
    may_change: list[Count] = Field(default_factory=list)
    """With an approval: numbers, from 1, of the elements in `volatile` that may change meanwhile."""


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
            label = f" “{request.label}”" if request.label else ""
            title = f"May the agent {action}{label}?"
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
        raise InvalidAction.at("key", "is required", hint="GET /api/permissions lists the keys.")
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


MOST_POLICY = 1_000_000  # characters of a policy file that a page may send
RECENT = 500  # requests of the history that the Settings app counts
MOST_NAMED = 3  # a class with more actions than this is called "any touch or key"
EVERYTHING_ELSE = "Everything else"
Counts = Counter[tuple[str, str]]
"""Number of requests by reason and outcome."""


@ROUTES("/api/settings", person="Looking at the settings")
async def settings(request: DeskRequest) -> JSON:
    """Rules in words, classes of acts with what is decided about them, the home, versions."""
    runtime = request.runtime
    history = await runtime.approvals.history(RECENT)
    counts: Counts = Counter((approval.request.why, approval.state) for approval in history)
    home, versions = await asyncio.gather(
        asyncio.to_thread(_home_sizes, runtime.config.home), asyncio.to_thread(_version_rows)
    )
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, what, ruling in rulings():
        grouped.setdefault((what, ruling.local, ruling.remote, ruling.why), []).append(kind)
    rows = []
    for (what, local, remote, why), kinds in grouped.items():
        names = ", ".join(kind.replace("_", " ") for kind in kinds)
        title = f"{names if len(kinds) <= MOST_NAMED else 'Any touch or key'} {what}".strip()
        if local == remote == "allow":
            title = EVERYTHING_ELSE
        row = {"title": title, "actions": names, "local": local, "remote": remote, "why": why}
        rows.append(row | _question_counts(counts, why))
    return {
        "policy": _policy_document(runtime, counts),
        "classes": sorted(rows, key=lambda row: row["title"] == EVERYTHING_ELSE),
        "home": home,
        "versions": versions,
        "agentLine": request.context.agent_line,
        "agentClients": request.context.agent_clients,
        "mcp": _mcp_address(request),
        "tokenFile": str(runtime.config.desk),
    }


def _mcp_address(request: DeskRequest) -> str | None:
    """The address of MCP here, None where it is not served. Only browsers can look up the page's own name."""
    if not any(getattr(route, "path", "").startswith("/mcp") for route in request.app.routes):
        return None
    origin, server = request.context.origin(request), request.scope.get("server")
    if origin.startswith("https:") or server is None:
        return f"{origin}/mcp"
    host = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"http://{host}:{server[1]}/mcp"


def _question_counts(counts: Counts, why: str) -> dict[str, int]:
    """How often requests with this reason were made, approved and denied. A special case has `CASE;
    REASON`."""
    states: Counter[str] = Counter()
    for (reason, state), count in counts.items():
        if why and (reason == why or reason.endswith(f"; {why}")):
            states[state] += count
    return {"asked": states.total(), "approved": states["approved"], "denied": states["denied"]}


def _policy_document(runtime: Runtime, counts: Counts) -> dict[str, Any]:
    """The file, its rules in words; for a file that can't be used, what is wrong with it."""
    file = runtime.config.policy
    policy: dict[str, Any] = {"file": str(file), "exists": file.exists(), "rules": [], "knownHosts": []}
    if file.is_file():
        policy["text"] = file.read_text("utf-8", "replace")
    try:
        current = runtime.policy.current()
    except HandrailError as error:
        return policy | {"problem": {"message": error.message, "hint": error.hint}}
    if not isinstance(current, Policy):  # the file changed half a second ago: both versions hold
        return policy | {"changing": True}
    return policy | _rules_in_words(current, counts)


def _rules_in_words(policy: Policy, counts: Counts) -> dict[str, Any]:
    dead = unreachable(policy.rules)
    rules = [
        {
            "name": rule.name,
            "verdict": rule.verdict,
            "sentence": sentence(rule),
            "kept": remember_sentence(rule),
            "unreachable": dead.get(at),
            **_question_counts(counts, rule.why),
        }
        for at, rule in enumerate(policy.rules)
    ]
    return {"rules": rules, "knownHosts": sorted(policy.known_hosts)}


class PolicyBody(CamelModel):
    """A policy file as somebody edits it, and an action to try on it."""

    text: str = Field(max_length=MOST_POLICY)
    before: str | None = None
    """What the editor began with; another text in the file is not overwritten."""
    action: dict[str, Any] | None = None
    label: str = ""
    app: str = ""


@ROUTES("/api/policy/check", "POST", person="Trying rules")
async def check_policy(request: DeskRequest) -> JSON:
    """The rules of a text in words, and which of them would decide about an action; nothing is saved."""
    body = await json_body(request, PolicyBody)
    try:
        policy = Policy.of(parse_policy(body.text))
    except InvalidAction as error:
        return {"problem": {"message": error.message, "hint": error.hint}}
    if body.action is None:
        return _rules_in_words(policy, Counter())
    touched = TouchedElement(label=body.label, package=body.app)
    subject = Subject.of(
        action_from(body.action), resolved=touched, at_ms=request.runtime.clock.now_ms(), door="http"
    )
    verdict = policy.decide(subject)
    decides = {"verdict": verdict.kind, "rule": verdict.rule, "why": verdict.why}
    return _rules_in_words(policy, Counter()) | {"decides": decides}


@ROUTES("/api/policy", "POST", person="Changing the rules")
async def save_policy(request: DeskRequest) -> JSON:
    """Write the policy file, if its text can be used and nobody else changed it."""
    body, file = await json_body(request, PolicyBody), request.runtime.config.policy
    if request.visitor.is_remote:
        raise ActionRejected("Rules are changed at this machine only", hint="Open the desk there.")
    parse_policy(body.text)
    if (file.read_text("utf-8", "replace") if file.is_file() else None) != body.before:
        raise InvalidAction(f"{file} was changed meanwhile", path="before", hint="Read it again.")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await request.context.seal("policy_changed", request.visitor)
    await asyncio.to_thread(replace_file, file, body.text)
    return {"file": str(file)}


def _home_sizes(home: Path) -> dict[str, Any]:
    def size(*files: Path) -> int:
        return sum(file.stat().st_size for file in files if file.is_file())

    return {
        "path": str(home),
        "database": size(*home.glob("handrail.db*")),
        "pictures": size(*(home / "blobs").rglob("*")),
        "free": shutil.disk_usage(home).free,
    }


def _version_rows() -> list[dict[str, str]]:
    versions = {
        "Handrail": __version__,
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    packages = {"Simulator": "handrail-sim", "MCP library": "mcp", "Phone helper": "uiautomator2"}
    for name, package in packages.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            versions[name] = "not installed"
    versions["System"] = f"{platform.system()} {platform.release()}"
    return [{"name": name, "version": number} for name, number in versions.items()]
