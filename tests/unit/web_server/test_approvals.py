"""The engine's questions on the desk: shown, answered once from anywhere, remembered, and never leaking."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import SystemClock
from handrail.protocol.actions import AnyAction
from handrail.protocol.read import action_from
from handrail.safety.approval_request import AuthorizationRequest, GrantScope
from handrail.safety.approval_store import Answer
from handrail.safety.approvals import Approvals
from handrail.store import Store
from tests.unit.web_server.door import KEY, Door, door, frame_of

TAP: dict[str, Any] = {"type": "tap", "target": {"text": "Pay now"}}
CODE: dict[str, Any] = {"type": "request_human_auth", "capability": "2fa", "instruction": "Type the code."}


def _request(action: dict[str, Any], **more: Any) -> AuthorizationRequest:
    act: AnyAction = action_from(action)
    told = {"device": "phone", "fingerprint": "f", "instruction": "Allow tap 'Pay now'?", **more}
    return AuthorizationRequest.of(act, **told)


async def _asked(served: Door, request: AuthorizationRequest) -> asyncio.Task[Answer]:
    return asyncio.create_task(served.runtime.approvals.ask(request))


async def test_a_question_is_on_every_screen_and_an_answer_on_one_withdraws_it_on_all(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as one, await served.person() as two:
        picture = await served.runtime.journal.put_blob(b"\x89PNG", "image/png", no_secret=True)
        asking = await _asked(
            served, _request(TAP, reason="I pay.", why="it pays", screenshot=picture, remember="always")
        )
        shown = [await frame_of(socket, "APPROVAL_REQUEST") for socket in (one, two)]
        frame = shown[0]
        assert shown[1] == frame
        assert (frame["title"], frame["message"]) == ("May the agent tap?", "Allow tap 'Pay now'?")
        assert (frame["reason"], frame["why"], frame["imageData"]) == ("I pay.", "it pays", "iVBORw==")
        assert (frame["canRemember"], frame["wantsData"]) == ("always", False)
        [listed] = served.desk.snapshot()["approvals"]
        assert listed["approvalId"] == frame["approvalId"]
        assert served.desk.snapshot()["badges"] == {"approvals": 1}
        feedback = {"dialogId": frame["dialogId"], "confirmed": True, "remember": True}
        await one.send(json.dumps({"type": "DIALOG_FEEDBACK", **feedback}))
        answer = await asking
        assert (answer.decision, answer.remember) == ("approved", "always")
        for socket in (one, two):
            gone = await frame_of(socket, "APPROVAL_RESOLVED")
            assert (gone["approvalId"], gone["decision"]) == (frame["approvalId"], "approved")
        assert served.desk.snapshot()["approvals"] == []
        await two.send(json.dumps({"type": "DIALOG_FEEDBACK", **feedback, "confirmed": False}))
        assert (await frame_of(two, "ERROR"))["code"] == "ACTION_REJECTED"


async def test_a_question_of_another_process_is_answered_by_http(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        store = Store(tmp_path / "handrail.db")
        try:
            asking = asyncio.create_task(Approvals(store, SystemClock()).ask(_request(TAP)))
            frame = await frame_of(socket, "APPROVAL_REQUEST")
            [listed] = (await served.get("/api/approvals?state=pending")).json["approvals"]
            assert listed["id"] == frame["approvalId"]
            body = {"id": frame["approvalId"], "approve": False, "note": "Not this one."}
            answer = await served.send("POST", "/api/approvals", body, token=KEY)
            assert (answer.status, answer.json["state"]) == (200, "denied")
            assert "Not this one." in (await asking).rejection().message
            again = await served.send("POST", "/api/approvals", body, token=KEY)
            assert (again.status, again.json["code"]) == (403, "ACTION_REJECTED")
            history = (await served.get("/api/approvals?history=1&limit=1")).json
            assert [one["state"] for one in history["approvals"]] == ["denied"]
            older = (await served.get(f"/api/approvals?history=1&before={history['next']}")).json
            assert older == {"approvals": [], "next": None}
        finally:
            store.close()


def test_a_code_reaches_the_asker_and_no_log_file_frame_or_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> str:
        async with door(tmp_path) as served, await served.person() as socket:
            asking = await _asked(served, _request(CODE, kind="human_auth", capability="2fa"))
            frame = await frame_of(socket, "APPROVAL_REQUEST")
            assert (frame["capability"], frame["wantsData"]) == ("2fa", True)
            feedback = {"dialogId": frame["dialogId"], "confirmed": True, "data": {"value": "918273"}}
            await socket.send(json.dumps({"type": "DIALOG_FEEDBACK", **feedback}))
            placeholder = (await asking).data
            assert served.runtime.secrets.fill(placeholder).text == "918273"
            bad = json.dumps({"type": "DIALOG_FEEDBACK", **feedback, "confirmed": "yes"})
            await socket.send(bad)
            error = await frame_of(socket, "ERROR")
            assert "918273" not in json.dumps(error)
            history = (await served.get("/api/approvals?history=1")).body.decode()
            return history + "".join(map(str, served.desk.hub.ring._frames))

    with caplog.at_level(logging.DEBUG):
        told = asyncio.run(story())
    assert "918273" not in told
    ours = [one.getMessage() for one in caplog.records if not one.name.startswith("websockets.client")]
    assert ours
    assert "918273" not in "".join(ours)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"918273" not in path.read_bytes(), path


async def test_an_agents_dialog_can_not_pass_for_the_engines_own(served: Door) -> None:
    """Its answer would count as an approval."""
    dialog = {"type": "dialog.confirm", "title": "Cats?", "message": "Do you like them?"}
    for id_ in ("approval:ap_0123456789", "approval:"):
        answer = await served.act(dialog | {"id": id_})
        assert (answer.status, answer.json["failure_code"]) == (422, "INVALID_ACTION")


async def test_a_question_nobody_answers_goes_when_its_time_is_over(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        asking = await _asked(served, _request(TAP, timeout_ms=400))
        await frame_of(socket, "APPROVAL_REQUEST")
        assert (await frame_of(socket, "APPROVAL_RESOLVED"))["decision"] == "expired"
        assert (await asking).decision == "expired"


async def test_a_remembered_answer_is_listed_and_revoked(served: Door) -> None:
    served.runtime.permissions.remember("tap", "com.shop:Pay now", allow=True)
    listed = (await served.get("/api/permissions")).json["permissions"]
    assert listed == [{"key": "tap:com.shop:Pay now", "allow": True}]
    path = "/api/permissions?key=tap:com.shop:Pay%20now"
    assert (await served.send("DELETE", path, None, token=KEY)).status == 200
    assert (await served.send("DELETE", path, None, token=KEY)).json["code"] == "INVALID_ACTION"
    assert served.runtime.permissions.all() == {}


async def test_a_person_allows_the_like_of_it_for_a_time_and_revokes_it_with_one_request(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        scope = GrantScope("a class", "tap 'Send' in com.example.mail")
        asking = await _asked(served, _request(TAP, scope=scope, remember="time", asker="a"))
        frame = await frame_of(socket, "APPROVAL_REQUEST")
        assert (frame["canRemember"], frame["canAllow"]) == ("time", scope.sentence)
        feedback = {"dialogId": frame["dialogId"], "confirmed": True, "minutes": 60, "times": 5}
        await socket.send(json.dumps({"type": "DIALOG_FEEDBACK", **feedback}))
        assert (await asking).remember == "time"
        [one] = (await served.get("/api/grants")).json["grants"]
        assert (one["left"], one["said"]) == (5, scope.sentence)
        address = f"/api/grants?id={one['id']}"
        assert (await served.send("DELETE", address, {})).status == 403, "a program's token"
        assert (await served.send("DELETE", address, {}, token=KEY)).json == {"revoked": one["id"]}
        assert (await served.get("/api/grants")).json == {"grants": []}
        assert one["id"] in "".join(served.runtime.journal.export())
        assert await served.runtime.approvals.grants.use("a class", "phone", "a", "b") is None
