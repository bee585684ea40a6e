"""`config/permissions.json`: one JSON object, key → "allow" or "deny", made to be read and edited by people.

Every change reads the file again under a lock that other processes respect, and replaces it in one step:
nobody ever sees half a file, and a hand-made edit is never lost. A damaged file is an error, never replaced.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from handrail.errors import InvalidAction

Answers = dict[str, bool]
_WORDS = {"allow": True, "deny": False}
_MOST_BYTES = 4_000_000


class PermissionsFile:
    """The file on the disk. Reads are cached by its stamp: a lookup on every action costs one `stat`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int, int] | None = None
        self._answers: Answers = {}

    def read(self) -> Answers:
        """All remembered answers; {} where there is no file. Raises `InvalidAction` for a damaged one."""
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._answers = None, {}
            return {}
        stamp = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
        if stamp != self._stamp:
            if facts.st_mode & 0o002:
                raise _damaged(self.path, "everybody on this machine may write to it", "Do: chmod 600 on it.")
            self._answers = _parse(self.path)
            self._stamp = stamp
        return dict(self._answers)

    def change(self, edit: Callable[[Answers], None]) -> None:
        """One edit, seen by all or by none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            self._stamp = None  # another process may have changed it within one tick of the file clock
            answers = self.read()
            edit(answers)
            self._replace(answers)
            self._stamp = None

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
        target = self.path.resolve()  # a link stays a link
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


def _parse(path: Path) -> Answers:
    data = path.read_bytes()
    if len(data) > _MOST_BYTES:
        raise _damaged(path, f"{len(data):,} bytes are too many")
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
    """Where a key stands, however it was escaped; 1 if it can't be told."""
    for written in (json.dumps(key, ensure_ascii=False), json.dumps(key)):
        at = text.rfind(written)
        if at >= 0:
            return text.count("\n", 0, at) + 1
    return 1


def _damaged(path: Path, why: str, hint: str = "", line: int | None = None) -> InvalidAction:
    place = f":{line}" if line else ""
    return InvalidAction(
        f"{path}{place}: {why}",
        hint=hint or "Correct the line by hand; nothing in the file was changed.",
        path=str(path),
    )
