"""Every failure code through the door: `isError`, code and hint in the text, and a valid result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.types import CallToolResult

from handrail.engine.session import Session
from handrail.errors import ERRORS
from tests.mcp_conformance.door import MODERN, OLDER, door, over_http, text_of
from tests.scenario.world import play_live

ASYNC_RUNNER = play_live

TAP = {"target": "@b1", "reason": "I press it"}


def failing(session: Session, code: str, *, early: bool) -> Any:
    """The session's `run` with one failure put in: before there is an envelope, or inside one."""
    real = session.run

    async def run(action: Any, **more: Any) -> Any:
        error = ERRORS[code](f"provoked {code}", hint=f"what to do about {code}")
        if early:
            raise error
        done = await real({"type": "get_state"}, **more)
        told = {"success": False, "lifecycle_state": "failed", "failure_code": code}
        return done.model_copy(
            update={**told, "action_type": action.type, "message": error.message, "hint": error.hint}
        )

    return run


@pytest.mark.parametrize("early", [True, False], ids=["before an envelope", "in an envelope"])
@pytest.mark.parametrize("mode", [MODERN, OLDER])
async def test_every_failure_code_is_an_error_with_code_and_hint(
    tmp_path: Path, mode: str, early: bool
) -> None:
    async with door(tmp_path) as d, d.client(mode) as client:
        for code in ERRORS:
            d.world.session.run = failing(d.world.session, code, early=early)  # type: ignore[method-assign]
            result = await client.call_tool("tap", TAP)
            del d.world.session.run  # type: ignore[method-assign]
            said = text_of(result)
            assert result.is_error, code
            assert said.startswith(code), said
            assert f"what to do about {code}" in said
            again = CallToolResult.model_validate(result.model_dump(by_alias=True))
            assert again.content == result.content


@pytest.mark.parametrize("mode", [MODERN, OLDER])
@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("tap", {"target": "Nobody knows this", "reason": "I try"}, "ELEMENT_NOT_FOUND"),
        ("tap", {"target": "@b999", "reason": "I try"}, "STALE_REFERENCE"),
        ("tap", {"reason": "I try"}, "INVALID_ACTION"),
        ("tab", {}, "INVALID_ACTION"),
        ("start_app", {"package": "com.example.nothing", "reason": "I try"}, "APP_NOT_INSTALLED"),
        ("wait_for", {"visible": "Nobody knows this", "timeout_ms": 0}, "TIMEOUT"),
        ("expect", {"visible": "Nobody knows this", "timeout_ms": 0}, "ASSERTION_FAILED"),
    ],
)
async def test_a_real_failure_over_http_is_an_error_that_the_client_accepts(
    tmp_path: Path, mode: str, tool: str, arguments: dict[str, Any], code: str
) -> None:
    async with door(tmp_path) as d, over_http(d) as address, Client(address, mode=mode) as client:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert text_of(result).startswith(code), text_of(result)
