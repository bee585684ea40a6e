"""Where a home is and where its sockets are, for whoever has no time to import more.

Knows strings and the environment only: `config` and `local` make paths of what it says, and the client of the
resident process decides with it in a millisecond.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # as `typing` has it, which takes longer to import than this file to be used
    from collections.abc import Mapping

LONGEST_SOCKET = 100
"""Bytes. Kernels take 103 (macOS) or 107 (Linux) for the path of a socket."""


def home_folder(env: Mapping[str, str]) -> str:
    """An absolute path; nothing is looked for."""
    if chosen := env.get("HANDRAIL_HOME"):
        chosen = os.path.expanduser(
            chosen
        )  # a working directory may be gone, which an absolute path survives
        return _plain(chosen if chosen.startswith("/") else f"{os.getcwd()}/{chosen}")
    # The XDG rules: a relative path in these variables counts as not set.
    data = env.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return _plain(f"{data}/handrail")
    user = env.get("HOME") or os.path.expanduser("~")
    return _plain(f"{user}/.local/share/handrail")


def socket_file(home: str, name: str) -> str:
    """Under the home; where that path is too long for a socket, in a folder of this user's own."""
    direct = f"{home}/{name}.sock"
    if len(os.fsencode(direct)) <= LONGEST_SOCKET:
        return direct
    import hashlib  # noqa: PLC0415  (both are for long paths only)
    import tempfile  # noqa: PLC0415

    short = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return f"{tempfile.gettempdir()}/handrail-{os.getuid()}-{short}/{name}.sock"


def _plain(path: str) -> str:
    """As `pathlib` writes it: no empty and no lone dots between the slashes."""
    lead = "/" if path.startswith("/") else ""
    return lead + "/".join(part for part in path.split("/") if part not in ("", "."))
