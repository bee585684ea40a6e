"""One rule of a policy: whether it matches, told in three values while the screen is not read, and why not.

Also which rules of a list can never decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from handrail.engine.policy.parts import PARTS, Miss, Part
from handrail.engine.policy.subject import Kind, Resolved, Subject, Verdict
from handrail.protocol.actions import ACTIONS
from handrail.protocol.traits import Pressed, Span


@dataclass(frozen=True, slots=True)
class Rule:
    """All its parts must match; of several values in one part, one is enough."""

    verdict: Kind
    name: str
    why: str = ""
    remember: Span = "never"
    line: int | None = None
    """Where it begins in its file."""
    parts: tuple[Part, ...] = ()

    def test(self, subject: Subject) -> bool | None:
        """True or False when it is certain; None while the screen could still decide."""
        waiting = []
        for part in self.parts:
            holds = part.test(subject, None)
            if holds is False:
                return False
            if holds is None:
                waiting.append(part)
        if not waiting:
            return True
        if subject.touched is None:
            return None
        # An allow must hold for all that is touched, a limit for any of it.
        found = (all(part.test(subject, one) for part in waiting) for one in self._looks_at(subject))
        return bool(subject.touched) and (all(found) if self.verdict == "allow" else any(found))

    def misses(self, subject: Subject) -> list[Miss]:
        """Why it does not match an act whose screen was read; nothing where it does.

        Of several elements the one that comes nearest to matching tells it.
        """
        if self.test(subject):
            return []
        told = (
            [part.miss(subject, one) for part in self.parts if not part.test(subject, one)]
            for one in self._looks_at(subject) or (None,)
        )
        return min(filter(None, told), key=len)

    def says(self) -> Verdict:
        return Verdict(self.verdict, self.name, self.why, self.remember)

    def _looks_at(self, subject: Subject) -> Sequence[Resolved]:
        """What an element says besides its name may forbid, and never permits: a stranger wrote it."""
        touched = subject.touched or ()
        return [replace(one, says=()) for one in touched] if self.verdict == "allow" else touched


def unreachable(rules: Sequence[Rule]) -> dict[int, str]:
    """Index of a rule → why it never decides."""
    kinds = _kinds()
    found: dict[int, str] = {}
    before: list[_Reach] = []
    for at, rule in enumerate(rules):
        reach = _Reach(rule, frozenset(number for number, kind in enumerate(kinds) if _fits(rule, kind)))
        first = next((other for other in before if other.takes_all_of(reach)), None)
        if not reach.kinds:
            found[at] = "no action has this type, effect and semantic together"
        elif first is not None:
            found[at] = f"{first.rule.name} comes first and matches all of it"
        before.append(reach)
    return found


def passed_by(rules: Sequence[Rule]) -> dict[int, list[str]]:
    """Index of a limit on an element → actions that press it all the same, because the rule names others."""
    found = {}
    for at, rule in enumerate(rules):
        if rule.verdict != "allow" and any(part.name in ("label", "id") for part in rule.parts):
            missed = {
                kind["action"]: None
                for kind in _kinds()
                if ACTIONS[kind["action"]].traits.presses is not Pressed.NOTHING and not _fits(rule, kind)
            }
            if missed:
                found[at] = list(missed)
    return found


@dataclass(frozen=True, slots=True)
class _Reach:
    """How far a rule reaches: to which kinds of action, by number, and to what its other parts accept."""

    rule: Rule
    kinds: frozenset[int]

    def takes_all_of(self, later: _Reach) -> bool:
        """True when every act that `later` matches is matched here."""
        if self.rule.verdict == "allow" != later.rule.verdict and any(
            part.key.needs_screen for part in self.rule.parts
        ):
            return False  # an allow looks at less of the screen than the limit behind it
        theirs = {part.name: part.values for part in later.rule.parts}
        return later.kinds <= self.kinds and all(
            part.name in theirs and part.values.covers(theirs[part.name])
            for part in self.rule.parts
            if part.key.of_class is None
        )


def _kinds() -> list[dict[str, str]]:
    """Every kind of action by the keys that its class can answer: type, effect and semantic."""
    columns = {key.name: key.of_class for key in PARTS.values() if key.of_class is not None}
    return [
        dict(zip(columns, answers, strict=True))
        for cls in ACTIONS.values()
        for answers in product(*(of_class(cls) for of_class in columns.values()))
    ]


def _fits(rule: Rule, kind: Mapping[str, str]) -> bool:
    return all(part.fits([kind[part.name]]) for part in rule.parts if part.name in kind)
