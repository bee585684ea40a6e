"""Thirty mistakes that agents make, over MCP's standard input and output and on the command line.

The judge goes by plain rules and knows nothing of how the answers are made: a code, what was delivered, a
next step that exists, few words, and nothing that only a Python programmer could read.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from handrail.errors import ERRORS
from tests.mcp_conformance.door import MODERN, text_of
from tests.unit.cli.command import Handrail, handrail

__all__ = ["handrail"]

WHY = {"reason": "I try it"}
READS = {"expect", "wait_for", "get_ui_tree", "screenshot", "devices", "what_changed"}
MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("tap", {"target": "Dispaly", **WHY}), ("tap", {"target": "Zebra crossing", **WHY}),
    ("tap", {"target": "@b999", **WHY}), ("tap", {"target": "Display"}), ("tap", {"x": 10, **WHY}),
    ("tap", {"target": {"tekst": "Display"}, **WHY}), ("tap", {"target": "", **WHY}),
    ("tap", {"target": {"class_name": "TextView"}, **WHY}),
    ("tap", {"target": {"role": "slider", "within": {"id": "nowhere"}}, **WHY}),
    ("tap", {"target": "9999,9999", **WHY}),
    ("tap", {"target": "Display", "expect": "Zebra crossing", **WHY}),
    ("click", {"target": "Display", **WHY}), ("type_text", {"text": "hello", **WHY}),
    ("type_text", {"target": "Display", "text": "hello", **WHY}),
    ("type_text", {"target": "Search settings", **WHY}), ("start_app", {"package": "Notes", **WHY}),
    ("start_app", {"name": "Nots", **WHY}), ("start_app", {"name": "Zebra", **WHY}), ("start_app", WHY),
    ("start_app", {"package": "com.handrail.notes", "name": "Notes", **WHY}),
    ("stop_app", {"package": "com.handrail.noets", **WHY}), ("scroll_to", {"target": "Zebra", **WHY}),
    ("scroll_to", {"target": "Display", "direction": "downwards", **WHY}), ("swipe", WHY),
    ("press_key", {"key": "bakc", **WHY}), ("wait_for", {"visible": "Zebra", "timeout_ms": 100}),
    ("wait_for", {}), ("expect", {"visible": "Zebra"}), ("expect", {}),
    ("expect", {"target": "Display", "equals": "Screen"}), ("request_human_auth", {}),
    ("request_human_auth", {"instruction": " "}), ("get_ui_tree", {"format": "xml"}),
    ("connect", {"device": "nowhere"}), ("run_flow", {"path": "nowhere.yaml", **WHY}),
    ("long_press", {"target": "Display", "duration": "1s", **WHY}),
    ("open_url", {"url": "example.com", **WHY}),
]  # fmt: skip
OF_PYTHON = re.compile(
    r"\{'|\['|': |\bNone\b|\bTrue\b|\bFalse\b|<class |<\w+ object|\b(Selector|Point|Condition)\("
    r"|Capability\.|dict\[|\bstr\b"
)
TOKENS = 220
"""At four characters each; the screen below the frame is not counted: it is what was asked for."""
DELIVERY = re.compile(
    r"^(Nothing was delivered\.|Delivered: .+|It may have been delivered: .+)$", re.MULTILINE
)
NEXT = re.compile(
    r"Did you mean \S|There are: |Try |Use |Give |Call |Aim |Tap |Look |takes: |For example: |Say |Plug "
    r"|shows |handrail |scroll_to|get_ui_tree"
)


def judge(said: str, tools: set[str], *, is_read: bool) -> None:
    """Raises where an agent would be left alone."""
    code, _, rest = said.partition(":")
    assert code in ERRORS, said
    ours = rest.partition("[from the device")[0]
    assert len(ours) / 4 <= TOKENS, said
    assert not OF_PYTHON.search(ours), (OF_PYTHON.search(ours), said)
    assert NEXT.search(ours), said
    assert is_read or DELIVERY.search(ours), said
    for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", "\n".join(ours.splitlines()[1:])):
        assert word in tools | FIELDS, f"{word} is no tool and no field here: {said}"


FIELDS = {"class_name", "timeout_ms", "duration_ms", "only_interactive", "search_action_bar_title"}


@pytest.mark.parametrize("front", ["com.android.settings"])
def test_thirty_mistakes_over_mcp_are_answered_so_that_an_agent_can_go_on(tmp_path: Path, front: str) -> None:
    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "handrail.cli.main", "mcp", "--sim"],
        env={**os.environ, "HANDRAIL_HOME": str(tmp_path)},
    )

    async def story() -> None:
        async with asyncio.timeout(120), Client(process, mode=MODERN) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            for name, arguments in MISTAKES:
                await client.call_tool("start_app", {"package": front, **WHY})
                answer = await client.call_tool(name, arguments)
                said = text_of(answer)
                assert answer.is_error, (name, arguments, said)
                judge(said, tools | ACTIONS_ELSEWHERE.get(name, set()), is_read=name in READS)

    assert len(MISTAKES) >= 30
    asyncio.run(story())


ACTIONS_ELSEWHERE = {"open_url": {"open_url"}}
"""Another profile has it, and the answer says which."""

COMMANDS = [
    "tap Dispaly", "tap", "tap --text Zebra --index -1", "start-app Notes", "start-app", "swipe",
    "swipe sideways", "expect-visible Zebra", "request-human-auth", "scroll-to Zebra", "press-key bakc",
    "wait-for", "set-network", "expect-text Bank", "open-url example.com",
    "long-press Bank --duration-ms soon",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_the_same_mistakes_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handrail: Handrail, line: str
) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    done = handrail(*line.split(), "--sim")
    assert done.code in (1, 2, 3), (done.out, done.err)
    assert done.out == ""
    if not done.err.startswith("Usage:"):
        assert not OF_PYTHON.search(done.err), done.err
        assert done.err.partition(":")[0] in ERRORS, done.err
        assert NEXT.search(done.err), done.err
