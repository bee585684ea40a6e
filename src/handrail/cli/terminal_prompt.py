"""Asking at the terminal where a command runs: a question, one line of answer, no echo for secrets.

Answers given elsewhere win while it waits: the prompt then disappears.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from handrail.cli.output import phone_words
from handrail.engine.approval import Approvals, AskedApproval
from handrail.engine.policy import Span
from handrail.errors import HandrailError
from handrail.terminal import is_typed_for_us
from handrail.tree.quote import clean, cut

_ANSWERS: dict[str, tuple[bool, Span | None]] = {
    "y": (True, None),
    "yes": (True, None),
    "s": (True, "session"),
    "a": (True, "always"),
    "n": (False, None),
    "no": (False, None),
}


class TerminalPrompt:
    """Usable as `notify` of `Approvals`; where no person sits, it says what is waited for."""

    def __init__(
        self, approvals: Approvals, *, source: TextIO | None = None, sink: TextIO | None = None
    ) -> None:
        self._approvals = approvals
        self._source = source or sys.stdin
        self._sink = sink or sys.stderr

    @property
    def is_possible(self) -> bool:
        ends = self._source.isatty() and self._sink.isatty()
        return ends and is_typed_for_us(self._source.fileno())

    async def __call__(self, one: AskedApproval, token: str | None) -> None:  # noqa: ARG002  (links are for other doors)
        self._show(one)
        if not self.is_possible:
            self._say(f"  Waiting. Answer with: handrail approve {one.id}  (or: handrail reject {one.id})\n")
            return
        self._say(f"  {one.id}; also: handrail approve {one.id}\n")
        # What was typed before the question could be read is no answer to it.
        termios.tcflush(self._source.fileno(), termios.TCIFLUSH)
        try:
            await self._ask(one)
        except HandrailError as error:
            self._say(f"{error.message}\n")

    async def _ask(self, one: AskedApproval) -> None:
        while True:
            self._say(f"{_choices(one)} ")
            line = await self._line()
            if line is None:
                return  # end of input: somebody else may still answer
            approved, span = _ANSWERS.get(line.strip().lower(), (None, None))
            if approved is None or (span is not None and not _offers(one, span)):
                self._say("Please answer with one of the letters.\n")
                continue
            data = await self._data(one) if approved and one.request.wants_data else None
            await self._approvals.answer(one.id, approved, "terminal", data=data, remember=span)
            return

    async def _data(self, one: AskedApproval) -> str | None:
        who = "the agent does not see it" if one.request.is_secret else "the agent will read it"
        self._say(f"What was asked for ({who}; empty for nothing): ")
        with self._without_echo() if one.request.is_secret else _as_it_is():
            line = await self._line()
        self._say("\n" if one.request.is_secret else "")
        return line.rstrip("\r\n") or None if line is not None else None

    def _show(self, one: AskedApproval) -> None:
        asked = one.request
        label = f' "{cut(clean(asked.label), 80)}"' if asked.label else ""
        lines = [
            f"? {one.action_type}{label} on {clean(phone_words(asked.device))}",
            f"  {cut(clean(asked.instruction), 300)}",
        ]
        lines += [f"  why asked: {cut(clean(asked.why), 200)}"] if asked.why else []
        lines += [f"  the agent says: {cut(clean(asked.reason), 200)}"] if asked.reason else []
        self._say("\n".join(lines) + "\n")

    def _say(self, text: str) -> None:
        self._sink.write(text)
        self._sink.flush()

    async def _line(self) -> str | None:
        """One line, without a thread that nobody could end; None at the end of input."""
        loop = asyncio.get_running_loop()
        handle = self._source.fileno()
        ready = asyncio.Event()
        loop.add_reader(handle, ready.set)
        try:
            await ready.wait()
        except asyncio.CancelledError:
            self._say("\n(answered elsewhere, expired or stopped)\n")
            raise
        finally:
            loop.remove_reader(handle)
        data = os.read(handle, 65_536)  # a terminal gives whole lines
        return data.decode(errors="replace") if data else None

    @contextmanager
    def _without_echo(self) -> Iterator[None]:
        handle = self._source.fileno()
        before = termios.tcgetattr(handle)
        silent = [*before]
        silent[3] = before[3] & ~termios.ECHO
        termios.tcsetattr(handle, termios.TCSAFLUSH, silent)
        try:
            yield
        finally:
            termios.tcsetattr(handle, termios.TCSAFLUSH, before)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def _offers(one: AskedApproval, span: Span) -> bool:
    return one.request.remember in ("always", span)


def _choices(one: AskedApproval) -> str:
    spans: list[tuple[Span, str]] = [("session", "[s] yes, for this session"), ("always", "[a] yes, always")]
    offered = [words for span, words in spans if _offers(one, span)]
    return ", ".join(["[y] yes, once", *offered, "[n] no:"])
