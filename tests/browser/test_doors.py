"""Every door of Handrail on a real Chromium, as its user opens it: a process, its words, what the page saw.

The page tells the tests' own server what happens to it: no answer of ours is believed.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from packages.agent.tests.hosted.makers import MAKERS, Maker, click
from packages.agent.tests.hosted.server import Answer, Got, serving
from playwright.sync_api import Locator, Page, expect, sync_playwright
from rs_bpe.bpe import openai

from handrail.browser.process import find_browser
from tests.browser.stage import PATIENCE_S, Site, served
from tests.browser.test_kept import end
from tests.mcp_conformance.door import MODERN, text_of

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "web"
HANDRAIL = (sys.executable, "-m", "handrail.cli.main")
TELLS = """<script>
  const tell = (word) => {
    const told = new XMLHttpRequest();
    told.open('GET', '/told?' + encodeURIComponent(word), false);
    told.send();
  };
  addEventListener('change', (event) => tell(event.target.name + '=' + (event.target.type === 'checkbox'
    ? event.target.checked : event.target.value)));
  addEventListener('click', (event) => event.target.tagName === 'BUTTON' && tell(event.target.textContent));
</script>"""
"""The page goes on only when it is answered: what it tells comes in order, and before the action ends."""


@dataclass
class Doors:
    """A home that knows the tests' own pages, and a browser that lives in it."""

    home: Path
    site: Site

    @property
    def env(self) -> dict[str, str]:
        keys = {f"{name}_API_KEY": "none" for name in ("OPENAI", "ANTHROPIC")}
        return {**os.environ, **keys, "HANDRAIL_HOME": str(self.home), "HANDRAIL_NO_DAEMON": "1"}

    def run(self, *words: str) -> str:
        """One command, to its end."""
        ran = subprocess.run(
            [*HANDRAIL, *words], env=self.env, capture_output=True, text=True, timeout=60, check=False
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
        return ran.stdout

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*HANDRAIL, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    @property
    def told(self) -> list[str]:
        """What the page said of itself, oldest first."""
        return [unquote(one.partition("?")[2]) for one in self.site.asked if one.startswith("/told?")]

    @property
    def url(self) -> str:
        return self.site.url("/seats.html")


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[Doors]:
    home = tmp_path / "home"
    (home / "config").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    (home / "config" / "policy.toml").write_text('known_hosts = ["127.0.0.1", "localhost"]\n')
    with served() as site:
        site.pages["/seats.html"] = (EXAMPLES / "seats.html").read_text() + TELLS
        site.pages["/told"] = ""
        site.put("<h1>Second</h1>")
        yield Doors(home, site)
        asyncio.run(end(home / "browsers" / "default"))


def test_commands_look_type_choose_press_and_list_tabs(doors: Doors) -> None:
    device = ("--device", "browser")
    assert "Seats for tonight" in doors.run("open-url", doors.url, *device)
    assert '"Name" empty' in doors.run("ui", *device)
    doors.run("type-text", "Ada", "--target", "Name", *device)
    doors.run("set-value", "Play", "Two Trains", *device)
    doors.run("tap", "At the aisle", *device)
    assert "1 seats for Two Trains?" in doors.run("tap", "Reserve", *device)
    assert doors.told == ["who=Ada", "play=Two Trains", "aisle=true", "Reserve"]
    doors.run("open-url", doors.site.url("/"), *device)
    doors.run("start-app", doors.site.other, *device)
    tabs = doors.run("get-state", *device)
    assert f"* Test ({doors.site.other}/)" in tabs
    assert f"  Test ({doors.site.origin}/)" in tabs


def test_the_example_flow_passes(doors: Doors) -> None:
    said = doors.run(
        "run", str(EXAMPLES / "seats.yaml"), "--device", "browser", "-e", f"SITE={doors.site.origin}"
    )
    assert "10 of 10 steps" in said, said
    assert doors.told[-2:] == ["Reserve", "Yes, reserve"]
    assert {"who=Ada Marrow", "play=Two Trains", "seats=3", "day=2026-12-24", "aisle=true"} <= set(doors.told)


def test_a_scripted_model_works_until_it_is_finished(doors: Doors, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        f'- open_url: "{doors.url}"\n'
        "- type_text: {text: Bea, target: Name}\n- tap: Reserve\n- finish: Asked.\n"
    )
    said = doors.run("agent", "Reserve a seat", "--model", f"scripted:{script}", "--device", "browser")
    assert "finished: Asked." in said
    assert doors.told == ["who=Bea", "Reserve"]


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
def test_a_makers_computer_tool_works_on_a_page(doors: Doors, maker: Maker) -> None:
    place = "position:fixed;left:40vw;top:40vh;width:20vw;height:20vh"
    told = (
        "tell([event.clientX / innerWidth, event.clientY / innerHeight].map((one) => Math.round(100 * one)))"
    )
    doors.site.pages["/press.html"] = f'{TELLS}<button style="{place}" onclick="{told}">Press</button>'

    def press(got: Got) -> Answer:
        width, height = maker.sizes(got)[-1]
        return maker.acts(click(width * 0.45, height * 0.55))

    async def story() -> str:
        opened = maker.call("open_url", {"url": doors.site.url("/press.html")})
        async with serving(opened, press, maker.says("Pressed.")) as server:
            words = ("--model", maker.spec, "--tools", "computer", "--base-url", server.url + maker.base)
            return await asyncio.to_thread(doors.run, "agent", "Press it", *words, "--device", "browser")

    assert "finished: Pressed." in asyncio.run(story())
    assert doors.told == ["45,55", "Press"]


def test_what_is_done_in_a_browser_is_recorded_and_replays(doors: Doors, tmp_path: Path) -> None:
    out, device = tmp_path / "recorded.yaml", ("--device", "browser")
    recorder = doors.begin("record", str(out), *device)
    assert recorder.stdout is not None
    assert "recording browser" in recorder.stdout.readline()
    doors.run("open-url", doors.url, *device)
    doors.run("type-text", "Cy", "--target", "Name", *device)
    doors.run("tap", "At the aisle", *device)
    for _ in range(3):
        assert re.match(r" +\d  ", recorder.stdout.readline())
    recorder.send_signal(signal.SIGINT)
    assert "3 steps in" in recorder.communicate(timeout=PATIENCE_S)[0]
    before = doors.told
    assert "3 of 3 steps" in doors.run("run", str(out), *device)
    assert doors.told == before * 2 == ["who=Cy", "aisle=true"] * 2


def test_an_mcp_client_works_in_a_browser_with_core_and_what_the_web_needs(doors: Doors) -> None:
    process = StdioServerParameters(
        command=HANDRAIL[0], args=[*HANDRAIL[1:], "mcp", "--device", "browser"], env=doors.env
    )

    async def story() -> None:
        async with asyncio.timeout(90), Client(process, mode=MODERN) as client:
            listed = await client.list_tools()
            names = [tool.name for tool in listed.tools]
            assert {"get_ui_tree", "tap", "open_url", "set_value", "press_keys"} <= set(names)
            wire = listed.model_dump_json(by_alias=True, exclude_none=True, include={"tools"})
            assert openai.o200k_base().count(wire) <= 2_000

            async def call(name: str, **given: str | int) -> str:
                answer = await client.call_tool(name, {**given, "reason": "I reserve a seat"})
                assert not answer.is_error, text_of(answer)
                return text_of(answer)

            assert text_of(await client.call_tool("devices", {})).startswith("browser (")
            assert "Connected to browser: Chrom" in text_of(await client.call_tool("connect", {}))
            assert "Seats for tonight" in await call("open_url", url=doors.url)
            await call("type_text", text="Ada", target="Name")
            await call("set_value", target="Seats", value=4)
            assert "4 seats for The Lighthouse?" in await call("tap", target="Reserve")
            await call("tap", target="Not yet")
            assert "Tabs" in text_of(await client.call_tool("get_state", {}))

    asyncio.run(story())
    assert doors.told == ["who=Ada", "seats=4", "Reserve", "Not yet"]


def test_the_desk_shows_a_browser_live_and_a_person_takes_it_over(doors: Doors) -> None:
    server = doors.begin("serve", "--port", "0", "--device", "browser")
    assert server.stdout is not None
    try:
        link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+/login#\S+", line)))
        doors.run("open-url", doors.url, "--device", "browser")
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=find_browser(os.environ), args=["--no-sandbox", "--disable-gpu"]
            )
            page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
            _by_hand(page, link, doors)
            chromium.close()
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)


