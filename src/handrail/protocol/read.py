"""From untrusted data to actions: whatever comes in, only `InvalidAction` comes out, with the path."""

from __future__ import annotations

import re
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import from_json

from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTION, ACTIONS, AnyAction
from handrail.protocol.problems import invalid_action

MAX_BYTES = 8_000_000
"""Larger input is refused unread: a picture in a window fits, a flood does not."""


def read_action(data: str | bytes) -> AnyAction:
    """One action from JSON."""
    _refuse_large(data)
    try:
        return ACTION.validate_json(data)
    except ValidationError as error:
        raise invalid_action(error, read_json(data)) from None


def action_from(value: Any) -> AnyAction:
    """One action from parsed data."""
    try:
        return _by_its_class(value) or ACTION.validate_python(value)
    except ValidationError as error:
        raise invalid_action(error, value) from None


def _by_its_class(value: Any) -> AnyAction | None:
    """The quick way: nothing but the one class is built. None where the union has to say what is wrong."""
    cls = (
        ACTIONS.get(value["type"]) if isinstance(value, dict) and isinstance(value.get("type"), str) else None
    )
    if cls is None:
        return None
    try:
        return cast("AnyAction", cls.model_validate(value))
    except ValidationError:
        return None


def read_json(data: str | bytes) -> Any:
    """JSON of any shape, with limits on size and depth."""
    _refuse_large(data)
    try:
        return from_json(data, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # TypeError: a string with lone surrogates
        line = re.search(r"line (\d+) column (\d+)", str(error))
        place: dict[str, Any] = {"line": int(line[1]), "column": int(line[2])} if line else {}
        why = "a string with lone surrogates" if isinstance(error, TypeError) else error
        raise InvalidAction(
            f"not valid JSON: {why}", path="", hint="Send one JSON object.", **place
        ) from None


def _refuse_large(data: str | bytes) -> None:
    if len(data) > MAX_BYTES:
        raise InvalidAction(f"{len(data):,} bytes are too many; at most {MAX_BYTES:,} are read", path="")
