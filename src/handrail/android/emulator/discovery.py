"""Where an emulator's gRPC port is, and its token: from the file that each one writes, else by rule."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.android.console import console_port
from handrail.android.constants import GRPC_PORT_OFFSET


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A gRPC server on this machine; an empty token means that none is asked for."""

    port: int
    token: str = ""


def find_endpoint(serial: str, env: Mapping[str, str]) -> Endpoint | None:
    """None for what is no emulator of this machine."""
    console = console_port(serial)
    if console is None:
        return None
    for told in _running(env):
        if told.get("port.serial") == str(console) and told.get("grpc.port", "").isdigit():
            return Endpoint(int(told["grpc.port"]), told.get("grpc.token", ""))
    return Endpoint(console + GRPC_PORT_OFFSET)


def folders(env: Mapping[str, str]) -> list[Path]:
    """Where emulators say that they run, by operating system and version."""
    temp = Path(env.get("TMPDIR") or tempfile.gettempdir())
    found = [temp / "avd/running", temp / f"android-{env.get('USER', '')}" / "avd/running"]
    if runtime := env.get("XDG_RUNTIME_DIR"):
        found.insert(0, Path(runtime) / "avd/running")
    if home := env.get("HOME"):
        found += [
            Path(home) / "Library/Caches/TemporaryItems/avd/running",
            Path(home) / ".android/avd/running",
        ]
    return found


def _running(env: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """What the files say, the newest first: one that crashed leaves its file behind."""
    files = [path for folder in folders(env) for path in folder.glob("pid_*.ini")]
    for path in sorted(files, key=_age):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        yield {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
