"""The policy of a home while programs run: its file is read before every decision, so that a change counts.

A stricter rule counts at once. A milder one counts when the file has rested for half a second: an editor may
empty a file before it fills it, and half a file may lack the rule that forbids. Until then both versions are
asked and the stricter answer holds. A file that can't be read, is damaged, or has gone allows nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from handrail.clock import Clock
from handrail.engine.policy.policy import Policy
from handrail.engine.policy.read import MOST_BYTES, ScriptRules, parse_bytes
from handrail.engine.policy.subject import SPANS, Subject, Verdict
from handrail.errors import InvalidAction, PolicyUnusable
from handrail.owned import OwnedFile, unusable

REST_MS = 500.0
"""How long a file must be the same before what it no longer says stops to count."""
_STRICT = ("allow", "ask", "deny")


class RulesNow(Protocol):
    """What decides at one moment."""

    def early(self, subject: Subject) -> Verdict | None: ...
    def decide(self, subject: Subject) -> Verdict: ...
    def knows(self, host: str) -> bool: ...
    def gives(self, file: str) -> bool: ...
    def saves(self, origin: str) -> bool: ...
    @property
    def script(self) -> ScriptRules: ...


class PolicySource(Protocol):
    """Where the rules of the moment come from."""

    def current(self) -> RulesNow:
        """Raises `PolicyUnusable`."""
        ...


@dataclass(slots=True)
class _Version:
    data: bytes | None
    policy: Policy


class LivePolicy:
    """One home's rules."""

    def __init__(self, home: Path, path: Path, clock: Clock) -> None:
        self._file = OwnedFile(path, MOST_BYTES, inside=home)
        self._clock = clock
        self._was_there = False
        self._new = self._old = self._parsed(self._data())
        self._since_ms = 0.0

    def current(self) -> RulesNow:
        """The rules as they are now, and until a change has rested also as they were."""
        data = self._data()
        now = self._clock.monotonic_ms()
        if now - self._since_ms >= REST_MS:
            self._old = self._new
        if data != self._new.data:
            self._new, self._since_ms = self._parsed(data), now
        if self._old is self._new:
            return self._new.policy
        return Stricter((self._new.policy, self._old.policy))

    def _data(self) -> bytes | None:
        data = self._file.read()
        self._was_there |= data is not None
        if data is None and self._was_there:
            raise unusable(
                self._file.path,
                "was there and has gone",
                "Put it back; an empty file means the defaults. A new start without it means them too.",
            )
        return data

    def _parsed(self, data: bytes | None) -> _Version:
        if data is None:
            return _Version(None, Policy())
        try:
            document = parse_bytes(data, str(self._file.path))
        except InvalidAction as error:
            raise PolicyUnusable(error.message, hint=error.hint, **error.details) from None
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return _Version(data, Policy.of(document, digest))


@dataclass(frozen=True, slots=True)
class Stricter:
    """Several policies at once: what any of them forbids is forbidden."""

    policies: Sequence[Policy]

    def early(self, subject: Subject) -> Verdict | None:
        """A denial by one is certain; anything else only when all are."""
        found = [policy.early(subject) for policy in self.policies]
        known = [verdict for verdict in found if verdict is not None]
        denied = [verdict for verdict in known if verdict.kind == "deny"]
        return denied[0] if denied else _strictest(known) if len(known) == len(found) else None

    def decide(self, subject: Subject) -> Verdict:
        return _strictest([policy.decide(subject) for policy in self.policies])

    def knows(self, host: str) -> bool:
        return all(policy.knows(host) for policy in self.policies)

    def gives(self, file: str) -> bool:
        return all(policy.gives(file) for policy in self.policies)

    def saves(self, origin: str) -> bool:
        return all(policy.saves(origin) for policy in self.policies)

    @property
    def script(self) -> ScriptRules:
        rules = [policy.script for policy in self.policies]
        allowed = [name for name in rules[0].allow if all(name in one.allow for one in rules)]
        return ScriptRules(all(one.shell for one in rules), tuple(allowed))


def _strictest(verdicts: Sequence[Verdict]) -> Verdict:
    return max(verdicts, key=lambda one: (_STRICT.index(one.kind), -SPANS.index(one.remember)))
