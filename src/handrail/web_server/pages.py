"""What browsers load: the page and its logins, apps, the home's storage, texts of windows, pages in frames.

A user's app is a stranger to the desk: its files come with a sandbox, on an opaque origin. No script of the
desk fetches them, so their path carries a seal that only this process can make. The seal opens the files of
that app and nothing else, and ends with the process.

Browsers fire `load` for their own error page too, so the server of a frame's page is asked here: one request
without credentials, to the very IP address that was judged. Redirects are followed by hand and judged anew.
Only a person's page may ask, because the answers tell of networks.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import socket
import stat
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies

import h11
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from handrail.bind import TUNNEL, replace_localhost
from handrail.desk.render import render
from handrail.errors import InvalidAction, Unsupported
from handrail.hosts import host_of, read_address, why_private
from handrail.protocol.desk import Extent
from handrail.protocol.model import CamelModel, Name, Text
from handrail.protocol.read import read_json
from handrail.web_server.auth import APP_NAME, NOBODY, client_address, sealed_app_path
from handrail.web_server.push_notifications import INTERNET, exchange
from handrail.web_server.responses import (
    CSP,
    JSON,
    PAGE,
    DeskRequest,
    HttpRefusal,
    RouteTable,
    json_body,
    refusal_response,
    validate_model,
)

ROUTES = RouteTable()
WEB_FOLDER = Path(__file__).parent.parent / "web"
APPROVE = "/approve"  # the page for a phone's screen: one question at a time
DEVICE_LINK_LIFE_MS = 120_000.0
START_PUBLIC = "Start `handrail serve --host 0.0.0.0 --token @FILE --cert CERT.pem --key KEY.pem`."
TICKETED = ("/api/journal/blob/", "/api/storage/", "/api/flows/runs/")
"""What a person may open in a tab of its own: pictures, files and reports."""
_WRONG_HOST = HttpRefusal(
    403, "NOT_THE_PAGES_HOST", "The desk's page lives under another name.", "Use the link as it is."
)
MANIFEST = "app.json"
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
DOWNLOAD = "application/octet-stream"  # for every other suffix, whatever the file holds
MOST_CACHED = 16_000_000  # characters of rendered HTML
WINDOW_POLICY = "default-src 'none'; img-src 'self' data:; frame-ancestors 'none'; sandbox"
"""For a window's HTML that is opened as a page of its own."""
LOOKUP_S = 2.0  # a name that no resolver knows by then needs a person's yes
PROBE_S = 3.0
MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
FORBIDDEN = "This site does not let other pages show it."
NO_ANSWER = "The server of this page does not answer."
NOT_AN_ADDRESS = "This is not the address of a page."


class LoginBody(CamelModel):
    """What a login link brings."""

    code: Annotated[str, Field(max_length=200, repr=False)]


class TicketBody(CamelModel):
    """The file that a tab of its own should show."""

    path: Annotated[str, Field(max_length=2_000, pattern=r"^/[!-~]*$")]


@ROUTES(APPROVE)
@ROUTES("/login")
@ROUTES("/")
async def show_page(request: DeskRequest) -> Response:
    """The desk, which is no secret; without a token it tells how to get one. It lives at one host only."""
    host = _page_host(request)
    if host != request.headers["host"]:
        return RedirectResponse(f"http://{host}{request.url.path}", 307)
    file = "approve.html" if request.url.path == APPROVE else "index.html"
    return FileResponse(WEB_FOLDER / file, headers={CSP: PAGE, "cache-control": "no-cache"})


@ROUTES("/api/login")
async def check_login(request: DeskRequest) -> JSON | Response:
    """Whether this page's token is valid."""
    return {"ok": True} if request.state.visitor is not None else refusal_response(NOBODY)


@ROUTES("/api/login", "POST")
async def log_in(request: DeskRequest) -> JSON | Response:
    """Exchange a link's code for a page's token, once."""
    body = await json_body(request, LoginBody)
    host = request.headers["host"]
    if host != _page_host(request):
        return refusal_response(_WRONG_HOST)
    answer = request.context.auth.log_in(body.code, host, client_address(request.scope))
    return refusal_response(answer) if isinstance(answer, HttpRefusal) else {"token": answer}


