"""Questions to people: put once, waited for, illustrated, and written down with whatever came of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from handrail.config import canonical
from handrail.engine.approval import Answer, Approvals, Request, mark_screenshot
from handrail.engine.approval.grants import grant_id
from handrail.engine.approval.row import State, new_id
from handrail.engine.approval.wording import Scope
from handrail.engine.journal import Journal
from handrail.engine.policy import Subject
from handrail.engine.run import Run, Stage
from handrail.engine.secrets import Secrets
from handrail.errors import HandrailError
from handrail.protocol.envelope import Approval
from handrail.protocol.observe import RequestHumanAuth
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import has
from handrail.tree.node import Bounds
from handrail.waiting import uninterrupted

Hear = Callable[[], Awaitable[Answer]]
"""Waits for a person's answer."""


class Questions:
    """Those of one session."""

    def __init__(self, approvals: Approvals, journal: Journal, secrets: Secrets, device: str) -> None:
        self._approvals = approvals
        self._journal = journal
        self._secrets = secrets
        self._device = device

    @asynccontextmanager
    async def put(self, run: Run, request: Request) -> AsyncIterator[Hear]:
        """Ask it, or wait on for the one that a process asked before it died.

        An answer that the act has not used when it leaves the block is void, for whatever reason it leaves.
        """
        earlier = await self._approvals.left_behind(request.digest, request.asker)
        id_ = earlier or new_id()
        with self._approvals.taken(id_):
            try:
                yield (
                    partial(self._approvals.resume, earlier)
                    if earlier
                    else partial(self._approvals.ask, request, id_)
                )
            finally:
                if await uninterrupted(self._approvals.end(id_)) == "void":
                    self._journal.note(self._told(run, id_, "void"))

    async def picture(self, stage: Stage, mark: Bounds | None) -> str | None:
        """What would be touched, marked; nothing where there is no screen, or it may not be shown."""
        if not has(stage.surface, Capability.LOOK):
            return None
        try:
            png = await stage.looks.eyes.screenshot()
            marked = await asyncio.to_thread(mark_screenshot, png, mark) if mark else png
        except HandrailError as error:
            stage.run.diagnostics.append(f"[approval] no picture: {error.message}")
            return None
        return await self._journal.put_blob(marked, "image/png", no_secret=not self._secrets.used)

    async def is_own_hand(self, run: Run, why: str) -> bool:
        """Whether a person does this with their own finger or key, on a device that they have taken over.

        Only the lease of that take-over proves it, and only while it lasts. It is written down as theirs.
        """
        lease, caller = run.hand, run.caller
        if lease is None or caller.actor != "person" or run.action.effect != "input":
            return False
        if lease.held.holder.kind != "person" or lease.held.holder.id != caller.holder_id:
            return False
        if lease.device != canonical(self._device) or not await lease.is_valid():
            return False
        if "by_hand" not in run.details:
            told = {"kind": "by_hand", "action_id": run.id, "device": self._device, "policy": run.policy}
            self._journal.note(told | {"actor": {"kind": "person", "id": caller.id}, "why": why})
        run.details["by_hand"] = True
        return True

    async def is_granted(self, run: Run, subject: Subject, asker: str) -> bool:
        """Whether a person allowed the like of it for a time; it is counted, and written down."""
        scope = Scope.of(subject)
        grants = self._approvals.grants
        used = await grants.use(scope.key, self._device, asker) if scope else None
        if used is None:
            return False
        run.approval = Approval(id=used.id, decision="approved", by=used.granted_by, remembered=True)
        told = {"actor": {"kind": "person", "id": used.granted_by}, "grant": used.id, "left": used.left}
        self._journal.note(self._told(run, used.id, "approved") | told)
        return True

    def note(self, run: Run, answer: Answer, *, remembered: bool = False) -> None:
        told = {"id": answer.id, "decision": answer.decision, "by": answer.by or None}
        run.approval = Approval.model_validate({**told, "remembered": remembered or None})
        actor = {"kind": "person", "id": answer.by} if answer.by else None
        more: dict[str, Any] = {"actor": actor, "remembered": remembered}
        if answer.remember == "time":
            more["grant"] = grant_id(answer.id)
        self._journal.note(self._told(run, answer.id, answer.decision) | more)

    def _told(self, run: Run, id_: str, decision: State) -> dict[str, Any]:
        return {
            "kind": "approval",
            "action_id": run.id,
            "device": self._device,
            "approval": id_,
            "decision": decision,
            "policy": run.policy,
        }

    async def ask_person(self, run: Run, action: RequestHumanAuth, fingerprint: str, asker: str) -> Answer:
        """`request_human_auth`: the same mechanism, asked for by the agent itself."""
        request = Request.of(
            action,
            kind="human_auth",
            device=self._device,
            fingerprint=fingerprint,
            instruction=action.instruction,
            reason=action.reason or "",
            capability=action.capability,
            door=run.caller.door,
            asked_by=run.caller.id,
            asker=asker,
            timeout_ms=action.timeout_sec * 1000,
        )
        async with self.put(run, request) as hear:
            with run.phase("approval"):
                answer = await hear()
            self.note(run, answer)
            if answer.approved:
                await self._approvals.consume(answer.id, request.digest, request.asker)
            return answer
