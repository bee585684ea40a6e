"""Packages of npm that tests run against: installed once per user, never kept in the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def modules(*packages: str) -> Path:
    """The folder with the packages, whole or not at all. Skips the test where they can't be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"needs node and npm, for {', '.join(packages)}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "handrail-tests"
    folder = cache / "-".join(one.replace("@", "_").replace("/", "_") for one in packages)
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _install(Path(tempfile.mkdtemp(dir=cache)), folder, packages)
    return folder / "node_modules"


def _install(scratch: Path, folder: Path, packages: tuple[str, ...]) -> None:
    command = ["npm", "install", "--prefix", str(scratch), "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run([*command, *packages], cwd=scratch, capture_output=True, text=True, timeout=90)
    if done.returncode:
        shutil.rmtree(scratch)
        pytest.skip(f"npm could not install {', '.join(packages)}: {done.stderr[-300:]}")
    try:
        scratch.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(scratch)
