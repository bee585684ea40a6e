"""Files over HTTP: the home's `storage`, which is read only, and desk apps, folders with an `app.json`.

A user's app is a stranger to the desk: its files come with a sandbox, on an opaque origin. No script of the
desk fetches them, so their path carries a seal that only this process can make. The seal opens the files of
that app and nothing else, and ends with the process.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import stat
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from handrail.errors import InvalidAction
from handrail.protocol.desk import Extent
from handrail.protocol.model import CamelModel, Name, Text
from handrail.protocol.read import invalid_action, read_json

WEB_FOLDER = Path(__file__).parent.parent / "web"
MANIFEST = "app.json"
_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
_SEALED_PATH = re.compile(rf"/apps/({_NAME})~([\w-]{{43}})/.+", re.ASCII)
_SANDBOX = "sandbox allow-scripts allow-forms"
STORAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""An SVG picture may hold scripts; here they have nowhere to run."""
MOST_ENTRIES = 1_000
TEXTS = frozenset(
    {".txt", ".md", ".json", ".jsonl", ".csv", ".log", ".yaml", ".yml", ".toml", ".xml", ".html", ".htm"}
    | {".js", ".mjs", ".css", ".py", ".sh", ".ini"}
)
"""Shown as plain text. A page rendered as HTML could speak in the desk's name."""
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
APP_FILES = PICTURES | {
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
DOWNLOAD = "application/octet-stream"
"""For every other suffix, whatever the file holds."""


def inside(root: Path, wanted: str) -> Path:
    """The file or folder at a path from outside: 404 for anything above `root`, hidden, or behind a link."""
    missing = HTTPException(404, "There is no such file.")
    parts = PurePosixPath(wanted).parts
    if "\0" in wanted or "\\" in wanted or any(part.startswith(".") or part == "/" for part in parts):
        raise missing
    try:
        path = root.resolve(strict=True).joinpath(*parts)
        is_linked = path.resolve(strict=True) != path  # somewhere on the way, even to a place inside
        mode = path.lstat().st_mode
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, a circle of links
        raise missing from None
    if is_linked or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise missing
    return path


async def storage(request: Request) -> Response:
    """A file of the storage as text, picture or download; a folder as a list."""
    root = request.app.state.context.runtime.config.storage
    wanted = request.path_params.get("path", "")
    if not wanted and not root.is_dir():
        return JSONResponse({"path": "", "entries": []})
    path = await asyncio.to_thread(inside, root, wanted)
    if path.is_dir():
        entries = await asyncio.to_thread(_entries, path)
        listing = {"path": wanted.strip("/"), "entries": entries[:MOST_ENTRIES], "total": len(entries)}
        return JSONResponse(listing)
    suffix = path.suffix.lower()
    kind = "text/plain; charset=utf-8" if suffix in TEXTS else PICTURES.get(suffix, DOWNLOAD)
    headers = {"content-security-policy": STORAGE_POLICY}
    filename = path.name if kind == DOWNLOAD else None
    return FileResponse(path, media_type=kind, headers=headers, filename=filename)


def _entries(folder: Path) -> list[dict[str, Any]]:
    """Folders first, then by name; links and hidden files are left out."""
    paths = [path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_symlink()]
    paths.sort(key=lambda path: (path.is_file(), path.name))
    return [
        {"name": path.name, "kind": "folder"}
        if path.is_dir()
        else {"name": path.name, "kind": "file", "bytes": path.stat().st_size}
        for path in paths
        if path.is_file() or path.is_dir()
    ]


class AppManifest(CamelModel):
    """`app.json`."""

    name: Name
    icon: Annotated[str, Field(max_length=100)] = "🗔"
    """An emoji, or a picture in the app's folder."""
    description: Text = ""
    width: Extent = 640
    height: Extent = 480
    allow: tuple[Literal["send", "title", "capture", "open"], ...] = ()
    """Which messages the desk takes from a user's app."""


async def list_apps(request: Request) -> JSONResponse:
    """Every app of the desk, and what is wrong with folders that hold none."""
    context = request.app.state.context
    return JSONResponse(await asyncio.to_thread(listing, context.runtime.config.apps, context.auth.seal_key))


def listing(home_apps: Path, seal_key: bytes) -> dict[str, Any]:
    """Built-in apps first; a user's app can't take the name of one."""
    apps: dict[str, dict[str, Any]] = {}
    problems: list[dict[str, str]] = []
    for root, built_in in ((WEB_FOLDER / "apps", True), (home_apps, False)):
        for folder in _folders(root):
            try:
                if folder.name in apps:
                    raise InvalidAction(f"{folder.name} is the name of a built-in app", path="name")
                if folder.is_symlink() or not re.fullmatch(_NAME, folder.name, re.ASCII):
                    raise InvalidAction(
                        "the folder's name must be a-z, 0-9, - or _, and the folder no link", path="name"
                    )
                manifest = read_manifest(folder)
                if not built_in and not (folder / "index.html").is_file():
                    raise InvalidAction("index.html is missing", path="index.html")
                place = f"/static/apps/{folder.name}" if built_in else _sealed(folder.name, seal_key)
                icon = manifest.icon
                apps[folder.name] = manifest.to_dict() | {
                    "id": folder.name,
                    "builtIn": built_in,
                    "url": f"{place}/{'app.js' if built_in else 'index.html'}",
                    "icon": f"{place}/{icon}" if Path(icon).suffix.lower() in APP_FILES else icon,
                }
            except InvalidAction as error:
                problems.append({"app": folder.name, "message": error.message})
    return {"apps": list(apps.values()), "problems": problems}


def app_ids(home_apps: Path) -> set[str]:
    """Every app that may have a badge, also one that is still being written."""
    return {folder.name for root in (WEB_FOLDER / "apps", home_apps) for folder in _folders(root)}


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))


