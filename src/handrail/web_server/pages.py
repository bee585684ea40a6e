"""The page, its files, and how it gets its token: `/`, `/login#code=…`, `/static/…`, links and tickets."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from handrail.bind import TUNNEL, literal_host
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.model import CamelModel
from handrail.web_server.auth import NOBODY, address_of
from handrail.web_server.files import WEB_FOLDER
from handrail.web_server.responses import CSP, PAGE, HttpRefusal, json_body, refused

APPROVE = "/approve"
"""The page for a phone's screen: one question at a time."""
DEVICE_LINK_LIFE_MS = 120_000.0
START_PUBLIC = "Start `handrail serve --host 0.0.0.0 --token @FILE --cert CERT.pem --key KEY.pem`."
TICKETED = ("/api/journal/blob/", "/api/storage/", "/api/flows/runs/")
"""What a person may open in a tab of its own: pictures, files and reports."""
_WRONG_HOST = HttpRefusal(
    403, "NOT_THE_PAGES_HOST", "The desk's page lives under another name.", "Use the link as it is."
)


class LoginBody(CamelModel):
    """What a login link brings."""

    code: Annotated[str, Field(max_length=200, repr=False)]


class TicketBody(CamelModel):
    """The file that a tab of its own should show."""

    path: Annotated[str, Field(max_length=2_000, pattern=r"^/[!-~]*$")]


async def page(request: Request) -> Response:
    """The desk, which is no secret; without a token it tells how to get one. It lives at one host only."""
    host = _page_host(request)
    if host != request.headers["host"]:
        return RedirectResponse(f"http://{host}{request.url.path}", 307)
    file = "approve.html" if request.url.path == APPROVE else "index.html"
    return FileResponse(WEB_FOLDER / file, headers={CSP: PAGE, "cache-control": "no-cache"})


async def log_in(request: Request) -> Response:
    """Exchange a link's code for a page's token, once."""
    body = await json_body(request, LoginBody)
    host = request.headers["host"]
    if host != _page_host(request):
        return refused(_WRONG_HOST)
    answer = request.app.state.context.auth.log_in(body.code, host, address_of(request.scope))
    return refused(answer) if isinstance(answer, HttpRefusal) else JSONResponse({"token": answer})


async def logged_in(request: Request) -> Response:
    """Whether this page's token is valid."""
    return JSONResponse({"ok": True}) if request.state.visitor is not None else refused(NOBODY)


async def new_link(request: Request) -> JSONResponse:
    """A link that logs one more browser in, once."""
    request.state.visitor.must_be_person("Making a login link")
    context = request.app.state.context
    host = _page_host(request)
    origin = context.origin(request) if host == request.headers["host"] else f"http://{host}"
    return JSONResponse({"url": f"{origin}{login_path(context.auth.link_code())}"})


async def new_device_link(request: Request) -> JSONResponse:
    """A QR code that logs one other device in, once and within two minutes."""
    request.state.visitor.must_be_person("Logging a device in")
    context = request.app.state.context
    if context.pages.public is None:
        raise Unsupported("Other devices can't reach this desk", hint=f"{START_PUBLIC} {TUNNEL}")
    code = context.auth.link_code(DEVICE_LINK_LIFE_MS)
    url = f"https://{context.pages.public}{APPROVE}#code={code}"
    picture = await asyncio.to_thread(qr_picture, url)
    return JSONResponse({"url": url, "picture": picture, "seconds": DEVICE_LINK_LIFE_MS / 1000})


def qr_picture(text: str) -> str:
    """A QR code as a data: URL, dark on light in every theme."""
    import segno  # noqa: PLC0415  (few pages draw one)

    return segno.make(text, error="m").svg_data_uri(scale=4, border=3, dark="#000", light="#fff")


def _page_host(request: Request) -> str:
    """The host at which pages live. `localhost` is not one: it has two addresses, another process may listen
    on the second, and its pages would have the same origin. With TLS the certificate says who it is."""
    context, host = request.app.state.context, request.headers["host"]
    own: str | None = context.pages.own
    if context.origin(request).startswith("https:"):
        return str(host)
    return own or literal_host(host, request.scope.get("server"))


def login_path(code: str) -> str:
    """The code is in the fragment, which browsers neither send nor log."""
    return f"/login#code={code}"


async def new_ticket(request: Request) -> JSONResponse:
    """An address of one picture, file or report that works once and within a minute."""
    path = (await json_body(request, TicketBody)).path
    if not path.startswith(TICKETED):
        message = f"{path[:80]!r} is not a picture, file or report"
        raise InvalidAction(message, path="path", hint=f"One of {TICKETED}.")
    return JSONResponse({"url": request.app.state.context.auth.tickets.make(path, request.state.visitor)})


async def worker(_: Request) -> FileResponse:
    """The service worker, at the root because its scope is its own folder. It shows notifications only."""
    headers = {"cache-control": "no-cache", CSP: "default-src 'none'"}
    return FileResponse(WEB_FOLDER / "worker.js", media_type="text/javascript", headers=headers)


async def favicon(_: Request) -> FileResponse:
    return FileResponse(WEB_FOLDER / "icon.svg", media_type="image/svg+xml")


class _Static(StaticFiles):
    """Files of the page; a browser asks each time whether they changed, so that an update is seen at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response


ROUTES = [
    Route("/", page),
    Route("/login", page),
    Route(APPROVE, page),
    Route("/worker.js", worker),
    Route("/api/login", logged_in),
    Route("/api/login", log_in, methods=["POST"]),
    Route("/api/login-links", new_link, methods=["POST"]),
    Route("/api/device-links", new_device_link, methods=["POST"]),
    Route("/api/tickets", new_ticket, methods=["POST"]),
    Route("/favicon.ico", favicon),
    Mount("/static", _Static(directory=WEB_FOLDER, check_dir=False)),
]
