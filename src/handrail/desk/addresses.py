"""Which addresses an agent may put on the desk: pages in frames, pictures, shortcuts. Pure rules."""

from __future__ import annotations

import re

from handrail.errors import InvalidAction
from handrail.hosts import read_address

SANDBOX = ("allow-scripts", "allow-forms")
"""What a frame may do at most: on an opaque origin, without popups, downloads or navigation of the page."""
_APP = re.compile(r"app:[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml)[;,]")
OWN_PICTURES = ("/api/storage/", "/static/")
"""The desk's own places for pictures; nothing is ever loaded from elsewhere."""


def narrowed(sandbox: str) -> str:
    """The words of an agent's `sandbox` that are ours too: it can only take away."""
    words = sandbox.lower().split()
    return " ".join(word for word in SANDBOX if word in words)


def check_page(url: str, path: str, own_hosts: frozenset[str] = frozenset()) -> None:
    """Raises `InvalidAction` unless it is `app:NAME` or http(s) elsewhere than on the desk itself."""
    if _APP.fullmatch(url):
        return
    host = _host(url)
    if host is None:
        raise _refused(path, url, "is no page: app:NAME or an http(s) address")
    if host in own_hosts:
        raise _refused(path, url, "is the desk itself, which no frame may show")


def check_link(url: str, path: str) -> None:
    """Raises `InvalidAction` unless it is http(s)."""
    if _host(url) is None:
        raise _refused(path, url, "is no http(s) address")


def check_picture(src: str, path: str) -> None:
    """Raises `InvalidAction` for a picture from elsewhere."""
    if not is_own_picture(src):
        raise _refused(path, src, "is neither a data: picture nor a file of /api/storage/")


def is_own_picture(src: str) -> bool:
    """True for a data: picture and for a file of the desk."""
    if _PICTURE.match(src):
        return True
    return src.startswith(OWN_PICTURES) and not _climbs(src)


def check_file(target: str, path: str) -> None:
    """Raises `InvalidAction` for a path that leads out of the storage."""
    if not target or target.startswith("/") or _climbs(target):
        raise _refused(path, target, "is no path inside the storage")


def _climbs(path: str) -> bool:
    """`..` in any spelling, or a character that browsers read as a slash or skip."""
    return re.search(r"\.\.|%2e|%2f|%5c|\\|[\x00-\x20]", path, re.IGNORECASE) is not None


def _host(url: str) -> str | None:
    """`host:port` of an http(s) address, None for everything else."""
    read = read_address(url)
    if read is None:
        return None
    host, port = read
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refused(path: str, value: str, why: str) -> InvalidAction:
    return InvalidAction(
        f"{path}: {value!r:.120} {why}",
        hint="Frames take app:NAME, http and https; pictures take data: and /api/storage/ addresses.",
        path=path,
    )
