"""Web pages inside a phone: their own nodes in the place of what accessibility tells of their WebView."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from handrail.android.web_views import LOOK_MS, NOT_SHOWN, WebViews
from handrail.clock import SystemClock
from handrail.protocol.envelope import Envelope
from handrail.screen.node import Bounds
from handrail.waiting import beside
from handrail_sim.channels.http import Request, Response, json_response, serve
from handrail_sim.channels.websocket import accept
from handrail_sim.stream import Stream
from tests.browser.phone_stage import BROWSER, BUSY_MACHINE_MS, LAB, PhoneStage, phone_staged
from tests.browser.stage import PATIENCE_S, Loop, Site, proved

pytestmark = pytest.mark.slow
Story = Callable[[PhoneStage], Coroutine[Any, Any, None]]
Play = Callable[[Story], None]
FORM = """<title>Order</title><form method=post action=/sent>
<label>Name <input id=who name=who></label><label>Pin <input id=pin name=pin type=password></label>
<label>Size <select id=size name=size><option>Small<option>Large</select></label>
<label><input type=checkbox name=gift> As a gift</label><button>Order now</button></form>"""
MODAL = """<title>Modal</title><h1>Shop</h1><button onclick="window.hit='buy'">Details</button>
<div role=dialog style="position:fixed;z-index:2;left:20px;top:200px;width:250px;background:#fff">
<p>Leave the shop?</p><button onclick="window.hit='yes'">Leave</button></div>
<form style="position:fixed;inset:0;z-index:1;display:grid;background:#0008"
onsubmit="window.hit='close';return false"><button style="opacity:.1">close</button></form>"""
"""As some kits write it: the backdrop is a button that closes, and comes after its dialog."""


@pytest.fixture(scope="module")
def stage(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, PhoneStage]]:
    loop = Loop()
    context = phone_staged(site, tmp_path_factory.mktemp("home"))
    one = loop.run(context.__aenter__())
    try:
        yield loop, one
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()


@pytest.fixture
def play(stage: tuple[Loop, PhoneStage]) -> Play:
    loop, one = stage

    def run(story: Story) -> None:
        loop.run(one.close_all())
        loop.run(story(one))

    return run


async def fill_and_send(stage: PhoneStage, name: str, pin: str) -> None:
    site = stage.site
    site.posted.clear()
    site.put("<title>Thanks</title><h1>Thank you</h1>", "/sent")
    await stage.show(FORM)
    await stage.asked()
    typed = await stage.act("type_text", text=name, target={"id": "who"})
    assert proved(typed), typed.to_json()
    secret = await stage.act("type_text", text=pin, target={"id": "pin"})
    assert secret.success, secret.to_json()
    assert pin not in await stage.ui()
    chosen = await stage.act("set_value", value="Large", target={"id": "size"})
    assert chosen.success, chosen.to_json()
    assert proved(await stage.tap("As a gift"))
    sent = await stage.tap("Order now", expect="Thank you")
    assert proved(sent), sent.to_json()
    [(path, body)] = site.posted
    assert (path, dict(parse_qsl(body))) == (
        "/sent",
        {"who": name, "pin": pin, "size": "Large", "gift": "on"},
    )


@pytest.mark.parametrize("by_server", [False, True], ids=["direct", "adb server"])
@pytest.mark.parametrize("helper", ["none", "u2"])
async def test_a_form_in_a_webview_is_filled_sent_and_verified(
    site: Site, tmp_path: Path, helper: Any, by_server: bool
) -> None:
    policy = '[[rule]]\nname = "all"\nverdict = "allow"\n'
    async with phone_staged(site, tmp_path, helper=helper, by_server=by_server, policy=policy) as stage:
        await fill_and_send(stage, *(("Ada Love", "five5") if helper == "none" else ("Ada Löve", "fünf5")))


def test_a_dialog_over_a_backdrop_is_read_and_pressed_and_is_covered_without_the_socket(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show(MODAL, debugging="off")
        assert "covered" in _refusal(await stage.tap("Leave"))
        await stage.close_all()
        await stage.show(MODAL)
        await stage.asked()
        assert "close" in _refusal(await stage.tap("Details"))
        assert "Leave the shop?" in await stage.ui()
        pressed = await stage.tap("Leave")
        assert pressed.success, pressed.to_json()
        assert await stage.js("window.hit") == "yes"

    play(story)


def test_nothing_is_doubled_and_native_views_stay(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show(FORM)
        await stage.asked()
        nodes = (await stage.screen()).nodes
        assert [one.text for one in nodes if one.text == "Order now"] == ["Order now"]
        assert len([one for one in nodes if one.resource_id == "who"]) == 1
        assert [one.short_class for one in nodes if one.role == "web_view"] == ["WebView", "html"]
        assert {one.package_name for one in nodes if one.native_id} == {LAB}
        assert {one.place for one in nodes if one.native_id} == {stage.site.origin}
        [button] = [one for one in nodes if one.text == "Order now"]
        box = await stage.js("JSON.stringify(document.querySelector('button').getBoundingClientRect())")
        scale, top = stage.phone.units.dp, (await stage.node(f"{LAB}:id/first_page")).bounds.top
        wide = json.loads(box)
        assert abs(button.bounds.left - wide["left"] * scale) <= 2
        assert abs(button.bounds.top - top - wide["top"] * scale) <= 2
        assert (await stage.tap("Help")).success
        assert stage.phone.state()["apps"][LAB]["pressed"] == 1

    play(story)


def test_refs_stay_over_a_render_and_end_with_their_element(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<title>List</title><div id=list></div><button>Bottom</button>")
        await stage.asked()
        render = "list.innerHTML = rows.map((r) => `<p><button>${r}</button></p>`).join('')"
        await stage.js(f"window.rows = ['Milk', 'Bread']; {render}")
        first = await stage.ui()
        bottom = _ref(first, "Bottom")
        milk = _ref(first, "Milk")
        await stage.js(f"window.rows = ['Eggs', 'Milk', 'Bread']; {render}")
        later = await stage.ui()
        assert _ref(later, "Bottom") == bottom
        assert _ref(later, "Milk") != milk  # another element says the same
        await stage.js("list.prepend(document.createElement('hr'))")
        assert _ref(await stage.ui(), "Milk") == _ref(later, "Milk")

    play(story)


def _refusal(envelope: Envelope) -> str:
    assert envelope.failure_code == "ELEMENT_NOT_INTERACTABLE", envelope.to_json()
    return envelope.message


def _ref(text: str, label: str) -> str:
    line = next(one for one in text.splitlines() if label in one)
    return next(word for word in line.replace('"', " ").split() if word.startswith("@"))


def test_a_page_that_is_scrolled_and_pinched_is_touched_where_it_is(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        rows = "".join(f'<p><button onclick="window.hit={n}">Row {n}</button></p>' for n in range(80))
        await stage.show(f"<title>Long</title>{rows}")
        await stage.asked()
        await stage.js("window.scrollTo(0, 900)")
        name = next(one.text for one in (await stage.screen()).nodes if one.text.startswith("Row 2"))
        assert (await stage.tap(name)).success
        assert await stage.js("window.hit") == int(name.split()[1])
        tab = next(iter(stage.engine.tabs.values()))
        await tab.call("Emulation.setPageScaleFactor", {"pageScaleFactor": 1.8})
        shown = [
            one.text for one in (await stage.screen()).nodes if one.text.startswith("Row ") and one.touch_at
        ]
        assert await stage.js("visualViewport.scale > 1.5")
        pressed = await stage.tap(shown[2])
        assert pressed.success, pressed.to_json()
        assert await stage.js("window.hit") == int(shown[2].split()[1])

    play(story)


async def test_debugging_that_is_off_is_said_once_and_costs_no_look(site: Site, tmp_path: Path) -> None:
    async with phone_staged(site, tmp_path) as stage:
        await stage.show("<title>Silent</title><button>Buy</button>", debugging="off")
        for _ in range(3):
            nodes = (await stage.screen()).nodes
            assert [one.native_id for one in nodes if one.text == "Buy"] == [""]
        said = [line for line in stage.driver.diagnostics() if line.startswith("web: ")]
        assert [LAB in line for line in said] == [True], said


def test_a_page_that_hangs_is_left_to_accessibility_in_bounded_time(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<title>Busy</title><button>Buy</button>")
        await stage.asked()
        webs, raw = stage.driver.webs, await stage.driver.adb.look()  # type: ignore[attr-defined]
        assert webs is not None
        webs.look_ms = LOOK_MS
        loop = asyncio.get_running_loop()
        busy = "(() => { const end = Date.now() + 3000; while (Date.now() < end); })()"
        async with beside(stage.js(busy), "a busy page") as hanging:
            await asyncio.sleep(0)
            began = loop.time()
            filled = await webs.fill(raw)
            took_ms = (loop.time() - began) * 1000
            again = loop.time()
            assert await webs.fill(raw) is raw
            assert (loop.time() - again) * 1000 < LOOK_MS
            assert not hanging.done()
        assert filled is raw
        assert took_ms < LOOK_MS * 1.5
        webs.look_ms = BUSY_MACHINE_MS
        await stage.asked()

    play(story)


def test_a_socket_that_dies_is_found_again(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<title>Cut</title><button>Buy</button>")
        await stage.asked()
        assert (await stage.node("Buy")).native_id
        name = next(one for one in stage.phone.ports if "devtools" in one)
        serve = stage.phone.ports[name]
        stage.engine.stop_debugging(LAB)
        assert not (await stage.node("Buy")).native_id
        stage.phone.ports[name] = serve
        webs = stage.driver.webs
        assert webs is not None
        async with asyncio.timeout(15):
            while not (await stage.node("Buy")).native_id:
                await asyncio.sleep(0.1)

    play(story)


def test_several_views_on_a_screen_have_their_own_pages_and_a_hidden_one_has_none(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        second = stage.site.put(
            "<title>Two</title><button onclick=\"window.hit='two'\">Second</button>", "/two"
        )
        await stage.show("<title>One</title><button>First</button>", second=second)
        await stage.asked()
        one, two = await stage.node("First"), await stage.node("Second")
        assert one.native_id
        assert two.native_id
        assert one.bounds.bottom < two.bounds.top
        assert (await stage.tap("Second")).success
        assert await stage.js("window.hit", "second_page") == "two"
        assert (await stage.tap("Hide")).success
        assert not [node for node in (await stage.screen()).nodes if node.native_id]

    play(story)


def test_a_frame_of_another_site_is_read_and_belongs_to_its_own_address(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        stage.site.put("<button onclick=\"parent.postMessage('inside', '*')\">Inner</button>", "/inner")
        await stage.show(
            f"<title>Outer</title><p>Above</p><iframe src='{stage.site.other}/inner' height=90></iframe>"
            "<script>addEventListener('message', (event) => { window.hit = event.data; })</script>"
        )
        await stage.asked()
        async with asyncio.timeout(PATIENCE_S):
            while not [one for one in (await stage.screen()).nodes if one.text == "Inner"]:
                continue
        inner = await stage.node("Inner")
        assert (inner.place, inner.package_name) == (stage.site.other, LAB)
        assert (await stage.tap("Inner")).success
        assert await stage.js("window.hit") == "inside"

    play(story)


def test_another_connection_calls_the_same_elements_by_the_same_names(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<title>Kept</title><button>First</button><button>Second</button>")
        await stage.asked()
        names = [one.native_id for one in (await stage.screen()).nodes if one.native_id]
        webs = stage.driver.webs
        assert webs is not None
        await webs.close()  # as when one command ends and the next one begins
        await stage.asked()
        assert [one.native_id for one in (await stage.screen()).nodes if one.native_id] == names

    play(story)


def test_a_socket_that_lies_does_not_fail_a_look(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<title>Lied to</title><button>Plain</button>")
        name = next(one for one in stage.phone.ports if "devtools" in one)
        box = (await stage.node(f"{LAB}:id/first_page")).bounds
        raw, said = await stage.driver.adb.look(), []  # type: ignore[attr-defined]
        for pages in ([], {}, [{"type": "page", "id": "x", "description": _place(box)}]):
            stage.phone.ports[name] = _Liar(pages).serve
            webs = WebViews(stage.device, SystemClock(), said.append, look_ms=PATIENCE_S * 1_000)
            for _ in range(3):
                assert await webs.fill(raw) is raw
            if pages:  # a busy machine connects in the background of several looks
                async with asyncio.timeout(PATIENCE_S):
                    while not said:
                        assert await webs.fill(raw) is raw
                        await asyncio.sleep(0.01)
            await webs.close()
        assert "not a browser" in said[-1], said

    play(story)


def _place(box: Bounds) -> str:
    told = {"attached": True, "visible": True, "screenX": box.left, "screenY": box.top}
    return json.dumps(told | {"width": box.width, "height": box.height})


class _Liar:
    """Says that it is the lab's, lists what it was given, and answers every call with nonsense."""

    def __init__(self, pages: Any) -> None:
        self._pages = pages

    async def serve(self, stream: Stream) -> None:
        async def answer(request: Request) -> Response:
            return json_response({"Android-Package": LAB} if "version" in request.path else self._pages)

        async def debug(request: Request, stream: Stream) -> None:
            socket = await accept(request, stream)
            while socket is not None and (text := await socket.read()) is not None:
                result: dict[str, Any] = {"frameTree": {"frame": {"id": "x"}}, "executionContextId": 1}
                look = {
                    "token": "w",
                    "view": [1080, 9, 1, 1, 0, 0, 1080],
                    "docs": [],
                    "rows": [[1, 2], 3, None],
                }
                value = json.dumps(look | {"truncated": 0, "unasked": 0, "cut": 0, "suspects": 0})
                result["result"] = {"value": value}
                await socket.write(json.dumps({"id": json.loads(text)["id"], "result": result}))

        await serve(stream, answer, debug)


