"""Writes what is generated into a build: stubs for type checkers, and its commit for `handrail --version`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = {"wheel": "handrail/commit.txt", "sdist": "src/handrail/commit.txt"}


class GeneratedFiles(BuildHookInterface[Any]):
    """An sdist keeps the file, so that a wheel which is built from it later knows the commit as well."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install is the clone itself and asks git when it is asked."""
        root = Path(self.root)
        write_stubs(root)
        if version == "editable" or (root / "src" / "handrail" / "commit.txt").exists():
            return
        if commit := commit_of(root):
            with tempfile.NamedTemporaryFile("w", delete=False, suffix=".txt") as file:
                file.write(f"{commit}\n")
            self.written = Path(file.name)
            build_data["force_include"][file.name] = PLACE[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Nothing stays behind."""
        if written := getattr(self, "written", None):
            written.unlink(missing_ok=True)


def write_stubs(root: Path) -> None:
    """In a process of its own: a build backend serves several builds, and must not keep modules of one."""
    subprocess.run([sys.executable, root / "build_stubs.py"], check=True)  # noqa: S603


def commit_of(root: Path) -> str:
    """Empty where there is no git, or where the folder is no clone of its own but lies in somebody else's."""
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True, timeout=10).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
