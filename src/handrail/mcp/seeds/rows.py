"""Tools of a seed from rows of words: one row is one tool, one word of it one parameter. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.mcp.tools import Tool, annotations_of
from handrail.protocol.actions import ACTIONS
from handrail.protocol.describe import object_of

Row = tuple[str, str]
"""What it does, and its parameters: `x:number y:number duration:number? reason`."""


def tool(name: str, row: Row, native: str, kinds: Mapping[str, Any] | None = None) -> Tool:
    """`kinds` gives parameters that need more than a type; `?` marks what may be left out."""
    description, parameters = row
    fields: dict[str, Any] = {}
    required = []
    for word in parameters.split():
        field, _, kind = word.rstrip("?").partition(":")
        fields[field] = (kinds or {}).get(field) or {"type": kind or "string"}
        if not word.endswith("?"):
            required.append(field)
    effect = ACTIONS[native].traits.effect if native else "sensitive"
    return Tool(name, description, object_of(fields, required), annotations_of(effect))