def test_native_windows_over_a_page_cover_it(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show(
            "<title>Low</title><input id=top><div style='position:fixed;bottom:0;left:0;right:0;height:60px'>"
            "<button onclick=\"alert('Are you sure?')\">Ask</button></div>"
        )
        await stage.asked()
        pressed = await stage.tap("Ask")
        assert pressed.success, pressed.to_json()
        await stage.until(lambda: "Are you sure?" in stage.phone.dump())
        assert "Are you sure?" in await stage.ui()
        refused = await stage.act("tap", target={"id": "top"})
        assert not refused.success
        assert (await stage.tap("OK")).success
        assert (await stage.node("Ask")).text == "Ask"

    play(story)


def test_the_browsers_page_is_read_too(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        url = stage.site.put("<title>Tab</title><a href=/next>Go on</a>")
        stage.site.put("<title>Next</title><h1>Arrived</h1>", "/next")
        await stage.goto(url, BROWSER)
        await stage.asked()
        link = await stage.node("Go on")
        assert link.native_id
        assert link.place == stage.site.origin
        went = await stage.tap("Go on", expect="Arrived")
        assert proved(went), went.to_json()

    play(story)


def test_the_desks_own_page_is_shown_to_nobody(play: Play) -> None:
    async def story(stage: PhoneStage) -> None:
        await stage.show("<meta name=handrail-desk><title>Desk</title><button>Approve</button>")
        async with asyncio.timeout(PATIENCE_S):
            while "Approve" in (text := await stage.ui()):
                continue
        assert NOT_SHOWN in text

    play(story)


async def test_a_secret_is_typed_into_its_own_site_and_into_no_other_page_of_the_same_app(
    site: Site, tmp_path: Path
) -> None:
    env = {"HANDRAIL_SECRET_PIN": "geheim-4711"}
    async with phone_staged(site, tmp_path, env=env) as stage:
        await stage.show("<title>Login</title><input id=pin type=password aria-label=Pin>")
        await stage.asked()
        typed = await stage.act("type_text", text="${secret:PIN}", target={"id": "pin"})
        assert typed.success, typed.to_json()
        assert await stage.js("pin.value") == "geheim-4711"
        assert "geheim" not in await stage.ui()
        await stage.goto(stage.site.url("/").replace("127.0.0.1", "localhost"))
        await stage.until(lambda: "localhost" in next(iter(stage.engine.tabs.values())).address)
        refused = await stage.act("type_text", text="${secret:PIN}", target={"id": "pin"})
        assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
        assert await stage.js("pin.value") == ""


async def test_a_new_origin_inside_an_app_asks_and_names_both(site: Site, tmp_path: Path) -> None:
    async with phone_staged(site, tmp_path, policy="") as stage:
        await stage.show("<title>New</title><button onclick=\"window.hit='join'\">Join</button>")
        await stage.asked()
        assert "Join" in await stage.ui(), "looking is free"
        approvals = stage.runtime.approvals
        async with beside(stage.tap("Join"), "a tap that asks") as doing:
            async with asyncio.timeout(PATIENCE_S):
                while not (pending := await approvals.pending()):
                    await asyncio.sleep(0.01)
            said = pending[0].request
            assert site.origin in said.why
            assert f"{site.origin} in {LAB}" in said.instruction
            assert await stage.js("window.hit ?? null") is None
            await approvals.answer(pending[0].id, True, by="owner")
            assert (await doing).success
        assert await stage.js("window.hit") == "join"
        assert (await stage.tap("Help")).success, "the app's own button is no page's"
