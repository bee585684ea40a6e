"""Every example flow by `run_flow` of a real MCP server, called with the official client."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.scenario.doors import HANDRAIL, environment

pytestmark = pytest.mark.slow

FLOWS = Path(__file__).parents[2] / "examples" / "flows"
POLICY = """
[[rule]]
name = "commands on simulated phones"
action = "shell"
device = "127.0.0.1:*"
verdict = "allow"
"""
AFRESH = [{"stop_app": "com.google.android.contacts"}, {"press_key": "home"}]
"""An earlier example leaves a half-filled form."""
ASKS, TWO_PHONES = "shop_payment.yaml", "two_phones.yaml"
ALONE = sorted(
    path.name
    for path in FLOWS.glob("[!_]*")
    if path.suffix in (".yaml", ".json") and path.name not in (ASKS, TWO_PHONES)
)


async def test_every_example_that_needs_one_phone_and_no_person_passes(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "policy.toml").write_text(POLICY)
    words = [*HANDRAIL[1:], "mcp", "--sim", "--tools", "flow", "--flows", str(FLOWS)]
    server = StdioServerParameters(command=HANDRAIL[0], args=words, env=environment(tmp_path))
    told = {}
    async with Client(stdio_client(server)) as client:
        for name in [*ALONE, TWO_PHONES]:
            for what in ({"steps": AFRESH}, {"file": name}):
                arguments = {**what, "reason": "I show that the example works"}
                result = await client.call_tool("run_flow", arguments, read_timeout_seconds=150)
            told[name] = result.content[0].text
    assert len(ALONE) >= 10
    failed = {name: told[name] for name in ALONE if not told[name].startswith("All ")}
    assert not failed
    assert "no device 'alice'" in told[TWO_PHONES]  # the server has one phone, and no `--device alice=…`
