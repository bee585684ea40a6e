from __future__ import annotations

import pytest

from handrail.errors import HandrailError
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail_frameworks import is_custom_drawn
from handrail_frameworks.framework_sync import Detected, FrameworkSync, detect, library_names
from tests.cases import each
from tests.corpus import CORPUS, needs_corpus
from tests.unit.android.sim_phone import Bench, play

PACKAGE = "com.example.app"
NOWHERE = ("127.0.0.1", 1)


def screen(*nodes: str) -> Screen:
    made = "".join(
        f'<node package="{PACKAGE}" bounds="[0,{row * 100}][500,{row * 100 + 90}]" enabled="true" {words}/>'
        for row, words in enumerate(nodes)
    )
    return parse(f"<hierarchy rotation='0'>{made}</hierarchy>".encode())


async def detected(
    bench: Bench, package: str, shown: Screen, libraries: dict[str, tuple[str, ...]] | None = None
) -> Detected:
    libraries = {} if libraries is None else libraries
    return await detect(bench.device, package, shown, metro=NOWHERE, clock=bench.clock, libraries=libraries)


NATIVE = screen(
    'class="android.widget.FrameLayout" resource-id="android:id/content"',
    f'class="android.widget.Button" text="OK" resource-id="{PACKAGE}:id/ok"',
    f'class="android.widget.TextView" text="Hi" resource-id="{PACKAGE}:id/hi"',
    f'class="android.widget.TextView" text="Ho" resource-id="{PACKAGE}:id/ho"',
    *['class="android.view.View"'] * 5,
)
CANVAS = screen(
    'class="android.widget.FrameLayout" resource-id="android:id/content"', 'class="android.view.View"'
)
BARE = screen(*['class="android.view.ViewGroup" text="Hi"'] * 4)
TESTED = screen('class="android.view.ViewGroup" resource-id="login" text="Hi"')


def test_a_native_app_costs_no_command_and_no_byte() -> None:
    async def story(bench: Bench) -> None:
        found = await detected(bench, PACKAGE, NATIVE)
        assert (found.kind, found.signals) == ("native", ())
        sync = FrameworkSync("native", PACKAGE, device=bench.device, clock=bench.clock, env={})
        await sync.attach()
        assert await sync.wait_for_sync()
        assert await sync.snapshot_fiber_labels(NATIVE) == {}
        assert not await sync.refresh_semantics()
        await sync.close()
        assert bench.link.opened == []
        assert sync.diagnostics == []

    play(story)


def test_an_odd_screen_costs_one_command_and_once() -> None:
    async def story(bench: Bench) -> None:
        known: dict[str, tuple[str, ...]] = {}
        for _ in range(2):
            assert (await detected(bench, PACKAGE, BARE, known)).kind == "native"
        commands = [one for one in bench.link.opened if "pm path" in one]
        assert len(commands) == 1

    play(story)


@each("package", ["", "a b", "x;reboot", "-rf"])
def test_a_dump_that_names_no_package_is_nobodys_app(package: str) -> None:
    async def story(bench: Bench) -> None:
        node = f'<node class="io.flutter.FlutterView" package="{package}" bounds="[0,0][9,9]"/>'
        shown = parse(f"<hierarchy>{node}</hierarchy>".encode())
        assert (await detected(bench, package, shown)).kind == "native"
        assert bench.link.opened == []

    play(story)


def test_a_phone_that_refuses_to_tell_is_native() -> None:
    async def story(bench: Bench) -> None:
        await bench.device.close()
        known: dict[str, tuple[str, ...]] = {}
        try:
            found = await detected(bench, PACKAGE, BARE, known)
        except HandrailError as error:
            pytest.fail(f"detection raised {error}")
        assert found.kind == "native"

    play(story)


@each(("shown", "odd"), [(NATIVE, False), (CANVAS, True), (BARE, True), (TESTED, True)])
def test_what_looks_drawn_by_something_else_is_odd(shown: Screen, odd: bool) -> None:
    assert is_custom_drawn([node for node in shown.nodes if node.package_name == PACKAGE]) is odd


def test_libraries_are_found_unpacked_and_inside_the_apk() -> None:
    unpacked = "libc++_shared.so\nlibhermes.so\nlibreactnativejni.so\n"
    inside = "  1234  2020-01-01 00:00   lib/arm64-v8a/libflutter.so\n"
    assert library_names(unpacked + inside) == (
        "lib:libflutter.so",
        "lib:libhermes.so",
        "lib:libreactnativejni.so",
    )
    assert library_names("libfluttering_text.txt\nlibapp.so\n") == ()


@needs_corpus
def test_recorded_screens_of_launchers_and_system_apps_are_not_odd() -> None:
    assert CORPUS
    system = ("com.android.systemui", "com.android.launcher3", "app.lawnchair", "com.android.chrome")
    seen = 0
    for file in (CORPUS / "uiautomator").rglob("*.xml"):
        try:
            shown = parse(file.read_bytes())
        except HandrailError:
            continue
        if shown.package in system:
            seen += 1
            assert not is_custom_drawn(
                [node for node in shown.nodes if node.package_name == shown.package]
            ), file
    assert seen > 5
