"""Tells people elsewhere that a question waits: by Web Push, and at `HANDRAIL_NOTIFY_URL` where that is set.

A message is a random id and holds nothing of any screen, app, person or agent; the desk's page shows the
question after a login. At most twenty devices are subscribed; all are listed and revocable (`/api/push…`).
A device that subscribed over TLS stays logged in when the server restarts: the hash of its page's token
stands beside the subscription and ends with it.

Push endpoints come from browsers, so `post_message` reaches the open internet only: a name is resolved
once, its addresses are judged, and one of them is connected to. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import secrets
import socket
import sqlite3
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, fields, replace
from typing import Annotated, Any
from urllib.parse import urlsplit

import h11
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import Field

from handrail.clock import Clock, iso_time
from handrail.errors import InvalidAction
from handrail.hosts import read_address, why_private
from handrail.protocol.model import CamelModel
from handrail.safety.approval_store import new_id
from handrail.store import Store
from handrail.waiting import Background
from handrail.web_server.auth import Visitor, clean_agent_name
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_body

_log = logging.getLogger(__name__)
ROUTES = RouteTable()
PATIENCE_S = 15.0  # for one request, from the name to the status
MOST_HEAD = 16_384  # bytes of an answer that are read
LONGEST_URL = 2_000
RECORD = 4_096  # bytes of an RFC 8291 record; a message is one, and push services take no larger one
TOKEN_LIFE_S = 12 * 3_600  # RFC 8292 allows a day; this leaves room for a clock that is some hours wrong
POINT, SECRET = 65, 16  # bytes of a browser's public key and of its secret
MESSAGE_LIFE_S = 300
"""How long a push service keeps a message for a device that is off: as long as a question lives."""
UNSUBSCRIBED = (404, 410)  # a push service's answers for a browser that has unsubscribed
TITLE = "Handrail asks you to decide"
WORDS = "An agent waits for your yes or no."
JSON_PREFIX = "json+"  # prefix of an address that takes JSON; every other one takes text, as ntfy does
MOST_SUBSCRIPTIONS = 20
TABLES = (
    """
    CREATE TABLE push_subscriptions (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        host TEXT NOT NULL,
        endpoint TEXT NOT NULL UNIQUE,
        p256dh TEXT NOT NULL,
        auth TEXT NOT NULL,
        login TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        told_ms INTEGER,
        problem TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE TABLE push_key (one INTEGER PRIMARY KEY CHECK (one = 1), number TEXT NOT NULL) STRICT
    """,
)
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


# Requests to the open internet


async def _resolve(host: str, port: int) -> list[str]:
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


async def _connect(address: str, port: int, host: str, tls: ssl.SSLContext | None) -> Streams:
    return await asyncio.open_connection(
        address, port, ssl=tls, server_hostname=host if tls else None, limit=MOST_HEAD
    )


@dataclass(frozen=True, slots=True)
class Network:
    """Resolves names and opens connections; tests have an internet of their own."""

    resolve: Callable[[str, int], Awaitable[list[str]]] = _resolve
    connect: Callable[[str, int, str, ssl.SSLContext | None], Awaitable[Streams]] = _connect
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


INTERNET = Network()


class NotDelivered(Exception):
    """A server elsewhere could not be reached; the message says why."""


async def public_addresses(url: str, network: Network = INTERNET) -> tuple[str, int, list[str]]:
    """Host, port and IP addresses of an https URL on the open internet. Raises `InvalidAction` for another.

    One private address among public ones is enough to refuse: which one would be dialled is chance.
    """

    def refused(why: str) -> InvalidAction:
        hint = "Only https addresses on the open internet are notified."
        return InvalidAction.at("endpoint", f"{_address_without_path(url):.100} {why}", hint=hint)

    read = read_address(url) if len(url) <= LONGEST_URL and url.isascii() else None
    if read is None or urlsplit(url).scheme != "https":
        raise refused("is not an https address")
    if why := why_private(read[0]):
        raise refused(f"is not of the open internet: {why}")
    addresses = await _addresses(*read, network)
    for address in addresses:
        if why := why_private(address.partition("%")[0]):
            raise refused(f"leads to another place than the open internet: {why}")
    return *read, addresses


async def _addresses(host: str, port: int, network: Network) -> list[str]:
    try:
        return await network.resolve(host, port)
    except OSError as error:
        raise NotDelivered(f"{host} can't be looked up: {error}") from None


async def post_message(
    url: str, headers: Mapping[str, str], body: bytes, network: Network = INTERNET, *, anywhere: bool = False
) -> int:
    """The status of the answer. Raises `InvalidAction` or `NotDelivered`.

    `anywhere`: the owner of this home has named the address, so it may be of this machine.
    """
    read = read_address(url) if anywhere else None
    try:
        async with asyncio.timeout(PATIENCE_S):
            if read is not None:
                host, port, addresses = *read, await _addresses(*read, network)
            else:
                host, port, addresses = await public_addresses(url, network)
            tls = network.tls() if urlsplit(url).scheme == "https" else None
            failure: Exception | None = None
            for address in addresses:
                try:
                    streams = await network.connect(address, port, host, tls)
                except OSError as error:  # ssl.SSLError is one
                    failure = error
                    continue
                try:
                    return (await exchange(streams, "POST", url, headers, body)).status_code
                except (OSError, h11.ProtocolError) as error:
                    raise NotDelivered(f"{_address_without_path(url)} hung up: {error}") from None
            raise NotDelivered(f"{_address_without_path(url)} can't be reached: {failure}")
    except TimeoutError:
        raise NotDelivered(f"{_address_without_path(url)} did not answer within {PATIENCE_S:.0f} s") from None


async def exchange(
    streams: Streams, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
) -> h11.Response:
    """The head of the answer; the connection is closed, and the body of the answer is not read."""
    reader, writer = streams
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fixed = {"Host": parts.netloc, "Content-Length": str(len(body)), "Connection": "close"}
    request = h11.Request(method=method, target=target, headers=list({**headers, **fixed}.items()))
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD)
    try:
        for part in (request, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(part) or b"")
        await writer.drain()
        while not isinstance(event := connection.next_event(), h11.Response):
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(MOST_HEAD))
            elif not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError("there was no answer")
        return event
    finally:
        writer.close()


def _address_without_path(url: str) -> str:
    """Cuts off the path, which is the secret that lets a sender in."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "this"
    return f"{parts.scheme}://{parts.hostname}" if parts.hostname else "this"


# Encryption of one message: RFC 8291; its signature (VAPID): RFC 8292. The push service in between sees the
# length of the message and which server it comes from, not what it says.


class BrowserKeys(CamelModel):
    """What a browser gives whoever may send to it, as `PushSubscription.toJSON()` writes it."""

    p256dh: Annotated[str, Field(max_length=200, repr=False)]
    auth: Annotated[str, Field(max_length=100, repr=False)]

    def check(self) -> None:
        """Raises `InvalidAction` for a point that is not on the curve, or a secret of another length."""
        try:
            point, secret = decode_base64url(self.p256dh), decode_base64url(self.auth)
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
            is_valid = (len(point), len(secret)) == (POINT, SECRET)
        except ValueError:  # also of `binascii`
            is_valid = False
        if not is_valid:
            hint = "Send p256dh and auth as PushSubscription.toJSON() gives them."
            raise InvalidAction.at("keys", "these are not the keys of a push subscription", hint=hint)


def encode_base64url(content: bytes) -> str:
    """base64url without its padding, as browsers and JWTs write it."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode_base64url(text: str) -> bytes:
    """Raises `ValueError` for what is not base64url."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


class ServerKey:
    """The VAPID key, by which push services recognise the server that a browser subscribed to."""

    def __init__(self, number: str) -> None:
        """`number` is the private key in hexadecimal digits, as `make` draws one."""
        self._private = ec.derive_private_key(int(number, 16), ec.SECP256R1())

    @staticmethod
    def make() -> str:
        return f"{ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value:064x}"

    @property
    def public(self) -> str:
        """The `applicationServerKey` of the Push API."""
        return encode_base64url(_encode_point(self._private.public_key()))

    def headers(self, endpoint: str, now_ms: int, contact: str | None, life_s: int) -> dict[str, str]:
        """Headers of the request that carries one message. `contact`: an address of whoever runs this
        server."""
        audience = "https://" + urlsplit(endpoint).netloc.lower()
        claims = {"aud": audience, "exp": now_ms // 1000 + TOKEN_LIFE_S}
        claims |= {"sub": contact} if contact is not None else {}
        parts = ({"typ": "JWT", "alg": "ES256"}, claims)
        text = ".".join(encode_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        r, s = utils.decode_dss_signature(self._private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = encode_base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return {
            "Authorization": f"vapid t={text}.{signature}, k={self.public}",
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(life_s),
            "Urgency": "high",
        }


def encrypt_message(message: bytes, p256dh: str, auth: str) -> bytes:
    """The encrypted body of RFC 8291: salt, record size, an ephemeral key, then the record."""

    def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
        return HKDF(hashes.SHA256(), length, salt, info).derive(secret)

    own, salt, theirs = ec.generate_private_key(ec.SECP256R1()), os.urandom(16), decode_base64url(p256dh)
    ours = _encode_point(own.public_key())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
    input_key = derived(shared, decode_base64url(auth), b"WebPush: info\0" + theirs + ours, 32)
    key = derived(input_key, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derived(input_key, salt, b"Content-Encoding: nonce\0", 12)
    record = AESGCM(key).encrypt(nonce, message + b"\x02", None)  # 2: the last record
    return salt + RECORD.to_bytes(4, "big") + bytes([len(ours)]) + ours + record


def _encode_point(public: ec.EllipticCurvePublicKey) -> bytes:
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


# Subscriptions


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """One device, as its row in the table. Whoever has its endpoint and our key can send to it."""

    id: str
    name: str
    host: str
    """Where its page lives."""
    endpoint: str
    p256dh: str
    auth: str
    login: str
    """The hash of its page's token, where that lasts; '' where it ends with the server."""
    created_ms: int
    told_ms: int | None = None
    problem: str = ""

    def to_dict(self, visitor: Visitor) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "since": iso_time(self.created_ms),
            "told": iso_time(self.told_ms) if self.told_ms is not None else None,
            "problem": self.problem or None,
            "staysLoggedIn": bool(self.login),
            "yours": bool(self.login) and self.login == visitor.page,
        }


class SubscribeBody(CamelModel):
    """What `POST /api/push` takes."""

    endpoint: Annotated[str, Field(max_length=LONGEST_URL, repr=False)]
    keys: BrowserKeys
    name: Annotated[str, Field(max_length=200)] = ""
    """What people call the device."""


class Subscriptions:
    """The subscriptions of one home. They are few, so they are all in memory as well."""

    def __init__(self, store: Store, clock: Clock, network: Network = INTERNET) -> None:
        self._store = store
        self._clock = clock
        self.network = network
        self._subscriptions: dict[str, PushSubscription] = {}
        self._key: ServerKey | None = None
        store.create_tables("push", TABLES)

    async def load_subscriptions(self) -> None:
        """Must end before a request is served. Pages below `localhost` belonged to another process, so nobody
        can open them again."""

        def read(db: sqlite3.Connection) -> list[PushSubscription]:
            db.execute("DELETE FROM push_subscriptions WHERE host LIKE '%.localhost:%'")
            rows = db.execute("SELECT * FROM push_subscriptions ORDER BY created_ms")
            return [PushSubscription(*row) for row in rows]

        subscriptions = await self._store.write(read)
        self._subscriptions = {subscription.id: subscription for subscription in subscriptions}

    def all(self) -> list[PushSubscription]:
        return list(self._subscriptions.values())

    def get(self, id_: str) -> PushSubscription:
        if id_ in self._subscriptions:
            return self._subscriptions[id_]
        raise InvalidAction(f"There is no device {id_!r:.60}", path="id", hint="GET /api/push lists them.")

    def has_login(self, login: str, host: str) -> bool:
        return any((device.login, device.host) == (login, host) for device in self.all() if device.login)

    async def key(self) -> ServerKey:
        """The home's VAPID key; made at first use."""
        if self._key is None:
            number = ServerKey.make()

            def insert(db: sqlite3.Connection) -> str:
                db.execute("INSERT OR IGNORE INTO push_key VALUES (1, ?)", (number,))
                return str(db.execute("SELECT number FROM push_key").fetchone()[0])

            self._key = ServerKey(await self._store.write(insert))
        return self._key

    async def add(self, body: SubscribeBody, name: str, host: str, login: str) -> PushSubscription:
        """Raises `InvalidAction` for an endpoint that is not public, and for too many devices."""
        body.keys.check()
        try:
            await public_addresses(body.endpoint, self.network)
        except NotDelivered as error:
            raise InvalidAction.at("endpoint", f"{error}", hint="Try again.") from None
        id_, now, endpoint = f"ps_{secrets.token_hex(5)}", self._clock.now_ms(), body.endpoint
        p256dh, auth = body.keys.p256dh.rstrip("="), body.keys.auth.rstrip("=")
        subscription = PushSubscription(id_, name, host, endpoint, p256dh, auth, login, now)

        def insert(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM push_subscriptions WHERE endpoint = ?", (endpoint,))
            [count] = db.execute("SELECT count(*) FROM push_subscriptions").fetchone()
            if count >= MOST_SUBSCRIPTIONS:
                return False
            marks = ", ".join("?" * len(fields(PushSubscription)))
            db.execute(f"INSERT INTO push_subscriptions VALUES ({marks})", astuple(subscription))  # noqa: S608
            return True

        if not await self._store.write(insert):
            raise InvalidAction(
                f"{MOST_SUBSCRIPTIONS} devices are notified already, and no more can be added",
                path="endpoint",
                hint="Revoke one in Settings.",
            )
        others = {other.id: other for other in self.all() if other.endpoint != endpoint}
        self._subscriptions = others | {id_: subscription}
        return subscription

    async def revoke(self, id_: str) -> PushSubscription:
        """Ends a device's messages and its login."""
        subscription = self.get(id_)
        del self._subscriptions[id_]
        await self._store.write(lambda db: db.execute("DELETE FROM push_subscriptions WHERE id = ?", (id_,)))
        return subscription

    async def note_delivery(self, id_: str, problem: str) -> None:
        """Stores what went wrong with the last message to a subscription; empty if it was delivered."""
        if (subscription := self._subscriptions.get(id_)) is None:
            return
        told_ms = subscription.told_ms if problem else self._clock.now_ms()
        self._subscriptions[id_] = replace(subscription, told_ms=told_ms, problem=problem[:200])
        order = "UPDATE push_subscriptions SET told_ms = ?, problem = ? WHERE id = ?"
        await self._store.write(lambda db: db.execute(order, (told_ms, problem[:200], id_)))


# Sending


@dataclass(frozen=True, slots=True)
class NotifyUrl:
    """`HANDRAIL_NOTIFY_URL` says where messages go, and in which form."""

    url: str
    is_json: bool

    @classmethod
    def read(cls, text: str | None) -> NotifyUrl | None:
        return cls(text.removeprefix(JSON_PREFIX), text.startswith(JSON_PREFIX)) if text else None

    def message(self, id_: str, page: str | None) -> tuple[dict[str, str], bytes]:
        """Headers and body. `page` is where the question can be answered, if other devices reach it."""
        click = f"{page}#id={id_}" if page else None
        if self.is_json:
            body = {"id": id_, "title": TITLE, "message": WORDS} | ({"url": click} if click else {})
            return {"Content-Type": "application/json"}, json.dumps(body).encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "Title": TITLE, "Priority": "high"}
        return headers | ({"Click": click} if click else {}), WORDS.encode()


class Notifier:
    """Sends notifications of open requests in the background. A failure is logged and changes nothing
    else."""

    def __init__(
        self, subscriptions: Subscriptions, clock: Clock, public: str | None, place: NotifyUrl | None
    ) -> None:
        self._subscriptions = subscriptions
        self._clock = clock
        self._origin = f"https://{public}" if public else None
        self._place = place
        self._sending = Background()

    @property
    def notify_host(self) -> str | None:
        """The host of `HANDRAIL_NOTIFY_URL`, without the path that lets a sender in."""
        return urlsplit(self._place.url).hostname if self._place else None

    def notify(self, id_: str) -> None:
        """Tells everybody of the question with this id, without waiting."""
        for subscription in self._subscriptions.all():
            self._sending.start(self._push(subscription, id_), f"telling {subscription.id} of {id_}")
        if self._place is not None:
            self._sending.start(self._notify(self._place, id_), f"telling {self.notify_host} of {id_}")

    async def test(self, subscription_id: str) -> str | None:
        """Sends a notification of no request; returns what went wrong, or None."""
        return await self._push(self._subscriptions.get(subscription_id), new_id()) or None

    async def close(self) -> None:
        await self._sending.close()

    async def _push(self, subscription: PushSubscription, id_: str) -> str:
        """Returns what went wrong, '' for nothing."""
        key = await self._subscriptions.key()
        headers = key.headers(subscription.endpoint, self._clock.now_ms(), self._origin, MESSAGE_LIFE_S)
        body = encrypt_message(id_.encode(), subscription.p256dh, subscription.auth)
        try:
            status = await post_message(subscription.endpoint, headers, body, self._subscriptions.network)
        except (NotDelivered, InvalidAction) as error:
            problem = str(error)
        else:
            problem = "" if 200 <= status < 300 else f"the push service answered {status}"
            if status in UNSUBSCRIBED:
                with suppress(InvalidAction):  # somebody revoked it meanwhile
                    await self._subscriptions.revoke(subscription.id)
                return "the browser takes no messages any more"
        await self._subscriptions.note_delivery(subscription.id, problem)
        if problem:
            _log.warning("%s was not notified: %s", subscription.id, problem)
        return problem

    async def _notify(self, place: NotifyUrl, id_: str) -> None:
        headers, body = place.message(id_, f"{self._origin}/approve" if self._origin else None)
        try:
            status = await post_message(place.url, headers, body, self._subscriptions.network, anywhere=True)
        except (NotDelivered, InvalidAction) as error:
            _log.warning("HANDRAIL_NOTIFY_URL was not notified: %s", error)
        else:
            if not 200 <= status < 300:
                _log.warning("HANDRAIL_NOTIFY_URL: %s answered %s", self.notify_host, status)


@ROUTES("/api/push", person="Listing who is notified")
async def list_subscriptions(request: DeskRequest) -> JSON:
    """Who is told of questions, and what a browser needs to subscribe."""
    context = request.context
    return {
        "key": (await context.subscriptions.key()).public,
        "most": MOST_SUBSCRIPTIONS,
        "subscriptions": [row.to_dict(request.visitor) for row in context.subscriptions.all()],
        "alsoTold": context.notifier.notify_host,
        "public": context.pages.public,
    }


@ROUTES("/api/push", "POST", person="Being notified of questions")
async def subscribe(request: DeskRequest) -> JSON:
    """Tell this device of questions from now on."""
    body = await json_body(request, SubscribeBody)
    context, visitor = request.context, request.visitor
    login = visitor.page if context.origin(request).startswith("https:") else ""
    name = clean_agent_name(body.name) or "A browser"
    subscription = await context.subscriptions.add(body, name, request.headers["host"], login)
    await context.seal("device_told", visitor, subscription=subscription.id, name=subscription.name)
    return subscription.to_dict(visitor)


@ROUTES("/api/push", "DELETE", person="Revoking a device")
async def unsubscribe(request: DeskRequest) -> JSON:
    """Tell this device nothing more, and end its login: `id` names it."""
    context, visitor = request.context, request.visitor
    subscription = await context.subscriptions.revoke(request.query_params.get("id") or "")
    if subscription.login and subscription.login != visitor.page:
        context.log_out(subscription.login)
    await context.seal("device_revoked", visitor, subscription=subscription.id, name=subscription.name)
    return {"revoked": subscription.id}


@ROUTES("/api/push/try", "POST", person="Trying a notification")
async def try_subscription(request: DeskRequest) -> JSON:
    """Send one message that asks nothing: `id` names the device."""
    return {"problem": await request.context.notifier.test(request.query_params.get("id") or "")}
