"""Files of a folder by a path from outside: nothing above it, no link, nothing hidden. Read only."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from starlette.exceptions import HTTPException

TEXTS = frozenset(
    {".txt", ".md", ".json", ".jsonl", ".csv", ".log", ".yaml", ".yml", ".toml", ".xml", ".html", ".htm"}
    | {".js", ".mjs", ".css", ".py", ".sh", ".ini"}
)
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
WEB = PICTURES | {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
"""Kinds by the end of the name; what has none is a download, whatever it holds."""
UNKNOWN = "application/octet-stream"


def inside(root: Path, wanted: str) -> Path:
    """The file or folder that is meant. Raises 404 for everything that is not plainly inside."""
    parts = PurePosixPath(wanted).parts
    if "\0" in wanted or "\\" in wanted or any(part.startswith(".") or part == "/" for part in parts):
        raise HTTPException(404, "There is no such file.")
    try:
        real_root = root.resolve(strict=True)
        found = real_root.joinpath(*parts)
        if found.resolve(strict=True) != found:  # a link somewhere on the way, even to a place inside
            raise HTTPException(404, "There is no such file.")
        mode = found.lstat().st_mode
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, a circle of links
        raise HTTPException(404, "There is no such file.") from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise HTTPException(404, "There is no such file.")
    return found
