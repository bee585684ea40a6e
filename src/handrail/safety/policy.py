"""The policy: the keys that rules match on, rules in order (the first match decides), built-in rulings.

Reading a file, deciding, explaining, finding rules that never decide and the table in docs/safety.md use
the table. Nothing on a screen and nothing that a model says can change it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.device import TypeText
from handrail.protocol.observe import QueryDb
from handrail.protocol.read import nearest
from handrail.protocol.system import OpenUrl, RunScript, StartApp
from handrail.protocol.target import Role
from handrail.protocol.traits import BaseVerdict, Effect, Pressed, Semantic, Span, VerdictKind
from handrail.safety.caller import Door
from handrail.safety.labels import committing_effect
from handrail.safety.policy_values import (
    CALLER_WORDS,
    DOOR_WORDS,
    EFFECT_WORDS,
    Flag,
    Patterns,
    Plain,
    Values,
    Windows,
    Words,
    either,
    listed,
    named,
    quoted_list,
    read_texts,
    spaced,
)
from handrail.safety.subject import CallerOrigin, PolicyDecision, Subject, TouchedElement, host_of
from handrail.screen.node import UNCLEAR

SCRIPT = "script"
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Compared = TypeVar("Compared")
Clause = Callable[[Sequence[Plain]], str]


@dataclass(frozen=True, slots=True)
class Key(Generic[Compared]):
    """One key of rules. Of several compared values one must fit."""

    name: str
    matches: str
    """What it compares, for docs/safety.md."""
    takes: str
    """The values that it may have, for docs/safety.md."""
    read: Callable[[object], Values[Compared]]
    """Raises ValueError for an invalid value."""
    of_act: Callable[[Subject], Sequence[Compared] | None] = lambda _: None
    """What the action alone shows; None if only the screen does."""
    of_element: Callable[[TouchedElement], Sequence[Compared]] | None = None
    of_class: Callable[[type[Act]], Sequence[Compared]] | None = None
    """What actions of a class can show, for a key that compares the action only."""
    seen_by_people: bool = False
    """A text on the screen, which can be written to look like another one."""
    clause: Clause = field(kw_only=True)
    """What the sentence about a rule says of its values."""

    @property
    def needs_screen(self) -> bool:
        return self.of_element is not None

    def part(self, value: object) -> Part:
        """This key with a rule's value. Raises ValueError for an invalid one."""
        return Part(self, self.read(value))

    def sees(self, subject: Subject, element: TouchedElement | None) -> Sequence[Compared] | None:
        """Returns None if only the screen shows it and it was not read."""
        compared = self.of_act(subject)
        if compared is None and element is not None and self.of_element is not None:
            return self.of_element(element)
        return compared


@dataclass(frozen=True, slots=True)
class Miss:
    """A key of a rule that did not match, and the values that it compared."""

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

    def test(self, subject: Subject, element: TouchedElement | None) -> bool | None:
        """Whether it holds for one element; None if it needs an element and there is none."""
        compared = self.key.sees(subject, element)
        return None if compared is None else self.fits(compared)

    def fits(self, compared: Sequence[Any]) -> bool:
        return any(self.values.fits(each) for each in compared)

    def miss(self, subject: Subject, element: TouchedElement | None) -> Miss:
        compared = [see for see in self.key.sees(subject, element) or () if see != ""]
        saw = tuple(f"{see:%H:%M}" if isinstance(see, datetime) else see for see in compared)
        return Miss(self.name, saw, self.values.why_not_met(saw) if saw else "there is none")

    def for_limit(self) -> Part:
        """For `ask` and `deny`, where a text that only looks like the wanted one counts too."""
        if not self.key.seen_by_people or not isinstance(self.values, Patterns):
            return self
        return replace(self, values=replace(self.values, as_people_see=True))

    def plain_values(self) -> Plain | list[Plain]:
        """Returns its values as they are written in the file."""
        values = self.values.plain_values()
        return values[0] if len(values) == 1 else values


def _some(texts: Sequence[str]) -> Sequence[str]:
    """No pattern matches a missing text."""
    return [text for text in texts if text]


