"""What the desk lists and shows: apps, storage, rendered windows, devices; and the door's own description."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from starlette.routing import Route

from handrail.protocol.actions import ACTIONS
from handrail.web_server.pages import RenderedTexts, app_listing
from handrail.web_server.responses import DEFAULTS
from handrail.web_server.server import openapi_document
from tests.unit.web_server.door import TOKEN, WINDOW, Door, door


def _app(root: Path, name: str, manifest: Any, *, page: bool = True) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "app.json").write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    if page:
        (folder / "index.html").write_text("<p>hi</p>")
    return folder


def test_built_in_apps_and_the_users_own_are_listed_and_bad_folders_say_what_is_wrong(tmp_path: Path) -> None:
    _app(tmp_path, "notes", {"name": "Notes", "icon": "icon.svg", "width": 300, "allow": ["send", "title"]})
    _app(tmp_path, "phone", {"name": "Not the phone"})
    _app(tmp_path, "broken", "{")
    _app(tmp_path, "greedy", {"name": "Greedy", "allow": ["root"]})
    _app(tmp_path, "empty", {"name": "Empty"}, page=False)
    _app(tmp_path, "Shouting", {"name": "Shouting"})
    (tmp_path / "linked").symlink_to(tmp_path / "notes")
    (tmp_path / ".hidden").mkdir()
    listed = app_listing(tmp_path, b"key")
    apps = {one["id"]: one for one in listed["apps"]}
    built_in = {"phone", "wall", "studio", "approvals", "journal", "flows", "console", "settings"}
    assert {*built_in, "notes"} == set(apps)
    assert apps["phone"]["builtIn"] is True
    sealed = apps["notes"]["url"].removesuffix("/index.html")
    assert re.fullmatch(r"/apps/notes~[\w-]{43}", sealed)
    assert apps["notes"]["icon"] == f"{sealed}/icon.svg"
    assert (apps["notes"]["width"], apps["notes"]["height"]) == (300, 480)
    assert apps["notes"]["allow"] == ["send", "title"]
    problems = {one["app"]: one["message"] for one in listed["problems"]}
    assert set(problems) == {"phone", "broken", "greedy", "empty", "Shouting", "linked"}
    assert "allow" in problems["greedy"]
    assert "index.html" in problems["empty"]


def test_a_home_without_apps_lists_the_built_in_ones(tmp_path: Path) -> None:
    assert [one for one in app_listing(tmp_path / "none", b"key")["apps"] if not one["builtIn"]] == []


async def test_a_windows_text_is_fetched_as_safe_html_and_follows_its_changes(served: Door) -> None:
    text = "# Hello\n<script>alert(1)</script> <img src=https://evil.example/x.png>"
    await served.act(WINDOW | {"content": {"renderer": "markdown", "data": text}})
    path = "/api/windows/html?key=monitor-0/report"
    first = await served.get(f"{path}&rev=0")
    assert b"<h1>Hello</h1>" in first.body
    assert b"<script" not in first.body
    assert b"evil.example" not in first.body
    assert "sandbox" in first.headers["content-security-policy"]
    more = {"op": "append", "data": "\n\nmore"}
    await served.act({"type": "window.updateContent", "windowId": "report", "operation": more})
    second = await served.get(path)
    assert b"more" in second.body
    assert second.headers["handrail-rev"] != first.headers["handrail-rev"]
    assert (await served.get("/api/windows/html?key=monitor-0/none")).status == 404
    assert (await served.get("/api/windows/html")).status == 404


async def test_what_was_rendered_is_kept_within_bounds() -> None:
    kept = RenderedTexts(most=100)
    first = await kept.html("markdown", "a" * 40)
    assert await kept.html("markdown", "a" * 40) is first
    assert await kept.html("html", "a" * 40) != first
    for letter in "bcdefg":
        await kept.html("markdown", letter * 40)
    assert kept._size <= 100
    assert await kept.html("markdown", "a" * 40) is not first


async def test_every_answer_is_sealed_whatever_it_is(served: Door) -> None:
    """Pages, data, refusals, and what the router itself says."""
    asked = [
        await served.ask("GET", "/"),
        await served.ask("GET", "/healthz"),
        await served.ask("GET", "/static/style.css"),
        await served.ask("GET", "/static/none.js"),
        await served.ask("GET", "/api/desk"),
        await served.ask("GET", "/", {"Host": "evil.example"}),
        await served.get("/api/desk"),
        await served.get("/api/none"),
        await served.ask("DELETE", "/api/actions", {"Authorization": f"Bearer {TOKEN}"}),
        await served.act("{"),
    ]
    for answer in asked:
        assert set(DEFAULTS) <= set(answer.headers), answer
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


async def test_a_failure_has_the_same_keys_everywhere_and_the_status_of_its_family(served: Door) -> None:
    bad = await served.act({"type": "window.focus", "windowId": ""})
    none = await served.get("/api/none")
    missing = await served.act({"type": "window.focus", "windowId": "none"})
    assert (bad.status, bad.json["code"], bad.json["path"]) == (422, "INVALID_ACTION", "windowId")
    assert (none.status, none.json["code"]) == (404, "HTTP_404")
    for told in (bad.json, none.json):
        assert {"code", "message", "hint", "retryable"} <= set(told)
    assert (missing.status, missing.json["failure_code"]) == (422, "INVALID_ACTION")
    batch = await served.act([WINDOW, {"type": "window.focus", "windowId": "none"}])
    assert batch.status == 422
    assert served.desk.state.windows == {}
    both = await served.act([WINDOW, {"type": "window.focus", "windowId": "report"}])
    assert [one["success"] for one in both.json] == [True, True]


async def test_a_program_hears_what_people_did_for_it(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        toast = {
            "type": "toast.show",
            "id": "t",
            "message": "Done",
            "action": {"label": "Undo", "eventId": "e"},
        }
        await served.act(toast, agent="writer")
        hearing = asyncio.create_task(served.get("/api/inbox?wait=20000", **{"Handrail-Agent": "writer"}))
        await socket.send(json.dumps({"type": "TOAST_ACTION", "toastId": "t", "eventId": "e"}))
        [event] = (await hearing).json["events"]
        assert (event["type"], event["event_id"]) == ("toast_action", "e")
        assert (await served.get("/api/inbox", **{"Handrail-Agent": "writer"})).json == {"events": []}


async def test_the_doors_own_description_names_every_route_and_every_action(served: Door) -> None:
    told = (await served.get("/api/openapi.json")).json
    routes = [one for one in served.app.routes if isinstance(one, Route)]
    described = set(told["paths"])
    for route in routes:
        if route.path.startswith("/api/"):
            assert route.path.replace(":path", "") in described
    assert "post" in told["paths"]["/api/actions"]
    schemas = told["components"]["schemas"]
    for ref in _refs(told):
        assert ref.removeprefix("#/components/schemas/") in schemas, ref
    kinds = set(schemas["Action"]["discriminator"]["mapping"])
    assert kinds == set(ACTIONS)
    schema = (await served.get("/api/actions")).json
    assert set(schema["discriminator"]["mapping"]) == set(ACTIONS)


def _refs(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        mapping = value.get("mapping") if isinstance(value.get("mapping"), dict) else {}
        return [*own, *(mapping or {}).values(), *(ref for one in value.values() for ref in _refs(one))]
    return [ref for one in value for ref in _refs(one)] if isinstance(value, list) else []


def test_a_route_says_in_one_line_what_it_does() -> None:
    async def undocumented() -> None: ...

    async def documented() -> None:
        """One line.

        And more of them."""

    paths = openapi_document([Route("/api/a", undocumented), Route("/api/b/{x:path}", documented)])["paths"]
    assert paths["/api/a"]["get"]["summary"] == "undocumented"
    assert paths["/api/b/{x}"]["get"]["summary"] == "One line."
    assert paths["/api/b/{x}"]["get"]["parameters"][0]["name"] == "x"


async def test_devices_are_listed_with_what_is_missing(served: Door) -> None:
    told = (await served.get("/api/devices")).json
    assert told["devices"] == []
    assert "adb" in told["notes"][0]
