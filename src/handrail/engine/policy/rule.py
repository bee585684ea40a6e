"""One rule of a policy: what it matches, told in three values while the screen is not read yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handrail.engine.policy.pattern import Pattern
from handrail.engine.policy.resolved import Resolved
from handrail.engine.policy.subject import Subject
from handrail.engine.policy.verdict import Kind, Span, Verdict
from handrail.engine.policy.window import DAYS, Window

Patterns = tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """All parts that are given must match; of several values in one part, one is enough."""

    verdict: Kind
    name: str
    why: str = ""
    remember: Span = "never"
    line: int | None = None
    """Where it begins in its file."""
    action: Patterns = ()
    effect: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    app: Patterns = ()
    label: Patterns = ()
    id: Patterns = ()
    role: tuple[str, ...] = ()
    password: bool | None = None
    secret: bool | None = None
    host: Patterns = ()
    device: Patterns = ()
    door: tuple[str, ...] = ()
    caller: tuple[str, ...] = ()
    time: tuple[Window, ...] = ()
    days: tuple[str, ...] = ()

    def test(self, subject: Subject) -> bool | None:
        """True or False when it is certain; None while the screen could still decide."""
        if not self._fits_the_act(subject):
            return False
        if not self._needs_screen(subject):
            return True
        if subject.touched is None:
            return None
        # An allow must hold for all that is touched, a limit for any of it.
        found = (self._fits(one, subject) for one in subject.touched)
        return bool(subject.touched) and (all(found) if self.verdict == "allow" else any(found))

    def says(self) -> Verdict:
        return Verdict(self.verdict, self.name, self.why, self.remember)

    def _fits_the_act(self, subject: Subject) -> bool:
        return (
            _any(self.action, subject.type)
            and (not self.effect or subject.effect in self.effect)
            and (not self.semantic or subject.semantic in self.semantic)
            and (not self.door or subject.door in self.door)
            and (not self.caller or subject.caller in self.caller)
            and _any(self.device, subject.device)
            and (not self.host or (subject.type == "open_url" and _any(self.host, subject.url_host)))
            and (self.secret is None or self.secret == subject.has_secret)
            and (not self.time or any(window.holds(subject.at) for window in self.time))
            and (not self.days or DAYS[subject.at.weekday()] in self.days)
            and (not self.app or not subject.named_package or _any(self.app, subject.named_package))
        )

    def _needs_screen(self, subject: Subject) -> bool:
        in_front = bool(self.app) and not subject.named_package
        return in_front or bool(self.label or self.id or self.role) or self.password is not None

    def _fits(self, one: Resolved, subject: Subject) -> bool:
        # What an element says besides its name may forbid, and never permits: a stranger wrote it.
        names = (one.label,) if self.verdict == "allow" else one.names
        return (
            (not self.app or bool(subject.named_package) or _any(self.app, one.package))
            and (not self.label or any(name and _any(self.label, name) for name in names))
            and (not self.id or any(each and _any(self.id, each) for each in (one.id, one.id_tail)))
            and (not self.role or one.role in self.role)
            and (self.password is None or self.password == one.password)
        )


def _any(patterns: Iterable[Pattern], value: str) -> bool:
    """True for no patterns at all."""
    return not patterns or any(pattern.matches(value) for pattern in patterns)