def _read_actions(value: object) -> Patterns:
    patterns = Patterns.read(value)
    for pattern in patterns.all:
        if not any(map(pattern.matches, ACTIONS)):
            close = nearest(pattern.text, ACTIONS)
            advice = f"; did you mean {' or '.join(close)}?" if close else "; `handrail actions` lists them"
            raise ValueError(f"no action is called {pattern.text!r:.60}{advice}")
    return patterns


def _read_hashes(value: object) -> Words:
    hashes = read_texts(value) if isinstance(value, list) else [str(value)]
    for text in hashes:
        if not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
            raise ValueError(f"is sha256: and the 64 hex digits of the script's SHA-256, not {text!r:.80}")
    return Words(tuple(hashes))


def _can_be(trait: str, cls: type[Act]) -> Sequence[str]:
    """Every value that a trait can have. A class that computes it lists the values as its return type."""
    own = getattr(cls, trait)
    if own is getattr(Act, trait):
        return (getattr(cls.traits, trait),)
    return get_args(get_type_hints(own.fget)["return"])


def _word_in(allowed: Sequence[str]) -> Callable[[object], Words]:
    return partial(Words.read, allowed=allowed)


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
        clause=lambda values: listed(spaced(values)),
    ),
    Key(
        "effect",
        "what kind of thing it does",
        _list(get_args(Effect)),
        _word_in(get_args(Effect)),
        lambda subject: (subject.effect,),
        of_class=partial(_can_be, "effect"),
        clause=lambda values: f"that {named(EFFECT_WORDS, values)}",
    ),
    Key(
        "semantic",
        "what it is for",
        _list(get_args(Semantic)),
        _word_in(get_args(Semantic)),
        lambda subject: (subject.semantic,),
        of_class=partial(_can_be, "semantic"),
        clause=lambda values: f"that is for {listed(values)}",
    ),
    Key(
        "pressed",
        "a finger or a key would come down on it, whatever the action is called",
        _list(("true", "false")),
        Flag.read,
        of_element=lambda element: (bool(element.pressed),),
        clause=either("that would press an element", "that presses nothing"),
    ),
    Key(
        "label",
        "the element's label, without case; a limit also sees what only looks like it",
        "pattern",
        Patterns.read_without_case,
        of_element=lambda element: _some(element.names),
        seen_by_people=True,
        clause=lambda values: f"on what says {quoted_list(values)}",
    ),
    Key(
        "id",
        "its resource id, whole or the part after `:id/`",
        "pattern",
        Patterns.read,
        of_element=lambda element: _some((element.id, element.id_tail)),
        clause=lambda values: f"with the id {listed(values)}",
    ),
    Key(
        "role",
        "its kind",
        f"{_list(get_args(Role)[:3])} …",
        _word_in(get_args(Role)),
        of_element=lambda element: (element.role,),
        clause=lambda values: f"on a {listed(spaced(values))}",
    ),
    Key(
        "password",
        "it is a password field",
        _list(("true", "false")),
        Flag.read,
        of_element=lambda element: (element.password,),
        clause=either("in a password field", "outside password fields"),
    ),
    Key(
        "secret",
        "the text to type is `${secret:…}` and nothing else",
        _list(("true", "false")),
        Flag.read,
        lambda subject: (subject.has_secret,),
        clause=either("that types a secret by its name", "that types no secret by its name"),
    ),
    Key(
        "app",
        "the package that the action names, else the app that would be touched, or the page in it",
        "pattern",
        Patterns.read,
        lambda subject: _some((subject.named_package,)) or None,
        lambda element: _some((element.package, element.place)),
        clause=lambda values: f"in {listed(values)}",
    ),
    Key(
        SCRIPT,
        "the exact text of a `run_script`; without it no rule allows a script",
        '`"sha256:…"` of the text, as `sha256sum` prints it',
        _read_hashes,
        lambda subject: _some((subject.script_hash,)),
        clause=lambda values: f"with the text {listed([f'{str(digest)[:15]}…' for digest in values])}",
    ),
    Key(
        "host",
        "the host of an `open_url`, `tel:` and the like for other schemes",
        "pattern",
        Patterns.read_without_case,
        # An address whose host could mislead has the host "": a pattern such as * must still see it.
        lambda subject: (subject.url_host,) if isinstance(subject.action, OpenUrl) else (),
        clause=lambda values: f"to {listed(values)}",
    ),
    Key(
        "device",
        "the serial",
        "pattern",
        Patterns.read,
        lambda subject: (subject.device,),
        clause=lambda values: f"on the device {listed(values)}",
    ),
    Key(
        "door",
        "where the action came in",
        _list(get_args(Door)),
        _word_in(get_args(Door)),
        lambda subject: (subject.door,),
        clause=lambda values: f"that comes by {named(DOOR_WORDS, values)}",
    ),
    Key(
        "caller",
        "whether it came from this machine",
        _list(get_args(CallerOrigin)),
        _word_in(get_args(CallerOrigin)),
        lambda subject: (subject.caller,),
        clause=lambda values: named(CALLER_WORDS, values),
    ),
    Key(
        "time",
        "local time of day",
        '`"22:00-06:00"`',
        Windows.read,
        lambda subject: (subject.at,),
        clause=lambda values: f"between {listed([str(window).replace('-', ' and ') for window in values])}",
    ),
    Key(
        "days",
        "day of the week",
        _list(DAYS),
        _word_in(DAYS),
        lambda subject: (DAYS[subject.at.weekday()],),
        clause=lambda values: f"on {listed([str(day).capitalize() for day in values])}",
    ),
)
"""In the order of a sentence about a rule."""
KEYS: dict[str, Key[Any]] = {key.name: key for key in _ROWS}
RUN_SCRIPT: str = RunScript.model_fields["type"].default


