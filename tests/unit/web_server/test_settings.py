"""What the Settings app is told, and phones that are brought in from a page."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from handrail.web_server.phone import MOST_SIMULATED
from tests.scenario.world import play_live
from tests.unit.web_server.door import KEY, Answer, Door, door
from tests.unit.web_server.test_push import asked, stop

ASYNC_RUNNER = play_live

RULE = '[[rule]]\nname = "payments"\nlabel = "Pay*"\nverdict = "ask"\nwhy = "it costs money"\n'


async def owner(served: Door, method: str, path: str, value: Any = None) -> Answer:
    if value is None:
        return await served.get(path, token=KEY)
    return await served.send(method, path, value, token=KEY)


async def test_rules_come_in_words_and_a_file_that_cant_be_used_says_so(served: Door) -> None:
    file = served.runtime.config.policy
    told = (await owner(served, "GET", "/api/settings")).json
    assert (told["policy"]["exists"], told["policy"]["rules"]) == (False, [])
    file.parent.mkdir(exist_ok=True)
    file.write_text("[[rule]]\nverdict = 3\n")
    file.chmod(0o600)
    wrong = (await owner(served, "GET", "/api/settings")).json["policy"]
    assert wrong["problem"]["message"]
    assert wrong["rules"] == []


async def test_a_rule_is_shown_as_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "config" / "policy.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text(RULE)
    file.chmod(0o600)
    async with door(tmp_path) as served:
        [rule] = (await owner(served, "GET", "/api/settings")).json["policy"]["rules"]
        assert rule["sentence"] == "Ask you before anything on what says “Pay*”: it costs money."
        assert (rule["verdict"], rule["asked"]) == ("ask", 0)


async def test_questions_are_counted_by_class(served: Door) -> None:
    _, task = await asked(served)
    told = (await owner(served, "GET", "/api/settings")).json
    classes = {one["title"]: one for one in told["classes"]}
    assert classes["shell"]["local"] == "ask"
    assert classes["shell"]["remote"] == "deny"
    assert [one["title"] for one in told["classes"]][-1] == "Everything else"
    assert told["home"]["path"] == str(served.runtime.config.home)
    assert told["versions"][0]["name"] == "Handrail"
    assert told["mcp"] is None
    await stop(task)


async def test_a_program_may_neither_read_settings_nor_bring_phones_in(served: Door) -> None:
    paths = ("/api/phones/simulated", "/api/phones/pairing")
    answers = [await served.send("POST", path, {}) for path in paths]
    answers += [
        await served.get(path) for path in ("/api/settings", "/api/phones/cable", "/api/phones/pairing")
    ]
    assert [one.status for one in answers] == [403] * 5
    assert served.runtime.sessions == {}


async def test_simulated_phones_are_started_used_and_bounded(served: Door) -> None:
    made = await asyncio.gather(
        *[owner(served, "POST", "/api/phones/simulated", {}) for _ in range(MOST_SIMULATED + 1)]
    )
    assert sorted(one.status for one in made) == [200] * MOST_SIMULATED + [422]
    addresses = {one.json["device"] for one in made if one.status == 200}
    assert addresses == set(served.runtime.sessions)
    done = await served.act({"type": "get_state", "device": next(iter(addresses))})
    assert json.loads(done.body)["success"] is True


async def test_pairing_without_adb_says_what_is_missing(served: Door) -> None:
    assert (await owner(served, "GET", "/api/phones/pairing")).json == {"state": "none"}
    refused = await owner(served, "POST", "/api/phones/pairing", {})
    assert refused.status >= 400
    assert refused.json["hint"]
    cable = (await owner(served, "GET", "/api/phones/cable")).json
    assert "USB debugging" in " ".join(cable["steps"])
