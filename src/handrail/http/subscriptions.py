"""Devices that are told of questions by Web Push: at most twenty, listed, revocable. `/api/push…`

A device that subscribed over TLS also stays logged in when the server is started anew: the hash of its page's
token stands beside the subscription and ends with it.
"""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.clock import Clock, iso_time
from handrail.errors import InvalidAction
from handrail.http.auth import Visitor, agent_name
from handrail.http.outgoing import INTERNET, LONGEST_URL, Network, NotTold, public_numbers
from handrail.http.responses import json_object
from handrail.http.web_push import BrowserKeys, ServerKey
from handrail.protocol.model import CamelModel
from handrail.protocol.read import invalid_action
from handrail.store import Store

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


@dataclass(frozen=True, slots=True)
class Subscription:
    """One device. Its endpoint is a secret: whoever has it and our key can send to it."""

    id: str
    name: str
    host: str
    """Where its page lives."""
    endpoint: str
    keys: BrowserKeys
    login: str
    """The hash of its page's token, where that lasts; '' where it ends with the server."""
    created_ms: int
    told_ms: int | None = None
    problem: str = ""

    def to_dict(self, visitor: Visitor) -> dict[str, Any]:
        """What people are told of it."""
        return {
            "id": self.id,
            "name": self.name,
            "since": iso_time(self.created_ms),
            "told": iso_time(self.told_ms) if self.told_ms is not None else None,
            "problem": self.problem or None,
            "staysLoggedIn": bool(self.login),
            "yours": bool(self.login) and self.login == visitor.page,
        }