@dataclass(frozen=True, slots=True)
class Rule:
    """All its parts must match; of the values of a part one must."""

    verdict: VerdictKind
    name: str
    why: str = ""
    remember: Span = "never"
    line: int | None = None
    parts: tuple[Part, ...] = ()

    def test(self, subject: Subject) -> bool | None:
        """Returns None while it depends on a screen that was not read."""
        if self.can_not_allow(subject.type):
            return False
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
        # An `allow` must hold for all touched elements, a limit for any of them.
        matches = (
            all(part.test(subject, element) for part in waiting) for element in self._looks_at(subject)
        )
        return bool(subject.touched) and (all(matches) if self.verdict == "allow" else any(matches))

    def misses(self, subject: Subject) -> list[Miss]:
        """Parts of the rule that do not match; empty if it matches. Of several elements, those of the
        one that comes nearest."""
        if self.test(subject):
            return []
        if self.can_not_allow(subject.type):
            why = f"only a rule that names {subject.script_hash} allows it"
            return [Miss(SCRIPT, (subject.script_hash,), why)]
        by_element = (
            [part.miss(subject, element) for part in self.parts if not part.test(subject, element)]
            for element in self._looks_at(subject) or (None,)
        )
        return min(filter(None, by_element), key=len)

    def can_not_allow(self, kind: str) -> bool:
        """A script can do anything, so a rule allows one exact text, never scripts in general."""
        is_named = any(part.name == SCRIPT for part in self.parts)
        return self.verdict == "allow" and kind == RUN_SCRIPT and not is_named

    def says(self) -> PolicyDecision:
        return PolicyDecision(self.verdict, self.name, self.why, self.remember)

    def _looks_at(self, subject: Subject) -> Sequence[TouchedElement]:
        """Texts besides the name may forbid but never permit: they may come from a stranger."""
        touched = subject.touched or ()
        return (
            [replace(element, says=(), around=()) for element in touched]
            if self.verdict == "allow"
            else touched
        )


def unreachable(rules: Sequence[Rule]) -> dict[int, str]:
    """Index of each rule that never decides, and why."""
    kinds = _kinds()
    reasons: dict[int, str] = {}
    before: list[_Reach] = []
    for at, rule in enumerate(rules):
        reach = _Reach(rule, frozenset(number for number, kind in enumerate(kinds) if _fits(rule, kind)))
        first = next((other for other in before if other.takes_all_of(reach)), None)
        if not reach.kinds:
            reasons[at] = "no action has this type, effect and semantic together"
            if any(part.name == "action" and part.fits([RUN_SCRIPT]) for part in rule.parts):
                reasons[at] = 'a script is allowed by its hash only: script = "sha256:…"'
        elif first is not None:
            reasons[at] = f"{first.rule.name} comes first and matches all of it"
        before.append(reach)
    return reasons


