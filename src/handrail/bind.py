"""Where a server may listen: on this machine, or for others with a long token and TLS.

Also the host name of its pages, which gives every process an origin of its own.
"""

from __future__ import annotations

import errno
import secrets
import socket
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handrail.errors import InvalidAction, PortInUse

if TYPE_CHECKING:
    import ssl

Certificate = tuple[Path, Path]
"""PEM files: the certificate with its chain, and its key."""
HTTPS = 443
TUNNEL = (
    "Or leave --host out and let a tunnel bring TLS, such as `tailscale serve 8420`, `cloudflared tunnel` or "
    "`ssh -L 8420:localhost:8420`; `serve --public https://NAME` tells the desk its address."
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_TOKEN = 16  # characters; whoever can reach the port can guess


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def host_headers_at(host: str, port: int) -> frozenset[str]:
    """Host headers with this machine's own names, or with the name that was given."""
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return frozenset(f"{name}:{port}" for name in (*LOOPBACK, shown))


def replace_localhost(host: str, server: tuple[str, int | None] | None) -> str:
    """A Host header; `localhost` is replaced by the address that answered."""
    name, _, port = host.rpartition(":")
    if name.lower().rstrip(".") != "localhost" or server is None or server[1] is None:
        return host
    number = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"{number}:{port}"


def check_bind(
    host: str, token: str | None, certificate: Certificate | None = None, *, is_plain: bool = False
) -> None:
    """Another address than this machine's own needs a token and TLS, and a token has to be long.

    `is_plain`: the network is trusted, so TLS may be left out.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise InvalidAction(
            f"--token has {len(token)} characters; at least {SHORTEST_TOKEN} are needed",
            path="token",
            hint='python -c "import secrets; print(secrets.token_urlsafe())" makes one.',
        )
    if is_loopback(host):
        return
    if token is None:
        raise InvalidAction(
            f"--host {host} can be reached by others, and there is no token",
            path="token",
            hint="Give --token, or leave --host out.",
        )
    if certificate is None and not is_plain:
        raise InvalidAction(
            f"--host {host} can be reached by others, and plain HTTP shows them every token and picture",
            path="cert",
            hint=f"Give --cert and --key, PEM files of a certificate. {TUNNEL}",
        )


def read_certificate(cert: Path | None, key: Path | None) -> Certificate | None:
    """Both files, or None. Raises `InvalidAction` for files that can't be used for TLS."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        missing = "--cert" if cert is None else "--key"
        hint = f"Give {missing} as well."
        raise InvalidAction("--cert and --key belong together", path=missing.strip("-"), hint=hint)
    import ssl  # noqa: PLC0415  (most servers have none)

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (OSError, ssl.SSLError) as error:
        raise InvalidAction(
            f"{cert} and {key} can't be used for TLS: {getattr(error, 'strerror', None) or error}",
            path="cert",
            hint="Give PEM files, the key without a password. `mkcert NAME` makes a pair.",
        ) from None
    return cert, key


def tls_context_trusting(certificate: Path) -> ssl.SSLContext:
    """The owner's own programs use it: it trusts exactly this certificate, under any name."""
    import ssl  # noqa: PLC0415

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the certificate itself is known, not somebody who vouches for a name
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(certificate)
    return context


def read_public_address(address: str | None) -> str | None:
    """The host, with its port, of the address that a tunnel gives the desk; only https counts."""
    if address is None:
        return None
    try:
        parts = urlsplit(address)
        is_bare = not (parts.query or parts.fragment or parts.path.strip("/") or "@" in parts.netloc)
        good = parts.scheme == "https" and parts.hostname and (parts.port or HTTPS) and is_bare
    except ValueError:
        good = None
    if not good or not address.isascii():
        raise InvalidAction(
            f"--public {address!r:.100} is not an address such as https://desk.example.org",
            path="public",
            hint="Give what the tunnel shows, with https and without a path.",
        )
    return parts.netloc.lower().removesuffix(":443")


def public_host(tunnel: str | None, host: str, port: int, cert: Path | None) -> str | None:
    """Where other devices find the desk: the tunnel's host, else the one that was bound or certified."""
    if tunnel is not None or cert is None:
        return read_public_address(tunnel)
    is_a_name = not is_loopback(host) and host.strip("[]") not in ("0.0.0.0", "::")  # noqa: S104
    names = [host] if is_a_name else _names_of_certificate(cert)
    shown = next((name for name in names if "*" not in name and not is_loopback(name)), None)
    if shown is None:
        return None
    bare = shown.strip("[]")
    name = f"[{bare}]" if ":" in bare else bare
    return name if port == HTTPS else f"{name}:{port}"


def _names_of_certificate(cert: Path) -> list[str]:
    from cryptography import x509  # noqa: PLC0415  (one server in many has a certificate)

    read = x509.load_pem_x509_certificate(cert.read_bytes())
    try:
        alternative_names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    numbers = [str(address) for address in alternative_names.get_values_for_type(x509.IPAddress)]
    return [*alternative_names.get_values_for_type(x509.DNSName), *numbers]


def listen(host: str, port: int) -> socket.socket:
    """Binds the port; 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        kind = PortInUse if error.errno == errno.EADDRINUSE else InvalidAction
        raise kind(
            f"{host}:{port} can't be listened on: {error.strerror or error}",
            path="port",
            hint="Choose another --port, or stop the other server.",
        ) from None


def separate_page_host(host: str, bound: socket.socket) -> tuple[str | None, list[socket.socket]]:
    """The host for pages of a server on `localhost`, and all sockets to serve: a new name for each process.

    What another server on the same port has left in a browser, a service worker above all, belongs to
    another origin then. Browsers look such a name up by themselves and may dial either loopback, so both
    have to be ours. None: pages live at the number, because that was asked for or [::1] is another's.
    """
    if host != "localhost":
        return None, [bound]
    port = bound.getsockname()[1]
    try:
        second = [socket.create_server(("::1", port), family=socket.AF_INET6)]
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return None, [bound]
        second = []  # a machine without that address: nobody else can have it either
    return f"desk-{secrets.token_hex(8)}.localhost:{port}", [bound, *second]
