"""The policy: ordered rules, first match wins, then the built-in table. Decided outside the model.

Nothing on a screen and nothing that a model says can change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.engine.policy.defaults import built_in
from handrail.engine.policy.read import Document, ScriptRules, read_policy
from handrail.engine.policy.rule import Rule
from handrail.engine.policy.subject import Subject, Verdict


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be done, by whom."""

    rules: tuple[Rule, ...] = ()
    known_hosts: frozenset[str] = frozenset()
    script: ScriptRules = field(default_factory=ScriptRules)

    @classmethod
    def load(cls, path: Path | None) -> Policy:
        """A file's rules, then the built-in ones; without a file those alone. Raises `InvalidAction`."""
        return cls() if path is None else cls.of(read_policy(path))

    @classmethod
    def of(cls, document: Document) -> Policy:
        return cls(tuple(document.rules), frozenset(document.known_hosts), document.script)

    def early(self, subject: Subject) -> Verdict | None:
        """What is certain before any screen is read; never another verdict than `decide` gives later."""
        unread = replace(subject, touched=None)
        return _first(self.rules, self._with_hosts(unread))

    def decide(self, subject: Subject) -> Verdict:
        """The verdict on an act whose element is known."""
        if subject.touched is None:
            raise ValueError("policy decides on what was resolved; Subject.of(resolved=…) got None")
        verdict = _first(self.rules, self._with_hosts(subject))
        if verdict is None:
            raise AssertionError(f"a rule left {subject.type} open although its screen was read")
        return verdict

    def _with_hosts(self, subject: Subject) -> Subject:
        return replace(subject, known_hosts=subject.known_hosts | self.known_hosts)


def _first(rules: Sequence[Rule], subject: Subject) -> Verdict | None:
    for rule in rules:
        holds = rule.test(subject)
        if holds is None:
            return None
        if holds:
            return rule.says()
    return built_in(subject)
