"""A line typed at a terminal: the cursor, the history and Tab, as mksh's emacs mode does them.

Knows bytes in and bytes out, and who completes a word; no shell and no phone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable

from handrail_sim.shell.io import Sink, Source

MOST_REMEMBERED = 500
Complete = Callable[[str, bool], list[str]]
"""The names that a word may become; the flag says whether it is a command's."""


class LineEditor:
    """Lines of a terminal; the history is kept between them."""

    def __init__(self, source: Source, echo: Sink, complete: Complete) -> None:
        self.echoes = True
        self._source = source
        self._echo = echo
        self._complete = complete
        self._held = b""
        self._history: list[str] = []
        self._line = ""
        self._at = 0
        self._place = 0
        self._kept = ""
        self._keys: dict[bytes, Callable[[], Awaitable[None]]] = {
            b"\x1b[A": self._up, b"\x1bOA": self._up, b"\x10": self._up,
            b"\x1b[B": self._down, b"\x1bOB": self._down, b"\x0e": self._down,
            b"\x1b[C": self._right, b"\x1bOC": self._right, b"\x06": self._right,
            b"\x1b[D": self._left, b"\x1bOD": self._left, b"\x02": self._left,
            b"\x1b[H": self._home, b"\x1b[1~": self._home, b"\x01": self._home,
            b"\x1b[F": self._end, b"\x1b[4~": self._end, b"\x05": self._end,
            b"\x08": self._erase, b"\x7f": self._erase, b"\x1b[3~": self._delete,
            b"\x15": self._kill, b"\x0b": self._kill_end, b"\x17": self._kill_word,
            b"\t": self._complete_key, b"\x03": self._interrupt, b"\x0c": self._redraw,
        }  # fmt: skip

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        self._line, self._at, self._place = "", 0, len(self._history)
        while True:
            key = await self._key()
            if key in {b"\r", b"\n"}:
                await self._write(b"\n")
                return self._done()
            if not key or (key == b"\x04" and not self._line):
                return self._done() if self._line else None
            await self._press(key)

    def _done(self) -> str:
        if self._line.strip() and self.echoes and self._history[-1:] != [self._line]:
            self._history = [*self._history, self._line][-MOST_REMEMBERED:]
        return self._line

    async def _byte(self) -> bytes:
        if not self._held:
            self._held = await self._source.read(4096)
        byte, self._held = self._held[:1], self._held[1:]
        return byte

    async def _key(self) -> bytes:
        """One key: a byte, an escape sequence, or the bytes of one character."""
        key = await self._byte()
        if key == b"\x1b":
            key += await self._byte()
            while key[1:2] in {b"[", b"O"} and (len(key) == 2 or key[-1:] in b"0123456789;"):
                more = await self._byte()
                if not more:
                    break
                key += more
        lead = key[0] if key else 0
        count = 2 if lead >> 5 == 0b110 else 3 if lead >> 4 == 0b1110 else 4 if lead >> 3 == 0b11110 else 1
        while 0 < len(key) < count and (more := await self._byte()):
            key += more
        return key

    async def _press(self, key: bytes) -> None:
        act = self._keys.get(key)
        if act is not None:
            await act()
        elif key >= b" " and key[:1] != b"\x1b":
            await self._insert(key.decode("utf-8", "surrogateescape"))

    # what keys do

    async def _insert(self, text: str) -> None:
        rest = self._line[self._at :]
        self._line = self._line[: self._at] + text + rest
        self._at += len(text)
        await self._write((text + rest).encode("utf-8", "surrogateescape") + b"\b" * len(rest))

    async def _cut(self, start: int, end: int) -> None:
        """Take out a part; the cursor ends where it began."""
        await self._write(b"\b" * (self._at - start))
        rest = self._line[end:]
        blank = end - start
        self._line, self._at = self._line[:start] + rest, start
        shown = rest.encode("utf-8", "surrogateescape") + b" " * blank
        await self._write(shown + b"\b" * (len(rest) + blank))

    async def _erase(self) -> None:
        if self._at:
            await self._cut(self._at - 1, self._at)

    async def _delete(self) -> None:
        if self._at < len(self._line):
            await self._cut(self._at, self._at + 1)

    async def _kill(self) -> None:
        await self._right(len(self._line))
        await self._cut(0, len(self._line))

    async def _kill_end(self) -> None:
        await self._cut(self._at, len(self._line))

    async def _kill_word(self) -> None:
        before = self._line[: self._at].rstrip()
        await self._cut(before.rfind(" ") + 1, self._at)

    async def _left(self) -> None:
        if self._at:
            self._at -= 1
            await self._write(b"\b")

    async def _right(self, count: int = 1) -> None:
        passed = self._line[self._at : self._at + count]
        self._at += len(passed)
        await self._write(passed.encode("utf-8", "surrogateescape"))

    async def _home(self) -> None:
        await self._write(b"\b" * self._at)
        self._at = 0

    async def _end(self) -> None:
        await self._right(len(self._line))

    async def _up(self) -> None:
        await self._recall(self._place - 1)

    async def _down(self) -> None:
        await self._recall(self._place + 1)

    async def _recall(self, place: int) -> None:
        """Another line of the history; below the last one stands what was typed before."""
        if not 0 <= place <= len(self._history):
            await self._write(b"\a")
            return
        if self._place == len(self._history):
            self._kept = self._line
        self._place = place
        text = self._history[place] if place < len(self._history) else self._kept
        await self._kill()
        await self._insert(text)

    async def _interrupt(self) -> None:
        await self._write(b"^C\n")
        self._line, self._at = "", 0

    async def _redraw(self) -> None:
        await self._write(b"\x1b[2J\x1b[H" + self._line.encode("utf-8", "surrogateescape"))
        await self._write(b"\b" * (len(self._line) - self._at))

    async def _complete_word(self, word: str, found: list[str]) -> None:
        common = posixpath.commonprefix(found)
        if len(found) == 1:
            common += "" if common.endswith("/") else " "
        if len(common) > len(word):
            await self._insert(common[len(word) :])
        elif len(found) > 1:
            await self._write(b"\n" + "  ".join(found).encode("utf-8", "surrogateescape") + b"\n")
            await self._write(self._line.encode("utf-8", "surrogateescape"))
            await self._write(b"\b" * (len(self._line) - self._at))
        else:
            await self._write(b"\a")

    async def _complete_key(self) -> None:
        before = self._line[: self._at]
        word = before[before.rfind(" ") + 1 :]
        first = not before[: len(before) - len(word)].strip() and "/" not in word
        await self._complete_word(word, self._complete(word, first))

    async def _write(self, data: bytes) -> None:
        if self.echoes and data:
            await self._echo.write(data)
