"""An agent drives a browser in which the desk is open and logged in: it neither sees nor presses Approve.

The judges are the desk's own rows, and the page of the person, who looks at it by a session of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from handrail.cdp.connection import CdpSession, Connection
from handrail.errors import BrowserCommandError
from handrail.protocol.read import action_from
from handrail.safety.approval_request import AuthorizationRequest
from handrail.safety.approval_store import new_id
from tests.browser.stage import Loop, Site, Stage, served, staged
from tests.web.desk_server import DeskServer

ALL_HOSTS = (
    'known_hosts = ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::ffff:7f00:1", "other.localhost"]\n'
    '[[rule]]\nverdict = "allow"\naction = "*"\n'
)
"""A policy that allows whatever can be allowed."""
QUESTION = "Shall the money go"


@dataclass
class Person:
    """Somebody who has the desk open in the agent's own browser."""

    desk: DeskServer
    tab: CdpSession | None = None
    asked: Any = None
    target: str = ""
    question: str = field(default_factory=new_id)
    moves_on_to: str = ""
    """Where their tab went after the desk, before the agent came."""

    async def log_in(self, connection: Connection) -> None:
        made = await connection.root.call("Target.createTarget", {"url": self.desk.link()})
        self.target = made["targetId"]
        told = await connection.root.call("Target.attachToTarget", {"targetId": self.target, "flatten": True})
        self.tab = connection.session(told["sessionId"], self.target)
        self._ask()
        while "Approve" not in await self.reads():
            await asyncio.sleep(0.02)
        if self.moves_on_to:
            await self.tab.call("Page.enable")
            await self.tab.call("Page.navigate", {"url": self.moves_on_to})

    def _ask(self) -> None:
        runtime = self.desk.context.runtime
        action = action_from({"type": "request_human_auth", "capability": "payment", "instruction": QUESTION})
        request = AuthorizationRequest.of(
            action, kind="human_auth", device="phone", fingerprint="", instruction=QUESTION, reason="",
            door="mcp", asked_by="agent-1", asker="agent-1",
        )  # fmt: skip
        self.asked = self.desk.begin(lambda: runtime.approvals.ask(request, self.question))

    async def reads(self) -> str:
        assert self.tab is not None
        asked = {"expression": "document.body.innerText", "returnByValue": True}
        try:
            told = await self.tab.call("Runtime.evaluate", asked)
        except BrowserCommandError:
            return ""  # its document changes
        return str(told["result"].get("value"))

    def is_pending(self) -> bool:
        """By the row of the desk's own store."""

        async def state() -> str:
            return (await self.desk.context.runtime.approvals.get(self.question)).state

        return self.desk.run(state) == "pending" and not self.asked.done()


Story = Callable[[Stage, Person], Coroutine[Any, Any, None]]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served() as one:
        yield one


@asynccontextmanager
async def desk_open(site: Site, folder: Path, desk: DeskServer, moves_on: str = "") -> AsyncIterator[Any]:
    person = Person(desk, moves_on_to=moves_on)
    async with staged(site, folder, ALL_HOSTS, person.log_in) as stage:
        yield stage, person
        person.asked.cancel()


