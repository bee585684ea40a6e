"""Callbacks that outlive the object they belong to: a method's name and its arguments, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Call = dict[str, Any]  # {"method": name, "args": [...], "kwargs": {...}} or {"live": callable}


def to_call(owner: object, run: Callable[..., object] | None) -> Call | None:
    """A method of `owner`, or a partial of one, becomes data; anything else stays alive and is not kept."""
    if run is None:
        return None
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    inner: Any = run
    if isinstance(run, partial):
        inner, args, kwargs = run.func, list(run.args), dict(run.keywords)
    if getattr(inner, "__self__", None) is owner:
        return {"method": inner.__name__, "args": args, "kwargs": kwargs}
    return {"live": run}


def make(owner: object, call: Call | None, *more: Any) -> None:
    if call is None:
        return
    if "live" in call:
        call["live"](*more)
        return
    getattr(owner, call["method"])(*call["args"], *more, **call["kwargs"])


def is_plain(call: Call | None) -> bool:
    return call is None or "live" not in call
