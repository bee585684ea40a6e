"""Asking a person: the question is stored before anybody hears of it, and exactly one answer counts, once.

Knows neither devices nor doors; how people are told is `notify`, where secrets go is `keep_secret`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from handrail.clock import Clock
from handrail.engine.approval import row
from handrail.engine.approval.handover import Handover, KeepSecret
from handrail.engine.approval.request import Request
from handrail.engine.approval.row import TABLES, Answer, AskedApproval, State, insert
from handrail.engine.policy.subject import SPANS
from handrail.engine.secrets import Redact
from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.traits import Span
from handrail.store import Store
from handrail.waiting import Background, uninterrupted, wait_for_event

Notify = Callable[[AskedApproval, str | None], Coroutine[Any, Any, None]]
"""Tells people of a question, with the token for a link; None when the request was asked before a restart."""

POLL_MS = 100
"""How soon an answer by another process is seen."""
USABLE_MS = 60_000
"""How long after the answer an approval can be used, should its request expire before."""


class Approvals:
    """The questions of one home, open and closed."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        notify: Notify | None = None,
        keep_secret: KeepSecret | None = None,
        redact: Redact = str,
    ) -> None:
        self._store = store
        self._clock = clock
        self.notify = notify
        self._handover = Handover(keep_secret)
        self._redact = redact
        self._waiting: dict[str, asyncio.Event] = {}
        store.prepare("approvals", TABLES)

    async def ask(self, request: Request) -> Answer:
        """Store the question, tell people, wait. Cancelled, it is withdrawn: nobody can say yes any more."""
        id_, token = row.PREFIX + secrets.token_hex(5), secrets.token_urlsafe(32)
        now, clean = self._clock.now_ms(), request.redacted(self._redact)
        async with self._withdrawn_when_cancelled(id_), self._handover.mailbox(id_, request) as box:
            await self._store.write(lambda db: insert(db, id_, clean, now, _hash(token), box))
            return await self._wait(id_, token)

    async def resume(self, id_: str) -> Answer:
        """Wait on for a question that was asked before a restart."""
        known = await self.get(id_)
        async with (
            self._withdrawn_when_cancelled(known.id),
            self._handover.mailbox(known.id, known.request) as box,
        ):
            await self._store.write(
                lambda db: db.execute(
                    "UPDATE approvals SET mailbox = ? WHERE id = ? AND state = 'pending'", (box, known.id)
                )
            )
            return await self._wait(known.id, None)

    async def answer(
        self,
        id_: str,
        approved: bool,
        by: str,
        *,
        data: Any = None,
        remember: Span | None = None,
        token: str | None = None,
        note: str = "",
    ) -> AskedApproval:
        """A person's answer, from any process. The first one counts; a late or second one is an error."""
        known = await self.get(id_)
        self._refuse_closed(known)
        if token is not None:
            await self._check_token(known, token)
        _check_span(known, remember)
        if data is not None:
            data = await self._handover.storable(known, data, approved, is_here=known.id in self._waiting)
        values = {
            "answered_ms": self._clock.now_ms(),
            "answered_by": by,
            "note": self._redact(note) or None,
            "data": json.dumps(data) if data is not None else None,
            "remember": remember,
        }
        if not await self._close(known.id, "approved" if approved else "denied", in_time=True, **values):
            self._refuse_closed(await self.get(known.id))
        return await self.get(known.id)

    async def consume(self, id_: str, digest: str) -> None:
        """Use an approval up, just before the dispatch. Raises `ActionRejected` if it is not for this act."""
        now = self._clock.now_ms()

        def use(db: sqlite3.Connection) -> int:
            return db.execute(
                "UPDATE approvals SET consumed_ms = :now WHERE id = :id AND state = 'approved'"
                " AND consumed_ms IS NULL AND digest = :digest"
                " AND max(expires_ms, answered_ms + :usable) > :now",
                {"now": now, "id": id_, "digest": digest, "usable": USABLE_MS},
            ).rowcount

        if not await self._store.write(use):
            raise _useless(await self.get(id_), digest)

    async def withdraw(self, id_: str) -> None:
        """Take a question back; one that was answered stays as it is."""
        await self._close((await self.get(id_)).id, "withdrawn")

    async def get(self, id_: str) -> AskedApproval:
        """By id or a unique beginning of one. Raises `InvalidAction` with the nearest."""
        now = self._clock.now_ms()
        return await self._store.read(lambda db: row.find(db, id_, now))

    async def pending(self) -> list[AskedApproval]:
        """What waits for an answer, oldest first."""
        now = self._clock.now_ms()
        return await self._store.read(lambda db: row.pending(db, now))

    async def history(self, limit: int = 50, before: int | None = None) -> list[AskedApproval]:
        """Everything, newest first; `before` is a `seq`."""
        return await self._store.read(lambda db: row.history(db, limit, before))

    async def _wait(self, id_: str, token: str | None) -> Answer:
        """People are told meanwhile; whatever becomes of that, the question stands."""
        woken = self._waiting[id_] = asyncio.Event()
        try:
            async with Background() as telling:
                if self.notify is not None:
                    telling.start(self.notify(await self.get(id_), token), f"telling people of {id_}")
                return await self._answered(id_, woken)
        finally:
            self._waiting.pop(id_, None)

    async def _answered(self, id_: str, woken: asyncio.Event) -> Answer:
        while True:
            one = await self._store.read(lambda db: row.exact(db, id_))
            if one is None:
                raise ActionRejected(f"The request {id_} was deleted from the store")
            if one.state != "pending":
                return Answer.of(one)
            left_ms = one.expires_ms - self._clock.now_ms()
            if left_ms <= 0:
                await self._close(id_, "expired")
            else:
                await wait_for_event(self._clock, woken, min(POLL_MS, left_ms))

    @asynccontextmanager
    async def _withdrawn_when_cancelled(self, id_: str) -> AsyncIterator[None]:
        try:
            yield
        except asyncio.CancelledError:
            # The store works in order: this comes after an insert that was still under way.
            await uninterrupted(self._close(id_, "withdrawn"))
            raise

    async def _close(self, id_: str, state: State, *, in_time: bool = False, **values: Any) -> bool:
        """End an open question; `in_time` only if it has not expired. False when it was not open any more."""
        values |= {"state": state, "token_hash": ""}  # nobody's link fits any more
        names = ", ".join(f"{name} = :{name}" for name in values)
        still = " AND expires_ms > :now" if in_time else ""
        order = f"UPDATE approvals SET {names} WHERE id = :id AND state = 'pending'{still}"  # noqa: S608
        given = {**values, "id": id_, "now": self._clock.now_ms()}
        is_done = await self._store.write(lambda db: db.execute(order, given).rowcount > 0)
        if is_done and id_ in self._waiting:
            self._waiting[id_].set()
        return is_done

    def _refuse_closed(self, known: AskedApproval) -> None:
        state = known.state_at(self._clock.now_ms())
        if state == "pending":
            return
        by = f" by {known.answered_by}" if known.answered_by else ""
        raise ActionRejected(
            f"The request {known.id} is {state}{by}: it can't be answered again",
            hint="Send the action again to be asked anew.",
            approval=known.id,
            state=state,
        )

    async def _check_token(self, known: AskedApproval, token: str) -> None:
        def stored(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT token_hash FROM approvals WHERE id = ?", (known.id,)).fetchone()
            return str(row[0])

        if not hmac.compare_digest(_hash(token), await self._store.read(stored)):
            raise ActionRejected(
                f"This link does not fit the request {known.id}",
                hint="Open the link that came with the request.",
                approval=known.id,
            )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="backslashreplace")).hexdigest()


def _check_span(known: AskedApproval, span: Span | None) -> None:
    if span is not None and SPANS.index(span) > SPANS.index(known.request.remember):
        longest = known.request.remember
        raise InvalidAction(
            f"The answer to {known.id} can't be remembered for {span!r}: its rule says {longest!r}",
            path="remember",
            hint="Answer without --remember, or change the rule."
            if longest == "never"
            else f"Use {longest}.",
        )


def _useless(known: AskedApproval, digest: str) -> ActionRejected:
    if known.state != "approved":
        why = f"is {known.state}"
    elif known.consumed_ms is not None:
        why = "was used already"
    elif known.request.digest != digest:
        why = "was given for another action, device or screen"
    else:
        why = "is too old"
    return ActionRejected(
        f"The approval {known.id} {why}", hint="Look at the screen and ask again.", approval=known.id
    )
