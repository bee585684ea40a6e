"""The private files of a debuggable app, through `run-as`. A name never leads out of its folder."""

from __future__ import annotations

import re
from typing import Literal

from handrail.adb.shell import Output, Shell
from handrail.android.packages import check_package, require_package
from handrail.errors import AdbCommandError, InvalidAction, Unsupported

Folder = Literal["shared_prefs", "databases", "files"]
FILE_LIMIT = 128 << 20
_NAME = re.compile(r"[^/\x00-\x1f]+")
_CLOSED = ("not debuggable", "is not debuggable", "not allowed to", "Could not set capabilities")
_UNKNOWN = ("unknown package", "is unknown")


def check_name(name: str, path: str) -> str:
    """One component of a path; `path` is the field that an error names."""
    if name in {".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a file name", hint="Give the name without a folder.", path=path)
    return name


async def run_as(shell: Shell, package: str, command: list[str], *, limit: int = FILE_LIMIT) -> Output:
    """A command as the app's own user, in its data folder. Whether it worked is the caller's to judge."""
    argv = ["run-as", check_package(package), *command]
    answer = await shell.run(argv, limit=limit, check=False)
    said = answer.stderr.decode("utf-8", "replace") or ("" if answer.ok else answer.text)
    if "run-as:" not in said or "exec failed" in said:
        return answer
    await _explain(shell, package, said)
    raise AdbCommandError(f"run-as {package} failed: {said.strip()}", command=argv)


async def _explain(shell: Shell, package: str, said: str) -> None:
    if any(words in said for words in _UNKNOWN):
        await require_package(shell, package)
    if any(words in said for words in _CLOSED):
        raise Unsupported(
            f"the files of {package} are closed: {said.strip()}",
            hint="Only debuggable builds open their files to run-as; install the app's debug variant.",
            package=package,
        )


async def list_files(shell: Shell, package: str, folder: Folder) -> list[str]:
    """Names, sorted; a folder that was never made is empty."""
    answer = await run_as(shell, package, ["ls", "-1", folder])
    if _is_missing(answer, f"{folder} of {package}"):
        return []
    return sorted(line for line in answer.text.splitlines() if line)


async def read_file(shell: Shell, package: str, folder: Folder, name: str) -> bytes | None:
    """The whole file; None when there is none of this name."""
    answer = await run_as(shell, package, ["cat", f"{folder}/{check_name(name, 'file')}"])
    if _is_missing(answer, f"{folder}/{name} of {package}"):
        return None
    if answer.dropped:
        raise Unsupported(f"{folder}/{name} has {FILE_LIMIT + answer.dropped} bytes, more than {FILE_LIMIT}")
    return answer.stdout


def _is_missing(answer: Output, what: str) -> bool:
    """Whether there is no such file; any other failure is an error, not an absence."""
    if answer.ok:
        return False
    said = answer.stderr.decode("utf-8", "replace").strip()
    if "No such file" in said:
        return True
    raise AdbCommandError(f"{what} can't be read: {said}", command=["run-as"])