@ROUTES("/api/login-links", "POST", person="Making a login link")
async def new_login_link(request: DeskRequest) -> JSON:
    """A link that logs one more browser in, once."""
    context = request.context
    host = _page_host(request)
    origin = context.origin(request) if host == request.headers["host"] else f"http://{host}"
    return {"url": f"{origin}{login_path(context.auth.link_code())}"}


@ROUTES("/api/device-links", "POST", person="Logging a device in")
async def new_device_link(request: DeskRequest) -> JSON:
    """A QR code that logs one other device in, once and within two minutes."""
    context = request.context
    if context.pages.public is None:
        raise Unsupported("Other devices can't reach this desk", hint=f"{START_PUBLIC} {TUNNEL}")
    code = context.auth.link_code(DEVICE_LINK_LIFE_MS)
    url = f"https://{context.pages.public}{APPROVE}#code={code}"
    picture = await asyncio.to_thread(qr_picture, url)
    return {"url": url, "picture": picture, "seconds": DEVICE_LINK_LIFE_MS / 1000}


def qr_picture(text: str) -> str:
    """A QR code as a data: URL, dark on light in every theme."""
    import segno  # noqa: PLC0415  (few pages draw one)

    return segno.make(text, error="m").svg_data_uri(scale=4, border=3, dark="#000", light="#fff")


def _page_host(request: DeskRequest) -> str:
    """The host at which pages live. `localhost` is not one: it has two addresses, another process may listen
    on the second, and its pages would have the same origin. With TLS the certificate says who it is."""
    context, host = request.context, request.headers["host"]
    if context.origin(request).startswith("https:"):
        return host
    return context.pages.own or replace_localhost(host, request.scope.get("server"))


def login_path(code: str) -> str:
    """The code is in the fragment, which browsers neither send nor log."""
    return f"/login#code={code}"


@ROUTES("/api/tickets", "POST")
async def new_ticket(request: DeskRequest) -> JSON:
    """An address of one picture, file or report that works once and within a minute."""
    path = (await json_body(request, TicketBody)).path
    if not path.startswith(TICKETED):
        message = f"{path[:80]!r} is not a picture, file or report"
        raise InvalidAction(message, path="path", hint=f"One of {TICKETED}.")
    return {"url": request.context.auth.tickets.make(path, request.visitor)}


@ROUTES("/worker.js")
async def service_worker(_: DeskRequest) -> FileResponse:
    """The service worker, at the root because its scope is its own folder. It shows notifications only."""
    headers = {"cache-control": "no-cache", CSP: "default-src 'none'"}
    return FileResponse(WEB_FOLDER / "worker.js", media_type="text/javascript", headers=headers)


@ROUTES("/favicon.ico")
async def favicon(_: DeskRequest) -> FileResponse:
    return FileResponse(WEB_FOLDER / "icon.svg", media_type="image/svg+xml")


class _Static(StaticFiles):
    """Files of the page; a browser asks each time whether they changed, so that an update is seen at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response


ROUTES.append(Mount("/static", _Static(directory=WEB_FOLDER, check_dir=False)))


def file_inside(root: Path, wanted: str) -> Path:
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


@ROUTES("/api/storage/{path:path}")
@ROUTES("/api/storage")
async def storage(request: DeskRequest) -> JSON | Response:
    """A file of the storage as text, picture or download; a folder as a list."""
    root = request.runtime.config.storage
    wanted = request.path_params.get("path", "")
    if not wanted and not root.is_dir():
        return {"path": "", "entries": []}
    path = await asyncio.to_thread(file_inside, root, wanted)
    if path.is_dir():
        entries = await asyncio.to_thread(_folder_entries, path)
        return {"path": wanted.strip("/"), "entries": entries[:MOST_ENTRIES], "total": len(entries)}
    suffix = path.suffix.lower()
    kind = "text/plain; charset=utf-8" if suffix in TEXTS else PICTURES.get(suffix, DOWNLOAD)
    headers = {"content-security-policy": STORAGE_POLICY}
    filename = path.name if kind == DOWNLOAD else None
    return FileResponse(path, media_type=kind, headers=headers, filename=filename)


def _folder_entries(folder: Path) -> list[dict[str, Any]]:
    """Folders first, then by name; links and hidden files are left out."""
    paths = [path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_symlink()]
    paths.sort(key=lambda path: (path.is_file(), path.name))
    entries: list[dict[str, Any]] = []
    for path in paths:
        if path.is_dir():
            entries.append({"name": path.name, "kind": "folder"})
        elif path.is_file():
            entries.append({"name": path.name, "kind": "file", "bytes": path.stat().st_size})
    return entries


class AppManifest(CamelModel):
    """An app of the desk has it as `app.json`."""

    name: Name
    icon: Annotated[str, Field(max_length=100)] = "🗔"
    """An emoji, or a picture in the app's folder."""
    description: Text = ""
    width: Extent = 640
    height: Extent = 480
    allow: tuple[Literal["send", "title", "capture", "open"], ...] = ()
    """Which messages the desk takes from a user's app."""


