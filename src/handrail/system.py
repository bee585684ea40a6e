"""Which operating system this is, and what Handrail can't do on it."""

from __future__ import annotations

import sys

from handrail.errors import Unsupported

IS_POSIX = sys.platform != "win32"
ANYWHERE = frozenset(["actions", "check", "completion", "devices", "diff", "doctor", "flow", "tree"])
"""Commands that need neither the journal nor a hold on a phone: they work on Windows as well."""
HINT = (
    "Use Linux or macOS; on Windows that is WSL 2, where the Linux version runs. "
    "What works here without it: " + ", ".join(sorted(ANYWHERE)) + "."
)


def need_posix(what: str) -> None:
    """The journal, leases and local sockets need POSIX locks and sockets."""
    if not IS_POSIX:
        raise Unsupported(f"{what} needs file locks and sockets that Windows has not", hint=HINT)


def lacking() -> list[str]:
    """What does not work on this system, for `handrail doctor`."""
    if not IS_POSIX:
        return [f"on Windows only {', '.join(sorted(ANYWHERE))} work"]
    if sys.platform != "linux":
        return [
            "scripts are not kept in by Landlock, and what they leave behind is ended by group only",
            "phones on the USB bus are seen by adb alone",
        ]
    return []
