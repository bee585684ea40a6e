"""`policy.toml`: read into rules, read again before every decision, and told as sentences.

Errors name the file, the line and the key. A stricter rule counts at once. A milder one counts when the
file has not changed for half a second: an editor may empty a file before it writes it, and half a file may
lack the rule that forbids. Until then both versions decide and the stricter decision counts. A file that is
unreadable, damaged or deleted allows nothing.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol, get_args

from handrail.clock import Clock
from handrail.errors import InvalidAction, PolicyUnusable
from handrail.protocol.read import nearest
from handrail.protocol.traits import VerdictKind
from handrail.safety.policy import KEYS, Document, Policy, Rule, ScriptRules
from handrail.safety.policy_values import Patterns, check_word, read_texts
from handrail.safety.subject import SPANS, PolicyDecision, Subject
from handrail.trusted_file import TrustedFile, open_plain, unusable_file

_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]\s*(?:#.*)?")
_MOST_RULES = 1_000
MOST_BYTES = 1_000_000


def read_policy(path: Path) -> Document:
    """Reads any file, not only that of a home. Raises `InvalidAction` with file, line and key."""
    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, PolicyUnusable) as error:
        why = error.message if isinstance(error, PolicyUnusable) else f"{path}: {error.strerror or error}"
        raise InvalidAction(why, hint="Give a policy file that can be read.", path="") from None
    return parse_bytes(data, str(path))


def parse_bytes(data: bytes, name: str) -> Document:
    if len(data) > MOST_BYTES:
        raise InvalidAction(f"{name}: more than {MOST_BYTES:,} bytes", hint="Shorten it.", path="")
    try:
        return parse_policy(data.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        hint = "Give a policy file that can be read."
        raise InvalidAction(f"{name}: it is not UTF-8: {error.reason}", hint=hint, path="") from None


def parse_policy(text: str, name: str = "policy.toml") -> Document:
    return _Reading(text, name).document()


class _Reading:
    """Reads one file, and knows the lines where its rules begin."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines = text.splitlines()
        try:
            self._data = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            line = re.search(r"line (\d+)", str(error))
            where = f"{name}:{line[1]}" if line else name
            place: dict[str, Any] = {"line": int(line[1])} if line else {}
            raise InvalidAction(
                f"{where}: not valid TOML: {error}", hint="Correct the line.", path="", file=name, **place
            ) from None

    def document(self) -> Document:
        self._only(self._data, ("rule", "known_hosts", "secrets", "script", "uploads", "downloads"), "")
        rules = self._data.get("rule", [])
        if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
            self._bad("rule", "rules are written as [[rule]] tables")
        if len(rules) > _MOST_RULES:
            self._bad("rule", f"{len(rules)} rules are too many; at most {_MOST_RULES} are read")
        heads = [number for number, line in enumerate(self._lines, 1) if _HEADER.fullmatch(line)]
        lines = heads if len(heads) == len(rules) else [None] * len(rules)  # inline tables have no header
        return Document(
            [self._rule(table, at, line) for at, (table, line) in enumerate(zip(rules, lines, strict=True))],
            self._texts(self._data, "known_hosts", "known_hosts"),
            self._secrets(),
            self._script(),
            self._texts(self._data, "uploads", "uploads"),
            self._texts(self._data, "downloads", "downloads"),
        )

    def _secrets(self) -> dict[str, Patterns]:
        table = self._data.get("secrets", {})
        if not isinstance(table, dict):
            self._bad("secrets", 'is a table: [secrets], then NAME = "https://bank.example"')
        hosts = {}
        for name, value in table.items():
            try:
                hosts[name.upper()] = Patterns.read(value)
            except ValueError as error:
                self._bad(f"secrets.{name}", str(error))
        return hosts

    def _script(self) -> ScriptRules:
        table = self._data.get("script", {})
        if not isinstance(table, dict):
            self._bad("script", "is a table: [script]")
        self._only(table, ("shell", "allow"), "script.")
        shell = table.get("shell", False)
        if not isinstance(shell, bool):
            self._bad("script.shell", "must be true or false")
        return ScriptRules(shell, tuple(self._texts(table, "allow", "script.allow")))

    def _rule(self, table: Mapping[str, Any], at: int, line: int | None) -> Rule:
        prefix = f"rule[{at}]."
        self._only(table, READERS, prefix, line)
        if "verdict" not in table:
            self._bad(f"{prefix}verdict", f"is required: {', '.join(get_args(VerdictKind))}", line=line)
        values: dict[str, Any] = {}
        for key, value in table.items():
            try:
                values[key] = READERS[key](value)
            except ValueError as error:
                self._bad(prefix + key, str(error), line=self._line_of(key, line))
        if values.get("remember", "never") != "never" and values["verdict"] != "ask":
            where = self._line_of("remember", line)
            self._bad(f"{prefix}remember", "only an answer to `ask` can be remembered", line=where)
        parts = [values.pop(name) for name in KEYS if name in values]
        if values["verdict"] != "allow":
            parts = [part.for_limit() for part in parts]
        parts.sort(key=lambda part: part.key.needs_screen)  # what the act alone tells is cheaper to ask
        name, earlier = values.get("name") or f"rule {at + 1}", self._data["rule"][:at]
        is_taken = any(rule.get("name") == name for rule in earlier)  # an answer is to one rule
        values["name"] = f"{name} (rule {at + 1})" if is_taken else name
        return Rule(**values, line=line, parts=tuple(parts))

    def _texts(self, table: Mapping[str, Any], key: str, path: str) -> list[str]:
        try:
            return read_texts(table.get(key, []))
        except ValueError as error:
            self._bad(path, str(error))

    def _only(
        self, table: Mapping[str, Any], allowed: Iterable[str], prefix: str, line: int | None = None
    ) -> None:
        for key in table:
            if key not in allowed:
                close = nearest(key, allowed)
                hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(allowed)}."
                self._bad(prefix + key, "is not a known key", hint, self._line_of(key, line))

    def _line_of(self, key: str, after: int | None) -> int | None:
        """The line of a key: below its rule's header, or the first one in the file."""
        wanted = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=\].]")
        for number, line in enumerate(self._lines[after or 0 :], (after or 0) + 1):
            if after and _HEADER.fullmatch(line):
                return after
            if wanted.match(line):
                return number
        return after

    def _bad(self, path: str, what: str, hint: str = "", line: int | None = None) -> NoReturn:
        where = f"{self._name}:{line}" if line else self._name
        place: dict[str, Any] = {"line": line} if line else {}
        raise InvalidAction(
            f"{where}: {path}: {what}",
            hint=hint or "docs/safety.md has every key of a rule.",
            path=path,
            file=self._name,
            **place,
        )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