@ROUTES("/api/apps")
async def list_apps(request: DeskRequest) -> JSON:
    """Every app of the desk, and what is wrong with folders that hold none."""
    context = request.context
    return await asyncio.to_thread(app_listing, context.runtime.config.apps, context.auth.seal_key)


def app_listing(home_apps: Path, seal_key: bytes) -> dict[str, Any]:
    """Built-in apps first; a user's app can't take the name of one."""
    apps: dict[str, dict[str, Any]] = {}
    problems: list[dict[str, str]] = []
    for root, built_in in ((WEB_FOLDER / "apps", True), (home_apps, False)):
        for folder in _app_folders(root):
            try:
                if folder.name in apps:
                    raise InvalidAction(f"{folder.name} is the name of a built-in app", path="name")
                if folder.is_symlink() or not re.fullmatch(APP_NAME, folder.name, re.ASCII):
                    raise InvalidAction(
                        "the folder's name must be a-z, 0-9, - or _, and the folder no link", path="name"
                    )
                manifest = read_manifest(folder)
                if not built_in and not (folder / "index.html").is_file():
                    raise InvalidAction("index.html is missing", path="index.html")
                place = f"/static/apps/{folder.name}" if built_in else sealed_app_path(folder.name, seal_key)
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
    return {folder.name for root in (WEB_FOLDER / "apps", home_apps) for folder in _app_folders(root)}


def _app_folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))


