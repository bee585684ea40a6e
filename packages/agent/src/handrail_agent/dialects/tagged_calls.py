"""Calls in tags: `<function=click><parameter=point>…`, `<invoke name="click"><parameter name="index">…`."""

from __future__ import annotations

import re
from typing import Any

_CALL = re.compile(
    r"<(?:function\s*=\s*|(?:function|invoke)\s+name\s*=\s*)[\"']?(\w{1,40})[\"']?[^<>]*>(.*?)</(?:function|invoke)>",
    re.S,
)
_FIELD = re.compile(
    r"<parameter\s*(?:=\s*|\s+name\s*=\s*)[\"']?(\w{1,40})[\"']?[^<>]*>(.*?)</parameter>", re.S
)


def tagged_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Name and fields of every call that has an end, in order. Values are texts."""
    return [
        (call[1], {field[1]: field[2].strip("\r\n") for field in _FIELD.finditer(call[2])})
        for call in _CALL.finditer(text)
    ]


def begins_call(text: str) -> bool:
    return "<function" in text or "<invoke" in text
