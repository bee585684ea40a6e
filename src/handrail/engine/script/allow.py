"""Which programs a script may run, and with which arguments. Reads the file system, starts nothing.

A name counts by what it leads to: `./cat` is not `cat`. Arguments that would run another program, or read or
write a file outside the run folder, are refused, so the list stays a list and not an invitation.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.clock import iso_time
from handrail.engine.script.arguments import FileArgument, files_of, may_be_a_word
from handrail.engine.script.parse import Refusal, ScriptCommand

DEFAULT = tuple(
    "adb basename cat cut date diff dirname echo expr false grep head ls nl paste printf pwd rev seq "  # noqa: SIM905
    "sleep sort tac tail test tr true uniq wc".split()
)
"""Programs that read and print. None can run another one: no sh, env, xargs, awk, find, node or python."""

BANNED: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
}
"""Options of programs that an owner may add. GNU programs take any beginning of a long option."""
ADDED: dict[str, tuple[str, ...]] = {"sed": ("--sandbox",)}
"""Options that are put in front: sed's own e, r and w commands stop working."""

ADB_COMMANDS = ("devices", "shell", "exec-out", "logcat", "get-state", "get-serialno", "version")
"""No adb command that reads or writes files of this machine, opens ports on it, or runs another command."""
ADB_OPTIONS = {"-s": 2, "-t": 2, "-d": 1, "-e": 1}
"""Options that choose a device, with the words they take."""


class AllowList:
    """The allowed programs as they lie on this machine's PATH."""

    def __init__(self, allowed: Iterable[str], path: str, folders: Sequence[Path] = ()) -> None:
        self.names = frozenset(allowed)
        self.path = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))
        self.folders = [folder.resolve() for folder in folders]

    def permit(self, command: ScriptCommand, inside: Path) -> list[str]:
        """The argument list to run, its program as an absolute path. Raises `Refusal`."""
        name, *arguments = command.argv
        program = self._program(name)
        own = Path(program).name
        _check_options(own, arguments)
        if own == "adb":
            _check_adb(arguments)
        self.check_files(own, command, inside)
        return [program, *ADDED.get(own, ()), *arguments]

    def check_files(self, program: str, command: ScriptCommand, inside: Path) -> None:
        """Where every file lies now: a command before it may have made a link. Raises `Refusal`."""
        for argument in files_of(program, command.argv[1:]):
            self._check_file(argument, inside)
        for file in (command.stdin, command.stdout, command.stderr):
            if file is not None:
                _check_redirection(file, inside)

    def _program(self, name: str) -> str:
        if name in self.names and os.path.isabs(name):
            return name
        base = Path(name).name
        found = shutil.which(base, path=self.path) if base in self.names else None
        if found is None:
            where = (
                "is not on this machine" if base in self.names else "is not on the list of allowed commands"
            )
            raise Refusal(f"{name!r} {where}", f"Allowed are: {' '.join(sorted(self.names))}.")
        if name != base and not (os.path.exists(name) and os.path.samefile(name, found)):
            raise Refusal(f"{name!r} is another program than {found}", f"Write {base}.")
        return found

    def _check_file(self, argument: FileArgument, inside: Path) -> None:
        """Whether something is there makes no difference, or the refusal would tell what exists."""
        place = Path(os.path.realpath(inside / argument.text))
        if str(place) == os.devnull or (not argument.sure and may_be_a_word(argument.text)):
            return
        if not any(place.is_relative_to(folder) for folder in (inside.resolve(), *self.folders)):
            raise Refusal(
                f"{argument.text!r} lies outside the run folder", "Only files of the run folder are read."
            )


def _check_options(program: str, arguments: list[str]) -> None:
    for argument in arguments:
        if any(_is_option(argument, banned) for banned in BANNED.get(program, ())):
            raise Refusal(f"{program} with {argument!r}", f"{program} is allowed without this option.")


def _is_option(argument: str, banned: str) -> bool:
    """A short option may stand among others in one word, a long one may be cut short."""
    option = argument.partition("=")[0]
    if banned.startswith("--"):
        return len(option) > 2 and banned.startswith(option)
    if len(banned) == 2:
        return argument.startswith("-") and not argument.startswith("--") and banned[1] in argument
    return option == banned


def _check_adb(arguments: list[str]) -> None:
    rest = list(arguments)
    while rest and rest[0] in ADB_OPTIONS:
        del rest[: ADB_OPTIONS[rest[0]]]
    if not rest or rest[0] not in ADB_COMMANDS:
        raise Refusal(
            f"adb {' '.join(rest[:1])}".rstrip(), f"Allowed are: adb {' '.join(sorted(ADB_COMMANDS))}."
        )


def _check_redirection(file: str, inside: Path) -> None:
    place = Path(os.path.realpath(inside / file))
    if str(place) == os.devnull:
        return
    if not place.is_relative_to(inside.resolve()) or place == inside.resolve():
        raise Refusal(f"a redirection outside the run folder: {file}", "Name a file without a path.")


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One run's folder."""

    run_id: str
    folder: Path

    @property
    def files(self) -> Path:
        """Where the script works: it can't reach its own evidence from there."""
        return self.folder / "files"

    @classmethod
    def begin(cls, runs: Path, now_ms: int, script: str) -> RunEvidence:
        moment = iso_time(now_ms)[:19].replace("-", "").replace(":", "").replace("T", "-")
        evidence = cls(run_id := f"run-{moment}-{secrets.token_hex(3)}", runs / run_id)
        runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        evidence.folder.mkdir(mode=0o700)
        evidence.files.mkdir(mode=0o700)
        evidence.write("script", script)
        return evidence

    def write(self, name: str, text: str) -> None:
        file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)

    def end(self, result: dict[str, Any], redact: Callable[[str], str]) -> None:
        self.write("stdout", result["stdout"])
        self.write("stderr", result["stderr"])
        self.write("result.json", json.dumps(result, ensure_ascii=False, indent=2) + "\n")
        for path in self.files.rglob("*"):
            if path.is_file() and not path.is_symlink():
                _scrub(path, redact)


def _scrub(path: Path, redact: Callable[[str], str]) -> None:
    """The file without secrets; bytes that are no text pass through unchanged."""
    try:
        text = path.read_bytes().decode(errors="surrogateescape")
    except OSError:
        return
    clean = redact(text)
    if clean != text:
        path.write_bytes(clean.encode(errors="surrogateescape"))
