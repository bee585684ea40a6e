"""The files that a flow names: only those of its workspace, after every link was followed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handrail.errors import InvalidAction
from handrail.flow.parse import MAX_BYTES
from handrail.protocol.read import nearest


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder out of which nothing is read."""

    root: Path

    @classmethod
    def of(cls, path: Path) -> Workspace:
        """The nearest folder above a file that is a workspace or a repository, else its own."""
        start = path.resolve()
        start = start if start.is_dir() else start.parent
        for folder in (start, *start.parents):
            if folder.name == ".maestro" or (folder / ".git").exists():
                return cls(folder)
        return cls(start)

    def resolve(self, named_in: Path | None, name: str) -> Path:
        """A file relative to the one that names it. Raises `InvalidAction` with the `rule` that it breaks."""
        folder = named_in.parent if named_in else self.root
        try:
            path = (folder / name).resolve()
            is_there = path.is_file()
        except (OSError, ValueError, RuntimeError):
            raise _wrong("missing-file", f"{name[:200]} can't be a file", "Check its name.") from None
        if not path.is_relative_to(self.root.resolve()):
            hint = f"A flow reads the files of {self.root.name or 'its folder'} alone; move it there."
            raise _wrong("outside", f"{name[:200]} lies outside the workspace", hint)
        if not is_there:
            raise _wrong("missing-file", f"{name[:200]} does not exist", _similar(path))
        return path


def read_text(path: Path) -> str:
    """A file of a workspace. Raises `InvalidAction`."""
    try:
        with path.open("rb") as file:  # never more than is needed to know that it is too much
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise InvalidAction(message, path="", hint="Give a file that exists.", rule="missing-file") from None
    if len(data) > MAX_BYTES:
        raise _wrong("invalid", f"{path} has too many bytes", f"At most {MAX_BYTES:,} are read.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidAction(
            f"{path}:{line}:1: not UTF-8", path="", hint="Save it as UTF-8.", rule="syntax", line=line
        ) from None


def _wrong(rule: str, message: str, hint: str) -> InvalidAction:
    return InvalidAction(message, path="", hint=hint, rule=rule)


def _similar(path: Path) -> str:
    there = [one.name for one in path.parent.glob("*")] if path.parent.is_dir() else []
    close = nearest(path.name, there)
    return f"Did you mean {close[0]}?" if close else "The name is relative to this file's folder."
