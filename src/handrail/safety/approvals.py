"""Asks people: a question is stored before anybody is notified, and one answer counts, once.

`notify` reaches people, `keep_secret` stores the secrets that they answer with.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import inspect
import json
import re
import secrets
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.errors import ActionRejected, InvalidAction
from handrail.journal.redaction import Redact, redact_data
from handrail.protocol.traits import Span
from handrail.safety import approval_store as row
from handrail.safety.approval_request import AuthorizationRequest, looks_like_a_secret
from handrail.safety.approval_store import (
    TABLES,
    Answer,
    AskedApproval,
    Grants,
    GrantTerms,
    State,
    clock_reading,
    insert_grant,
    new_id,
)
from handrail.safety.subject import SPANS
from handrail.store import Store
from handrail.waiting import Background, uninterrupted, wait_for_event

T = TypeVar("T")
Notify = Callable[..., Any]
"""`notify(request)` or `notify(request, token)`, plain or a coroutine function. The token is for a link; None
if the question is from before a restart."""
POLL_MS = 100
"""How often the store is read for an answer by another process."""
USABLE_MS = 60_000
"""How long an approval can be used after the answer, even if its request expires before."""


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
        store.create_tables("approvals", TABLES)

    async def ask(self, request: AuthorizationRequest, id_: str | None = None) -> Answer:
        """Stores the question, notifies people and waits. A cancellation withdraws the question."""
        id_, token = id_ or new_id(), secrets.token_urlsafe(32)
        clean = request.redacted(self._redact)
        async with self._withdrawn_when_cancelled(id_), self._handover.mailbox(id_, clean) as box:
            await self._store.write(lambda db: row.insert(db, id_, clean, self._moment(), _hash(token), box))
            return await self._wait(id_, token)

    async def resume(self, id_: str) -> Answer:
        """Goes on waiting for a question from before a restart."""
        approval = await self.get(id_)
        async with (
            self._withdrawn_when_cancelled(approval.id),
            self._handover.mailbox(approval.id, approval.request) as box,
        ):
            await self._store.write(
                lambda db: db.execute(
                    "UPDATE approvals SET mailbox = ? WHERE id = ? AND state = 'pending'", (box, approval.id)
                )
            )
            return await self._wait(approval.id, None)

    async def left_behind(self, digest: str, asker: str) -> str | None:
        """The asker's unfinished question about this action, left by a dead process and not `taken`."""

        def find(db: sqlite3.Connection) -> list[str]:
            return row.unfinished(db, self._moment(), digest, asker)

        return next((id_ for id_ in await self._store.read(find) if id_ not in self._taken), None)

    @contextmanager
    def taken(self, id_: str) -> Iterator[None]:
        """Reserves a question for one action of this process."""
        self._taken.add(id_)
        try:
            yield
        finally:
            self._taken.discard(id_)

    async def answer(  # noqa: PLR0913 - by name, each with its default
        self,
        id_: str,
        approved: bool,
        by: str,
        *,
        data: Any = None,
        remember: Span | None = None,
        allow: GrantTerms | None = None,
        token: str | None = None,
        note: str = "",
        may_change: Collection[int] = (),
        readable: bool | None = None,
    ) -> AskedApproval:
        """A person's answer, from any process. Raises `ActionRejected` for a late or second one.

        `allow`: terms of a grant for similar actions. `may_change`: numbers, from 1, of the volatile elements
        of the question that the person lets change. `readable`: whether the agent may read `data`; None: not
        if the question or the data looks like a secret.
        """
        approval = await self.get(id_)
        self._refuse_closed(approval)
        if token is not None:
            await self._check_token(approval, token)
        _check_span(approval, remember)
        if allow is not None:
            _check_allowed(approval, approved, remember)
        if data is not None:
            if readable is None:
                readable = not (approval.request.is_secret or looks_like_a_secret(data))
            storable = await self._handover.storable(
                approval, data, approved, readable=readable, is_here=approval.id in self._waiting
            )
            data = redact_data(storable, self._redact)  # a known secret in a plain answer stays secret
        values = {
            "state": "approved" if approved else "denied",
            "answered_by": by,
            "note": self._redact(note) or None,
            "data": json.dumps(data) if data is not None else None,
            "remember": remember if allow is None else "time",
            "may_change": json.dumps(_keys(approval, may_change)),
        }

        def close(db: sqlite3.Connection) -> bool:
            at = self._moment()
            counts = row.answer(db, approval.id, at, values, USABLE_MS)
            if counts and allow is not None:
                insert_grant(db, approval.id, approval.request, allow, by, at)
            return counts

        counts = await self._store.write(close)
        self._wake(approval.id)
        if not counts:
            self._refuse_closed(await self.get(approval.id))
        return await self.get(approval.id)

    async def consume(self, id_: str, digest: str, asker: str) -> None:
        """Uses an approval up before the dispatch. Raises `ActionRejected` if it is not for this action."""
        if not await self._store.write(lambda db: row.use(db, id_, self._moment(), digest, asker)):
            raise _unusable_approval(await self.get(id_), digest, asker)

    async def withdraw(self, id_: str) -> None:
        """Withdraws an open question."""
        approval = await self.get(id_)
        if approval.is_open:
            await self.end(approval.id)
        self._wake(approval.id)  # it may have ended in another process

    async def end(self, id_: str) -> State | None:
        """Ends a question for good: an open one is withdrawn, an approved one void; else None."""
        ended = await self._store.write(lambda db: row.end(db, id_))
        self._wake(id_)
        return ended

    async def get(self, id_: str) -> AskedApproval:
        """Finds it by id or unique prefix. Raises `InvalidAction` with the nearest ids."""
        return await self._look(lambda db: row.find(db, id_))

    async def pending(self) -> list[AskedApproval]:
        """Open questions, oldest first."""
        return await self._look(row.pending)

    async def history(self, limit: int = 50, before: int | None = None) -> list[AskedApproval]:
        """All questions, newest first; `before` is a `seq`."""
        return await self._look(lambda db: row.history(db, limit, before))

    async def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Every read first ends what has expired."""

        def look(db: sqlite3.Connection) -> T:
            row.expire(db, self._moment())
            return work(db)

        return await self._store.read(look)

    def _moment(self) -> row.ClockReading:
        return clock_reading(self._clock)

    async def _wait(self, id_: str, token: str | None) -> Answer:
        """Notifies people meanwhile. The question stands even if that fails."""
        woken = self._waiting[id_] = asyncio.Event()
        try:
            async with Background() as telling:
                if self.notify is not None:
                    telling.start(_call_notify(self.notify, await self.get(id_), token), f"notify for {id_}")
                return await self._answered(id_, woken)
        finally:
            self._waiting.pop(id_, None)

    async def _answered(self, id_: str, woken: asyncio.Event) -> Answer:
        while True:
            woken.clear()
            approval, left_ms = await self._look(
                lambda db: (row.exact(db, id_), row.left_ms(db, id_, self._moment()))
            )
            if approval is None:
                raise ActionRejected(f"The request {id_} was deleted from the store")
            if not approval.is_open:
                return Answer.of(approval)
            await wait_for_event(self._clock, woken, max(0.0, min(POLL_MS, left_ms)))

    @asynccontextmanager
    async def _withdrawn_when_cancelled(self, id_: str) -> AsyncIterator[None]:
        try:
            yield
        except asyncio.CancelledError:
            # The store works in order, so this comes after a pending insert.
            await uninterrupted(self.end(id_))
            raise

    def _wake(self, id_: str) -> None:
        if id_ in self._waiting:
            self._waiting[id_].set()

    def _refuse_closed(self, approval: AskedApproval) -> None:
        state = approval.state
        if approval.is_open:
            return
        by = f" by {approval.answered_by}" if approval.answered_by else ""
        raise ActionRejected(
            f"The request {approval.id} is {state}{by}: it can't be answered again",
            hint="Send the action again; a new question is asked.",
            approval=approval.id,
            state=state,
        )

    async def _check_token(self, approval: AskedApproval, token: str) -> None:
        def stored(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT token_hash FROM approvals WHERE id = ?", (approval.id,)).fetchone()
            return str(row[0])

        if not hmac.compare_digest(_hash(token), await self._store.read(stored)):
            raise ActionRejected(
                f"This link does not fit the request {approval.id}",
                hint="Open the link that came with the request.",
                approval=approval.id,
            )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="backslashreplace")).hexdigest()


def _keys(approval: AskedApproval, numbers: Collection[int]) -> list[str]:
    keys = list(approval.request.volatile)
    for number in numbers:
        if not 1 <= number <= len(keys):
            raise InvalidAction(
                f"{approval.id} names {len(keys)} elements that change by themselves, not {number}",
                path="may_change",
                hint="`handrail approvals --json` lists them under `volatile`; the first is 1.",
            )
    return [keys[number - 1] for number in numbers]


def _check_span(approval: AskedApproval, span: Span | None) -> None:
    if span is not None and SPANS.index(span) > SPANS.index(approval.request.remember):
        longest = approval.request.remember
        raise InvalidAction(
            f"The answer to {approval.id} can't be remembered for {span!r}: its rule says {longest!r}",
            path="remember",
            hint="Answer without --remember, or change the rule."
            if longest == "never"
            else f"Use {longest}.",
        )


def _check_allowed(approval: AskedApproval, approved: bool, remember: Span | None) -> None:
    """Only a plain yes can bring a grant, and only if the rule permits one."""
    if not approved or remember is not None:
        raise InvalidAction(
            "Only a plain yes can be given for a time", path="for", hint="Leave --remember out."
        )
    if not approval.request.may_allow:
        raise InvalidAction(
            f"The like of {approval.id} can't be allowed for a time",
            path="for",
            hint='Answer once. A rule with remember = "time" lets you, where its scope can be named.',
        )


def _unusable_approval(approval: AskedApproval, digest: str, asker: str) -> ActionRejected:
    if approval.state != "approved":
        why = f"is {approval.state}"
    elif approval.consumed_ms is not None:
        why = "was used already"
    elif approval.request.digest != digest:
        why = "was given for another action, device or screen"
    elif approval.request.asker != asker:
        why = "was given to another session"
    else:
        why = "is too old"
    return ActionRejected(
        f"The approval {approval.id} {why}", hint="Look at the screen and ask again.", approval=approval.id
    )


KeepSecret = Callable[[str, str], str]
"""Takes a name and a value, returns the placeholder."""
_MOST_DATA = 64 * 1024
_LIMIT = 256 * 1024
_SECONDS = 5.0


class Handover:
    """Passes the data of answers on. Without `keep_secret` a process can answer but not ask for secrets."""

    def __init__(self, keep_secret: KeepSecret | None) -> None:
        self._keep_secret = keep_secret

    @asynccontextmanager
    async def mailbox(self, id_: str, request: AuthorizationRequest) -> AsyncIterator[str | None]:
        """A Unix socket that is open as long as the question; None for a question without data."""
        if request.kind != "human_auth" or self._keep_secret is None:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="handrail-") as folder:  # mode 0700
            path = f"{folder}/answer"
            server = await asyncio.start_unix_server(partial(self._serve, id_), path, limit=_LIMIT)
            try:
                yield path
            finally:
                server.close()

    async def _serve(self, id_: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Invalid input gets no placeholders, and so can't be an answer."""
        try:
            async with asyncio.timeout(_SECONDS):
                taken = self._keep(id_, json.loads(await reader.readline()))
                writer.write(json.dumps(taken).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError, RecursionError):
            pass
        finally:
            await _hang_up(writer)

    async def storable(
        self, approval: AskedApproval, data: Any, approved: bool, *, readable: bool, is_here: bool
    ) -> Any:
        """The data as it may be stored. `is_here`: this process asked the question."""
        if approval.request.kind != "human_auth" or not approved:
            raise InvalidAction("Only an approval of request_human_auth brings data", path="data")
        if len(json.dumps(data)) > _MOST_DATA:
            raise InvalidAction(f"The data is larger than {_MOST_DATA:,} bytes", path="data")
        if readable:
            return data
        return self._keep(approval.id, data) if is_here else await deliver(approval.mailbox, data)

    def _keep(self, name: str, data: Any) -> Any:
        """The data with a placeholder for every text and number."""
        if self._keep_secret is None:
            raise InvalidAction(
                "This process has no place for secrets", path="data", hint="Answer without data."
            )
        if isinstance(data, dict):
            return {key: self._keep(f"{name}_{key}", value) for key, value in data.items()}
        if isinstance(data, list):
            return [self._keep(f"{name}_{at}", value) for at, value in enumerate(data)]
        if data is None or isinstance(data, bool):
            return data
        # Two people may answer at once: a late value must not replace the one that counts.
        unique = re.sub(r"\W", "_", f"{name}_{secrets.token_hex(2)}", flags=re.ASCII).upper()
        return self._keep_secret(unique, str(data))


