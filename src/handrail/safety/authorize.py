"""Decides about every action: policy, then remembered answers and grants, then a person.

`Authorizer.authorize` is the one entry. The engine says what an action would touch (`Subject`) and how the
screen is read again after a person answered (`ScreenAsked`). An approval is for one action on one screen.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from handrail.clock import Clock
from handrail.config import canonical
from handrail.errors import ActionRejected, HandrailError
from handrail.journal import Journal
from handrail.journal.redaction import PLACEHOLDER, Redact
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import TypeText
from handrail.protocol.envelope import Approval
from handrail.protocol.observe import RequestHumanAuth
from handrail.protocol.traits import Pressed
from handrail.safety.approval_request import (
    NO_SCOPE,
    AuthorizationRequest,
    GrantScope,
    digest_of,
    mark_screenshot,
    question,
    types_password,
)
from handrail.safety.approval_store import Answer, State, grant_id, new_id
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Caller
from handrail.safety.leases import Lease
from handrail.safety.permissions import AnsweredPolicy
from handrail.safety.secrets import Secrets
from handrail.safety.subject import PolicyDecision, Subject, TouchedElement
from handrail.screen.node import Bounds
from handrail.waiting import uninterrupted

MOST_QUESTIONS = 5
"""About one act, while what is shown beside it goes on changing."""
SHORTEST_TYPED = 3
"""Characters. A shorter password is kept out of the journal, but screens are not searched for it."""


class AuthorizedRun(Protocol):
    """The run of an action, as far as authorization reads and writes it."""

    id: str
    action: AnyAction
    caller: Caller
    clock: Clock
    hand: Lease | None
    policy: str | None
    rule: str
    permitted: set[TouchedElement]
    approval: Approval | None
    details: dict[str, Any]
    diagnostics: list[str]

    def phase(self, name: str, /) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """The screen after a person's answer."""

    touched: Sequence[TouchedElement] | None
    """What would be touched now; None without a screen."""
    has_ticked: bool = False
    """An element that was named as volatile, and that nobody let change, says something else."""


