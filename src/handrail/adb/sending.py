"""What one piece of work has sent to a device so far, so that its failure can say whether anything arrived.

A command that only asks delivers nothing. One that the device refused has changed nothing either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from handrail.adb.shell import Command, Script
from handrail.errors import HandrailError

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
"""How commands begin that change nothing. Whatever is not listed may change something."""

_sent: ContextVar[list[str] | None] = ContextVar("sent", default=None)
"""What became of each command of the work that is going on, in the words of an envelope's `delivery`."""


def tells_delivery(work: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Whatever it raises says in `delivery` what the device got of it."""

    @wraps(work)
    async def told(*args: P.args, **options: P.kwargs) -> T:
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

    return told


@contextmanager
def sending(command: Command) -> Iterator[Callable[[bool], None]]:
    """Around one command. In doubt until it is answered: by success, or by a refusal."""
    sent = _sent.get()
    if sent is None or only_asks(command):
        yield lambda _: None
        return
    at = len(sent)
    sent.append("unknown")

    def answered(ok: bool) -> None:
        # A script may have done half of its work.
        sent[at] = "delivered" if ok else "unknown" if isinstance(command, Script) else "not_delivered"

    try:
        yield answered
    except HandrailError as error:
        if error.details.get("delivery") == "not_delivered":
            sent[at] = "not_delivered"
        raise


def was_refused() -> None:
    """The device's words, not its exit code, say that the last command changed nothing."""
    sent = _sent.get()
    if sent:
        sent[-1] = "not_delivered"


def only_asks(command: Command) -> bool:
    """Nothing on the device is another after it."""
    if isinstance(command, str):
        return False
    words = tuple(command[2:] if command[0] == "run-as" else command)  # as the app's own user
    return any(words[: len(one)] == one for one in QUESTIONS)
