"""Policy together with what people answered before: the one thing that the engine asks."""

from __future__ import annotations

from dataclasses import replace

from handrail.engine.permissions.permissions import Permissions
from handrail.engine.policy import Policy, Span, Subject, Verdict
from handrail.engine.policy.verdict import SPANS


class Gate:
    """One session's gate: its own answers end with it."""

    def __init__(self, policy: Policy, permissions: Permissions | None = None) -> None:
        self.policy = policy
        self._permissions = permissions
        self._session: dict[tuple[str, str], bool] = {}

    def early(self, subject: Subject) -> Verdict | None:
        """Only `allow` and `deny`: whether somebody must be asked is told by the screen and by memory."""
        verdict = self.policy.early(subject)
        return None if verdict is None or verdict.kind == "ask" else verdict

    def decide(self, subject: Subject) -> Verdict:
        """The verdict; `ask` only where nobody answered before, or an answer may not be kept."""
        verdict = self.policy.decide(subject)
        if verdict.kind != "ask" or verdict.remember == "never":
            return verdict
        answer = self._answer(subject, verdict.remember)
        if answer is None:
            return verdict
        word = "allowed" if answer else "denied"
        return replace(verdict, kind="allow" if answer else "deny", why=f"{word} before: {subject.context}")

    def remember(self, subject: Subject, verdict: Verdict, span: Span, *, allow: bool) -> Span:
        """Keep an answer to the engine's own question; how long it is kept, which the rule limits."""
        kept = SPANS[min(SPANS.index(span), SPANS.index(verdict.remember))]
        if kept == "always" and self._permissions is not None:
            self._permissions.remember(subject.type, subject.context, allow=allow)
        elif kept != "never":
            self._session[subject.type, subject.context] = allow
        return kept

    def _answer(self, subject: Subject, longest: Span) -> bool | None:
        answer = self._session.get((subject.type, subject.context))
        if answer is None and longest == "always" and self._permissions is not None:
            return self._permissions.lookup(subject.type, subject.context)
        return answer
