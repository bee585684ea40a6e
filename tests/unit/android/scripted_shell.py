"""A shell that answers from a list: for what a phone says rarely, or only an old one."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from handrail.adb.shell import OUTPUT_LIMIT, TIMEOUT_MS, Command, Output, Process
from handrail.errors import HandrailError

Answer = str | bytes | Output | HandrailError


class ScriptedShell:
    """Gives its answers in turn and keeps what was asked. Fills the `Shell` protocol."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def run(
        self,
        command: Command,
        *,
        stdin: bytes = b"",
        timeout_ms: float = TIMEOUT_MS,
        limit: int = OUTPUT_LIMIT,
        check: bool = True,
    ) -> Output:
        self.asked.append(command if isinstance(command, str) else " ".join(command))
        answer = self.answers.pop(0)
        if isinstance(answer, HandrailError):
            raise answer
        if isinstance(answer, Output):
            return answer
        return Output(answer.encode() if isinstance(answer, str) else answer, b"", 0)

    def start(self, command: Command) -> AbstractAsyncContextManager[Process]:
        raise AssertionError(f"nobody starts {command!r} here")
