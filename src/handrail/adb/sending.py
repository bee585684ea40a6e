"""Tracks what one action has sent to a device, so that its failure can report whether anything arrived.

A command that only reads delivers nothing. One that the device refused has changed nothing either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from handrail.errors import HandrailError

if TYPE_CHECKING:
    from handrail.adb.shell import Command

P = ParamSpec("P")
T = TypeVar("T")

QUESTIONS = (
    ("am", "get-current-user"),
    ("cat",),
    ("cmd", "package", "list"),
    ("cmd", "package", "query-activities"),
    ("cmd", "package", "resolve-activity"),
    ("dumpsys",),
    ("getprop",),
    ("logcat", "-d"),
    ("ls",),
    ("pm", "list"),
    ("ps",),
    ("settings", "get"),
    ("tail",),
)
"""Prefixes of read-only commands. Any other command may change something."""

_sent: ContextVar[list[str] | None] = ContextVar("sent", default=None)
"""Outcome of each command of the current work, in the words of `delivery`."""


def tells_delivery(work: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Errors of the wrapped function get `delivery`: what the device received."""

    @wraps(work)
    async def wrapper(*args: P.args, **options: P.kwargs) -> T:
        sent: list[str] = []
        before = _sent.set(sent)
        try:
            return await work(*args, **options)
        except HandrailError as error:
            certain = "delivered" if "delivered" in sent else "not_delivered"
            error.details["delivery"] = "unknown" if "unknown" in sent else certain
            raise
        finally:
            _sent.reset(before)

    return wrapper


@contextmanager
def sending(command: Command) -> Iterator[Callable[[bool], None]]:
    """Wraps one command. Its outcome is unknown until it is answered, by success or by a refusal."""
    sent = _sent.get()
    if sent is None or only_asks(command):
        yield lambda _: None
        return
    at = len(sent)
    sent.append("unknown")

    def answered(ok: bool) -> None:
        # A script may have run partly.
        sent[at] = "delivered" if ok else "unknown" if isinstance(command, str) else "not_delivered"

    try:
        yield answered
    except HandrailError as error:
        if error.details.get("delivery") == "not_delivered":
            sent[at] = "not_delivered"
        raise


def was_refused() -> None:
    """Marks the last command as refused, for devices that report a failure only by their output."""
    sent = _sent.get()
    if sent:
        sent[-1] = "not_delivered"


def only_asks(command: Command) -> bool:
    """Whether the command is read-only."""
    if isinstance(command, str):
        return False
    words = tuple(command[2:] if command[0] == "run-as" else command)  # as the app's own user
    return any(words[: len(question)] == question for question in QUESTIONS)
