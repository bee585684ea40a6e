"""Policy on pages: origins are apps, new ones ask, secrets go to their own site and nowhere else.

The page is the judge: what it holds and what was clicked, asked in its own world.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from handrail.protocol.envelope import Envelope
from handrail.safety.approval_store import AskedApproval
from handrail.surface.capabilities import TextInput
from tests.browser.stage import Loop, Site, Stage, served, staged

Story = Callable[[Stage], Coroutine[Any, Any, None]]
Play = Callable[[Story], None]
PIN = "4711-geheim"
LOG = "<script>log = []; addEventListener('click', (one) => log.push(one.target.textContent), true)</script>"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served() as one:
        yield one


@pytest.fixture(scope="module")
def scene(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, Stage]]:
    """127.0.0.1 is known; localhost, the same server, is another site that nobody knows."""
    loop = Loop()
    policy = f'known_hosts = ["127.0.0.1"]\n[secrets]\nPIN = "{site.origin}"\n'
    home = tmp_path_factory.mktemp("home")
    secrets = {"HANDRAIL_SECRET_PIN": PIN, "HANDRAIL_SECRET_LOOSE": "wander-77"}
    context = staged(site, home, policy, env=secrets, knows=lambda _: True)
    stage = loop.run(context.__aenter__())
    try:
        yield loop, stage
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()


@pytest.fixture
def play(scene: tuple[Loop, Stage]) -> Play:
    loop, stage = scene

    def run(story: Story) -> None:
        loop.run(stage.alone())
        loop.run(story(stage))

    return run


async def asked(stage: Stage, doing: asyncio.Task[Envelope]) -> AskedApproval | None:
    """The question that an action waits for; None where it ended without one."""
    while not doing.done():
        if pending := await stage.runtime.approvals.pending():
            return pending[0]
        await asyncio.sleep(0.01)
    return None


async def answered(stage: Stage, approve: bool, kind: str, **fields: Any) -> tuple[Envelope, AskedApproval]:
    doing = asyncio.create_task(stage.act(kind, **fields))
    one = await asked(stage, doing)
    assert one is not None, (await doing).to_json()
    await stage.runtime.approvals.answer(one.id, approve, by="owner")
    return await doing, one


def test_a_press_on_a_new_origin_asks_once_and_names_it(play: Play) -> None:
    async def story(stage: Stage) -> None:
        other = stage.site.put(f"{LOG}<button>Join</button><button>Later</button>", "/new")
        other = other.replace(stage.site.origin, stage.site.other)
        opened, first = await answered(stage, True, "open_url", url=other)
        assert opened.success
        assert "localhost" in first.request.instruction
        assert (await stage.tap("Join")).success, "the origin that was opened is known"
        assert await stage.js("log") == ["Join"]

    play(story)


def test_where_a_link_leads_nothing_is_pressed_without_a_yes(play: Play) -> None:
    async def story(stage: Stage) -> None:
        there = f"http://link.localhost:{stage.site.port}/there"
        stage.site.put(f"{LOG}<button>Join</button><button>Later</button><input aria-label=Name>", "/there")
        await stage.show(f"<a href='{there}'>Go</a>")
        assert (await stage.tap("Go")).success
        assert "Join" in await stage.ui(), "looking is free"
        denied, one = await answered(stage, False, "tap", target={"text": "Join"})
        assert "link.localhost" in one.request.why
        assert denied.failure_code == "ACTION_REJECTED"
        await answered(stage, False, "type_text", target={"text": "Name"}, text="x")
        await answered(stage, False, "press_key", key="enter")
        assert await stage.js("log") == []
        done, _ = await answered(stage, True, "tap", target={"text": "Join"})
        assert done.success
        assert (await stage.tap("Later")).success, "a yes holds for the place"
        assert await stage.js("log") == ["Join", "Later"]

    play(story)


@pytest.mark.parametrize(
    "frame",
    ["src='http://frame.localhost:PORT/framed'", "src='data:text/html,<button>Join</button>'",
     "sandbox=allow-scripts srcdoc='<button>Join</button>'"],
)  # fmt: skip
def test_a_frame_of_nobody_known_asks_too(play: Play, frame: str) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put("<button>Join</button>", "/framed")
        await stage.show(f"<iframe {frame.replace('PORT', str(stage.site.port))}></iframe>")
        denied, _ = await answered(stage, False, "tap", target={"text": "Join"})
        assert denied.failure_code == "ACTION_REJECTED"

    play(story)


def test_a_secret_goes_to_its_own_origin_and_nowhere_else(play: Play) -> None:
    async def story(stage: Stage) -> None:
        field = "<input aria-label=Pin id=f>"
        await stage.show(field, "/pin")
        done = await stage.act("type_text", target={"text": "Pin"}, text="${secret:PIN}")
        assert done.success, done.to_json()
        assert await stage.js("f.value") == PIN
        other = stage.site.url("/pin").replace(stage.site.origin, stage.site.other)
        doing = asyncio.create_task(stage.act("open_url", url=other))
        if (one := await asked(stage, doing)) is not None:
            await stage.runtime.approvals.answer(one.id, True, by="owner")
        assert (await doing).success
        for text in ("${secret:PIN}", "${secret:pin}", "x${secret:PIN}"):
            denied = await stage.act("type_text", target={"text": "Pin"}, text=text)
            assert denied.failure_code == "ACTION_REJECTED", denied.to_json()
        assert await stage.js("f.value") == ""

    play(story)


def test_a_secret_is_not_typed_into_a_frame_of_another_site_that_takes_the_focus(play: Play) -> None:
    async def story(stage: Stage) -> None:
        thief = stage.site.put("<input id=f aria-label=Pin autofocus>", "/thief")
        thief = thief.replace(stage.site.origin, stage.site.other)
        doing = asyncio.create_task(stage.act("open_url", url=thief))
        if (one := await asked(stage, doing)) is not None:
            await stage.runtime.approvals.answer(one.id, True, by="owner")
        await doing
        await stage.show(
            "<input id=mine aria-label=Code>"
            f"<iframe id=i src='{thief}'></iframe>"
            "<script>addEventListener('focusin', () => i.focus())</script>"
        )
        denied = await stage.act("type_text", target={"text": "Code"}, text="${secret:PIN}")
        assert not denied.success, denied.to_json()
        assert await stage.js("mine.value") == ""
        for part in stage.surface.tabs.front.parts.values():
            told = await part.session.call(
                "Runtime.evaluate",
                {"expression": "document.querySelector('#f')?.value", "returnByValue": True},
            )
            assert told["result"].get("value") in (None, "")

    play(story)


def test_the_focus_is_compared_in_the_task_that_inserts(play: Play) -> None:
    """The engine has judged one origin; the surface is told which, and another one has the focus."""

    async def story(stage: Stage) -> None:
        await stage.show("<input id=f aria-label=Pin autofocus>", "/focus")
        await stage.tap("Pin")
        typist = stage.surface.need(TextInput)
        with pytest.raises(Exception, match="nothing was typed"):
            await typist.type_text(PIN, into="https://bank.example")
        assert await stage.js("f.value") == ""
        typed = await typist.type_text(PIN, into=stage.site.origin)
        assert typed.arrived
        assert await stage.js("f.value") == PIN

    play(story)


def test_a_secret_that_belongs_nowhere_asks(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<input aria-label=Word id=f>", "/loose")
        denied, one = await answered(
            stage, False, "type_text", target={"text": "Word"}, text="${secret:LOOSE}"
        )
        assert "secret" in one.request.why
        assert denied.failure_code == "ACTION_REJECTED"
        assert await stage.js("f.value") == ""

    play(story)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "chrome://version", "devtools://devtools/bundled/inspector.html",
     "view-source:http://127.0.0.1/", "javascript:alert(1)", "data:text/html,<button>Approve</button>",
     "chrome-extension://abc/x.html", "FILE:///etc/passwd", "filesystem:http://a/b"],
)  # fmt: skip
def test_no_scheme_but_the_webs_is_opened(play: Play, url: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<p>Still here")
        doing = asyncio.create_task(stage.act("open_url", url=url))
        if (one := await asked(stage, doing)) is not None:
            await stage.runtime.approvals.answer(one.id, True, by="owner")
        opened = await doing
        assert not opened.success, opened.to_json()
        assert "Still here" in await stage.ui()

    play(story)
