"""Profiles that are another server's tools, exactly: names, parameters, and the first block of the answer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from handrail.errors import HandrailError
    from handrail.mcp.answer import ToolAnswer
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool

SEEDS = ("interaction", "mobile_debug", "agentest", "openpocket", "mobile_mcp", "agent_device")
_TABLES = ("openpocket", "mobile_mcp", "agent_device")
"""Whose tools are rows of a table."""


class Seed(Protocol):
    """What a module here has."""

    def tools(self) -> list[Tool]: ...

    async def answer(self, call: Call) -> ToolAnswer: ...

    def failure(self, call: Call, error: HandrailError) -> str:
        """A failure that came before any action began. The arguments may be wrong in any way."""
        ...


def seed(profile: str) -> Seed | None:
    """The module of a profile; None for native ones. Imported when asked for: one brings all of flows."""
    if profile not in SEEDS:
        return None
    if profile in _TABLES:
        return cast("Seed", importlib.import_module("handrail.mcp.seeds.tables").PROFILES[profile])
    return cast("Seed", importlib.import_module(f"handrail.mcp.seeds.{profile}"))