def bypassing_actions(rules: Sequence[Rule]) -> dict[int, list[str]]:
    """Index of each limit on an element, and the actions that press the element without matching it."""
    passing = {}
    for at, rule in enumerate(rules):
        if rule.verdict != "allow" and any(part.name in ("label", "id") for part in rule.parts):
            missed = {
                kind["action"]: None
                for kind in _kinds()
                if ACTIONS[kind["action"]].traits.presses is not Pressed.NOTHING and not _fits(rule, kind)
            }
            if missed:
                passing[at] = list(missed)
    return passing


@dataclass(frozen=True, slots=True)
class _Reach:
    """Which kinds of action a rule matches, by number, and what its other parts accept."""

    rule: Rule
    kinds: frozenset[int]

    def takes_all_of(self, later: _Reach) -> bool:
        """True if every action that `later` matches is matched here."""
        if self.rule.verdict == "allow" != later.rule.verdict and any(
            part.key.needs_screen for part in self.rule.parts
        ):
            return False  # an `allow` sees fewer texts than the limit after it
        theirs = {part.name: part.values for part in later.rule.parts}
        return later.kinds <= self.kinds and all(
            part.name in theirs and part.values.covers(theirs[part.name])
            for part in self.rule.parts
            if part.key.of_class is None
        )


def _kinds() -> list[dict[str, str]]:
    """Every combination of type, effect and semantic that an action can have."""
    columns = {key.name: key.of_class for key in KEYS.values() if key.of_class is not None}
    return [
        dict(zip(columns, answers, strict=True))
        for cls in ACTIONS.values()
        for answers in product(*(of_class(cls) for of_class in columns.values()))
    ]


def _fits(rule: Rule, kind: Mapping[str, str]) -> bool:
    if rule.can_not_allow(kind["action"]):
        return False
    return all(part.fits([kind[part.name]]) for part in rule.parts if part.name in kind)


@dataclass(frozen=True, slots=True)
class ScriptRules:
    """The sandbox of a script that is allowed."""

    shell: bool = False
    """No walls around its files, but no network."""
    allow: tuple[str, ...] = ()
    """Programs that it may start although they are not installed in the system's folders."""


@dataclass(frozen=True, slots=True)
class Document:
    """A policy file, read and checked."""

    rules: list[Rule] = field(default_factory=list)
    known_hosts: list[str] = field(default_factory=list)
    secrets: dict[str, Patterns] = field(default_factory=dict)
    """Which apps may be given a secret, by its name in capitals."""
    script: ScriptRules = field(default_factory=ScriptRules)
    uploads: list[str] = field(default_factory=list)
    """Patterns of files that a page may be given."""
    downloads: list[str] = field(default_factory=list)
    """Patterns of origins whose files are kept."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one policy file, with the built-in rulings behind them."""

    rules: tuple[Rule, ...] = ()
    known_hosts: frozenset[str] = frozenset()
    secrets: Mapping[str, Patterns] = field(default_factory=dict)
    """Which apps may be given a secret. Others ask before they are typed into a web page."""
    script: ScriptRules = field(default_factory=ScriptRules)
    digest: str = "defaults"
    uploads: tuple[str, ...] = ()
    downloads: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document, digest: str = "") -> Policy:
        hosts = frozenset(document.known_hosts)
        lists = tuple(document.uploads), tuple(document.downloads)
        return cls(tuple(document.rules), hosts, document.secrets, document.script, digest, *lists)

    def current(self) -> Policy:
        """Implements `PolicySource`; `LivePolicy` reads the file again instead."""
        return self

    def early(self, subject: Subject) -> PolicyDecision | None:
        """What is certain before any screen is read. `decide` never says otherwise later."""
        unread = self._with_lists(replace(subject, touched=None))
        return self._signed(self._strays(unread) or _first(self.rules, unread))

    def decide(self, subject: Subject) -> PolicyDecision:
        """Decides about an action whose touched elements are known."""
        if subject.touched is None:
            raise ValueError("policy decides about touched elements; Subject.of(resolved=…) got None")
        subject = self._with_lists(subject)
        verdict = self._signed(self._strays(subject) or _first(self.rules, subject))
        if verdict is None:
            raise AssertionError(f"a rule left {subject.type} open although its screen was read")
        return verdict

    def knows(self, host: str) -> bool:
        return host in self.known_hosts

    def gives(self, file: str) -> bool:
        """Whether a page may be given this file. The path is absolute and has no links."""
        return any(fnmatchcase(file, str(Path(upload).expanduser())) for upload in self.uploads)

    def saves(self, origin: str) -> bool:
        """Whether downloads from this origin are kept."""
        return any(fnmatchcase(origin, download) for download in self.downloads)

    def _signed(self, verdict: PolicyDecision | None) -> PolicyDecision | None:
        return verdict and replace(verdict, policy=self.digest)

    def _with_lists(self, subject: Subject) -> Subject:
        hosts = subject.known_hosts | self.known_hosts
        return replace(subject, known_hosts=hosts, bound=frozenset(self.secrets))

    def _strays(self, subject: Subject) -> PolicyDecision | None:
        """Denies, whatever rules say, that a secret leaves the apps that it is bound to.

        It may only be typed: a clipboard can be pasted anywhere.
        """
        if not self.secrets:
            return None
        for name in subject.secrets:
            home = self.secrets.get(name)
            if home is None or (isinstance(subject.action, TypeText) and subject.touched is None):
                continue
            places = [element.where for element in subject.touched or ()]
            if not isinstance(subject.action, TypeText) or not all(map(home.fits, places)):
                allowed = ", ".join(map(str, home.plain_values()))
                return PolicyDecision(
                    "deny", "secrets", f"${{secret:{name}}} is typed into {allowed} and nowhere else"
                )
        return None


