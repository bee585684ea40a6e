"""What a client can read and pick: the device's words are marked, no secret is in it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from handrail.flow.document import loads
from handrail.mcp_server.calls import FRAME
from handrail.mcp_server.server import OFFERS
from handrail.protocol.actions import ACTIONS
from tests.mcp_conformance.door import MODERN, OLDER, Door, door, text_of
from tests.scenario.world import play_live

ASYNC_RUNNER = play_live

BOTH = pytest.mark.parametrize("mode", [MODERN, OLDER])
SECRET = "correct-horse-8841"
CONTACTS = "com.google.android.contacts"
WHY = {"reason": "I try it"}


async def read(client: Client, name: str) -> str:
    [found] = (await client.read_resource(f"handrail://{name}")).contents
    return str(getattr(found, "text", None) or getattr(found, "blob", ""))


def texts(result: Any) -> str:
    return "\n".join(
        str(getattr(one.content, "text", "") or one.content.resource.text) for one in result.messages
    )


async def lived(d: Door, client: Client) -> None:
    """Something of everything: an app, a typed text, a flow."""
    assert not (await client.call_tool("start_app", {"package": CONTACTS, **WHY})).is_error
    assert not (await client.call_tool("tap", {"target": "Create new contact", **WHY})).is_error
    steps = "- type_text: {text: Ada, target: First name}\n- expect_visible: Ada"
    ran = await client.call_tool("run_flow", {"steps": steps, **WHY})
    assert not ran.is_error, text_of(ran)
    assert d.world.inputs()


@BOTH
async def test_prompts_are_listed_and_filled_in(tmp_path: Path, mode: str) -> None:
    async with door(tmp_path) as d, d.client(mode) as client:
        listed = {one.name: one for one in (await client.list_prompts()).prompts}
        assert list(listed) == ["drive_phone", "write_flow"]
        drive = await client.get_prompt("drive_phone", {"task": "Add Ada {to} the contacts", "device": "x"})
        assert "Add Ada {to} the contacts" in texts(drive)
        assert "`connect` to x" in texts(drive)
        await lived(d, client)
        written = texts(await client.get_prompt("write_flow", {"name": "ada"}))
        flow = written[written.index(f"# {FRAME}") :]
        kinds = [step.action.type for step in loads(flow).flow.steps if hasattr(step, "action")]
        assert kinds[:2] == ["tap", "type_text"]
        assert CONTACTS in flow
        for wrong in ({}, {"task": " "}, {"task": "x", "more": "y"}, {"task": "x" * 5_000}):
            with pytest.raises(MCPError):
                await client.get_prompt("drive_phone", wrong)
        with pytest.raises(MCPError, match="drive_phone"):
            await client.get_prompt("nothing", {})


async def test_every_resource_can_be_read_and_marks_what_the_device_says(tmp_path: Path) -> None:
    async with door(tmp_path) as d, d.client(MODERN) as client:
        with pytest.raises(MCPError, match="No flow"):
            await read(client, "run")
        await lived(d, client)
        for one in OFFERS:
            assert await read(client, one.name), one.name
        screen = await read(client, f"screen/{d.world.serial}")
        assert screen.splitlines()[0] == FRAME
        assert "Ada" in screen
        assert base64.b64decode(await read(client, "picture")).startswith(b"\x89PNG")
        for name in ("run", "flow"):
            assert FRAME in (await read(client, name)).splitlines()[0]
        rows = json.loads(await read(client, "journal"))
        assert json.loads(await read(client, f"journal/{rows[0]['action_id']}"))["note"] == FRAME
        words = await read(client, "docs/actions")
        assert all(kind in words for kind in ACTIONS if "." not in kind)
        assert "ELEMENT_NOT_FOUND" in await read(client, "docs/errors")
        for wrong in ("docs/../x", "nothing", "screen/nobody", "journal/x", "docs/", "../journal"):
            with pytest.raises(MCPError):
                await read(client, wrong)


async def test_reading_a_screen_does_not_count_as_having_been_told_of_it(tmp_path: Path) -> None:
    async with door(tmp_path) as d, d.client(MODERN) as client:
        await client.call_tool("get_ui_tree", {})
        await d.world.open("com.google.android.contacts")
        await read(client, "screen")
        told = text_of(await client.call_tool("what_changed", {}))
        assert "contacts" in told


async def test_no_secret_leaves_by_a_resource_or_a_prompt(tmp_path: Path) -> None:
    """A known secret is typed, shown on the screen by the app, and asked for in every way."""
    async with door(tmp_path) as d, d.client(MODERN) as client:
        d.world.runtime.secrets.add("PIN", SECRET)
        await client.call_tool("start_app", {"package": CONTACTS, **WHY})
        await client.call_tool("tap", {"target": "Create new contact", **WHY})
        steps = f"- type_text: {{text: {SECRET}, target: First name}}"
        await client.call_tool("run_flow", {"steps": steps, **WHY})
        assert SECRET in str(d.world.phone.state()), "the phone has it, or nothing is tried here"
        rows = json.loads(await read(client, "journal"))
        asked = [*(one.name for one in OFFERS), *(f"journal/{row['action_id']}" for row in rows)]
        for name in asked:
            assert SECRET not in await read(client, name), name
        assert SECRET not in texts(await client.get_prompt("write_flow", {}))


async def test_what_is_announced_early_is_what_is_served(d: Door) -> None:
    can = d.server.get_capabilities().model_dump(by_alias=True, exclude_none=True)
    assert {name: one for name, one in can.items() if one} == {
        "prompts": {"listChanged": False},
        "resources": {"subscribe": False, "listChanged": False},
        "tools": {"listChanged": False},
    }
