"""Remembered answers: who may read which, and who may write which.

Only answers to dialogs made by the engine are written under names that policy reads.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from handrail.engine.policy import Span, Subject, Verdict
from handrail.engine.policy.live import PolicySource
from handrail.engine.policy.subject import SPANS
from handrail.errors import InvalidAction, PolicyUnusable
from handrail.owned import OwnedFile
from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import nearest


class Permissions:
    """The remembered answers of one home."""

    def __init__(self, path: Path) -> None:
        self._file = PermissionsFile(path)

    @property
    def path(self) -> Path:
        return self._file.path

    def lookup(self, tool: str, context: str) -> bool | None:
        """What policy may take as answered: the context's own answer first, then the tool's."""
        answers = self._file.read()
        answer = answers.get(policy_key(tool, context))
        return answers.get(policy_key(tool)) if answer is None else answer

    def remember(self, tool: str, context: str, *, allow: bool) -> str:
        """An answer to the engine's own dialog; the key that was written. Always about a context: whoever
        wants an answer for a whole tool writes it into the file by hand."""
        return self._write(policy_key(tool, context), allow)

    def lookup_for_agent(self, agent_id: str, tool: str, context: str | None = None) -> bool | None:
        """What a person once answered to this agent's own dialog. Policy never asks this."""
        answers = self._file.read()
        answer = answers.get(agent_key(agent_id, tool, context))
        return answers.get(agent_key(agent_id, tool)) if answer is None else answer

    def remember_for_agent(self, agent_id: str, tool: str, context: str | None, allow: bool) -> str:
        """An answer to a `dialog.confirm` that an agent made."""
        return self._write(agent_key(agent_id, tool, context), allow)

    def all(self) -> dict[str, bool]:
        return self._file.read()

    def forget(self, key: str) -> None:
        """Revoke one answer. Raises `InvalidAction` with the nearest keys when there is none such."""

        def edit(answers: Answers) -> None:
            if key not in answers:
                close = nearest(key, answers)
                hint = (
                    f"Did you mean {' or '.join(close)}?"
                    if close
                    else "`handrail policy permissions` lists them."
                )
                raise InvalidAction(f"{key!r:.200} is not remembered", path="key", hint=hint)
            del answers[key]

        self._file.change(edit)

    def _write(self, key: str, allow: bool) -> str:
        def edit(answers: Answers) -> None:
            answers[key] = allow

        self._file.change(edit)
        return key


def is_agents(key: str) -> bool:
    """True for a key that policy never reads."""
    return key.startswith(AGENT)


Answers = dict[str, bool]
_WORDS = {"allow": True, "deny": False}
MOST_BYTES = 4_000_000


