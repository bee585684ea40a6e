"""Between an action and its dispatch: what policy says, and what a person says where policy asks.

An approval is for one exact action on one screen: the screen is read and the target looked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from handrail.engine.approval import Answer, Approvals, Request, digest_of
from handrail.engine.approval.wording import NOTHING, Scope, question, types_password
from handrail.engine.events import Caller
from handrail.engine.journal import Journal
from handrail.engine.look.looks import Look, sure
from handrail.engine.look.resolve import Aim, aim
from handrail.engine.policy import Resolved, Subject, Verdict
from handrail.engine.policy.permissions import Gate
from handrail.engine.pressed import Felt, submitted
from handrail.engine.questions import Questions
from handrail.engine.run import Run, Stage
from handrail.engine.secrets import PLACEHOLDER, Redact, Secrets
from handrail.engine.taint.screen import judged
from handrail.errors import ActionRejected, TargetError
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import TypeText
from handrail.protocol.observe import RequestHumanAuth
from handrail.protocol.traits import Pressed
from handrail.tree.element.find import elements
from handrail.tree.fingerprint import content_fingerprint
from handrail.tree.mention import touchable
from handrail.tree.node import Bounds, Node, Screen

Again = Callable[[], list[Resolved]]
"""What would be touched on the screen that is there now."""
Reveal = Callable[[Run, str | None], None]
"""Called when it is known whether the text of an action may be written down, with what stands for it."""

SHORTEST_TYPED = 3
"""Characters. What is shorter is kept out of the journal, and not looked for on every screen."""


class Permit:
    """One session's permission desk."""

    def __init__(
        self,
        gate: Gate,
        approvals: Approvals,
        journal: Journal,
        secrets: Secrets,
        device: str,
        *,
        reveal: Reveal,
        session: str,
        redact: Redact | None = None,
    ) -> None:
        """`session`: what nobody else can know. It stands for callers who bring nothing of that kind.

        `redact` knows what may be told of this device.
        """
        self._gate = gate
        self._approvals = approvals
        self._questions = Questions(approvals, journal, secrets, device)
        self._secrets = secrets
        self._redact = redact or secrets.redact
        self._device = device
        self._reveal = reveal
        self._session = session
        self._hosts: set[str] = set()
        self._typed = 0
        self._is_in = False
        """Whether the person whose surface it is has let us in."""

    def early(self, run: Run) -> None:
        """Refuse what no screen can make right, before one is read."""
        verdict = self._gate.early(self._subject(run, None))
        if verdict is not None and verdict.kind == "deny":
            run.policy = verdict.policy
            raise verdict.rejection()

    async def enter(self, stage: Stage) -> None:
        """A surface may be somebody's own: they are asked once, before anything is read or done there."""
        run, asks = stage.run, stage.surface.entry
        if not asks or self._is_in or await self._questions.is_own_hand(run, asks):
            return
        request = Request.of(
            run.action,
            kind="policy",
            device=self._device,
            fingerprint=asks,
            instruction=self._redact(f"{asks}?"),
            reason=run.action.reason or "",
            why="it is a person's own, with all its logins; a yes holds until the session ends",
            door=run.caller.door,
            asked_by=run.caller.id,
            asker=self._asker(run),
        )
        async with self._questions.put(run, request) as hear:
            async with stage.turn.yielded():
                answer = await hear()
            self._questions.note(run, answer)
            if not answer.approved:
                raise answer.rejection()
            await self._approvals.consume(answer.id, request.digest, request.asker)
        self._is_in = True

    async def decide(self, stage: Stage) -> None:
        """Allow, refuse, or ask and wait."""
        run = stage.run
        subject = self._subject(run, self._named(stage))
        self._reveal(run, self._hidden(subject))
        verdict = self._decided(run, subject)
        if asks := await self._asks(run, verdict):
            marks = [one.touched.bounds for one in run.aims.values()]
            await self._ask(stage, subject, verdict, lambda: self._named(stage), next(iter(marks), None))
        run.rule = verdict.rule
        run.permitted |= set(_names(subject.touched or ()))
        if subject.url_origin:
            self._hosts.add(subject.url_origin)
        if asks:
            self._now_known(subject, verdict)

    async def _asks(self, run: Run, verdict: Verdict) -> bool:
        """Whether a person has to be asked; nobody is about what their own hand does."""
        return verdict.kind == "ask" and not await self._questions.is_own_hand(run, verdict.why)

    def _decided(self, run: Run, subject: Subject) -> Verdict:
        """What policy says at this moment. Raises `ActionRejected` where it denies."""
        verdict = self._gate.decide(subject, self._asker(run))
        run.policy = verdict.policy
        if verdict.kind == "deny":
            raise verdict.rejection()
        return verdict

    def _asker(self, run: Run) -> str:
        return run.caller.asks_as(self._session)

    def _subject(self, run: Run, resolved: list[Resolved] | None) -> Subject:
        return Subject.of(
            run.action,
            resolved=resolved,
            at_ms=run.clock.now_ms(),
            device=self._device,
            door=run.caller.door,
            caller="remote" if run.caller.is_remote else "local",
            known_hosts=frozenset(self._hosts),
        )

    def _named(self, stage: Stage) -> list[Resolved]:
        """What the action names, else the app in front. What its fingers feel is judged when they move."""
        run = stage.run
        seen = run.before or stage.looks.last
        if seen is None:
            return [Resolved()]
        screen, label_of = _judged(stage, seen)
        nodes = list(dict.fromkeys(screen.nodes[one.node.order] for one in run.aims.values()))
        pressed = False if run.action.presses is Pressed.PATH else None
        if run.action.presses is Pressed.FOCUS and not run.action.only_types:
            nodes += submitted(screen, nodes)  # what is typed first would lie there when it is asked
        found = [Resolved.of(screen, node, label_of, pressed) for node in nodes]
        return found or [Resolved(package=seen.screen.package)]

    # what a finger or a key comes down on

    def may_press(self, stage: Stage, felt: Felt) -> bool:
        subject = self._unjudged(stage, felt)
        return subject is None or self._judge_press(stage, subject).kind == "allow"

    async def permit_press(self, stage: Stage, felt: Felt) -> None:
        run = stage.run
        if stage.looks.last is None:
            await stage.look()
        subject = self._unjudged(stage, felt)
        if subject is None:
            return
        if run.action.presses is Pressed.NOTHING:
            raise AssertionError(f"{run.action.type} presses {subject.label!r}; its traits say: nothing")
        verdict = self._judge_press(stage, subject)
        run.policy = verdict.policy
        if verdict.kind == "deny":
            raise verdict.rejection()
        if asks := await self._asks(run, verdict):
            if run.life.state != "resolved":
                raise _on_the_way(subject, self._redact(subject.label))
            run.before = stage.looks.last
            await self._ask(stage, subject, verdict, lambda: self._felt(stage, felt), _mark(stage, felt))
        run.permitted |= set(_names(subject.touched or ()))
        if asks:
            self._now_known(subject, verdict)

    def _now_known(self, subject: Subject, verdict: Verdict) -> None:
        """A yes to a place that was new holds for it as long as the session lasts."""
        if verdict.about is not None:
            self._hosts |= set(subject.places)

    def _felt(self, stage: Stage, felt: Felt) -> list[Resolved]:
        screen, label_of = _judged(stage, sure(stage.looks.last))
        return [
            Resolved.of(screen, node, label_of, True).pressed_by(stage.run.action) for node in felt(screen)
        ]

    def _unjudged(self, stage: Stage, felt: Felt) -> Subject | None:
        """What would be felt and was not judged yet."""
        known = stage.run.permitted
        new = [one for one in self._felt(stage, felt) if _name(one) not in known]
        return self._subject(stage.run, new) if new else None

    def _judge_press(self, stage: Stage, subject: Subject) -> Verdict:
        """What a rule said when the action began counts: of what was named then, and of any element."""
        run, asker = stage.run, self._asker(stage.run)
        verdict = self._gate.decide(subject, asker)
        if verdict.kind == "allow" or verdict.rule != run.rule:
            return verdict
        answered = {replace(one, pressed=None) for one in run.permitted}
        is_answered = all(replace(one, pressed=None) in answered for one in _names(subject.touched or ()))
        anywhere = self._subject(run, [Resolved(package=subject.package)])
        if is_answered or self._gate.decide(anywhere, asker).rule == verdict.rule:
            return replace(verdict, kind="allow")
        return verdict

    def _hidden(self, subject: Subject) -> str | None:
        """What stands for a bare password, which from now on is redacted and can't be filled in again."""
        action = subject.action
        if not isinstance(action, TypeText) or subject.has_secret or not types_password(subject):
            return None
        self._typed += 1
        name = f"TYPED_{self._typed}"
        for plain in PLACEHOLDER.split(action.text)[::2]:  # between them are names
            if len(plain) >= SHORTEST_TYPED:
                self._secrets.add(name, plain)
                self._secrets.drop(name)
        return f"${{secret:{name}}}"

    # asking

    def open_questions(
        self, planned: Iterable[AnyAction], caller: Caller, at_ms: int
    ) -> list[tuple[Subject, Verdict]]:
        """What policy would ask about, and may remember for a session. Nothing on a screen plays a part."""
        found: list[tuple[Subject, Verdict]] = []
        for action in planned:
            if action.presses is not Pressed.NOTHING:
                continue  # a screen decides about it
            subject = Subject.of(
                action,
                resolved=[Resolved()],
                at_ms=at_ms,
                device=self._device,
                door=caller.door,
                caller="remote" if caller.is_remote else "local",
                known_hosts=frozenset(self._hosts),
            )
            verdict = self._gate.decide(subject, caller.asks_as(self._session))
            if verdict.kind == "ask" and verdict.remember in ("session", "always"):
                found.append((subject, verdict))
        return found

    def remember_all(self, answered: Iterable[tuple[Subject, Verdict]], caller: Caller) -> None:
        """A person said yes to all of them; it holds for this session."""
        asker = caller.asks_as(self._session)
        for subject, verdict in answered:
            self._gate.remember(subject, verdict, "session", allow=True, asker=asker)

    async def ask_person(self, run: Run, action: RequestHumanAuth, fingerprint: str) -> Answer:
        """`request_human_auth`: the same mechanism, asked for by the agent itself."""
        return await self._questions.ask_person(run, action, fingerprint, self._asker(run))

    async def _ask(
        self, stage: Stage, subject: Subject, verdict: Verdict, again: Again, mark: Bounds | None
    ) -> None:
        run = stage.run
        if verdict.remember != "never" and await self._questions.is_granted(run, subject, self._asker(run)):
            return
        asked_on = run.before
        request = self._request(run, subject, verdict, await self._questions.picture(stage, mark))
        async with self._questions.put(run, request) as hear:
            async with stage.turn.yielded():
                with run.phase("approval"):
                    answer = await hear()
            self._questions.note(run, answer, remembered=self._remember(run, subject, verdict, answer))
            if not answer.approved:
                raise answer.rejection()
            await self._same_again(stage, subject, again)
            self._decided(run, subject)  # the rules may have become stricter while a person thought
            digest = digest_of(run.action, self._device, _binding(asked_on), password=types_password(subject))
            await self._approvals.consume(answer.id, digest, self._asker(run))

    def _remember(self, run: Run, subject: Subject, verdict: Verdict, answer: Answer) -> bool:
        """Whether the answer will count again; one about a secret is not written into a file."""
        span = answer.remember
        if span == "time":
            return True
        if span is None or answer.decision not in ("approved", "denied"):
            return False
        if span == "always" and self._redact(subject.context) != subject.context:
            span = "session"
        kept = self._gate.remember(subject, verdict, span, allow=answer.approved, asker=self._asker(run))
        return kept != "never"

    def _request(self, run: Run, subject: Subject, verdict: Verdict, picture: str | None) -> Request:
        return Request.of(
            run.action,
            kind="policy",
            device=self._device,
            fingerprint=_binding(run.before),
            instruction=self._redact(question(subject)),
            password=types_password(subject),
            reason=run.action.reason or "",
            why=verdict.why,
            label=self._redact(subject.label),
            door=run.caller.door,
            asked_by=run.caller.id,
            asker=self._asker(run),
            scope=Scope.of(subject) or NOTHING,
            remember=verdict.remember,
            screenshot=picture,
        )

    async def _same_again(self, stage: Stage, asked: Subject, again: Again) -> None:
        """The screen may have moved on while a person thought about it, or been moved on."""
        run = stage.run
        if run.before is None:
            return
        old, old_aims = run.before, dict(run.aims)
        run.before = new = await stage.look()
        run.revision_before = stage.looks.revision_name
        for name, aimed in old_aims.items():
            run.aims[name] = _find_again(stage, aimed)
        is_same = stage.looks.is_idle_between(judged(old.screen), judged(new.screen))  # hidden fields too
        now = self._subject(run, again())
        if not is_same or not set(_names(asked.touched or ())) <= set(_names(now.touched or ())):
            raise _moved_on()