class ScreenAsked(Protocol):
    """What the engine does around a question to a person."""

    def bind(self) -> str:
        """What an approval is bound to: all that is shown, and what fields hold. Empty without a screen."""

    @property
    def volatile(self) -> Mapping[str, str]:
        """What changes by itself on the bound screen: key → text."""

    @property
    def mark(self) -> Bounds | None:
        """Where the screen would be touched."""

    async def screenshot(self) -> bytes | None:
        """Returns None where there is no screen."""

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Other actions may have the device while a person thinks."""

    async def read_again(self, may_change: Collection[str]) -> ReadAgain:
        """Raises `ActionRejected` if the screen changed. `may_change`: keys that a person lets change."""


class Authorizer:
    """Decides for one session on one device."""

    def __init__(
        self,
        gate: AnsweredPolicy,
        approvals: Approvals,
        journal: Journal,
        secrets: Secrets,
        device: str,
        *,
        session: str,
        redact: Redact | None = None,
    ) -> None:
        """`session` is a secret of this session. It identifies callers who bring no identity of their own.

        `redact` removes what may not be told of this device.
        """
        self._gate = gate
        self._approvals = approvals
        self._journal = journal
        self._secrets = secrets
        self._redact = redact or secrets.redact
        self._device = device
        self._session = session
        self._hosts: defaultdict[str, set[str]] = defaultdict(set)
        """Origins that were allowed before, by asker."""
        self._typed_passwords = 0
        self._has_entered = False

    def subject(self, run: AuthorizedRun, touched: Sequence[TouchedElement] | None) -> Subject:
        """`touched` is None before the screen is read."""
        return self._subject(run.action, run.caller, run.clock.now_ms(), touched)

    def _subject(
        self, action: AnyAction, caller: Caller, at_ms: int, touched: Sequence[TouchedElement] | None
    ) -> Subject:
        return Subject.of(
            action,
            resolved=touched,
            at_ms=at_ms,
            device=self._device,
            door=caller.door,
            caller="remote" if caller.is_remote else "local",
            known_hosts=frozenset(self._hosts[caller.asks_as(self._session)]),
        )

    def refuse_early(self, run: AuthorizedRun) -> None:
        """Raises `ActionRejected` for what policy denies whatever the screen shows."""
        verdict = self._gate.early(self.subject(run, None))
        if verdict is not None and verdict.kind == "deny":
            run.policy = verdict.policy
            raise verdict.rejection()

    async def authorize(self, run: AuthorizedRun, subject: Subject, screen: ScreenAsked | None) -> None:
        """Returns when the act is allowed, by policy or by a person. Raises `ActionRejected`.

        `screen` is None when nobody can be asked any more, because a part of the action was dispatched.
        """
        verdict = self._allowed_or_ask(run, subject)
        asks = verdict.kind == "ask" and not await self._is_own_hand(run, verdict.why)
        if asks:
            if screen is None:
                raise _on_the_way(subject, self._redact(subject.label))
            await self._ask(run, subject, verdict, screen)
        run.rule = run.rule or verdict.rule
        run.permitted |= set(subject.touched or ())
        if subject.url_origin:
            self._hosts[self._asker(run)].add(subject.url_origin)
        if asks and verdict.about is not None:  # a yes to a new address counts as long as the session lasts
            self._hosts[self._asker(run)] |= set(subject.places)

    def decide(self, run: AuthorizedRun, subject: Subject) -> PolicyDecision:
        """What policy and remembered answers say. Nobody is asked.

        What a rule said when the action began counts: of what was named then, and of any element.
        """
        asker = self._asker(run)
        verdict = self._gate.decide(subject, asker)
        if verdict.kind != "ask" or verdict.rule != run.rule:
            return verdict
        answered = {replace(element, pressed=None) for element in run.permitted}
        if {replace(element, pressed=None) for element in subject.touched or ()} <= answered:
            return replace(verdict, kind="allow")
        # A rule about the whole app was answered for it; what it says of one place is not said of another.
        anywhere = self._gate.decide(self.subject(run, [TouchedElement(package=subject.package)]), asker)
        if anywhere.rule == verdict.rule and anywhere.about == verdict.about:
            return replace(verdict, kind="allow")
        return verdict

    def _allowed_or_ask(self, run: AuthorizedRun, subject: Subject) -> PolicyDecision:
        verdict = self.decide(run, subject)
        run.policy = verdict.policy
        if verdict.kind == "deny":
            raise verdict.rejection()
        return verdict

    def password_placeholder(self, subject: Subject) -> str | None:
        """Redacts a password typed as plain text from now on and returns its placeholder; else None."""
        action = subject.action
        if not isinstance(action, TypeText) or subject.has_secret or not types_password(subject):
            return None
        self._typed_passwords += 1
        name = f"TYPED_{self._typed_passwords}"
        for plain in PLACEHOLDER.split(action.text)[::2]:  # between them are names
            if len(plain) >= SHORTEST_TYPED:
                self._secrets.add(name, plain)
                self._secrets.drop(name)
        return f"${{secret:{name}}}"

    async def enter(
        self, run: AuthorizedRun, entry: str, waiting: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """A surface may be a person's own. They are asked once, before anything is read or done there."""
        if not entry or self._has_entered or await self._is_own_hand(run, entry):
            return
        request = self._request(
            run,
            fingerprint=entry,
            instruction=self._redact(f"{entry}?"),
            why="it is a person's own, with all its logins; an approval holds until the session ends",
        )
        async with self._question_open(run, request) as answered:
            async with waiting():
                answer = await answered()
            self._note(run, answer)
            if not answer.approved:
                raise answer.rejection()
            await self._approvals.consume(answer.id, request.digest, request.asker)
        self._has_entered = True

    async def ask_person(self, run: AuthorizedRun, action: RequestHumanAuth, fingerprint: str) -> Answer:
        """`request_human_auth`: the agent itself asks a person, by the same mechanism."""
        request = self._request(
            run,
            kind="human_auth",
            fingerprint=fingerprint,
            instruction=action.instruction,
            capability=action.capability,
            timeout_ms=action.timeout_sec * 1000,
        )
        async with self._question_open(run, request) as answered:
            with run.phase("approval"):
                answer = await answered()
            self._note(run, answer)
            if answer.approved:
                await self._approvals.consume(answer.id, request.digest, request.asker)
            return answer

    def allows(self, action: AnyAction, caller: Caller, at_ms: int, package: str) -> bool:
        """Whether it may be done in this app without asking anybody."""
        subject = self._subject(action, caller, at_ms, [TouchedElement(package=package)])
        return self._gate.decide(subject, caller.asks_as(self._session)).kind == "allow"

    def open_questions(
        self, planned: Iterable[AnyAction], caller: Caller, at_ms: int
    ) -> list[tuple[Subject, PolicyDecision]]:
        """Planned actions that policy would ask about, where a yes may count for a session.

        Actions that press something are left out: only a screen decides about them.
        """
        subjects = [
            self._subject(action, caller, at_ms, [TouchedElement()])
            for action in planned
            if action.presses is Pressed.NOTHING
        ]
        asker = caller.asks_as(self._session)
        verdicts = [(subject, self._gate.decide(subject, asker)) for subject in subjects]
        return [
            (subject, verdict)
            for subject, verdict in verdicts
            if verdict.kind == "ask" and verdict.remember in ("session", "always")
        ]

    def remember_all(self, approved: Iterable[tuple[Subject, PolicyDecision]], caller: Caller) -> None:
        """Remembers a person's yes to all these subjects until the session ends."""
        asker = caller.asks_as(self._session)
        for subject, verdict in approved:
            self._gate.remember(subject, verdict, "session", allow=True, asker=asker)

    async def _ask(
        self, run: AuthorizedRun, subject: Subject, verdict: PolicyDecision, screen: ScreenAsked
    ) -> None:
        """Asks again, with the new value, where what was named as volatile has changed."""
        may_change: frozenset[str] = frozenset()
        for _ in range(MOST_QUESTIONS):
            fingerprint = screen.bind()
            if verdict.remember != "never" and await self._is_granted(run, subject):
                return
            ticked, may_change = await self._ask_once(run, subject, verdict, screen, fingerprint, may_change)
            if ticked is None:
                return
            subject = ticked
        raise screen_changed()

    async def _ask_once(
        self,
        run: AuthorizedRun,
        subject: Subject,
        verdict: PolicyDecision,
        screen: ScreenAsked,
        fingerprint: str,
        may_change: frozenset[str],
    ) -> tuple[Subject | None, frozenset[str]]:
        """The subject to ask about again, or None where the yes counts; and what may change from now on."""
        password = types_password(subject)
        volatile = {key: text for key, text in screen.volatile.items() if key not in may_change}
        request = self._request(
            run,
            fingerprint=fingerprint,
            instruction=self._redact(question(subject, volatile.values())),
            password=password,
            why=verdict.why,
            label=self._redact(subject.label),
            scope=GrantScope.of(subject) or NO_SCOPE,
            remember=verdict.remember,
            volatile=volatile,
            screenshot=await self._picture(run, screen),
        )
        async with self._question_open(run, request) as answered:
            async with screen.waiting():
                with run.phase("approval"):
                    answer = await answered()
            self._note(run, answer, remembered=self._remember(run, subject, verdict, answer))
            if not answer.approved:
                raise answer.rejection()
            may_change |= set(answer.may_change)
            now = await screen.read_again(may_change)
            subject_now = subject if now.touched is None else self.subject(run, now.touched)
            if now.has_ticked:
                return subject_now, may_change
            if not set(subject.touched or ()) <= set(subject_now.touched or ()):
                raise screen_changed()
            # Both the screen and the rules may have changed while the person thought.
            verdict_now = self._allowed_or_ask(run, subject_now)
            asks_else = (verdict_now.rule, verdict_now.about) != (verdict.rule, verdict.about)
            if verdict_now.kind == "ask" and asks_else:
                raise screen_changed()
            # The action is digested again: it must still be the one that was asked about.
            digest = digest_of(run.action, self._device, fingerprint, password=password)
            await self._approvals.consume(answer.id, digest, request.asker)
            run.permitted |= set(subject_now.touched or ())
        return None, may_change

    def _request(self, run: AuthorizedRun, **more: Any) -> AuthorizationRequest:
        return AuthorizationRequest.of(
            run.action,
            device=self._device,
            reason=run.action.reason or "",
            door=run.caller.door,
            asked_by=run.caller.id,
            asker=self._asker(run),
            **more,
        )

    @asynccontextmanager
    async def _question_open(
        self, run: AuthorizedRun, request: AuthorizationRequest
    ) -> AsyncIterator[Callable[[], Awaitable[Answer]]]:
        """Asks, or goes on waiting for the question that a process asked before it died.

        An answer that is not consumed when the block ends is void, whatever ended it.
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
                    self._journal.note(self._entry(run, id_, "void"))

    async def _picture(self, run: AuthorizedRun, screen: ScreenAsked) -> str | None:
        """The name of the blob with the screen, on which the touched element is marked."""
        try:
            png = await screen.screenshot()
            if png is None:
                return None
            marked = await asyncio.to_thread(mark_screenshot, png, screen.mark) if screen.mark else png
        except HandrailError as error:
            run.diagnostics.append(f"[approval] no picture: {error.message}")
            return None
        return await self._journal.put_blob(marked, "image/png", no_secret=not self._secrets.used)

    async def _is_own_hand(self, run: AuthorizedRun, why: str) -> bool:
        """Whether a person does this with their own finger or key, on a device that they have taken over.

        Only the lease of that take-over proves it, and only while it lasts. The journal names the person.
        """
        lease, caller = run.hand, run.caller
        if lease is None or caller.actor != "person" or run.action.effect != "input":
            return False
        if lease.held.holder.kind != "person" or lease.held.holder.id != caller.holder_id:
            return False
        if lease.device != canonical(self._device) or not await lease.is_valid():
            return False
        if "by_hand" not in run.details:
            note = {"kind": "by_hand", "action_id": run.id, "device": self._device, "policy": run.policy}
            self._journal.note(note | {"actor": {"kind": "person", "id": caller.id}, "why": why})
        run.details["by_hand"] = True
        return True

    async def _is_granted(self, run: AuthorizedRun, subject: Subject) -> bool:
        """Whether a grant covers it. Its use is counted and journalled."""
        scope = GrantScope.of(subject)
        grants = self._approvals.grants
        if scope is None:
            return False
        used = await grants.use(scope.key, self._device, self._asker(run), run.caller.id)
        if used is None:
            return False
        run.approval = Approval(id=used.id, decision="approved", by=used.granted_by, remembered=True)
        grant = {"actor": {"kind": "person", "id": used.granted_by}, "grant": used.id, "left": used.left}
        self._journal.note(self._entry(run, used.id, "approved") | grant)
        return True

    def _remember(
        self, run: AuthorizedRun, subject: Subject, verdict: PolicyDecision, answer: Answer
    ) -> bool:
        """Whether the answer will count again. An answer about a secret is not written into a file."""
        span = answer.remember
        if span == "time":
            return True
        if span is None or answer.decision not in ("approved", "denied"):
            return False
        if span == "always" and self._redact(subject.context) != subject.context:
            span = "session"
        capped = self._gate.remember(subject, verdict, span, allow=answer.approved, asker=self._asker(run))
        return capped != "never"

    def _note(self, run: AuthorizedRun, answer: Answer, *, remembered: bool = False) -> None:
        decision = {"id": answer.id, "decision": answer.decision, "by": answer.by or None}
        run.approval = Approval.model_validate({**decision, "remembered": remembered or None})
        actor = {"kind": "person", "id": answer.by} if answer.by else None
        more: dict[str, Any] = {"actor": actor, "remembered": remembered}
        if answer.remember == "time":
            more["grant"] = grant_id(answer.id)
        self._journal.note(self._entry(run, answer.id, answer.decision) | more)

    def _entry(self, run: AuthorizedRun, id_: str, decision: State) -> dict[str, Any]:
        return {
            "kind": "approval",
            "action_id": run.id,
            "device": self._device,
            "approval": id_,
            "decision": decision,
            "policy": run.policy,
        }

    def _asker(self, run: AuthorizedRun) -> str:
        return run.caller.asks_as(self._session)


def screen_changed() -> ActionRejected:
    return ActionRejected(
        "The screen changed after the approval was asked for, so it does not count any more",
        hint="Look again, and ask again if it still has to be done.",
    )


def _on_the_way(subject: Subject, label: str) -> ActionRejected:
    return ActionRejected(
        f"{subject.type} would press {label!r} on its way, and a person must be asked about that",
        hint="Do that by an action of its own, so that it can be asked for; or name another container.",
        label=label,
    )
