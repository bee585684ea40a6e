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
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.engine.approval import row
from handrail.engine.approval.deadline import moment
from handrail.engine.approval.grants import Allowance, Grants, insert
from handrail.engine.approval.handover import Handover, KeepSecret
from handrail.engine.approval.request import Request
from handrail.engine.approval.row import TABLES, Answer, AskedApproval, State, new_id
from handrail.engine.policy.subject import SPANS
from handrail.engine.secrets import Redact, redact_data
from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.traits import Span
from handrail.store import Store
from handrail.waiting import Background, uninterrupted, wait_for_event

T = TypeVar("T")
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
        self._taken: set[str] = set()
        self.grants = Grants(store, clock)
        store.prepare("approvals", TABLES)

    async def ask(self, request: Request, id_: str | None = None) -> Answer:
        """Store the question, tell people, wait. Cancelled, it is withdrawn: nobody can say yes any more."""
        id_, token = id_ or new_id(), secrets.token_urlsafe(32)
        clean = request.redacted(self._redact)
        async with self._withdrawn_when_cancelled(id_), self._handover.mailbox(id_, clean) as box:
            await self._store.write(lambda db: row.insert(db, id_, clean, self._moment(), _hash(token), box))
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

    async def left_behind(self, digest: str, asker: str) -> str | None:
        """A question of this asker about this act that a process asked before it died. Taken: not ours."""

        def find(db: sqlite3.Connection) -> list[str]:
            return row.unfinished(db, self._moment(), digest, asker)

        return next((id_ for id_ in await self._store.read(find) if id_ not in self._taken), None)

    @contextmanager
    def taken(self, id_: str) -> Iterator[None]:
        """While one act of this process waits for the answer and uses it, no other one may."""
        self._taken.add(id_)
        try:
            yield
        finally:
            self._taken.discard(id_)

    async def answer(
        self,
        id_: str,
        approved: bool,
        by: str,
        *,
        data: Any = None,
        remember: Span | None = None,
        allow: Allowance | None = None,
        token: str | None = None,
        note: str = "",
    ) -> AskedApproval:
        """A person's answer, from any process. The first one counts; a late or second one is an error.

        `allow`: with a yes, the like of it is allowed for a time too.
        """
        known = await self.get(id_)
        self._refuse_closed(known)
        if token is not None:
            await self._check_token(known, token)
        _check_span(known, remember)
        if allow is not None:
            _check_allowed(known, approved, remember)
        if data is not None:
            kept = await self._handover.storable(known, data, approved, is_here=known.id in self._waiting)
            data = redact_data(kept, self._redact)  # a secret that is known stays one in a plain answer
        values = {
            "state": "approved" if approved else "denied",
            "answered_by": by,
            "note": self._redact(note) or None,
            "data": json.dumps(data) if data is not None else None,
            "remember": remember if allow is None else "time",
        }

        def close(db: sqlite3.Connection) -> bool:
            at = self._moment()
            counts = row.answer(db, known.id, at, values, USABLE_MS)
            if counts and allow is not None:
                insert(db, known.id, known.request, allow, by, at)
            return counts

        counts = await self._store.write(close)
        self._wake(known.id)
        if not counts:
            self._refuse_closed(await self.get(known.id))
        return await self.get(known.id)

    async def consume(self, id_: str, digest: str, asker: str) -> None:
        """Use an approval up, just before the dispatch. Raises `ActionRejected` if it is not for this act."""
        if not await self._store.write(lambda db: row.use(db, id_, self._moment(), digest, asker)):
            raise _useless(await self.get(id_), digest, asker)

    async def withdraw(self, id_: str) -> None:
        """Take a question back; one that was answered stays as it is."""
        known = await self.get(id_)
        if known.is_open:
            await self.end(known.id)
        self._wake(known.id)  # it may have ended in another process

    async def end(self, id_: str) -> State | None:
        """Nobody will use it any more: withdrawn if it was open, void if it was approved; else None."""
        ended = await self._store.write(lambda db: row.end(db, id_))
        self._wake(id_)
        return ended

    async def get(self, id_: str) -> AskedApproval:
        """By id or a unique beginning of one. Raises `InvalidAction` with the nearest."""
        return await self._look(lambda db: row.find(db, id_))

    async def pending(self) -> list[AskedApproval]:
        """What waits for an answer, oldest first."""
        return await self._look(row.pending)

    async def history(self, limit: int = 50, before: int | None = None) -> list[AskedApproval]:
        """Everything, newest first; `before` is a `seq`."""
        return await self._look(lambda db: row.history(db, limit, before))

    async def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Whoever looks ends what has no time left."""

        def look(db: sqlite3.Connection) -> T:
            row.expire(db, self._moment())
            return work(db)

        return await self._store.read(look)

    def _moment(self) -> row.Moment:
        return moment(self._clock)

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
            woken.clear()
            one, left_ms = await self._look(
                lambda db: (row.exact(db, id_), row.left_ms(db, id_, self._moment()))
            )
            if one is None:
                raise ActionRejected(f"The request {id_} was deleted from the store")
            if not one.is_open:
                return Answer.of(one)
            await wait_for_event(self._clock, woken, max(0.0, min(POLL_MS, left_ms)))

    @asynccontextmanager
    async def _withdrawn_when_cancelled(self, id_: str) -> AsyncIterator[None]:
        try:
            yield
        except asyncio.CancelledError:
            # The store works in order: this comes after an insert that was still under way.
            await uninterrupted(self.end(id_))
            raise

    def _wake(self, id_: str) -> None:
        if id_ in self._waiting:
            self._waiting[id_].set()

    def _refuse_closed(self, known: AskedApproval) -> None:
        state = known.state
        if known.is_open:
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


def _check_allowed(known: AskedApproval, approved: bool, remember: Span | None) -> None:
    """A deny is no grant, and nothing is granted that its rule does not let a person grant."""
    if not approved or remember is not None:
        raise InvalidAction(
            "Only a plain yes can be given for a time", path="for", hint="Leave --remember out."
        )
    if not known.request.may_allow:
        raise InvalidAction(
            f"The like of {known.id} can't be allowed for a time",
            path="for",
            hint='Answer once. A rule with remember = "time" lets you, where it can be said what is meant.',
        )


def _useless(known: AskedApproval, digest: str, asker: str) -> ActionRejected:
    if known.state != "approved":
        why = f"is {known.state}"
    elif known.consumed_ms is not None:
        why = "was used already"
    elif known.request.digest != digest:
        why = "was given for another action, device or screen"
    elif known.request.asker != asker:
        why = "was given to another session"
    else:
        why = "is too old"
    return ActionRejected(
        f"The approval {known.id} {why}", hint="Look at the screen and ask again.", approval=known.id
    )
