"""The page, its files, and how a browser comes to it: `/`, `/static/…`, `/login?code=…`, new links."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from handrail.http.auth import set_cookie
from handrail.http.desk_apps import WEB_FOLDER
from handrail.http.origin import HttpRefusal
from handrail.http.responses import CSP, PAGE, refused

_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Handrail</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{head}
<link rel="stylesheet" href="/static/style.css"></head>
<body class="door"><main><h1>Handrail</h1>{body}</main></body></html>
"""
_STRANGER = """<p>This desk knows you by a link that works once.</p>
<p>Open the link that <code>handrail serve</code> printed, or get a new one in a terminal:</p>
<pre>handrail desk link</pre>"""


async def page(request: Request) -> Response:
    """The desk; whoever is not logged in is told how to get in."""
    if request.state.visitor is None:
        return _plain(_STRANGER, status=401)
    return FileResponse(WEB_FOLDER / "index.html", headers={CSP: PAGE, "cache-control": "no-cache"})


async def login(request: Request) -> Response:
    """From a one-time link to a cookie. A page and no redirect: a link in another site's page began this
    visit, and a strict cookie only goes with a visit that our own page begins."""
    address = request.client.host if request.client else ""
    answer = await request.app.state.context.auth.log_in(request.query_params.get("code", ""), address)
    if isinstance(answer, HttpRefusal):
        if "text/html" in request.headers.get("accept", ""):
            return _plain(f"<p>{answer.message} {answer.hint}</p>{_STRANGER}", status=answer.status)
        return refused(answer)
    told = _plain("<p>Welcome.</p>", head='<meta http-equiv="refresh" content="0; url=/">')
    told.headers["set-cookie"] = set_cookie(request.headers, answer)
    return told


async def new_link(request: Request) -> JSONResponse:
    """A link that logs one more browser in, once."""
    request.state.visitor.must_be_person("Making a login link")
    code = request.app.state.context.auth.link_code()
    return JSONResponse({"url": f"http://{request.headers['host']}/login?code={code}"})


async def favicon(_: Request) -> FileResponse:
    """What browsers ask for unasked."""
    return FileResponse(WEB_FOLDER / "icon.svg", media_type="image/svg+xml")


def _plain(body: str, *, head: str = "", status: int = 200) -> HTMLResponse:
    policy = {CSP: "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"}
    return HTMLResponse(_PLAIN.format(head=head, body=body), status, policy)


class _Static(StaticFiles):
    """Files of the page; a browser asks each time whether they changed, so that an update is seen at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        made = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        made.headers["cache-control"] = "no-cache"
        return made


ROUTES = [
    Route("/", page),
    Route("/login", login),
    Route("/api/login-links", new_link, methods=["POST"]),
    Route("/favicon.ico", favicon),
    Mount("/static", _Static(directory=WEB_FOLDER, check_dir=False)),
]
