"""`handrail serve` with an agent in its Console."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail_agent.console import answering
from tests.unit.web_server.door import door, frame_of


async def test_a_message_to_nobody_is_answered_with_how_to_name_a_model(tmp_path: Path) -> None:
    async with (
        door(tmp_path) as served,
        answering(None, None, served.runtime, served.desk),
        await served.person() as person,
    ):
        said = {"type": "USER_MESSAGE", "messageId": "m", "content": "Turn Wi-Fi off"}
        await person.send(json.dumps(said))
        while "model" not in (told := await frame_of(person, "AGENT_STATUS")).get("message", ""):
            pass
        assert told["status"] == "failed"
        talk = (await served.get("/api/console")).json["messages"]
        assert talk[0]["text"] == "Turn Wi-Fi off"


async def test_a_model_that_does_not_exist_is_told_at_the_start(tmp_path: Path) -> None:
    async with door(tmp_path) as served:
        with pytest.raises(InvalidAction, match="model"):
            await answering("nobody:x", None, served.runtime, served.desk).__aenter__()