READERS: dict[str, Callable[[object], Any]] = {
    **{name: key.part for name, key in KEYS.items()},
    "verdict": partial(check_word, allowed=get_args(VerdictKind)),
    "remember": partial(check_word, allowed=SPANS),
    "name": _text,
    "why": _text,
}
REST_MS = 500.0
"""How long a file must stay unchanged before a rule that it dropped stops to count."""
_STRICT = ("allow", "ask", "deny")


class CurrentRules(Protocol):
    """The rules at one moment."""

    def early(self, subject: Subject) -> PolicyDecision | None: ...
    def decide(self, subject: Subject) -> PolicyDecision: ...
    def knows(self, host: str) -> bool: ...
    def gives(self, file: str) -> bool: ...
    def saves(self, origin: str) -> bool: ...
    @property
    def script(self) -> ScriptRules: ...


class PolicySource(Protocol):
    """Gives the rules as they are now."""

    def current(self) -> CurrentRules:
        """Raises `PolicyUnusable`."""
        ...


@dataclass(slots=True)
class _Version:
    data: bytes | None
    policy: Policy


class LivePolicy:
    """The policy file of one home."""

    def __init__(self, home: Path, path: Path, clock: Clock) -> None:
        self._file = TrustedFile(path, MOST_BYTES, inside=home)
        self._clock = clock
        self._was_there = False
        self._new = self._old = self._parsed(self._data())
        self._since_ms = 0.0

    def current(self) -> CurrentRules:
        """The rules as they are now; until a change has rested, together with the rules before it."""
        data = self._data()
        now = self._clock.monotonic_ms()
        if now - self._since_ms >= REST_MS:
            self._old = self._new
        if data != self._new.data:
            self._new, self._since_ms = self._parsed(data), now
        if self._old is self._new:
            return self._new.policy
        return StricterOf((self._new.policy, self._old.policy))

    def _data(self) -> bytes | None:
        data = self._file.read()
        self._was_there |= data is not None
        if data is None and self._was_there:
            raise unusable_file(
                self._file.path,
                "was deleted",
                "Restore it. An empty file means the defaults, as does a new start without the file.",
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
class StricterOf:
    """Several policies at once: the strictest decision counts."""

    policies: Sequence[Policy]

    def early(self, subject: Subject) -> PolicyDecision | None:
        """One denial is certain. Anything else is certain only if all policies are."""
        verdicts = [policy.early(subject) for policy in self.policies]
        certain = [verdict for verdict in verdicts if verdict is not None]
        denied = [verdict for verdict in certain if verdict.kind == "deny"]
        return denied[0] if denied else _strictest(certain) if len(certain) == len(verdicts) else None

    def decide(self, subject: Subject) -> PolicyDecision:
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
        allowed = [name for name in rules[0].allow if all(name in other.allow for other in rules)]
        return ScriptRules(all(rule.shell for rule in rules), tuple(allowed))


def _strictest(verdicts: Sequence[PolicyDecision]) -> PolicyDecision:
    return max(verdicts, key=lambda verdict: (_STRICT.index(verdict.kind), -SPANS.index(verdict.remember)))


VERBS = {"allow": "Allow", "ask": "Ask you before", "deny": "Never allow"}
REMEMBER = {
    "never": "Each time anew.",
    "time": "Your answer may count for a time.",
    "session": "Your answer may count for a session.",
    "always": "Your answer may count for always.",
}


def sentence(rule: Rule) -> str:
    """`Ask you before anything that would press what says “Pay*”: it costs money.`"""
    values = {part.name: part.values.plain_values() for part in rule.parts}
    clauses = {name: key.clause(values[name]) for name, key in KEYS.items() if name in values}
    what = clauses.pop("action", "anything")
    if values.get("pressed") == [True] and "label" in clauses:
        clauses["pressed"] = clauses.pop("label").replace("on ", "that would press ", 1)
    why = f": {rule.why}" if rule.why else ""
    return f"{VERBS[rule.verdict]} {' '.join([what, *clauses.values()])}{why}."


def remember_sentence(rule: Rule) -> str:
    """How long an answer may count; '' for rules that do not ask."""
    return REMEMBER[rule.remember] if rule.verdict == "ask" else ""
