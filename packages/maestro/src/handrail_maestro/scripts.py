"""The parent of a flow's script process: starts it when it is needed, asks it, and ends it.

A piece of code has five seconds of computing; time spent in http calls is limited apart. Whoever takes longer
loses the process, and with it everything that scripts have kept.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.clock import SystemClock
from handrail.errors import ScriptFailed
from handrail.hosts import read_address
from handrail.waiting import Deadline, Expired

COMPUTING_MS = 5_000.0
LINE = 16 << 20
"""Bytes that one line may have."""
_CHILD = Path(__file__).with_name("script_child.py")

HttpDoor = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""What a script asks of the network, and the answer; `{"refused": why}` where it may not."""


async def no_http(_: Mapping[str, Any]) -> dict[str, Any]:
    """For those who only compile or match."""
    return {"refused": "scripts have no network here"}


class Scripts:
    """One flow's process. Close it at the end of the flow."""

    def __init__(self, http: HttpDoor = no_http) -> None:
        self._clock = SystemClock()  # computing takes the time of this machine, whatever a phone thinks
        self._http = http
        self._process: asyncio.subprocess.Process | None = None
        self._copied: str | None = None
        self._is_lost = False
        self.platform = "android"
        """`maestro.platform`."""
        self.log: list[str] = []
        """What scripts have printed since it was last taken."""

    def copied(self, text: str) -> None:
        """`maestro.copiedText`, from the next evaluation on."""
        self._copied = text

    async def evaluate(self, code: str, env: Mapping[str, str]) -> str:
        """The value of the last expression, as text. Raises `ScriptFailed`."""
        copied, self._copied = self._copied, None
        known = {"copied": copied, "platform": self.platform}
        answer = await self._ask({"do": "eval", "code": code, "env": dict(env), **known})
        if "error" in answer:
            raise ScriptFailed(_told(answer["error"]), hint=f"In: {code.strip()[:200]}")
        return _clean(str(answer["text"]))

    async def compiled(self, code: str) -> tuple[str, int] | None:
        """What is wrong with the code and in which of its lines; None where nothing is."""
        answer = await self._ask({"do": "compile", "code": code})
        if "error" in answer:
            raise ScriptFailed(_told(answer["error"]))
        return (str(answer["wrong"]), int(answer["line"])) if "wrong" in answer else None

    async def matches(self, pattern: str, flags: int, texts: Sequence[str]) -> list[bool]:
        """Which texts the pattern matches as a whole; for patterns that could take for ever."""
        answer = await self._ask({"do": "match", "pattern": pattern, "flags": flags, "texts": list(texts)})
        if "error" in answer:
            raise ScriptFailed(_told(answer["error"]))
        return [bool(one) for one in answer["hits"]]

    async def close(self) -> None:
        """End it; nothing of it is left."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()

    async def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self._is_lost:
            raise ScriptFailed("The script's process was ended earlier in this flow")
        try:
            return await self._asked(asked)
        except (Expired, ScriptFailed, asyncio.CancelledError):
            await self._lose()
            raise

    async def _lose(self) -> None:
        self._is_lost = True
        await self.close()

    async def _asked(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        process = await self._started()
        left = COMPUTING_MS
        line = _line(asked)
        while True:
            began = self._clock.monotonic_ms()
            answer = await self._line_of(process, line, left)
            left -= self._clock.monotonic_ms() - began
            if "http" not in answer:
                self.log += [_clean(str(one)) for one in answer.get("log", ())]
                return answer
            line = _line(await self._call(str(answer["http"])))

    async def _call(self, text: str) -> dict[str, Any]:
        try:
            asked = json.loads(text)
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return {"refused": "that is not an HTTP call"}
        answer = await self._http(asked)
        host, _ = read_address(str(asked.get("url", ""))) or ("nowhere", 0)
        method = str(asked.get("method", ""))[:10]
        self.log.append(f"http {method} {host[:200]}: {answer.get('status', 'refused')}")
        return answer

    async def _line_of(self, process: asyncio.subprocess.Process, line: bytes, left: float) -> dict[str, Any]:
        """One line there, one line back."""
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the process was started with pipes")
        try:
            async with Deadline(self._clock, max(0.0, left)):
                process.stdin.write(line)
                await process.stdin.drain()
                read = await process.stdout.readline()
        except Expired:
            raise ScriptFailed(
                f"The script computed for more than {COMPUTING_MS / 1_000:g} s and was ended",
                hint="Look for a loop without an end.",
            ) from None
        except (OSError, ValueError):
            read = b""
        answer = json.loads(read) if read.endswith(b"\n") else None
        if not isinstance(answer, dict):
            raise ScriptFailed("The script's process died", hint="It used too much memory or time.")
        return answer

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-B", str(_CHILD),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, env={}, cwd="/", limit=LINE, start_new_session=True,
            )  # fmt: skip
        return self._process


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _told(error: object) -> str:
    """An engine's message without its stack."""
    return _clean(str(error).partition("\n")[0][:500])


def _clean(text: str) -> str:
    """Half of a surrogate pair can't be written anywhere."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
