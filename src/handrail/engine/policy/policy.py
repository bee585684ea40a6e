"""The policy: ordered rules, first match wins, then what each action's class rules, and special cases.

Nothing on a screen and nothing that a model says can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.engine.policy.grave import what_it_does
from handrail.engine.policy.read import Document, ScriptRules, read_policy
from handrail.engine.policy.rule import Rule
from handrail.engine.policy.subject import Subject, Verdict
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.device import TypeText
from handrail.protocol.observe import QueryDb
from handrail.protocol.system import OpenUrl
from handrail.protocol.traits import Pressed, Ruling


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be done, by whom."""

    rules: tuple[Rule, ...] = ()
    known_hosts: frozenset[str] = frozenset()
    script: ScriptRules = field(default_factory=ScriptRules)
    digest: str = "defaults"
    """SHA-256 of the file's bytes, for the journal."""

    @classmethod
    def load(cls, path: Path | None) -> Policy:
        """A file's rules, then the built-in ones; without a file those alone. Raises `InvalidAction`."""
        return cls() if path is None else cls.of(read_policy(path))

    @classmethod
    def of(cls, document: Document, digest: str = "") -> Policy:
        return cls(tuple(document.rules), frozenset(document.known_hosts), document.script, digest)

    def current(self) -> Policy:
        """Rules that were read once stay as they are; those of a home change (`live.py`)."""
        return self

    def early(self, subject: Subject) -> Verdict | None:
        """What is certain before any screen is read; never another verdict than `decide` gives later."""
        unread = replace(subject, touched=None)
        return self._signed(_first(self.rules, self._with_hosts(unread)))

    def decide(self, subject: Subject) -> Verdict:
        """The verdict on an act whose element is known."""
        if subject.touched is None:
            raise ValueError("policy decides on what was resolved; Subject.of(resolved=…) got None")
        verdict = self._signed(_first(self.rules, self._with_hosts(subject)))
        if verdict is None:
            raise AssertionError(f"a rule left {subject.type} open although its screen was read")
        return verdict

    def knows(self, host: str) -> bool:
        """Whether a host is listed."""
        return host in self.known_hosts

    def _signed(self, verdict: Verdict | None) -> Verdict | None:
        return verdict and replace(verdict, policy=self.digest)

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


@dataclass(frozen=True, slots=True)
class Special:
    """A case that the class alone does not tell. `test` gives None while the screen could still decide."""

    name: str
    what: str
    concerns: Callable[[type[Act]], bool]
    """Which classes it can be about."""
    ruling: Ruling
    test: Callable[[Subject], bool | None]
    about: Callable[[Subject], str] = lambda _: ""
    """What exactly it is this time."""

    def says(self, subject: Subject) -> Verdict:
        verdict = _verdict(self.ruling, f"built-in: {self.name}", subject)
        about = self.about(subject)
        return replace(verdict, why=f"{about}; {verdict.why}") if about else verdict


def built_in(subject: Subject) -> Verdict | None:
    """None while the screen could still decide, which it never can once it was read."""
    cls = type(subject.action)
    for special in SPECIAL:
        if special.concerns(cls):
            holds = special.test(subject)
            if holds is None:
                return None
            if holds:
                return special.says(subject)
    return _verdict(cls.traits.verdict, f"built-in: {subject.type}", subject)


def rulings() -> list[tuple[str, str, Ruling]]:
    """Every ruling: the action, the special case or '', and what is said. Special cases come first."""
    rows = []
    for kind, cls in ACTIONS.items():
        rows += [(kind, one.what, one.ruling) for one in SPECIAL if one.concerns(cls)]
        rows.append((kind, "", cls.traits.verdict))
    return rows


def _verdict(ruling: Ruling, rule: str, subject: Subject) -> Verdict:
    kind = ruling.local if subject.caller == "local" else ruling.remote
    if kind == "allow":
        return Verdict(kind, rule)
    return Verdict(kind, rule, ruling.why, ruling.remember if kind == "ask" else "never")


def _is_grave(subject: Subject) -> bool | None:
    if subject.action.presses is Pressed.NOTHING:
        return False
    if subject.touched is None:
        return None
    return any(what_it_does(one) for one in subject.touched if one.pressed)


def _what_is_grave(subject: Subject) -> str:
    for one in subject.touched or ():
        if does := what_it_does(one):
            return f"{one.label or one.id!r} {does}"
    return ""


def _is_bare_password(subject: Subject) -> bool | None:
    if subject.has_secret:
        return False
    return None if subject.touched is None else any(one.password for one in subject.touched)


def _is_new_host(subject: Subject) -> bool:
    return not subject.url_host or subject.url_host not in subject.known_hosts


def _writes(subject: Subject) -> bool:
    return isinstance(subject.action, QueryDb) and subject.action.write


def _is(wanted: type[Act]) -> Callable[[type[Act]], bool]:
    return lambda cls: issubclass(cls, wanted)


SPECIAL: tuple[Special, ...] = (
    Special(
        "a label that commits",
        "on an element whose label pays, sends money, deletes an account or posts publicly",
        lambda cls: cls.traits.presses not in (Pressed.NOTHING, Pressed.UNKNOWN),
        Ruling("ask", "ask", "it can't be taken back", "never"),
        _is_grave,
        _what_is_grave,
    ),
    Special(
        "a bare password",
        "into a password field, without `${secret:…}`",
        _is(TypeText),
        Ruling("ask", "ask", "a password in plain text; keep it as a secret and write ${secret:NAME}"),
        _is_bare_password,
    ),
    Special(
        "a new host",
        "to a host that is not known, or to another scheme than http and https",
        _is(OpenUrl),
        Ruling("ask", "ask", "it opens an address that was not opened before", "always"),
        _is_new_host,
    ),
    Special(
        "a writing query",
        "with `write`",
        _is(QueryDb),
        Ruling("ask", "deny", "it changes an app's database"),
        _writes,
    ),
)