def _judged(stage: Stage, seen: Look) -> tuple[Screen, Callable[[Node], str]]:
    """The screen that rules are about, and its labels: what is there, not what may be told of it."""
    screen = judged(seen.screen)
    if screen is seen.screen:
        return screen, stage.looks.registry.label_of
    labels = {one.node: one.label for one in elements(screen, seen.reading.labels)}
    return screen, lambda node: labels.get(node, "")


def _mark(stage: Stage, felt: Felt) -> Bounds | None:
    """Where it would be felt; of several places, the one that takes touches."""
    nodes = sorted(felt(sure(stage.looks.last).screen), key=lambda node: not touchable(node))
    return nodes[0].bounds if nodes else None


def _binding(seen: Look | None) -> str:
    """What an approval is bound to: what is shown, and what fields hold; '' where no screen plays a part."""
    return "" if seen is None else f"{seen.fingerprint}.{content_fingerprint(seen.screen)[:12]}"


def _find_again(stage: Stage, old: Aim) -> Aim:
    try:
        new = aim(stage.looks, old.target)
    except TargetError:
        raise _moved_on() from None
    if not new.is_same(old):
        raise _moved_on()
    return new


def _names(touched: Iterable[Resolved]) -> list[Resolved]:
    return [_name(one) for one in touched]


def _name(one: Resolved) -> Resolved:
    """What it is, whatever goes on around it."""
    return replace(one, around=())


def _on_the_way(subject: Subject, label: str) -> ActionRejected:
    return ActionRejected(
        f"{subject.type} would press {label!r} on its way, and somebody must be asked about that",
        hint="Do that by an action of its own, so that it can be asked for; or name another container.",
        label=label,
    )


def _moved_on() -> ActionRejected:
    return ActionRejected(
        "The screen changed after the approval was asked for, so it does not count any more",
        hint="Look again, and ask again if it still has to be done.",
    )