def _by_hand(page: Page, link: str, doors: Doors) -> None:
    page.goto(link)
    page.locator(".desk-icon").get_by_text("Phone", exact=True).click()
    phone = page.locator(".app-phone")
    canvas = phone.locator(".phone-canvas[data-frames]")
    canvas.wait_for()
    expect(phone.locator(".phone-app")).to_contain_text(doors.site.origin)
    expect(phone.get_by_role("group", name="Keys of the browser").get_by_role("button")).to_have_count(3)
    phone.get_by_role("button", name="Take over").first.click()
    expect(phone.locator(".phone-holder")).to_have_text("Yours: agents wait")
    _click(canvas, 510, 113)
    page.keyboard.type("By hand")
    expect(phone.locator(".phone-act", has_text="type text")).to_be_visible()
    _click(canvas, 378, 260)
    _seen(page, lambda: sorted(doors.told) == ["aisle=true", "who=By hand"])
    before = doors.site.asked.count("/seats.html")
    phone.get_by_role("button", name="Reload").click()
    _seen(page, lambda: doors.site.asked.count("/seats.html") == before + 1)


def _click(canvas: Locator, x: int, y: int) -> None:
    """Where the picture shows this point of the page."""
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": x / 1280 * box["width"], "y": y / 800 * box["height"]})


def _seen(page: Page, condition: Callable[[], bool]) -> None:
    """What the page tells comes by its own way, a moment later."""
    for _ in range(int(PATIENCE_S / 0.05)):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the page did not tell it")
