"""Remembered answers, in permissions.json and for a session, and the policy that applies them.

Only answers to questions of the engine are written under keys that policy reads; agents' dialogs have others.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from handrail.errors import InvalidAction, PolicyUnusable
from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import nearest
from handrail.protocol.traits import Span
from handrail.safety.policy_file import PolicySource
from handrail.safety.subject import SPANS, PolicyDecision, Subject
from handrail.trusted_file import TrustedFile, replace_file


class Permissions:
    """The remembered answers of one home."""

    def __init__(self, path: Path) -> None:
        self._file = PermissionsFile(path)

    @property
    def path(self) -> Path:
        return self._file.path

    def lookup(self, tool: str, context: str) -> bool | None:
        """The answer that policy applies: that for the context, else that for the tool."""
        answers = self._file.read()
        answer = answers.get(policy_key(tool, context))
        return answers.get(policy_key(tool)) if answer is None else answer

    def remember(self, tool: str, context: str, *, allow: bool) -> str:
        """Returns the key. It always covers one context; people write answers for a whole tool by hand."""
        return self._write(policy_key(tool, context), allow)

    def lookup_for_agent(self, agent_id: str, tool: str, context: str | None = None) -> bool | None:
        """What a person answered to this agent's own dialog. Policy does not read it."""
        answers = self._file.read()
        answer = answers.get(agent_key(agent_id, tool, context))
        return answers.get(agent_key(agent_id, tool)) if answer is None else answer

    def remember_for_agent(self, agent_id: str, tool: str, context: str | None, allow: bool) -> str:
        """Stores an answer to an agent's `dialog.confirm`."""
        return self._write(agent_key(agent_id, tool, context), allow)

    def all(self) -> dict[str, bool]:
        return self._file.read()

    def forget(self, key: str) -> None:
        """Raises `InvalidAction` with the nearest keys if there is no such answer."""

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


def is_agent_dialog_key(key: str) -> bool:
    """True for a key of an agent's dialog, which policy does not read."""
    return key.startswith(AGENT)


Answers = dict[str, bool]
_WORDS = {"allow": True, "deny": False}
MOST_BYTES = 4_000_000


class PermissionsFile:
    """The file on disk, which is read for every decision and parsed again if it changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = TrustedFile(path, MOST_BYTES)
        self._data: bytes | None = None
        self._answers: Answers = {}

    def read(self) -> Answers:
        """{} if there is no file. Raises `PolicyUnusable` for a damaged one."""
        data = self._file.read()
        if data != self._data:
            self._answers = {} if data is None else _parse(self.path, data)
            self._data = data
        return dict(self._answers)

    def change(self, edit: Callable[[Answers], None]) -> None:
        """Applies one edit atomically, across processes."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            answers = self.read()
            edit(answers)
            self._replace(answers)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # The lock is a separate file: permissions.json is replaced, and a lock would stay with the old file.
        handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _replace(self, answers: Answers) -> None:
        words = {key: "allow" if answers[key] else "deny" for key in sorted(answers)}
        replace_file(self.path, _written(words))


def _written(words: dict[str, str]) -> str:
    """Readable JSON. Lone surrogates, which UTF-8 can't encode, are escaped."""
    text = json.dumps(words, ensure_ascii=False, indent=2) + "\n"
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


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
        # The last line of a key, however it is escaped; 1 if it is unknown.
        at = max(text.rfind(json.dumps(key, ensure_ascii=ascii_only)) for ascii_only in (False, True))
        line = text.count("\n", 0, max(0, at)) + 1
        if not isinstance(word, str) or word not in _WORDS:
            raise _damaged(path, f'{key!r:.60} must be "allow" or "deny"', line=line)
        if key in answers:
            raise _damaged(path, f"{key!r:.60} is there twice", line=line)
        answers[key] = _WORDS[word]
    return answers


def _damaged(path: Path, why: str, *, line: int) -> PolicyUnusable:
    hint = "Correct the line by hand; nothing in the file was changed."
    return PolicyUnusable(f"{path}:{line}: {why}", hint=hint, file=str(path), line=line)


AGENT = "agent:"
_LONGEST = 2_000


def policy_key(tool: str, context: str | None = None) -> str:
    """The key that policy reads. `tool` is an action's type."""
    if tool not in ACTIONS:
        raise _bad("tool", tool, "is not an action; only answers about actions count for policy")
    return tool if context is None else f"{tool}:{_text('context', context)}"


def agent_key(agent_id: str, tool: str, context: str | None = None) -> str:
    """The key of an agent's own dialog. Colons in id and tool are escaped, so no agent can use another's."""
    parts = [_escape(_text("agent_id", agent_id)), _escape(_text("tool", tool))]
    if context is not None:
        parts.append(_text("context", context))
    return AGENT + ":".join(parts)


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")


def _text(field: str, text: str) -> str:
    if not text.strip():
        raise _bad(field, text, "is empty")
    if len(text) > _LONGEST:
        raise _bad(field, f"{text[:40]}…", f"is longer than {_LONGEST} characters")
    return text


def _bad(field: str, value: str, why: str) -> InvalidAction:
    return InvalidAction(f"{field}: {value!r:.60} {why}", path=field, hint="Nothing was remembered.")


class AnsweredPolicy:
    """The policy with remembered answers applied, for one session. Answers for the session end with it."""

    def __init__(self, policy: PolicySource, permissions: Permissions | None = None) -> None:
        self.policy = policy
        self._permissions = permissions
        self._session: dict[tuple[str, str, str], bool] = {}
        """By asker, action and context: an answer to one agent does not count for another."""

    def early(self, subject: Subject) -> PolicyDecision | None:
        """Only `allow` and `deny`: whether to ask depends on the screen and on remembered answers."""
        verdict = self.policy.current().early(subject)
        return None if verdict is None or verdict.kind == "ask" else verdict

    def decide(self, subject: Subject, asker: str = "") -> PolicyDecision:
        """Says `ask` only if there is no remembered answer, or none may be remembered."""
        verdict = self.policy.current().decide(subject)
        if not subject.may_be_remembered:
            verdict = replace(verdict, remember="never")
        if verdict.kind != "ask" or verdict.remember in ("never", "time"):
            return verdict
        kind, context = verdict.about or (subject.type, subject.context)
        answer = self._session.get((asker, kind, context))
        if answer is None and verdict.remember == "always" and self._permissions is not None:
            answer = self._permissions.lookup(kind, context)
        if answer is None:
            return verdict
        word = "allowed" if answer else "denied"
        return replace(verdict, kind="allow" if answer else "deny", why=f"{word} before: {context}")

    def remember(
        self, subject: Subject, verdict: PolicyDecision, span: Span, *, allow: bool, asker: str = ""
    ) -> Span:
        """Remembers an answer to the engine's question. Returns for how long, which the rule limits."""
        capped = SPANS[min(SPANS.index(span), SPANS.index(verdict.remember))]
        kind, context = verdict.about or (subject.type, subject.context)
        if capped == "always" and self._permissions is not None:
            self._permissions.remember(kind, context, allow=allow)
        elif capped in ("session", "always"):
            self._session[asker, kind, context] = allow
        return capped
