"""Rules that can never decide: an earlier one takes all their cases, or their own parts exclude each other.

What is found is certain; a rule that several earlier ones cover only together is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.engine.policy.pattern import Pattern
from handrail.engine.policy.rule import Rule
from handrail.engine.policy.window import Window
from handrail.protocol.actions import ACTIONS

_SCREEN = ("app", "label", "id", "role", "password")
_SWAYING = {"shell": ("system", "sensitive"), "query_db": ("read", "sensitive")}
"""Actions whose effect depends on their fields."""


def unreachable(rules: Sequence[Rule]) -> dict[int, str]:
    """Index of a rule → why it never decides."""
    found: dict[int, str] = {}
    for at, rule in enumerate(rules):
        if not _actions(rule):
            found[at] = "no action has this type, effect and semantic together"
            continue
        before = next((other for other in rules[:at] if _takes_all(other, rule)), None)
        if before is not None:
            found[at] = f"{before.name} comes first and matches all of it"
    return found


def _takes_all(first: Rule, later: Rule) -> bool:
    """True when every act that `later` matches is matched by `first`."""
    if first.verdict == "allow" != later.verdict and any(getattr(first, part) for part in _SCREEN):
        return False  # an allow looks at less of the screen than the limit behind it
    if not _actions(later) <= _actions(first):
        return False
    words = ("role", "door", "caller", "days")
    patterns = ("app", "label", "id", "host", "device")
    return (
        all(_set_holds(getattr(first, name), getattr(later, name)) for name in words)
        and all(_patterns_hold(getattr(first, name), getattr(later, name)) for name in patterns)
        and all(getattr(first, name) in (None, getattr(later, name)) for name in ("password", "secret"))
        and (not first.time or (bool(later.time) and _minutes(later.time) <= _minutes(first.time)))
    )


def _actions(rule: Rule) -> frozenset[tuple[str, str, str]]:
    """Every combination of type, effect and semantic that fits."""
    return frozenset(
        (kind, effect, semantic)
        for kind, cls in ACTIONS.items()
        if not rule.action or any(pattern.matches(kind) for pattern in rule.action)
        for effect in _SWAYING.get(kind, (cls.traits.effect,))
        if not rule.effect or effect in rule.effect
        for semantic in (("navigation", "input") if kind == "press_key" else (cls.traits.semantic,))
        if not rule.semantic or semantic in rule.semantic
    )


def _set_holds(first: Sequence[Any], later: Sequence[Any]) -> bool:
    return not first or (bool(later) and set(later) <= set(first))


def _patterns_hold(first: Sequence[Pattern], later: Sequence[Pattern]) -> bool:
    return not first or (bool(later) and all(any(one.covers(other) for one in first) for other in later))


def _minutes(windows: Sequence[Window]) -> frozenset[int]:
    return frozenset().union(*(window.minutes for window in windows))
