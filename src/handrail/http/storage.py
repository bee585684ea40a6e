"""`/api/storage/…`: files that agents and flows have left in the home's `storage`. Read only, never run.

`inside` finds a file by a path from outside: nothing above the folder, no link, nothing hidden.
"""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

SEALED = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""Opened by itself a picture may hold scripts; here they have nowhere to run."""
MOST_ENTRIES = 1_000
"""Entries of one listing."""
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


async def storage(request: Request) -> Response:
    """A file of the storage as text, picture or download; a folder as a list."""
    root = request.app.state.context.runtime.config.storage
    wanted = request.path_params.get("path", "")
    if not wanted and not root.is_dir():
        return JSONResponse({"path": "", "entries": []})
    found = await asyncio.to_thread(inside, root, wanted)
    if found.is_dir():
        entries = await asyncio.to_thread(_entries, found)
        return JSONResponse(
            {"path": wanted.strip("/"), "entries": entries[:MOST_ENTRIES], "total": len(entries)}
        )
    headers = {"content-security-policy": SEALED}
    kind = kind_of(found)
    if kind == UNKNOWN:
        return FileResponse(found, media_type=kind, headers=headers, filename=found.name)
    return FileResponse(found, media_type=kind, headers=headers)


def kind_of(path: Path) -> str:
    """A page is shown as its text: it could speak in the desk's name otherwise."""
    end = path.suffix.lower()
    if end in TEXTS:
        return "text/plain; charset=utf-8"
    return PICTURES.get(end, UNKNOWN)


def _entries(folder: Path) -> list[dict[str, Any]]:
    """Folders first, then by name; links and hidden files are not there."""
    listed = [one for one in folder.iterdir() if not one.name.startswith(".") and not one.is_symlink()]
    listed.sort(key=lambda one: (one.is_file(), one.name))
    return [_entry(one) for one in listed if one.is_file() or one.is_dir()]


def _entry(one: Path) -> dict[str, Any]:
    if one.is_dir():
        return {"name": one.name, "kind": "folder"}
    return {"name": one.name, "kind": "file", "bytes": one.stat().st_size}


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


ROUTES = [Route("/api/storage", storage), Route("/api/storage/{path:path}", storage)]