def _first(rules: Sequence[Rule], subject: Subject) -> PolicyDecision | None:
    for rule in rules:
        holds = rule.test(subject)
        if holds is None:
            return None
        if holds:
            return rule.says()
    return built_in(subject)


@dataclass(frozen=True, slots=True)
class SpecialCase:
    """A built-in ruling on some actions of a class. `test` is None while it depends on an unread screen."""

    name: str
    what: str
    concerns: Callable[[type[Act]], bool]
    """Classes of actions that it can apply to."""
    ruling: BaseVerdict
    test: Callable[[Subject], bool | None]
    about: Callable[[Subject], str] = lambda _: ""
    """What the question says about this action."""

    key: Callable[[Subject], tuple[str, str] | None] = lambda _: None
    """What an answer is remembered for, if not the action itself."""

    def says(self, subject: Subject) -> PolicyDecision:
        verdict = _verdict(self.ruling, f"built-in: {self.name}", subject)
        verdict = replace(verdict, about=self.key(subject))
        about = self.about(subject)
        return replace(verdict, why=f"{about}; {verdict.why}") if about else verdict


def built_in(subject: Subject) -> PolicyDecision | None:
    """Returns None while the ruling depends on a screen that was not read."""
    cls = type(subject.action)
    for special in SPECIAL_CASES:
        if special.concerns(cls):
            holds = special.test(subject)
            if holds is None:
                return None
            if holds:
                return special.says(subject)
    return _verdict(cls.traits.verdict, f"built-in: {subject.type}", subject)


def rulings() -> list[tuple[str, str, BaseVerdict]]:
    """Every ruling: the action, the special case or '', and the ruling. Special cases come first."""
    rows = []
    for kind, cls in ACTIONS.items():
        rows += [(kind, special.what, special.ruling) for special in SPECIAL_CASES if special.concerns(cls)]
        rows.append((kind, "", cls.traits.verdict))
    return rows


def _verdict(ruling: BaseVerdict, rule: str, subject: Subject) -> PolicyDecision:
    kind = ruling.local if subject.caller == "local" else ruling.remote
    if kind == "allow":
        return PolicyDecision(kind, rule)
    return PolicyDecision(kind, rule, ruling.why, ruling.remember if kind == "ask" else "never")


def _any_pressed(test: Callable[[TouchedElement], object], subject: Subject) -> bool | None:
    if subject.action.presses is Pressed.NOTHING:
        return False
    return None if subject.touched is None else any(test(each) for each in subject.touched if each.pressed)


