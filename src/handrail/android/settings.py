"""The device's settings: three tables of texts. What a name means is known by whoever asks for it."""

from __future__ import annotations

import re
from typing import Literal

from handrail.adb.shell import Shell
from handrail.errors import AdbCommandError, InvalidAction, VerificationFailed

Table = Literal["system", "secure", "global"]
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")


def _check(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not the name of a setting", path="name")
    return name


async def get_setting(shell: Shell, table: Table, name: str) -> str | None:
    """None when it was never set: the device prints `null`."""
    text = (await shell.run(["settings", "get", table, _check(name)])).text.strip("\r\n")
    return None if text == "null" else text


async def put_setting(shell: Shell, table: Table, name: str, value: str) -> None:
    """Write and read back: a vendor's lock is silent about what it ignores."""
    command = ["settings", "put", table, _check(name), value]
    answer = await shell.run(command, check=False)
    if not answer.ok:
        raise AdbCommandError(
            f"{table}/{name} was not set: {answer.stderr.decode('utf-8', 'replace').strip()}",
            hint="Some vendors want `USB debugging (Security settings)` on in the developer options.",
            command=command,
        )
    found = await get_setting(shell, table, name)
    if found != value:
        raise VerificationFailed(f"{table}/{name} is {found!r}", expected=value, observed=found)