@pytest.fixture(scope="module")
def scene(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    desk, loop = DeskServer(tmp_path_factory.mktemp("desk"), host="localhost"), Loop()
    desk.start()
    context = desk_open(site, tmp_path_factory.mktemp("home"), desk)
    stage, person = loop.run(context.__aenter__())
    try:
        yield loop, stage, person
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()
        desk.stop()


@pytest.fixture
def play(scene: Any) -> Callable[[Story], None]:
    loop, stage, person = scene

    def run(story: Story) -> None:
        loop.run(stage.alone())
        loop.run(story(stage, person))
        loop.run(nothing_was_seen(stage, person))

    return run


async def nothing_was_seen(stage: Stage, person: Person) -> None:
    """Not by what the agent is told, and not by what the desk knows; the person still sees it."""
    await is_hidden(stage)
    for key in ("tab", "enter", "space"):
        await stage.act("press_key", key=key)
    assert person.target not in stage.surface.tabs.pages
    assert person.is_pending()
    assert "Approve" in await person.reads()


async def is_hidden(stage: Stage) -> None:
    state = await stage.act("get_state")
    for text in (await stage.ui(), str(state.to_json()), "\n".join(stage.surface.diagnostics())):
        assert "Approve" not in text
        assert QUESTION not in text
        assert "Handrail desk" not in text
        assert "#code=" not in text


def test_a_tab_that_was_open_before_is_not_there(play: Callable[[Story], None]) -> None:
    async def story(stage: Stage, person: Person) -> None:
        await stage.show("<p>An ordinary page")
        assert (await stage.act("start_app", package=person.desk.pages)).failure_code == "ACTION_REJECTED"
        assert (await stage.act("stop_app", package=person.desk.pages)).success
        assert "Approve" in await person.reads(), "their tab was not closed"

    play(story)


@pytest.mark.slow
def test_no_name_of_this_machine_leads_to_the_desk(play: Callable[[Story], None]) -> None:
    async def story(stage: Stage, person: Person) -> None:
        await stage.show("<p>An ordinary page")
        port = person.desk.port
        hosts = (
            "127.0.0.1", "localhost", "LOCALHOST.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0177.1",
            "0x7f.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "other.localhost", "0.0.0.0", "%6cocalhost",
        )  # fmt: skip
        paths = ("login", "api/approvals", "static/desk/main.js")
        for url in (person.desk.pages, *(f"http://{host}:{port}/" for host in hosts)):
            opened = await stage.act("open_url", url=url)
            assert not opened.success, opened.to_json()
        for path in paths:
            opened = await stage.act("open_url", url=f"http://127.0.0.1:{port}/{path}")
            assert opened.failure_code == "ACTION_REJECTED", opened.to_json()
        assert "An ordinary page" in await stage.ui()

    play(story)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["page", "number"])
def test_no_redirect_frame_popup_link_or_form_leads_there(play: Callable[[Story], None], name: str) -> None:
    async def story(stage: Stage, person: Person) -> None:
        url = f"{person.desk.pages if name == 'page' else person.desk.address}/"
        stage.site.redirects["/away"] = url
        stage.site.redirects["/twice"] = "/away"
        led = await stage.act("open_url", url=stage.site.url("/twice"))
        assert led.failure_code == "ACTION_REJECTED", led.to_json()
        body = (
            f"<iframe src='{url}'></iframe><iframe src='/away'></iframe><object data='{url}'></object>"
            f"<embed src='{url}'><a href='{url}'>Link</a> <a href='{url}' target=_blank>Blank</a>"
            f"<form action='{url}' target=_blank><button>Form</button></form>"
            f"<form action='{url}api/approvals' method=post><button>Post</button></form>"
            f"<button onclick=\"window.open('{url}')\">Pop</button>"
            f"<button onclick=\"w = window.open('about:blank'); w.location = '{url}'\">Late</button>"
            f"<button onclick=\"location = '{url}'\">Script</button>"
            "<button onclick=\"window.open('/away', 'x', 'width=300,height=300')\">Window</button>"
        )
        await stage.show(body)
        home = stage.surface.tabs.front
        for word in ("Link", "Blank", "Form", "Post", "Pop", "Late", "Script", "Window"):
            tapped = await stage.tap(word)
            assert tapped.success, tapped.to_json()
            await is_hidden(stage)
            await stage.surface.tabs.show(home)

    play(story)


@pytest.mark.slow
def test_the_way_back_to_a_desk_that_was_left_shows_nothing(site: Site, tmp_path: Path) -> None:
    desk, loop = DeskServer(tmp_path / "desk", host="localhost"), Loop()
    desk.start()
    context = desk_open(site, tmp_path / "home", desk, site.put("<p>Elsewhere", "/else"))
    stage, person = loop.run(context.__aenter__())

    async def story() -> None:
        await stage.tap("Test")
        assert "Elsewhere" in await stage.ui()
        for _ in range(3):
            await stage.act("press_key", key="back")
            text = await stage.ui()
            assert "Approve" not in text
            assert QUESTION not in text
        assert person.is_pending()

    try:
        loop.run(story())
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()
        desk.stop()