def _what_is_grave(subject: Subject) -> str:
    for element in subject.touched or ():
        if does := committing_effect(element):
            return f"{element.label or element.id!r} {does}"
    return ""


def _is_unclear(element: TouchedElement) -> bool:
    return element.role == UNCLEAR or max(map(len, element.names)) >= CUT


def _is_bare_password(subject: Subject) -> bool | None:
    if subject.has_secret:
        return False
    return None if subject.touched is None else any(element.password for element in subject.touched)


def _is_new_host(subject: Subject) -> bool:
    trusted = {subject.url_host, subject.url_origin} & subject.known_hosts
    return not subject.url_host or not trusted


def _is_new_place(subject: Subject) -> bool | None:
    if subject.new_places:
        return True
    return None if subject.touched is None and subject.action.presses is not Pressed.NOTHING else False


def _place_key(subject: Subject) -> tuple[str, str] | None:
    """The same key as for `open_url`, so that one yes covers one host."""
    hosts = {host_of(place) for place in subject.new_places}
    host = hosts.pop() if len(hosts) == 1 else ""
    return (OpenUrl.model_fields["type"].default, host) if host and not host.endswith(":") else None


def _is_loose_secret(subject: Subject) -> bool | None:
    if set(subject.secrets) <= subject.bound:
        return False
    return None if subject.touched is None else bool(subject.places)


def _is(wanted: type[Act]) -> Callable[[type[Act]], bool]:
    return lambda cls: issubclass(cls, wanted)


CUT = 2_000
"""Characters at which a surface cuts a label."""

SPECIAL_CASES: tuple[SpecialCase, ...] = (
    SpecialCase(
        "a label that commits",
        "on an element whose label pays, sends money, deletes for good, signs or posts publicly",
        lambda cls: cls.traits.presses not in (Pressed.NOTHING, Pressed.UNKNOWN),
        BaseVerdict("ask", "ask", "it can't be taken back", "never"),
        partial(_any_pressed, committing_effect),
        _what_is_grave,
    ),
    SpecialCase(
        "a press with an unknown effect",
        "on something that was left out of the screen, or whose label was cut",
        lambda cls: cls.traits.presses not in (Pressed.NOTHING, Pressed.UNKNOWN),
        BaseVerdict("ask", "ask", "it is unknown what it would press", "never"),
        partial(_any_pressed, _is_unclear),
    ),
    SpecialCase(
        "a bare password",
        "into a password field, without `${secret:…}`",
        _is(TypeText),
        BaseVerdict("ask", "ask", "a password in plain text; keep it as a secret and write ${secret:NAME}"),
        _is_bare_password,
    ),
    SpecialCase(
        "a secret without a home",
        "of a `${secret:…}` that `[secrets]` does not bind, into an app that is an address",
        _is(TypeText),
        BaseVerdict("ask", "ask", "policy does not say where this secret belongs; list it under [secrets]"),
        _is_loose_secret,
    ),
    SpecialCase(
        "a new place",
        "in an app that is an address and was not allowed before",
        lambda cls: (
            cls.traits.presses not in (Pressed.NOTHING, Pressed.UNKNOWN)
            or (cls.traits.leaves_app and "package" in cls.model_fields)
        ),
        BaseVerdict("ask", "ask", "no one has allowed this address yet", "always"),
        _is_new_place,
        lambda subject: ", ".join(subject.new_places),
        _place_key,
    ),
    SpecialCase(
        "a new host",
        "to a host that is not known, or to another scheme than http and https",
        _is(OpenUrl),
        BaseVerdict("ask", "ask", "it opens an address that was not opened before", "always"),
        _is_new_host,
    ),
    SpecialCase(
        "a part of an app",
        "with `activity` or `extras`",
        _is(StartApp),
        BaseVerdict(
            "ask", "ask", "it opens a part of an app with values of its own, as a link does", "always"
        ),
        lambda subject: isinstance(subject.action, StartApp) and subject.action.opens_a_part,
    ),
    SpecialCase(
        "a writing query",
        "with `write`",
        _is(QueryDb),
        BaseVerdict("ask", "deny", "it changes an app's database"),
        lambda subject: isinstance(subject.action, QueryDb) and subject.action.write,
    ),
)
