"""The debug side of the React lab: Metro's list, a JS context over CDP, fibers that know names and places."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from handrail_sim.channels.react import on_host
from handrail_sim.channels.react_component import component_of
from tests.debugger import Debugger, debugging, reached
from tests.hand import Hand

REACT = "com.handrail.reactlab"
METRO = "tcp:8081"
FIBERS = """(function () {
  var hook = __REACT_DEVTOOLS_GLOBAL_HOOK__, found = [];
  function visit(fiber) {
    if (!fiber) { return; }
    var name = typeof fiber.type === 'function' ? fiber.type.name : '';
    if (name) { found.push(name); }
    visit(fiber.child);
    visit(fiber.sibling);
  }
  hook.renderers.forEach(function (_, id) {
    hook.getFiberRoots(id).forEach(function (root) { visit(root.current); });
  });
  return found;
})()"""
Story = Callable[[Hand, Debugger], Awaitable[None]]


@asynccontextmanager
async def attached(hand: Hand) -> AsyncIterator[Debugger]:
    async with (
        reached(hand.phone, METRO) as port,
        debugging(f"ws://127.0.0.1:{port}/inspector/debug?page=1") as one,
    ):
        yield one


def debugged(story: Story) -> None:
    async def run() -> None:
        hand = Hand(apps=["react_lab", "contacts"])
        await hand.open(REACT)
        async with asyncio.timeout(20), attached(hand) as debugger:
            await story(hand, debugger)

    asyncio.run(run())


def fetch(url: str) -> Any:
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def press(hand: Hand, name: str) -> None:
    """Tap what a component drew."""
    views = [view for window in hand.phone.windows() for view in window.views()]
    view = next(view for view in views if (drawn := component_of(view)) and drawn.name == name)
    for action in ("down", "up"):
        hand.phone.pointer(action, view.x + view.w / 2, view.y + view.h / 2)  # type: ignore[arg-type]


def test_metro_lists_the_app_while_it_runs() -> None:
    async def story() -> None:
        hand = Hand(apps=["react_lab"])
        assert METRO not in hand.phone.ports
        await hand.open(REACT)
        async with reached(hand.phone, METRO) as port:
            status = await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/status")
            targets = json.loads(await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/json/list"))
        assert status == "packager-status:running"
        assert [one["appId"] for one in targets] == [REACT, REACT]
        assert all(one["webSocketDebuggerUrl"].startswith("ws://[::1]:8081/inspector/") for one in targets)
        hand.phone.force_stop(REACT)
        assert METRO not in hand.phone.ports

    asyncio.run(story())


def test_metro_on_the_host_names_its_own_port() -> None:
    async def story() -> None:
        hand = Hand(apps=["react_lab"])
        await hand.open(REACT)
        async with on_host(hand.phone.app(REACT)) as port:  # type: ignore[arg-type]
            targets = json.loads(await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/json"))
            assert f":{port}/" in targets[0]["webSocketDebuggerUrl"]

    asyncio.run(story())


def test_a_context_is_announced_and_evaluates() -> None:
    async def story(_: Hand, debugger: Debugger) -> None:
        assert (await debugger.ask("Runtime.enable"))["result"] == {}
        assert debugger.events[0]["method"] == "Runtime.executionContextCreated"
        assert (await debugger.evaluate("({a: [1, 'x']})"))["result"]["value"] == {"a": [1, "x"]}
        assert (await debugger.evaluate("undefined"))["result"] == {"type": "undefined"}
        assert (await debugger.evaluate("0 / 0"))["result"]["unserializableValue"] == "NaN"
        thrown = await debugger.evaluate("nobody.here")
        assert "ReferenceError" in thrown["exceptionDetails"]["exception"]["description"]

    debugged(story)


def test_what_hermes_does_not_know_is_refused() -> None:
    async def story(_: Hand, debugger: Debugger) -> None:
        assert (await debugger.ask("Page.navigate", url="x"))["error"]["code"] == -32601
        assert (await debugger.ask("Runtime.evaluate"))["error"]["code"] == -32602
        await debugger.socket.send("garbage")
        assert (await debugger.hear())["error"]["message"] == "Malformed JSON"

    debugged(story)


def test_an_awaited_promise_holds_up_nobody() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        later = "new Promise(done => setTimeout(() => done('late'), 500))"
        params = {"expression": later, "awaitPromise": True, "returnByValue": True}
        await debugger.socket.send(json.dumps({"id": 900, "method": "Runtime.evaluate", "params": params}))
        assert (await debugger.evaluate("1"))["result"]["value"] == 1
        await hand.wait(600)
        answer = await debugger.hear()
        assert (answer["id"], answer["result"]["result"]["value"]) == (900, "late")

    debugged(story)


def test_the_apps_requests_go_through_whatever_fetch_is_there() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        await debugger.evaluate("""
            var calls = [], ends = [], real = fetch;
            fetch = function (url) {
                calls.push(url.split('?')[0]);
                return real.apply(this, arguments).then(function (answer) {
                    ends.push(answer.status);
                    return answer;
                });
            };""")
        press(hand, "RefreshButton")
        assert (await debugger.evaluate("[calls, ends]"))["result"]["value"] == [
            ["https://harbour.example/feed"],
            [],
        ]
        assert hand.phone.state()["apps"][REACT]["pending_requests"] == 1
        await hand.wait(1300)
        assert (await debugger.evaluate("ends"))["result"]["value"] == [200]
        assert hand.phone.state()["apps"][REACT]["pending_requests"] == 0
        assert hand.phone.state()["apps"][REACT]["likes"][0][2] == 13

    debugged(story)


def test_a_request_of_a_script_that_the_server_does_not_know_is_answered_with_404() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        await debugger.evaluate(
            "var status = 0; fetch('https://elsewhere.example/').then(a => { status = a.status })"
        )
        await hand.wait(400)
        assert (await debugger.evaluate("status"))["result"]["value"] == 404

    debugged(story)


def test_fibers_name_what_accessibility_does_not() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        names = (await debugger.evaluate(FIBERS))["result"]["value"]
        assert {"HarbourApp", "SortButton", "RefreshButton", "HeartButton", "ProfileTab"} <= set(names)
        assert "RefreshButton" not in hand.phone.dump()

    debugged(story)


def test_a_host_is_measured_below_the_status_bar_in_dp() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        await debugger.evaluate("""
            var box = null, roots = __REACT_DEVTOOLS_GLOBAL_HOOK__.getFiberRoots(1);
            var fiber = roots.values().next().value.current;
            while (typeof fiber.type !== 'string') { fiber = fiber.child; }
            fiber.stateNode.measureInWindow((x, y, w, h) => { box = [x, y, w, h]; });""")
        assert (await debugger.evaluate("box"))["result"]["value"] is None
        await hand.wait(20)
        x, y, width, _ = (await debugger.evaluate("box"))["result"]["value"]
        assert (x, y) == (0, 0)
        assert round(width * hand.phone.units.dp) == hand.phone.display.width

    debugged(story)


def test_debuggers_are_cut_off_when_the_process_ends() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        await debugger.evaluate("setInterval(() => {}, 10)")
        hand.phone.force_stop(REACT)
        with pytest.raises(ConnectionClosed):
            await debugger.ask("Runtime.enable")
        await hand.wait(50)

    debugged(story)


def test_a_script_that_fails_in_a_timer_is_a_line_in_the_log() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        await debugger.evaluate("setTimeout(() => { throw new Error('in the dark') }, 10)")
        await hand.wait(30)
        hand.phone.catch_up()
        assert any("in the dark" in line.text for line in hand.phone.log.lines)

    debugged(story)


def test_a_request_survives_a_snapshot() -> None:
    async def story(hand: Hand, debugger: Debugger) -> None:
        press(hand, "RefreshButton")
        hand.phone.snapshot()
        await hand.wait(2000)
        hand.phone.restore()
        assert hand.phone.state()["apps"][REACT]["pending_requests"] == 1
        await hand.wait(1300)
        assert hand.phone.state()["apps"][REACT]["likes"][0][2] == 13
        assert debugger.socket is not None

    debugged(story)