class Subscriptions:
    """Those of one home. They are few, so they are all in memory as well."""

    def __init__(self, store: Store, clock: Clock, network: Network = INTERNET) -> None:
        self._store = store
        self._clock = clock
        self.network = network
        self._known: dict[str, Subscription] = {}
        self._key: ServerKey | None = None
        store.prepare("push", TABLES)

    async def load(self) -> None:
        """Before anybody is let in. Pages below `localhost` were of another process: nobody can open them."""

        def read(db: sqlite3.Connection) -> list[Subscription]:
            db.execute("DELETE FROM push_subscriptions WHERE host LIKE '%.localhost:%'")
            return [_read(row) for row in db.execute("SELECT * FROM push_subscriptions ORDER BY created_ms")]

        self._known = {one.id: one for one in await self._store.write(read)}

    def all(self) -> list[Subscription]:
        return list(self._known.values())

    def keeps(self, login: str, host: str) -> bool:
        """Whether a page with this login stays logged in at this host."""
        return any(one.login == login and one.host == host for one in self._known.values() if one.login)

    async def key(self) -> ServerKey:
        """Made once for a home: browsers subscribe to it."""
        if self._key is None:
            made = ServerKey.make()

            def keep(db: sqlite3.Connection) -> str:
                db.execute("INSERT OR IGNORE INTO push_key VALUES (1, ?)", (made.kept,))
                return str(db.execute("SELECT number FROM push_key").fetchone()[0])

            self._key = ServerKey.read(await self._store.write(keep))
        return self._key

    async def add(self, given: SubscribeBody, name: str, host: str, login: str) -> Subscription:
        """A device that may be told. Raises `InvalidAction` for an address that is none, and for too many."""
        given.keys.browser.check()
        try:
            await public_numbers(given.endpoint, self.network)
        except NotTold as error:
            raise InvalidAction(f"endpoint: {error}", path="endpoint", hint="Try again.") from None
        made = Subscription(
            f"ps_{secrets.token_hex(5)}", name, host, given.endpoint, given.keys.browser, login,
            self._clock.now_ms(),
        )  # fmt: skip

        def insert(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM push_subscriptions WHERE endpoint = ?", (made.endpoint,))
            [count] = db.execute("SELECT count(*) FROM push_subscriptions").fetchone()
            if count >= MOST_SUBSCRIPTIONS:
                return False
            row = (made.id, name, host, made.endpoint, made.keys.p256dh, made.keys.auth, login)
            db.execute(
                "INSERT INTO push_subscriptions VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, '')",
                (*row, made.created_ms),
            )
            return True

        if not await self._store.write(insert):
            raise InvalidAction(
                f"{MOST_SUBSCRIPTIONS} devices are told already, and no more can be",
                path="endpoint",
                hint="Revoke one in Settings.",
            )
        self._known = {one.id: one for one in self.all() if one.endpoint != made.endpoint} | {made.id: made}
        return made

    async def end(self, id_: str) -> Subscription:
        """Revoke one: it is told nothing more, and its login ends."""
        found = self._known.pop(id_, None)
        if found is None:
            raise InvalidAction(
                f"There is no device {id_!r:.60}", path="id", hint="GET /api/push lists them."
            )
        await self._store.write(lambda db: db.execute("DELETE FROM push_subscriptions WHERE id = ?", (id_,)))
        return found

    async def note(self, id_: str, problem: str) -> None:
        """How the last message to it went: '' is well."""
        now = self._clock.now_ms() if not problem else None

        def update(db: sqlite3.Connection) -> list[Subscription]:
            order = "UPDATE push_subscriptions SET told_ms = coalesce(?, told_ms), problem = ? WHERE id = ?"
            db.execute(order, (now, problem[:200], id_))
            rows = db.execute("SELECT * FROM push_subscriptions WHERE id = ?", (id_,))
            return [_read(row) for row in rows]

        for one in await self._store.write(update):
            if one.id in self._known:
                self._known[one.id] = one


def _read(row: sqlite3.Row) -> Subscription:
    keys = BrowserKeys(row["p256dh"], row["auth"])
    return Subscription(
        row["id"], row["name"], row["host"], row["endpoint"], keys, row["login"], row["created_ms"],
        row["told_ms"], row["problem"],
    )  # fmt: skip


class KeysBody(CamelModel):
    """As `PushSubscription.toJSON()` writes them."""

    p256dh: Annotated[str, Field(max_length=200, repr=False)]
    auth: Annotated[str, Field(max_length=100, repr=False)]

    @property
    def browser(self) -> BrowserKeys:
        return BrowserKeys(self.p256dh.rstrip("="), self.auth.rstrip("="))


class SubscribeBody(CamelModel):
    """What `POST /api/push` takes."""

    endpoint: Annotated[str, Field(max_length=LONGEST_URL, repr=False)]
    keys: KeysBody
    name: Annotated[str, Field(max_length=200)] = ""
    """What people call the device."""


async def list_subscriptions(request: Request) -> JSONResponse:
    """Who is told of questions, and what a browser needs to be told too."""
    visitor: Visitor = request.state.visitor
    visitor.must_be_person("Looking at who is told")
    context = request.app.state.context
    known: Subscriptions = context.subscriptions
    return JSONResponse(
        {
            "key": (await known.key()).public,
            "most": MOST_SUBSCRIPTIONS,
            "subscriptions": [one.to_dict(visitor) for one in known.all()],
            "alsoTold": context.notifier.also_told,
            "public": context.pages.public,
        }
    )


async def subscribe(request: Request) -> JSONResponse:
    """Tell this device of questions from now on."""
    visitor: Visitor = request.state.visitor
    visitor.must_be_person("Being told of questions")
    given = await json_object(request)
    try:
        body = SubscribeBody.model_validate(given)
    except ValidationError as error:
        raise invalid_action(error, given) from None
    context = request.app.state.context
    lasts = visitor.page if context.origin(request).startswith("https:") else ""
    made = await context.subscriptions.add(
        body, agent_name(body.name) or "A browser", request.headers["host"], lasts
    )
    await _write(context, "device_told", made, visitor)
    return JSONResponse(made.to_dict(visitor))


async def unsubscribe(request: Request) -> JSONResponse:
    """Tell this device nothing more, and end its login: `id` names it."""
    visitor: Visitor = request.state.visitor
    visitor.must_be_person("Revoking a device")
    context = request.app.state.context
    ended = await context.subscriptions.end(request.query_params.get("id") or "")
    if ended.login and ended.login != visitor.page:
        context.log_out(ended.login)
    await _write(context, "device_revoked", ended, visitor)
    return JSONResponse({"revoked": ended.id})


async def try_subscription(request: Request) -> JSONResponse:
    """Send one message that asks nothing: `id` names the device."""
    request.state.visitor.must_be_person("Trying a notification")
    context = request.app.state.context
    return JSONResponse({"problem": await context.notifier.test(request.query_params.get("id") or "")})


async def _write(context: Any, kind: str, one: Subscription, visitor: Visitor) -> None:
    """Into the journal, without the address that would let others send."""
    actor = {"kind": "person", "id": visitor.name}
    told = {"kind": kind, "device": None, "actor": actor, "door": "desk", "subscription": one.id}
    await context.runtime.journal.seal({**told, "name": one.name})


ROUTES = [
    Route("/api/push", list_subscriptions),
    Route("/api/push", subscribe, methods=["POST"]),
    Route("/api/push", unsubscribe, methods=["DELETE"]),
    Route("/api/push/try", try_subscription, methods=["POST"]),
]
