"""JSON-RPC 2.0 as jsonrpc4j speaks it: overloads chosen by number and type of parameters, Java's errors.

Owns the table that methods register in; knows no method.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from handrail_sim.channels.u2.selector import BadSelector, parse

if TYPE_CHECKING:
    from handrail_sim.channels.u2.server import Server

METHOD_NOT_FOUND = (-32601, "method not found")
INVALID_PARAMS = (-32602, "method parameters invalid")
INVALID_REQUEST = (-32600, "invalid request")
PARSE_ERROR = (-32700, "JSON parse error")
THROWN = -32001  # the jar's code for whatever a method throws


class JavaError(Exception):
    """An exception on the phone: the class goes into `message`, the text or stack trace into `data`."""

    def __init__(self, cls: str, text: str) -> None:
        super().__init__(f"{cls}: {text}")
        self.cls = cls
        self.text = text

    @property
    def data(self) -> str:
        """The bare text for a missing object, a stack trace for everything else."""
        if self.cls == NOT_FOUND:
            return self.text
        return f"{self.cls}: {self.text}\n\tat com.wetest.uia2.stub.AutomatorServiceImpl(Unknown Source)\n"


NOT_FOUND = "androidx.test.uiautomator.UiObjectNotFoundException"


def not_found(text: object) -> JavaError:
    """No such object; the text is the selector as Java prints it."""
    return JavaError(NOT_FOUND, str(text))


_INJECTING = """
clearInputText click clickAndWaitForNewWindow drag dragTo flingBackward flingForward flingToBeginning
flingToEnd gesture injectInputEvent longClick pasteClipboard pinchIn pinchOut pressKey pressKeyCode
scrollBackward scrollForward scrollTo scrollToBeginning scrollToEnd sleep swipe swipePoints wakeUp
"""
INJECTING = frozenset(_INJECTING.split())
"""Methods that send touches or keys, which a phone may forbid."""
NOT_ALLOWED = "Injecting to another application requires INJECT_EVENTS permission"

Run = Callable[..., Awaitable[Any]]
RunT = TypeVar("RunT", bound=Run)


@dataclass(frozen=True, slots=True)
class Overload:
    """One Java method: the kinds of its parameters, and what it does here."""

    kinds: tuple[str, ...]
    run: Run


METHODS: dict[str, list[Overload]] = {}


def method(name: str, *kinds: str) -> Callable[[RunT], RunT]:
    """Register a function as a method; several kinds lists make overloads."""

    def register(run: RunT) -> RunT:
        METHODS.setdefault(name, []).append(Overload(kinds, run))
        return run

    return register


def _fits(kind: str, value: Any) -> int:
    """2: this very type; 1: Jackson would convert it; 0: no."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    exact: dict[str, bool] = {
        "int": isinstance(value, int) and number,
        "float": number,
        "bool": isinstance(value, bool),
        "text": isinstance(value, str),
        "selector": isinstance(value, dict) and "mask" in value,
        "point": isinstance(value, dict) and "mask" not in value,
        "object": isinstance(value, dict),
        "ints": isinstance(value, list),
        "selectors": isinstance(value, list),
        "texts": isinstance(value, list),
    }
    if exact[kind]:
        return 2
    loose = {"int": number, "text": value is None, "selector": isinstance(value, dict)}
    return int(loose.get(kind, False))


def _convert(kind: str, value: Any) -> Any:
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    if kind == "selector":
        return parse(value)
    if kind == "point":
        return (int(value.get("x", 0)), int(value.get("y", 0)))
    if kind == "ints":
        return [int(one) for one in value]
    if kind == "selectors":
        return [parse(one) for one in value]
    return value if value is None or kind != "text" else str(value)


def choose(name: str, params: list[Any]) -> tuple[Overload, list[Any]] | None:
    """The overload that fits best, with converted parameters."""
    best: tuple[int, Overload] | None = None
    for overload in METHODS[name]:
        if len(overload.kinds) != len(params):
            continue
        scores = [_fits(kind, value) for kind, value in zip(overload.kinds, params, strict=True)]
        if all(scores) and (best is None or sum(scores) > best[0]):
            best = (sum(scores), overload)
    if best is None:
        return None
    overload = best[1]
    return overload, [_convert(kind, value) for kind, value in zip(overload.kinds, params, strict=True)]


async def respond(server: Server, body: bytes) -> Any:
    """The answer to one request, or to a batch of them."""
    try:
        request = json.loads(body)
    except ValueError:
        return _error("null", *PARSE_ERROR)
    if isinstance(request, list):
        return [await _one(server, one) for one in request]
    return await _one(server, request)


async def _one(server: Server, request: Any) -> dict[str, Any]:
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return _error("null", *INVALID_REQUEST)
    number, name = request.get("id"), request["method"]
    if name not in METHODS:
        return _error(number, *METHOD_NOT_FOUND)
    params = request.get("params") or []
    chosen = _chosen(name, params)
    if chosen is None:
        return _error(number, *INVALID_PARAMS)
    overload, values = chosen
    await server.phone.faults.delay("u2", name)
    if name not in INJECTING:
        await server.phone.refresh_web()
    try:
        _refuse(server, name)
        return {"jsonrpc": "2.0", "id": number, "result": await overload.run(server, *values)}
    except BadSelector as error:
        thrown = JavaError("java.util.regex.PatternSyntaxException", str(error))
    except JavaError as error:
        thrown = error
    return _error(number, THROWN, thrown.cls, thrown.data)


def _refuse(server: Server, name: str) -> None:
    faults = server.phone.faults
    refused = faults.active("input_refused") if name in INJECTING else None
    if refused is not None and refused.options["helpers"] and faults.get("input_refused") is not None:
        raise JavaError("java.lang.SecurityException", NOT_ALLOWED)


def _chosen(name: str, params: Any) -> tuple[Overload, list[Any]] | None:
    """None also for parameters that look right and can't be converted."""
    try:
        return choose(name, params) if isinstance(params, list) else None
    except (TypeError, ValueError, AttributeError):
        return None


def _error(number: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    told = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": number, "error": told}
