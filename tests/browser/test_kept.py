"""A browser outlives the commands that use it, without a port; one that runs is attached to."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from pathlib import Path

import pytest

from handrail.browser.process import SOCKET, arguments, find_browser, open_lasting_browser
from handrail.browser.surface import BrowserSurface, open_browser
from handrail.cdp.connection import Connection
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.errors import BrowserConnectionError, InvalidAction
from handrail.runtime import Runtime
from handrail.surface.capabilities import Apps
from tests.browser.stage import Site, served


def config_of(home: Path) -> tuple[Config, dict[str, str]]:
    env = {**os.environ, "HANDRAIL_HOME": str(home)}
    return Config.from_env(env), env


async def end(folder: Path) -> None:
    """Close the browser, and with it its keeper."""
    connection = Connection(await open_lasting_browser(folder, SystemClock()), SystemClock())
    await connection.root.call("Browser.close")
    while (folder / SOCKET).exists():
        await asyncio.sleep(0.02)
    await connection.close()


def test_the_next_client_finds_the_page_of_the_last_one(tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        config, env = config_of(tmp_path)
        folder = tmp_path / "browsers" / "default"
        first = await open_browser("browser", config, SystemClock(), env)
        apps = first.need(Apps)
        await apps.open_url(site.put("<button>Kept</button>"))
        facts = await first.facts()
        await first.close()
        try:
            second = await open_browser("browser", config, SystemClock(), env)
            assert "Kept" in [node.text for node in (await second.screen_reader.look()).nodes]
            assert (await second.facts()).boot_id == facts.boot_id
            for path, mode in ((folder, 0o700), (folder / "profile", 0o700), (folder / SOCKET, 0o600)):
                assert stat.S_IMODE(path.stat().st_mode) == mode, path
            await second.close()
        finally:
            await end(folder)

    with served() as site:
        asyncio.run(story(site))


@pytest.mark.slow
def test_the_next_client_works_on_the_tab_that_the_last_one_left_in_front(tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        config, env = config_of(tmp_path)
        site.put("<button>Page</button>")

        async def client() -> BrowserSurface:
            return await open_browser("browser", config, SystemClock(), env, is_listed=lambda _: True)

        try:
            first = await client()
            apps = first.need(Apps)
            await apps.open_url(site.url())
            await apps.start(site.other, None)
            await first.close()
            second = await client()
            fronts = [second.tabs.front.url]
            await second.tabs.show(next(one for one in second.tabs.pages.values() if site.origin in one.url))
            await second.close()
            third = await client()
            fronts.append(third.tabs.front.url)
            await third.close()
            assert fronts == [site.other + "/", site.url()]
        finally:
            await end(tmp_path / "browsers" / "default")

    with served() as site:
        asyncio.run(story(site))


async def test_two_that_start_it_at_once_get_one_browser(tmp_path: Path) -> None:
    folder, clock = tmp_path / "one", SystemClock()
    wires = await asyncio.gather(open_lasting_browser(folder, clock), open_lasting_browser(folder, clock))
    try:
        clients = [Connection(wire, clock) for wire in wires]
        calls = [asyncio.create_task(one.root.call("Browser.getVersion")) for one in clients]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        turn = [call.done() for call in calls]
        assert sorted(turn) == [False, True], "one has it, the other waits for its turn"
        await clients[turn.index(True)].close()
        assert await calls[0] == await calls[1]
        await clients[turn.index(False)].close()
    finally:
        await end(folder)


def test_no_debugging_port_is_opened(tmp_path: Path) -> None:
    words = arguments("chromium", tmp_path, headless=True)
    assert "--remote-debugging-pipe" in words
    assert not [word for word in words if word.startswith("--remote-debugging-port")]
    assert ("--no-sandbox" in words) is (os.geteuid() == 0)


def test_of_a_browser_that_runs_only_named_tabs_are_shown_and_it_is_left_running(tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        profile = tmp_path / "theirs"
        words = [
            word for word in arguments(find_browser(os.environ), profile, headless=True) if "pipe" not in word
        ]
        process = await asyncio.create_subprocess_exec(
            *words[:-1], "--remote-debugging-port=0", site.put("<p>Theirs"),
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            place = profile / "DevToolsActivePort"
            while not place.exists() or "\n" not in place.read_text():
                await asyncio.sleep(0.02)
            port = place.read_text().splitlines()[0]
            config, env = config_of(tmp_path / "home")
            device = f"browser:127.0.0.1:{port}"
            surface = await open_browser(device, config, SystemClock(), env)
            assert "Theirs" not in [node.text for node in (await surface.screen_reader.look()).nodes]
            assert [page.url for page in surface.tabs.pages.values()] == ["about:blank"]
            await surface.close()
            named = {**env, "HANDRAIL_BROWSER_TABS": f"{site.origin}/*"}
            surface = await open_browser(device, config, SystemClock(), named)
            async with asyncio.timeout(10):
                while "Theirs" not in [node.text for node in (await surface.screen_reader.look()).nodes]:
                    await asyncio.sleep(0.02)
            await surface.close()
            assert process.returncode is None
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    with served() as site:
        asyncio.run(story(site))


@pytest.mark.parametrize("name", ["browser:..", "browser:a/b", "browser:-x", "browser:a b"])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    config, env = config_of(tmp_path)
    with pytest.raises(InvalidAction):
        asyncio.run(open_browser(name, config, SystemClock(), env))


def test_an_address_where_nobody_answers_is_said(tmp_path: Path) -> None:
    config, env = config_of(tmp_path)
    with pytest.raises(BrowserConnectionError):
        asyncio.run(open_browser("browser:127.0.0.1:1", config, SystemClock(), env))


def test_a_browser_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrowserConnectionError, match="no-such-browser"):
        find_browser({"CHROME_BIN": "no-such-browser", "PATH": os.environ["PATH"]})
    with pytest.raises(BrowserConnectionError, match="No browser was found"):
        find_browser({"PATH": str(tmp_path)})


@pytest.mark.slow
async def test_a_browser_that_runs_is_entered_with_one_yes_that_names_its_profile(tmp_path: Path) -> None:
    profile = tmp_path / "theirs"
    words = arguments(find_browser(os.environ), profile, headless=True)
    process = await asyncio.create_subprocess_exec(
        *[word for word in words if "pipe" not in word], "--remote-debugging-port=0",
        stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        place = profile / "DevToolsActivePort"
        while not place.exists() or "\n" not in place.read_text():
            await asyncio.sleep(0.02)
        config, env = config_of(tmp_path / "home")
        async with Runtime.open(config, env=env) as runtime:
            session = await runtime.session(f"browser:127.0.0.1:{place.read_text().splitlines()[0]}")
            for approve in (False, True):
                doing = asyncio.create_task(session.run({"type": "get_ui_tree"}, reason="I look"))
                while not (pending := await runtime.approvals.pending()):
                    assert not doing.done(), (await doing).to_json()
                    await asyncio.sleep(0.01)
                assert str(profile) in pending[0].request.instruction
                await runtime.approvals.answer(pending[0].id, approve, by="owner")
                assert (await doing).success is approve
            assert (await session.run({"type": "get_ui_tree"}, reason="I look")).success
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
