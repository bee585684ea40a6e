"""One rule of a policy: what it matches, told in three values while the screen is not read yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from functools import cached_property
from typing import Any

from handrail.engine.policy.subject import Kind, Resolved, Subject, Verdict
from handrail.protocol.actions import ACTIONS
from handrail.protocol.traits import Span

_REGEX = re.compile(r"/(?P<body>.+)/(?P<flag>i?)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Pattern:
    """One pattern. Labels ignore case: people do."""

    text: str
    ignore_case: bool = False

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        if found := _REGEX.fullmatch(self.text):
            return re.compile(found["body"], flags | (re.IGNORECASE if found["flag"] else re.NOFLAG))
        return re.compile(translate(self.text), flags)

    def check(self) -> None:
        """Raises `re.error` for a regular expression that is none."""
        self._compiled  # noqa: B018  (compiled here, or at the first match)

    @property
    def is_regex(self) -> bool:
        return _REGEX.fullmatch(self.text) is not None

    @property
    def is_literal(self) -> bool:
        return not self.is_regex and not _WILD.search(self.text)

    def matches(self, value: str) -> bool:
        """A glob must fit the whole text; a regular expression may be found anywhere in it."""
        return (
            self._compiled.search(value) is not None if self.is_regex else bool(self._compiled.match(value))
        )

    def covers(self, other: Pattern) -> bool:
        """True when everything that `other` matches is matched here, as far as can be told."""
        if self.text in (other.text, "*"):
            return True
        return other.is_literal and self.matches(other.text)


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


DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]|24):([0-5]\d)")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Window:
    """From `first` to before `end`, minutes of the day; over midnight when `end` comes before `first`."""

    first: int
    end: int

    @classmethod
    def read(cls, text: str) -> Window:
        """`22:00-06:00`. Raises ValueError."""
        found = _SPAN.fullmatch(text.strip())
        if not found:
            raise ValueError(f"{text!r} is no time window such as 22:00-06:00")
        first, end = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
        if first == end or end > _DAY_MINUTES:
            raise ValueError(f"{text!r} is no time window: it must begin and end at different times of a day")
        return cls(first, end)

    @property
    def minutes(self) -> frozenset[int]:
        length = (self.end - self.first) % _DAY_MINUTES or _DAY_MINUTES
        return frozenset((self.first + passed) % _DAY_MINUTES for passed in range(length))

    def holds(self, at: datetime) -> bool:
        minute = at.hour * 60 + at.minute
        if self.first < self.end:
            return self.first <= minute < self.end
        return minute >= self.first or minute < self.end

    def __str__(self) -> str:
        return f"{self.first // 60:02}:{self.first % 60:02}-{self.end // 60:02}:{self.end % 60:02}"


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
