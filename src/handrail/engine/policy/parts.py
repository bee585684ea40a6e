"""The table of everything that a rule can match on: its key, how its values are read, and what they look at.

Reading a file, deciding, explaining, finding what never decides and the table in docs/safety.md go by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from handrail.engine.policy.subject import Caller, Door, Resolved, Subject
from handrail.engine.policy.values import Flag, Patterns, Plain, Values, Windows, Words
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import nearest
from handrail.protocol.system import OpenUrl
from handrail.protocol.target import Role
from handrail.protocol.traits import Effect, Semantic

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class Key(Generic[Seen]):
    """One row of the table. What is seen fits where any of it does."""

    name: str
    matches: str
    """What it compares, as docs/safety.md says it."""
    takes: str
    """The values that it may have, said there too."""
    read: Callable[[object], Values[Seen]]
    """Raises ValueError for a value that is none."""
    of_act: Callable[[Subject], Sequence[Seen] | None] = lambda _: None
    """What the act alone tells; None where only the screen can."""
    of_element: Callable[[Resolved], Sequence[Seen]] | None = None
    of_class: Callable[[type[Act]], Sequence[Seen]] | None = None
    """What actions of a class can show here, for a key that looks at nothing but the action."""
    seen_by_people: bool = False
    """It is a text on the screen, which can be written to look like another one."""

    @property
    def needs_screen(self) -> bool:
        return self.of_element is not None

    def part(self, value: object) -> Part:
        """With the values of one rule. Raises ValueError."""
        return Part(self, self.read(value))

    def sees(self, subject: Subject, one: Resolved | None) -> Sequence[Seen] | None:
        """None while the screen is not read."""
        seen = self.of_act(subject)
        if seen is None and one is not None and self.of_element is not None:
            return self.of_element(one)
        return seen


@dataclass(frozen=True, slots=True)
class Miss:
    """A part that did not match, and the value that it saw."""

    part: str
    saw: tuple[Plain, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.part}: {self.why}"


@dataclass(frozen=True, slots=True)
class Part:
    """One key of one rule with the values that it accepts."""

    key: Key[Any]
    values: Values[Any]

    @property
    def name(self) -> str:
        return self.key.name

    def test(self, subject: Subject, one: Resolved | None) -> bool | None:
        """Whether it holds for one element; None where the element is needed and not known."""
        seen = self.key.sees(subject, one)
        return None if seen is None else self.fits(seen)

    def fits(self, seen: Sequence[Any]) -> bool:
        return any(self.values.fits(each) for each in seen)

    def miss(self, subject: Subject, one: Resolved | None) -> Miss:
        """Why it does not hold."""
        saw = tuple(_plain(each) for each in self.key.sees(subject, one) or () if each != "")
        return Miss(self.name, saw, self.values.refusal(saw) if saw else "there is none")

    def for_limit(self) -> Part:
        """As `ask` and `deny` look at it: what only looks like the wanted text counts too."""
        if not self.key.seen_by_people or not isinstance(self.values, Patterns):
            return self
        return replace(self, values=replace(self.values, as_people_see=True))

    def plain(self) -> Plain | list[Plain]:
        """Its values as they stand in the file."""
        values = self.values.plain()
        return values[0] if len(values) == 1 else values


def _plain(seen: Plain | datetime) -> Plain:
    return f"{seen:%H:%M}" if isinstance(seen, datetime) else seen


def _some(texts: Sequence[str]) -> Sequence[str]:
    """No pattern matches a text that is not there."""
    return [text for text in texts if text]


def _read_actions(value: object) -> Patterns:
    patterns = Patterns.read(value)
    for pattern in patterns.all:
        if not any(map(pattern.matches, ACTIONS)):
            close = nearest(pattern.text, ACTIONS)
            meant = f"; did you mean {' or '.join(close)}?" if close else "; `handrail actions` lists them"
            raise ValueError(f"no action is called {pattern.text!r:.60}{meant}")
    return patterns


def _can_be(trait: str, cls: type[Act]) -> Sequence[str]:
    """Every value that a trait can have. A class that decides by its fields lists them as its return type."""
    own = getattr(cls, trait)
    if own is getattr(Act, trait):
        return (getattr(cls.traits, trait),)
    return get_args(get_type_hints(own.fget)["return"])


def _one_of(known: Sequence[str]) -> Callable[[object], Words]:
    return partial(Words.read, known=known)


def _list(words: Sequence[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


_ROWS: tuple[Key[Any], ...] = (
    Key(
        "action",
        "the action's type",
        "pattern: `tap`, `get_*`, `window.*`",
        _read_actions,
        lambda subject: (subject.type,),
        of_class=lambda cls: (cls.model_fields["type"].default,),
    ),
    Key(
        "effect",
        "what kind of thing it does",
        _list(get_args(Effect)),
        _one_of(get_args(Effect)),
        lambda subject: (subject.effect,),
        of_class=partial(_can_be, "effect"),
    ),
    Key(
        "semantic",
        "what it is for",
        _list(get_args(Semantic)),
        _one_of(get_args(Semantic)),
        lambda subject: (subject.semantic,),
        of_class=partial(_can_be, "semantic"),
    ),
    Key(
        "app",
        "the package that the action names, else the app that would be touched, or the page in it",
        "pattern",
        Patterns.read,
        lambda subject: _some((subject.named_package,)) or None,
        lambda one: _some((one.package, one.place)),
    ),
    Key(
        "label",
        "the element's label, without case; a limit also sees what only looks like it",
        "pattern",
        Patterns.read_without_case,
        of_element=lambda one: _some(one.names),
        seen_by_people=True,
    ),
    Key(
        "id",
        "its resource id, whole or the part after `:id/`",
        "pattern",
        Patterns.read,
        of_element=lambda one: _some((one.id, one.id_tail)),
    ),
    Key(
        "role",
        "its kind",
        f"{_list(get_args(Role)[:3])} …",
        _one_of(get_args(Role)),
        of_element=lambda one: (one.role,),
    ),
    Key(
        "pressed",
        "a finger or a key would come down on it, whatever the action is called",
        _list(("true", "false")),
        Flag.read,
        of_element=lambda one: (bool(one.pressed),),
    ),
    Key(
        "password",
        "it is a password field",
        _list(("true", "false")),
        Flag.read,
        of_element=lambda one: (one.password,),
    ),
    Key(
        "secret",
        "the text to type is `${secret:…}` and nothing else",
        _list(("true", "false")),
        Flag.read,
        lambda subject: (subject.has_secret,),
    ),
    Key(
        "host",
        "the host of an `open_url`, `tel:` and the like for other schemes",
        "pattern",
        Patterns.read_without_case,
        # An address whose host could mislead has the host "": a pattern such as * must still see it.
        lambda subject: (subject.url_host,) if isinstance(subject.action, OpenUrl) else (),
    ),
    Key("device", "the serial", "pattern", Patterns.read, lambda subject: (subject.device,)),
    Key(
        "door",
        "where the action came in",
        _list(get_args(Door)),
        _one_of(get_args(Door)),
        lambda subject: (subject.door,),
    ),
    Key(
        "caller",
        "whether it came from this machine",
        _list(get_args(Caller)),
        _one_of(get_args(Caller)),
        lambda subject: (subject.caller,),
    ),
    Key("time", "local time of day", '`"22:00-06:00"`', Windows.read, lambda subject: (subject.at,)),
    Key("days", "day of the week", _list(DAYS), _one_of(DAYS), lambda subject: (DAYS[subject.at.weekday()],)),
)

PARTS: dict[str, Key[Any]] = {key.name: key for key in _ROWS}
