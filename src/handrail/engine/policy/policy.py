"""The policy: ordered rules, first match wins, then what each action's class rules, and special cases.

Nothing on a screen and nothing that a model says can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from handrail.engine.policy.grave import what_it_does
from handrail.engine.policy.read import Document, ScriptRules, read_policy
from handrail.engine.policy.rule import Rule
from handrail.engine.policy.subject import Subject, Verdict, host_of
from handrail.engine.policy.values import Patterns
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
    secrets: Mapping[str, Patterns] = field(default_factory=dict)
    """Which apps may be given a secret. One that is not listed here asks before it goes to an address."""
    script: ScriptRules = field(default_factory=ScriptRules)
    digest: str = "defaults"
    """SHA-256 of the file's bytes, for the journal."""
    uploads: tuple[str, ...] = ()
    downloads: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: Path | None) -> Policy:
        """A file's rules, then the built-in ones; without a file those alone. Raises `InvalidAction`."""
        return cls() if path is None else cls.of(read_policy(path))

    @classmethod
    def of(cls, document: Document, digest: str = "") -> Policy:
        hosts = frozenset(document.known_hosts)
        lists = tuple(document.uploads), tuple(document.downloads)
        return cls(tuple(document.rules), hosts, document.secrets, document.script, digest, *lists)

    def current(self) -> Policy:
        """Rules that were read once stay as they are; those of a home change (`live.py`)."""
        return self

    def early(self, subject: Subject) -> Verdict | None:
        """What is certain before any screen is read; never another verdict than `decide` gives later."""
        unread = self._with_lists(replace(subject, touched=None))
        return self._signed(self._strays(unread) or _first(self.rules, unread))

    def decide(self, subject: Subject) -> Verdict:
        """The verdict on an act whose element is known."""
        if subject.touched is None:
            raise ValueError("policy decides on what was resolved; Subject.of(resolved=…) got None")
        subject = self._with_lists(subject)
        verdict = self._signed(self._strays(subject) or _first(self.rules, subject))
        if verdict is None:
            raise AssertionError(f"a rule left {subject.type} open although its screen was read")
        return verdict

    def knows(self, host: str) -> bool:
        """Whether a host is listed."""
        return host in self.known_hosts

    def gives(self, file: str) -> bool:
        """Whether a page may be given this file, which is named by its whole path without links."""
        return any(fnmatchcase(file, str(Path(one).expanduser())) for one in self.uploads)

    def saves(self, origin: str) -> bool:
        """Whether what a page of this origin sends as a file is kept."""
        return any(fnmatchcase(origin, one) for one in self.downloads)

    def _signed(self, verdict: Verdict | None) -> Verdict | None:
        return verdict and replace(verdict, policy=self.digest)

    def _with_lists(self, subject: Subject) -> Subject:
        hosts = subject.known_hosts | self.known_hosts
        return replace(subject, known_hosts=hosts, bound=frozenset(self.secrets))

    def _strays(self, subject: Subject) -> Verdict | None:
        """A denial that no rule can lift: a secret would leave the apps that it belongs to.

        It is typed into them and goes no other way: what lies in a clipboard can be pasted anywhere.
        """
        if not self.secrets:
            return None
        for name in subject.secrets:
            home = self.secrets.get(name)
            if home is None or (isinstance(subject.action, TypeText) and subject.touched is None):
                continue
            seen = [one.where for one in subject.touched or ()]
            if not isinstance(subject.action, TypeText) or not all(map(home.fits, seen)):
                said = ", ".join(map(str, home.plain()))
                return Verdict("deny", "secrets", f"${{secret:{name}}} is typed into {said} and nowhere else")
        return None


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

    key: Callable[[Subject], tuple[str, str] | None] = lambda _: None
    """What an answer is remembered for, where that is not the act itself."""

    def says(self, subject: Subject) -> Verdict:
        verdict = _verdict(self.ruling, f"built-in: {self.name}", subject)
        verdict = replace(verdict, about=self.key(subject))
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
    known = {subject.url_host, subject.url_origin} & subject.known_hosts
    return not subject.url_host or not known


def _is_new_place(subject: Subject) -> bool | None:
    if subject.new_places:
        return True
    return None if subject.touched is None and subject.action.presses is not Pressed.NOTHING else False


def _which_places(subject: Subject) -> str:
    return ", ".join(subject.new_places)


def _place_key(subject: Subject) -> tuple[str, str] | None:
    """The same answer as to an address that is opened: one yes for one host."""
    hosts = {host_of(one) for one in subject.new_places}
    host = hosts.pop() if len(hosts) == 1 else ""
    return (OpenUrl.model_fields["type"].default, host) if host and not host.endswith(":") else None


def _is_loose_secret(subject: Subject) -> bool | None:
    if set(subject.secrets) <= subject.bound:
        return False
    return None if subject.touched is None else bool(subject.places)


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
        "a secret without a home",
        "of a `${secret:…}` that `[secrets]` does not bind, into an app that is an address",
        _is(TypeText),
        Ruling("ask", "ask", "policy does not say where this secret belongs; list it under [secrets]"),
        _is_loose_secret,
    ),
    Special(
        "a new place",
        "in an app that is an address and was not allowed before",
        lambda cls: (
            cls.traits.presses not in (Pressed.NOTHING, Pressed.UNKNOWN)
            or (cls.traits.leaves_app and "package" in cls.model_fields)
        ),
        Ruling("ask", "ask", "nobody has allowed this address yet", "always"),
        _is_new_place,
        _which_places,
        _place_key,
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
