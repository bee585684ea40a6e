"""Projects that pytest runs in a process of its own, as somebody's would be."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "examples" / "pytest"
PATIENCE_S = 150


@dataclass(frozen=True)
class Ran:
    """One run: its exit code, all that it printed, and its JUnit file."""

    code: int
    text: str
    junit: Path

    def properties(self, name: str) -> list[str]:
        """The values of one property, in the order of the tests."""
        found = ET.parse(self.junit).iter("property")
        return [one.attrib["value"] for one in found if one.attrib["name"] == name]


def ran(home: Path, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Ran:
    """Warnings are errors, and the only configuration is the project's own."""
    junit = home / "junit.xml"
    given = {
        **{name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE",)},
        "HANDRAIL_HOME": str(home / "own-home"),
        "HOME": str(home),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DEBUG_TEMPROOT": str(home),
        **(env or {}),
    }
    for name in [name for name in given if name.startswith(("PYTEST_XDIST", "PYTEST_CURRENT"))]:
        del given[name]
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", f"--junitxml={junit}"]
    done = subprocess.run(
        [*command, *words],
        cwd=cwd or home,
        env=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr, junit)


def project(home: Path, **files: str) -> Path:
    """Files of tests by their names, and a configuration that looks nowhere else."""
    folder = home / "project"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder
