from __future__ import annotations

from collections.abc import Iterator

import pytest
from packages.frameworks.tests.sync_node.node import PACKAGE, Scene, run_peer
from packages.frameworks.tests.sync_node.test_work import play

from handrail.screen.compact import CompactOptions
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry

STATUS_BAR_DP = 24


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from run_peer()


def screen(density: int, *nodes: tuple[str, tuple[int, int, int, int]]) -> Screen:
    """What Android shows of the same page: places in pixels, below a status bar."""
    factor = density / 160
    made = []
    for words, (x, y, width, height) in nodes:
        left, top = round(x * factor), round((y + STATUS_BAR_DP) * factor)
        right, bottom = round((x + width) * factor), round((y + height + STATUS_BAR_DP) * factor)
        made.append(
            f'<node class="android.view.ViewGroup" package="{PACKAGE}" enabled="true" {words}'
            f' bounds="[{left},{top}][{right},{bottom}]"/>'
        )
    size = f"[0,0][{round(360 * factor)},{round(640 * factor)}]"
    root = f'<node class="android.widget.FrameLayout" package="{PACKAGE}" enabled="true" bounds="{size}">'
    return parse(f"<hierarchy rotation='0'>{root}{''.join(made)}</node></hierarchy>".encode())


TAPPABLE = 'clickable="true"'
BACK = (TAPPABLE, (0, 4, 48, 48))
SETTINGS = (TAPPABLE, (312, 4, 48, 48))
ROW = (TAPPABLE, (0, 100, 360, 56))
SEND = (TAPPABLE, (296, 540, 48, 48))
ATTACH = (f'{TAPPABLE} resource-id="attach"', (16, 540, 200, 48))
TITLE = ('text="Inbox"', (80, 16, 200, 24))


def labels(shown: Screen, names: dict[str, str]) -> list[str]:
    """The names in the compact text, top to bottom."""
    text = Registry().rebuild(shown, CompactOptions(external_labels=names)).text
    return [line.split()[1] for line in text.splitlines() if line.startswith("@")]


async def density_of(stage: Scene) -> int:
    told = await stage.bench.device.shell.run(["wm", "density"])
    return int(told.text.split()[-1])


def test_unlabelled_icon_buttons_have_the_names_of_their_components(port: int) -> None:
    async def story(stage: Scene) -> None:
        shown = screen(await density_of(stage), TITLE, BACK, SETTINGS, ROW, SEND)
        async with stage.attached() as sync:
            names = await sync.snapshot_fiber_labels(shown)
            assert labels(shown, names) == ["ArrowLeft", "Settings", "trash", "SendButton"]
            assert "4 of 4" in sync.diagnostics[-1]
            assert not await stage.run("'__handrailFibers' in globalThis")

    play(port, story)


def test_a_test_id_finds_its_host_and_an_icon_inside_it_the_name(port: int) -> None:
    async def story(stage: Scene) -> None:
        shown = screen(await density_of(stage), TITLE, ATTACH)
        async with stage.attached() as sync:
            assert list((await sync.snapshot_fiber_labels(shown)).values()) == ["ArrowLeft"]

    play(port, story)


def test_what_has_a_name_keeps_it_and_nothing_is_asked(port: int) -> None:
    async def story(stage: Scene) -> None:
        named = (f'{TAPPABLE} content-desc="Go back"', BACK[1])
        shown = screen(await density_of(stage), TITLE, named)
        async with stage.attached() as sync:
            before = len(sync.diagnostics)
            assert await sync.snapshot_fiber_labels(shown) == {}
            assert len(sync.diagnostics) == before

    play(port, story)


def test_the_same_screen_is_asked_about_once(port: int) -> None:
    async def story(stage: Scene) -> None:
        density = await density_of(stage)
        async with stage.attached() as sync:
            first = await sync.snapshot_fiber_labels(screen(density, TITLE, BACK))
            said = len(sync.diagnostics)
            assert await sync.snapshot_fiber_labels(screen(density, TITLE, BACK)) == first
            assert len(sync.diagnostics) == said

    play(port, story)


def test_fiber_inference_can_be_switched_off(port: int) -> None:
    async def story(stage: Scene) -> None:
        shown = screen(await density_of(stage), TITLE, BACK)
        async with stage.attached(AGENTEST_DISABLE_FIBER_INFERENCE="1") as sync:
            assert await sync.snapshot_fiber_labels(shown) == {}
            assert sync.has_hermes

    play(port, story)
