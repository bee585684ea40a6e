"""The OTLP collector: its address, read from `HANDRAIL_OTLP_ENDPOINT`, and an HTTP session for it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit

from handrail import __version__
from handrail.config import LOOPBACK, PORTS
from handrail.errors import InvalidAction

if TYPE_CHECKING:
    from requests import PreparedRequest, Session


ENDPOINT, HEADERS = "HANDRAIL_OTLP_ENDPOINT", "HANDRAIL_OTLP_HEADERS"
_NAME = frozenset("!#$%&'*+.^_`|~-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_RESERVED = frozenset(
    {"host", "content-length", "content-type", "connection", "transfer-encoding", "user-agent"}
)


class Collector(NamedTuple):
    """An OTLP receiver over HTTP. The headers may hold keys, so its text form leaves them out."""

    url: str
    """What comes before `/v1/traces`."""
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def read_collector(env: Mapping[str, str]) -> Collector | None:
    """None where no collector is named. Raises `InvalidAction` for an invalid address or header."""
    text = env.get(ENDPOINT, "").strip()
    if not text:
        return None
    headers = _read_headers(env.get(HEADERS, ""))
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_valid = is_valid and (parts.port is None or parts.port in PORTS)
    except ValueError:
        is_valid = False
    if not is_valid:
        _raise_invalid(ENDPOINT, "an address such as http://127.0.0.1:4318")
    if "@" in parts.netloc or parts.query or parts.fragment or not _is_printable(text) or " " in text:
        _raise_invalid(ENDPOINT, f"an address alone; keys go into {HEADERS}")
    if headers and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        _raise_invalid(ENDPOINT, f"an https address where {HEADERS} is set: keys are not sent in plain text")
    return Collector(text.rstrip("/"), headers)


def _read_headers(text: str) -> dict[str, str]:
    headers = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, written = part.partition("=")
        name, decoded = name.strip(), unquote(written.strip())
        is_valid = bool(name and decoded) and _NAME.issuperset(name) and _is_printable(decoded)
        if not is_valid or name.lower() in _RESERVED:
            _raise_invalid(HEADERS, "NAME=VALUE, separated by commas")
        headers[name] = decoded
    return headers


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _raise_invalid(variable: str, expected: str) -> NoReturn:
    """The message does not quote the variable, which may hold a key."""
    raise InvalidAction(f"{variable} takes {expected}", hint=f"Correct or unset {variable}.", path=variable)


def open_session(collector: Collector) -> Session:
    """An HTTP session without proxies, .netrc and client certificates."""
    import requests  # noqa: PLC0415 - only with a collector

    def use_own_headers(request: PreparedRequest) -> PreparedRequest:
        """Without this, headers of `OTEL_EXPORTER_OTLP_HEADERS` would be sent, too."""
        request.headers.clear()
        request.headers["User-Agent"] = f"handrail/{__version__}"
        request.headers["Content-Type"] = "application/x-protobuf"
        request.headers.update(collector.headers)
        return request

    session = requests.Session()
    session.trust_env = False
    session.stream = True  # the body of an answer is never read, so it may be endless
    session.auth = use_own_headers
    trusted = ssl.get_default_verify_paths()
    session.verify = trusted.cafile or trusted.capath or requests.utils.DEFAULT_CA_BUNDLE_PATH
    return session


def check_collector(env: Mapping[str, str], seconds: float) -> tuple[Literal["ok", "warning", "error"], str]:
    """Send an empty request to the collector, for `handrail doctor`."""
    try:
        collector = read_collector(env)
        if collector is None:
            return "ok", "no collector is named"
        with open_session(collector) as session:
            reply = session.post(
                f"{collector.url}/v1/traces", b"", timeout=seconds, allow_redirects=False, stream=True
            )
    except InvalidAction as error:
        return "error", error.message
    except ImportError:
        return "error", "the collector gets nothing: pip install 'handrail[telemetry]' is missing"
    except OSError as error:
        return "warning", f"{collector} can't be reached: {type(error).__name__}"
    if reply.status_code // 100 != 2:
        return "warning", f"{collector} answers {reply.status_code}"
    return "ok", f"counts and times of what is done go to {collector}"
