"""Tables that lie as files beside the code: names, colours, drawings, texts. They are read at import."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent


def text(name: str) -> str:
    """The text of a file, named from the package's root: `shell/tools/usage.txt`."""
    return (_ROOT / name).read_text(encoding="utf-8")


def table(name: str) -> dict[str, Any]:
    return tomllib.loads(text(name))


def rows(name: str) -> list[list[str]]:
    """The lines of a file, each split at its blanks."""
    return [line.split() for line in text(name).splitlines()]
