"""A push service of the tests: real TLS on a loopback port, and an internet in which its name leads there."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from handrail.web_server.push_notifications import Network, Streams

HOST = "push.ferry-lane.net"
PUBLIC = "93.184.216.34"


def certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """Signed by itself, for these names and numbers."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_name(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return cert, secret


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)


@dataclass
class Received:
    """One request."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class PushService:
    """Takes what is posted; `answer` is its next status line with headers."""

    port: int
    tls: ssl.SSLContext
    answer: str = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
    names: dict[str, list[str]] = field(default_factory=lambda: {HOST: [PUBLIC]})
    """What each name leads to; one that is not here leads nowhere."""
    looked_up: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)

    @property
    def network(self) -> Network:
        return Network(self._resolve, self._connect, lambda: self.tls)

    async def _resolve(self, host: str, _: int) -> list[str]:
        self.looked_up.append(host)
        if host not in self.names:
            raise socket.gaierror(-2, "Name or service not known")
        return self.names[host]

    async def _connect(self, number: str, _: int, host: str, tls: ssl.SSLContext | None) -> Streams:
        self.dialled.append(number)
        name = host if tls else None
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=tls, server_hostname=name)

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rest = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in rest)}
        body = await reader.readexactly(int(headers["content-length"]))
        self.received.append(Received(line, headers, body))
        writer.write(self.answer.encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def push_service(folder: Path) -> AsyncIterator[PushService]:
    cert, key = certificate(folder, HOST)
    trusted = ssl.create_default_context(cafile=str(cert))
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(cert, key)
    made = PushService(0, trusted)
    server = await asyncio.start_server(made.hear, "127.0.0.1", 0, ssl=own)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made
