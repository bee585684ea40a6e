"""What holds where no rule of the file matches: the ruling of the action's class, and the few special cases.

The table stands in docs/safety.md, and a test keeps it true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from handrail.engine.policy.grave import what_it_does
from handrail.engine.policy.subject import Resolved, Subject, Verdict
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.device import TypeText
from handrail.protocol.observe import QueryDb
from handrail.protocol.system import OpenUrl
from handrail.protocol.traits import Pressed, Ruling


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
    return any(what_it_does(one) for one in subject.touched if _is_pressed(subject, one))


def _is_pressed(subject: Subject, one: Resolved) -> bool:
    """A field that is only typed into gets the focus: that its label speaks of money presses nothing."""
    return not (subject.action.only_types and one.role == "text_field")


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
