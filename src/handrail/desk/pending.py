"""Questions to one browser: bound to the browser that was asked, answered once, with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from handrail.clock import Clock
from handrail.desk.client import Client
from handrail.errors import InvalidAction, Timeout, Unsupported
from handrail.protocol.message import RenderingFeedback

Kind = Literal["iframe", "capture"]
ANSWER_MS = 5_000


@dataclass(slots=True)
class Question:
    """What a browser owes us."""

    kind: Kind
    key: str
    client: Client
    answer: asyncio.Future[RenderingFeedback]


class Pending:
    """The open questions of one desk, by request id."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, Question] = {}

    def ask(self, request_id: str, kind: Kind, key: str, client: Client) -> Question:
        """Note the question before it is sent, so that no answer comes too early."""
        self.refuse_taken(request_id)
        question = Question(kind, key, client, asyncio.get_running_loop().create_future())
        self._open[request_id] = question
        return question

    def refuse_taken(self, request_id: str, others: Collection[str] = ()) -> None:
        """An answer must be able to tell to which question it belongs."""
        if request_id in self._open or request_id in others:
            raise InvalidAction(
                f"requestId: {request_id!r:.80} waits for its answer already",
                hint="Leave requestId out, or use another one.",
                path="requestId",
            )

    async def wait(self, request_id: str, question: Question) -> RenderingFeedback:
        """The answer. Raises `Timeout` after 5 s and `Unsupported` when the browser leaves."""
        timer = asyncio.ensure_future(self._clock.sleep_ms(ANSWER_MS))
        both: set[asyncio.Future[Any]] = {question.answer, timer}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if question.answer.done():
                return question.answer.result()
        finally:
            self.forget(request_id)
            timer.cancel()
            await asyncio.gather(timer, return_exceptions=True)
        raise Timeout(
            f"{question.key}: the browser did not answer within {ANSWER_MS} ms",
            hint="Try again; the page may be hidden or busy.",
            retryable=True,
        )

    def forget(self, request_id: str) -> None:
        """Nobody waits for this any more."""
        self._open.pop(request_id, None)

    def answer(self, client: Client, feedback: RenderingFeedback) -> None:
        """A browser's answer. Every browser tells of its iframes; only the one that was asked counts."""
        question = self._open.get(feedback.request_id)
        if question is None or question.client is not client or question.kind != feedback.kind:
            if feedback.kind == "iframe":
                return
            raise InvalidAction(
                f"requestId: nobody asked this browser for {feedback.request_id!r:.80}", path="requestId"
            )
        if not question.answer.done():
            question.answer.set_result(feedback)

    def awaits_capture(self, client: Client) -> bool:
        """True while this browser was asked for a capture: its next frame may be a large one."""
        return any(asked.kind == "capture" and asked.client is client for asked in self._open.values())

    def left(self, client: Client) -> None:
        """A browser is gone: what it owed is not waited for."""
        for question in self._open.values():
            if question.client is client and not question.answer.done():
                why = f"{question.key}: the browser that was asked has left"
                question.answer.set_exception(Unsupported(why, hint="Open the desk in a browser."))
