"""Desk apps: folders with `app.json` and `index.html`, those that ship with Handrail and the user's own.

A user's app is a stranger to the desk: its files come with a sandbox, on an origin that is nobody's. No
script of the desk fetches its files, so their path carries a seal that only this process can make. The seal
opens the files of that app and nothing else, and ends with the process.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from handrail.errors import InvalidAction
from handrail.http.storage import UNKNOWN, WEB, inside
from handrail.protocol.desk import Extent
from handrail.protocol.model import CamelModel, Name, Text
from handrail.protocol.read import invalid_action, read_json

WEB_FOLDER = Path(__file__).parent.parent / "web"
MANIFEST = "app.json"
_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
_SEALED = re.compile(rf"/apps/({_NAME})~([\w-]{{43}})/.+", re.ASCII)
_SANDBOX = "sandbox allow-scripts allow-forms"


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
    """Every app of the desk, and what is wrong with the folders that are none."""
    context = request.app.state.context
    return JSONResponse(await asyncio.to_thread(listing, context.runtime.config.apps, context.auth.seal_key))


def listing(home_apps: Path, seal_key: bytes) -> dict[str, Any]:
    """Built-in ones first; a user's app can't take the name of one."""
    apps: dict[str, dict[str, Any]] = {}
    problems: list[dict[str, str]] = []
    for root, built_in in ((WEB_FOLDER / "apps", True), (home_apps, False)):
        for folder in _folders(root):
            try:
                if folder.name in apps:
                    raise InvalidAction(f"{folder.name} is the name of a built-in app", path="name")
                apps[folder.name] = _described(folder, built_in, seal_key)
            except InvalidAction as error:
                problems.append({"app": folder.name, "message": error.message})
    return {"apps": list(apps.values()), "problems": problems}


def app_ids(home_apps: Path) -> set[str]:
    """Every app that may have a badge; a folder that is no app yet is somebody's who is at work on it."""
    return {folder.name for root in (WEB_FOLDER / "apps", home_apps) for folder in _folders(root)}


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(one for one in root.iterdir() if one.is_dir() and not one.name.startswith((".", "_")))


def _described(folder: Path, built_in: bool, seal_key: bytes) -> dict[str, Any]:
    if folder.is_symlink() or not re.fullmatch(_NAME, folder.name, re.ASCII):
        raise InvalidAction("the folder's name must be a-z, 0-9, - or _, and the folder no link", path="name")
    manifest = read_manifest(folder)
    if not built_in and not (folder / "index.html").is_file():
        raise InvalidAction("index.html is missing", path="index.html")
    place = f"/static/apps/{folder.name}" if built_in else _sealed(folder.name, seal_key)
    icon, first = manifest.icon, "app.js" if built_in else "index.html"
    told = manifest.to_dict() | {"id": folder.name, "builtIn": built_in, "url": f"{place}/{first}"}
    return told | {"icon": f"{place}/{icon}" if Path(icon).suffix.lower() in WEB else icon}


def read_manifest(folder: Path) -> AppManifest:
    """Raises `InvalidAction` with what is wrong."""
    try:
        given = read_json((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise InvalidAction(f"{MANIFEST}: {error.strerror or error}", path=MANIFEST) from None
    try:
        return AppManifest.model_validate(given)
    except ValidationError as error:
        raise invalid_action(error, given) from None


async def app_file(request: Request) -> Response:
    """A file of a user's app, sandboxed."""
    folder, path = request.path_params["folder"], request.path_params["path"]
    context = request.app.state.context
    if "~" not in folder:
        if not re.fullmatch(_NAME, folder, re.ASCII):
            raise HTTPException(404, "There is no such app.")
        return RedirectResponse(f"{_sealed(folder, context.auth.seal_key)}/{path or 'index.html'}", 307)
    root = context.runtime.config.apps
    found = await asyncio.to_thread(inside, root, f"{folder.partition('~')[0]}/{path}")
    if not found.is_file() or found.name == MANIFEST:
        raise HTTPException(404, "There is no such file.")
    kind = WEB.get(found.suffix.lower(), UNKNOWN)
    here = f"{context.origin(request)}/apps/{folder}/"
    return FileResponse(found, media_type=kind, headers=_headers(here))


def _headers(here: str) -> dict[str, str]:
    """The app reaches its own folder and nothing else; anybody who knows the sealed path may read it."""
    return {
        "content-security-policy": (
            f"{_SANDBOX}; default-src 'none'; script-src {here} 'unsafe-inline'; "
            f"style-src {here} 'unsafe-inline'; img-src {here} data: blob:; font-src {here} data:; "
            f"connect-src {here}; media-src {here} data: blob:; "
            "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
        ),
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
    }


def is_app_file(path: str, seal_key: bytes) -> bool:
    """Whether this path has the seal of its app."""
    found = _SEALED.fullmatch(path)
    return found is not None and hmac.compare_digest(found[2], _seal(found[1], seal_key))


def _sealed(name: str, seal_key: bytes) -> str:
    return f"/apps/{name}~{_seal(name, seal_key)}"


def _seal(name: str, seal_key: bytes) -> str:
    made = hmac.digest(seal_key, f"app {name}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


ROUTES = [Route("/api/apps", list_apps), Route("/apps/{folder}/{path:path}", app_file)]