async def deliver(path: str | None, data: Any) -> Any:
    """Sends data to the process that asked. Returns it with placeholders.

    Without a path or a listener, that process is gone.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=_LIMIT)
            try:
                writer.write(json.dumps(data).encode() + b"\n")
                await writer.drain()
                return json.loads(await reader.readline())
            finally:
                await _hang_up(writer)
    except (OSError, ValueError, TimeoutError):
        raise ActionRejected(
            "The process that asked is not there any more, so it can't be given a secret",
            hint="Reject the request, or start the task again and answer the new one.",
        ) from None


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _call_notify(notify: Notify, request: AskedApproval, token: str | None) -> None:
    """A plain function runs in a thread of its own, because it may wait for a person."""
    kinds = [each.kind for each in inspect.signature(notify).parameters.values()]
    by_place = [kind for kind in kinds if kind <= inspect.Parameter.VAR_POSITIONAL]
    takes_token = len(by_place) > 1 or by_place == [inspect.Parameter.VAR_POSITIONAL]
    arguments = (request, token) if takes_token else (request,)
    is_async = inspect.iscoroutinefunction(notify) or inspect.iscoroutinefunction(type(notify).__call__)
    outcome = notify(*arguments) if is_async else await asyncio.to_thread(notify, *arguments)
    if inspect.isawaitable(outcome):
        await outcome