def read_manifest(folder: Path) -> AppManifest:
    """Raises `InvalidAction` with what is wrong."""
    try:
        fields = read_json((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise InvalidAction(f"{MANIFEST}: {error.strerror or error}", path=MANIFEST) from None
    try:
        return AppManifest.model_validate(fields)
    except ValidationError as error:
        raise invalid_action(error, fields) from None


async def app_file(request: Request) -> Response:
    """A file of a user's app, sandboxed: it reaches its own folder and nothing else."""
    folder, path = request.path_params["folder"], request.path_params["path"]
    context = request.app.state.context
    if "~" not in folder:
        if not re.fullmatch(_NAME, folder, re.ASCII):
            raise HTTPException(404, "There is no such app.")
        return RedirectResponse(f"{_sealed(folder, context.auth.seal_key)}/{path or 'index.html'}", 307)
    root = context.runtime.config.apps
    file = await asyncio.to_thread(inside, root, f"{folder.partition('~')[0]}/{path}")
    if not file.is_file() or file.name == MANIFEST:
        raise HTTPException(404, "There is no such file.")
    here = f"{context.origin(request)}/apps/{folder}/"
    headers = {
        "content-security-policy": (
            f"{_SANDBOX}; default-src 'none'; script-src {here} 'unsafe-inline'; "
            f"style-src {here} 'unsafe-inline'; img-src {here} data: blob:; font-src {here} data:; "
            f"connect-src {here}; media-src {here} data: blob:; "
            "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
        ),
        "access-control-allow-origin": "*",  # whoever knows the sealed path may read it
        "cross-origin-resource-policy": "cross-origin",
    }
    return FileResponse(file, media_type=APP_FILES.get(file.suffix.lower(), DOWNLOAD), headers=headers)


def is_app_file(path: str, seal_key: bytes) -> bool:
    """Whether this path has the seal of its app."""
    match = _SEALED_PATH.fullmatch(path)
    return match is not None and hmac.compare_digest(match[2], _seal(match[1], seal_key))


def _sealed(name: str, seal_key: bytes) -> str:
    return f"/apps/{name}~{_seal(name, seal_key)}"


def _seal(name: str, seal_key: bytes) -> str:
    digest = hmac.digest(seal_key, f"app {name}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


ROUTES = [
    Route("/api/storage", storage),
    Route("/api/storage/{path:path}", storage),
    Route("/api/apps", list_apps),
    Route("/apps/{folder}/{path:path}", app_file),
]