class PermissionsFile:
    """The file on the disk. It is looked at for every question, and understood anew where it changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = OwnedFile(path, MOST_BYTES)
        self._data: bytes | None = None
        self._answers: Answers = {}

    def read(self) -> Answers:
        """All remembered answers; {} where there is no file. Raises `PolicyUnusable` for a damaged one."""
        data = self._file.read()
        if data != self._data:
            self._answers = {} if data is None else _parse(self.path, data)
            self._data = data
        return dict(self._answers)

    def change(self, edit: Callable[[Answers], None]) -> None:
        """One edit, seen by all or by none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            answers = self.read()
            edit(answers)
            self._replace(answers)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # A file of its own: the other one is replaced, and a lock on it would be a lock on the old one.
        handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _replace(self, answers: Answers) -> None:
        words = {key: "allow" if answers[key] else "deny" for key in sorted(answers)}
        target = Path(os.path.realpath(self.path))  # a link stays a link
        handle, name = tempfile.mkstemp(prefix=".permissions-", dir=target.parent)  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_written(words))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _written(words: dict[str, str]) -> str:
    """JSON that people can read; a lone surrogate, which no file can hold, is escaped."""
    text = json.dumps(words, ensure_ascii=False, indent=2) + "\n"
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _parse(path: Path, data: bytes) -> Answers:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _damaged(path, "not UTF-8", line=line) from None
    try:
        pairs = json.loads(text, object_pairs_hook=tuple) if text.strip() else ()
    except (json.JSONDecodeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise _damaged(path, why, line=line) from None
    return _checked(path, text, pairs)


def _checked(path: Path, text: str, pairs: object) -> Answers:
    if not isinstance(pairs, tuple):  # objects are read as tuples of pairs, to see a key that is there twice
        raise _damaged(path, 'must be one object: {"open_url:example.org": "allow"}', line=1)
    answers: Answers = {}
    for key, word in pairs:
        line = _line_of(text, key)
        if not isinstance(word, str) or word not in _WORDS:
            raise _damaged(path, f'{key!r:.60} must be "allow" or "deny"', line=line)
        if key in answers:
            raise _damaged(path, f"{key!r:.60} is there twice", line=line)
        answers[key] = _WORDS[word]
    return answers


def _line_of(text: str, key: str) -> int:
    """Where a key stands for the last time, however it was escaped; 1 if it can't be told."""
    at = max(text.rfind(json.dumps(key, ensure_ascii=ascii_only)) for ascii_only in (False, True))
    return text.count("\n", 0, max(0, at)) + 1


def _damaged(path: Path, why: str, *, line: int) -> PolicyUnusable:
    hint = "Correct the line by hand; nothing in the file was changed."
    return PolicyUnusable(f"{path}:{line}: {why}", hint=hint, file=str(path), line=line)


AGENT = "agent:"
_LONGEST = 2_000


def policy_key(tool: str, context: str | None = None) -> str:
    """The key that policy reads. `tool` is an action's type: no other name is ever looked up."""
    if tool not in ACTIONS:
        raise _bad("tool", tool, "is no action; only answers about actions count for policy")
    return tool if context is None else f"{tool}:{_said('context', context)}"


def agent_key(agent_id: str, tool: str, context: str | None = None) -> str:
    """The key of an agent's own dialog. Colons inside the id and the tool are escaped, so none can lend
    itself another agent's name."""
    parts = [_escape(_said("agent_id", agent_id)), _escape(_said("tool", tool))]
    if context is not None:
        parts.append(_said("context", context))
    return AGENT + ":".join(parts)


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")


def _said(field: str, text: str) -> str:
    if not text.strip():
        raise _bad(field, text, "is empty")
    if len(text) > _LONGEST:
        raise _bad(field, f"{text[:40]}…", f"is longer than {_LONGEST} characters")
    return text


def _bad(field: str, value: str, why: str) -> InvalidAction:
    return InvalidAction(f"{field}: {value!r:.60} {why}", path=field, hint="Nothing was remembered.")


class Gate:
    """One session's gate: its own answers end with it."""

    def __init__(self, policy: PolicySource, permissions: Permissions | None = None) -> None:
        self.policy = policy
        self._permissions = permissions
        self._session: dict[tuple[str, str, str], bool] = {}
        """By asker, action and context: what one agent was allowed is not allowed to another."""

    def early(self, subject: Subject) -> Verdict | None:
        """Only `allow` and `deny`: whether somebody must be asked is told by the screen and by memory."""
        verdict = self.policy.current().early(subject)
        return None if verdict is None or verdict.kind == "ask" else verdict

    def decide(self, subject: Subject, asker: str = "") -> Verdict:
        """The verdict; `ask` only where nobody answered before, or an answer may not be kept."""
        verdict = self.policy.current().decide(subject)
        if verdict.kind != "ask" or verdict.remember in ("never", "time"):
            return verdict
        kind, context = verdict.about or (subject.type, subject.context)
        answer = self._answer(kind, context, verdict.remember, asker)
        if answer is None:
            return verdict
        word = "allowed" if answer else "denied"
        return replace(verdict, kind="allow" if answer else "deny", why=f"{word} before: {context}")

    def remember(
        self, subject: Subject, verdict: Verdict, span: Span, *, allow: bool, asker: str = ""
    ) -> Span:
        """Keep an answer to the engine's own question; how long it is kept, which the rule limits."""
        kept = SPANS[min(SPANS.index(span), SPANS.index(verdict.remember))]
        kind, context = verdict.about or (subject.type, subject.context)
        if kept == "always" and self._permissions is not None:
            self._permissions.remember(kind, context, allow=allow)
        elif kept in ("session", "always"):
            self._session[asker, kind, context] = allow
        return kept

    def _answer(self, kind: str, context: str, longest: Span, asker: str) -> bool | None:
        answer = self._session.get((asker, kind, context))
        if answer is None and longest == "always" and self._permissions is not None:
            return self._permissions.lookup(kind, context)
        return answer