def read_manifest(folder: Path) -> AppManifest:
    """Raises `InvalidAction` with what is wrong."""
    try:
        fields = read_json((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise InvalidAction.at(MANIFEST, f"{error.strerror or error}") from None
    return validate_model(AppManifest, fields)


@ROUTES("/apps/{folder}/{path:path}")
async def app_file(request: DeskRequest) -> Response:
    """A file of a user's app, sandboxed: it reaches its own folder and nothing else."""
    folder, path = request.path_params["folder"], request.path_params["path"]
    context = request.context
    if "~" not in folder:
        if not re.fullmatch(APP_NAME, folder, re.ASCII):
            raise HTTPException(404, "There is no such app.")
        return RedirectResponse(
            f"{sealed_app_path(folder, context.auth.seal_key)}/{path or 'index.html'}", 307
        )
    root = context.runtime.config.apps
    file = await asyncio.to_thread(file_inside, root, f"{folder.partition('~')[0]}/{path}")
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


class RenderedTexts:
    """A cache of rendered HTML, by a hash of its source."""

    def __init__(self, most: int = MOST_CACHED) -> None:
        self._most = most
        self._cache: OrderedDict[bytes, str] = OrderedDict()
        self._size = 0

    async def html(self, renderer: str, source: str) -> str:
        key = hashlib.sha256(f"{renderer}\0{source}".encode("utf-8", "backslashreplace")).digest()
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        html = await asyncio.to_thread(render, renderer, source)
        if key not in self._cache:  # another request may have rendered it meanwhile
            self._cache[key] = html
            self._size += len(html)
        while self._size > self._most and len(self._cache) > 1:
            self._size -= len(self._cache.popitem(last=False)[1])
        return html


@ROUTES("/api/windows/html")
async def window_html(request: DeskRequest) -> HTMLResponse:
    """The text of the window `key`; `rev` only makes the address another one when the text is."""
    context = request.context
    window = context.desk.state.windows.get(request.query_params.get("key", ""))
    if window is None or window.content.renderer not in ("markdown", "html"):
        raise HTTPException(404, "There is no window with such a text.")
    html = await context.rendered.html(window.content.renderer, window.content.data)
    headers = {"content-security-policy": WINDOW_POLICY, "handrail-rev": str(window.content_rev)}
    return HTMLResponse(html, headers=headers)


@ROUTES("/api/frames")
async def ask_before_frame(request: DeskRequest) -> JSON:
    """Whether a person has to say yes before a frame loads `url`, and why."""
    why = await why_ask_before_frame(request.query_params.get("url", ""))
    return {"asks": why is not None, "why": why or ""}


@ROUTES("/api/frames/problem", person="Looking whether a page can be shown")
async def frame_problem(request: DeskRequest) -> JSON:
    """Why a frame would show nothing of `url`, for the page that is about to show it."""
    url, near = request.query_params.get("url", ""), not request.visitor.is_remote
    if host_of(url) is None:
        return {"problem": NOT_AN_ADDRESS}
    return {"problem": await why_not_framed(url, request.headers["host"], near=near)}


async def why_ask_before_frame(url: str) -> str | None:
    """Why a person has to say yes to this page; None for a page of the open internet.

    A name may resolve differently before a browser looks it up, so this does not keep anything out. What
    protects is that no browser has credentials to send along.
    """
    host = host_of(url)
    if host is None:
        return NOT_AN_ADDRESS
    if why := why_private(host):
        return why
    if host in (own := socket.gethostname().lower(), own.partition(".")[0]):
        return f"{host} is this machine."
    try:
        async with asyncio.timeout(LOOKUP_S):
            addresses = await INTERNET.resolve(host, 0)
    except (OSError, UnicodeError):
        return f"Where {host} is could not be found out."
    for address in addresses:
        if why_private(address.partition("%")[0]):
            return f"{host} leads to {address}, which is on this machine or in a private network."
    return None


async def why_not_framed(url: str, own_host: str, *, near: bool) -> str | None:
    """Why a frame would show nothing, in words for people; None where it would, or nobody can tell.

    A person has said yes to this address; where it redirects to is judged anew. `near`: the browser is on
    this machine, so what does not answer us does not answer it.
    """
    first = host_of(url)
    for _ in range(MOST_REDIRECTS):
        try:
            async with asyncio.timeout(PROBE_S):
                status, headers = await _fetch_head(url, may_be_private=host_of(url) == first)
        except (OSError, h11.ProtocolError, ValueError):
            return NO_ANSWER if near and not getproxies() else None
        if status not in _REDIRECTS or "location" not in headers:
            if status >= 500:
                return f"The server of this page has a problem (it answered {status})."
            if status >= 400:
                return f"There is no such page (the server answered {status})."
            if headers.get("content-disposition", "").lower().startswith("attachment"):
                return "This is a file to download, not a page."
            return None if _may_be_framed(headers, own_host) else FORBIDDEN
        url = urljoin(url, headers["location"])
        host = host_of(url)
        if host != first and (host is None or why_private(host) is not None):
            return "The page leads to an address of this machine or of a private network."
    return "The page leads from address to address without end."


async def _fetch_head(url: str, *, may_be_private: bool) -> tuple[int, dict[str, str]]:
    """Status and headers of a page. A public name that resolves to a private address is not called."""
    if (read := read_address(url)) is None:
        raise ValueError(f"{url:.100} is not a web address")
    [address, *_] = await INTERNET.resolve(*read)
    if not may_be_private and why_private(address.partition("%")[0]):
        raise OSError(f"{read[0]} leads to {address}")
    tls = INTERNET.tls() if urlsplit(url).scheme == "https" else None
    streams = await INTERNET.connect(address, read[1], read[0], tls)
    answer = await exchange(streams, "GET", url, {"Accept": "text/html", "User-Agent": "Handrail (desk)"})
    return answer.status_code, {name.decode(): text.decode("latin-1") for name, text in answer.headers}


def _may_be_framed(headers: Mapping[str, str], own_host: str) -> bool:
    """Goes by `frame-ancestors`, which browsers heed before `X-Frame-Options`."""
    for directive in headers.get("content-security-policy", "").replace(",", ";").split(";"):
        name, *sources = directive.lower().split() or [""]
        if name == "frame-ancestors":
            return any(source in ("*", "http:", own_host, f"http://{own_host}") for source in sources)
    return headers.get("x-frame-options", "").strip().lower() not in ("deny", "sameorigin")
