"""A file of another program, read whole and replaced whole: never half, never over somebody's change."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from handrail.errors import InvalidAction

MOST_BYTES = 16_000_000
MOST_BACKUPS = 100


def _unusable(path: Path, why: str, hint: str = "Change it by hand.") -> InvalidAction:
    return InvalidAction(f"{path}: {why}", hint=hint, path="file")


def read_config(path: Path) -> bytes | None:
    """Its bytes; None where nothing has this name. `InvalidAction` for whatever is no plain file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        if path.is_symlink():
            raise _unusable(path, "is a link to nothing", "Mend the link first.") from None
        return None
    except OSError as error:
        raise _unusable(path, f"can't be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _unusable(path, "is no plain file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _unusable(path, "is too large")
    return data


def replace_config(path: Path, old: bytes | None, new: bytes) -> Path | None:
    """`new` instead of `old`, which is kept beside it. A link stays one: what it names is replaced."""
    real = path.resolve()
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        with _alone(real.parent):
            if old is not None and not real.stat().st_mode & stat.S_IWUSR:
                raise _unusable(path, "is read-only")
            _check(path, real, old)
            backup = _keep(real, old) if old is not None else None
            fresh = real.with_name(f".{real.name}.handrail-{os.getpid()}")
            try:
                _write(fresh, new, real.stat().st_mode & 0o777 if old is not None else 0o600)
                _check(path, real, old)  # as late as can be: its program may have written meanwhile
                os.replace(fresh, real)
            finally:
                fresh.unlink(missing_ok=True)
            return backup
    except OSError as error:
        raise _unusable(path, f"can't be written: {error.strerror}", "Nothing was changed.") from None


def _check(path: Path, real: Path, old: bytes | None) -> None:
    if read_config(real) != old:
        raise _unusable(path, "was changed by somebody else meanwhile", "Run it again.")


def _keep(real: Path, old: bytes) -> Path:
    """Under the first name that is free, or that holds the same already."""
    for number in range(1, MOST_BACKUPS):
        backup = real.with_name(f"{real.name}.before-handrail" + (f"-{number}" if number > 1 else ""))
        if not backup.exists():
            _write(backup, old, real.stat().st_mode & 0o777)
            return backup
        if not backup.is_symlink() and read_config(backup) == old:
            return backup
    raise _unusable(real, f"has {MOST_BACKUPS} copies beside it already", "Remove some of them.")


def _write(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(handle, mode)
        os.fsync(handle)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two of these commands do not write to one folder at a time. Whoever is killed holds nothing."""
    with suppress(ImportError):  # Windows
        import fcntl  # noqa: PLC0415

        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
        return
    yield
