"""Where the adb program is on this host."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path


def find_adb(env: Mapping[str, str] = os.environ) -> Path | None:
    """HANDRAIL_ADB and nothing else where it is set; else PATH, the Android SDK, the adbutils wheel."""
    if chosen := env.get("HANDRAIL_ADB"):
        return Path(chosen) if _runs(Path(chosen)) else None
    return next((path for path in _places(env) if _runs(path)), None)


def _places(env: Mapping[str, str]) -> Iterator[Path]:
    if on_path := shutil.which("adb", path=env.get("PATH", "")):
        yield Path(on_path)
    for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        if env.get(name):
            yield Path(env[name]) / "platform-tools" / "adb"
    wheel = find_spec("adbutils")
    for folder in (wheel.submodule_search_locations or []) if wheel else []:
        yield Path(folder) / "binaries" / "adb"


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
