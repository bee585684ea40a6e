"""What debug builds tell: waits that end with the app's own work, names that only components know."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from handrail.protocol.envelope import Envelope
from handrail_sim.channels.react import on_host
from handrail_sim.channels.react_component import component_of
from handrail_sim.phone import Phone
from tests.scenario.world import FastClock, World, play, until, usual_clock, world

ASYNC_RUNNER = play

REACT, FLUTTER, COMPOSE = "com.handrail.reactlab", "com.handrail.flutterlab", "com.handrail.composelab"
CONTACTS = "com.google.android.contacts"
OFF = {"HANDRAIL_DISABLE_FRAMEWORK_SYNC": "1"}


def place_of(w: World, name: str) -> dict[str, int]:
    """Where a component is that nothing on the screen names."""
    views = [view for window in w.phone.windows() for view in window.views()]
    view = next(view for view in views if (drawn := component_of(view)) and drawn.name == name)
    return {"x": view.x + view.w // 2, "y": view.y + view.h // 2}


async def attached(w: World, package: str) -> None:
    """The app in front, and its channels open: a loaded machine may take longer than one answer waits."""
    await w.open(package)

    async def is_asked() -> bool:
        return "sync" in settle_of(await w.session.wait_for_stable(timeout_ms=5000))

    await until(is_asked)


async def text_of(w: World) -> str:
    envelope = await w.session.get_ui_tree()
    return str(envelope.details["text"])


async def says(w: World, words: str) -> bool:
    return words in await text_of(w)


def settle_of(envelope: Envelope) -> dict[str, Any]:
    written: dict[str, Any] = envelope.to_dict()["settle"]
    return written


def streams_of(phone: Phone) -> list[str]:
    """Everything that is opened on the phone from now on."""
    opened: list[str] = []

    class Counted(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            opened.append(key)
            return super().get(key, default)

    phone.ports = Counted(phone.ports)
    return opened


async def test_without_sync_a_tap_returns_before_its_request_is_answered(tmp_path: Path) -> None:
    async with world(tmp_path, env=OFF) as w:
        await w.open(REACT)
        done = await w.session.tap(place_of(w, "RefreshButton"))
        assert done.success, done.to_json()
        assert w.app_state(REACT)["pending_requests"] == 1
        assert "sync" not in settle_of(done)


async def test_with_sync_a_tap_waits_for_the_end_of_its_request(w: World) -> None:
    await attached(w, REACT)
    done = await w.session.tap("RefreshButton")
    assert done.success, done.to_json()
    assert w.app_state(REACT)["pending_requests"] == 0
    assert [change for change in done.changes or () if "13" in str(change)], done.to_json()
    told = settle_of(done)["sync"]
    assert (told["framework"], told["idle"]) == ("react_native", True)
    assert "fetch GET https://harbour.example/feed" in told["waited_for"]
    assert told["ms"] > 900
    assert any("fetch GET" in line for line in done.diagnostics or ())


async def test_icon_buttons_have_the_names_of_their_components(w: World) -> None:
    await attached(w, REACT)
    text = await text_of(w)
    for name in ("SortButton", "RefreshButton", "SendButton", "HeartButton", "HomeTab", "ProfileTab"):
        assert name in text, text
    done = await w.session.tap("ProfileTab")
    assert done.success, done.to_json()
    assert w.phone.state()["front"]["state"]["tab"] == 1
    assert done.target
    assert done.target.resolved
    assert done.target.resolved.label == "ProfileTab"
    assert done.target.resolved.label_source == "framework"
    journalled = [one for one in w.events() if "label_source" in str(one)]
    assert journalled


async def test_a_name_of_a_component_can_be_waited_for_and_expected(w: World) -> None:
    await attached(w, REACT)
    waited = await w.session.wait_for({"visible": {"text": "SortButton"}}, timeout_ms=5000)
    assert waited.success, waited.to_json()
    expected = await w.session.expect_visible("RefreshButton")
    assert expected.success, expected.to_json()


async def test_words_on_the_screen_win_over_names_of_components(w: World) -> None:
    await attached(w, REACT)
    done = await w.session.tap("What is new?")
    assert done.success, done.to_json()
    assert done.target
    assert done.target.resolved
    assert done.target.resolved.label_source is None


async def test_fiber_inference_can_be_switched_off_alone(tmp_path: Path) -> None:
    async with world(tmp_path, env={"AGENTEST_DISABLE_FIBER_INFERENCE": "1"}) as w:
        await attached(w, REACT)
        rested = await w.session.wait_for_stable(timeout_ms=5000)
        assert settle_of(rested)["sync"]["channels"] == ["hermes"]
        assert "RefreshButton" not in await text_of(w)


async def test_metro_on_the_host_serves_as_well(tmp_path: Path) -> None:
    phone = Phone(clock=usual_clock())
    phone.start_activity(package=REACT)
    async with (
        on_host(phone.app(REACT)) as port,  # type: ignore[arg-type]
        world(tmp_path, env={"HANDRAIL_METRO": f"127.0.0.1:{port}"}, phone=phone) as w,
    ):
        await until(partial(says, w, "RefreshButton"))


async def test_an_empty_canvas_is_asked_for_its_semantics(w: World) -> None:
    w.phone.start_activity(package=FLUTTER)
    assert "Oil the hinge" not in w.phone.dump()
    await until(partial(says, w, "Oil the hinge"))
    assert not w.phone.accessibility_requested


async def test_an_empty_canvas_stays_empty_without_sync(tmp_path: Path) -> None:
    async with world(tmp_path, env=OFF) as w:
        await w.open(FLUTTER)
        assert "Oil the hinge" not in await text_of(w)


async def test_frames_on_a_canvas_are_waited_for(w: World) -> None:
    await attached(w, FLUTTER)
    typed = await w.session.type_text("Wind the clock", target="New task")
    assert typed.success, typed.to_json()
    done = await w.session.tap("Add")
    assert done.success, done.to_json()
    state = w.app_state(FLUTTER)
    assert state["tasks"] == ["Oil the hinge", "Return the book", "Buy stamps", "Wind the clock"]
    assert state["saving"] == 0
    assert "frames" in settle_of(done)["sync"]["waited_for"]


async def test_idling_resources_are_waited_for_and_named(w: World) -> None:
    await attached(w, COMPOSE)
    done = await w.session.tap("Save")
    assert done.success, done.to_json()
    assert w.app_state(COMPOSE)["uploads"] == 0
    told = settle_of(done)["sync"]
    assert (told["framework"], told["waited_for"]) == ("compose", ["draft upload"])


async def test_a_restarted_app_is_attached_again(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await attached(w, REACT)
        again = await w.session.restart_app(REACT)
        assert again.success, again.to_json()

        async def is_named() -> bool:
            return "RefreshButton" in await text_of(w)

        await until(is_named)
        done = await w.session.tap("RefreshButton")
        assert done.success, done.to_json()
        assert w.app_state(REACT)["pending_requests"] == 0


async def test_a_hung_up_channel_never_fails_an_action(w: World) -> None:
    await attached(w, REACT)

    async def deaf(stream: Any) -> None:
        await stream.read()

    lab: Any = w.phone.app(REACT)
    for stream in list(lab._debuggers):
        stream.close()
    w.phone.ports["tcp:8081"] = deaf
    done = await w.session.tap("Harbour feed")
    assert done.failure_code in (None, "ELEMENT_NOT_INTERACTABLE"), done.to_json()
    tree = await w.session.get_ui_tree()
    assert tree.success, tree.to_json()


async def test_a_native_app_costs_no_command_and_no_stream(tmp_path: Path) -> None:
    async def used(env: dict[str, str], home: Path) -> tuple[list[str], list[str]]:
        async with world(home, env=env, clock=FastClock(4)) as w:
            ran: list[str] = []
            run = w.session.surface.inner.device.link.open

            async def counted(service: str) -> Any:
                ran.append(service.partition(":")[2].split()[0] if ":" in service else service)
                return await run(service)

            w.session.surface.inner.device.link.open = counted  # type: ignore[method-assign]
            ports = streams_of(w.phone)
            await w.open(CONTACTS)
            await w.session.tap("Alba Thornquill")
            await w.session.press_key("back")
            await w.session.get_ui_tree()
            return [one for one in ran if one not in ("uiautomator",)], ports

    with_sync = await used({}, tmp_path / "with")
    without = await used(OFF, tmp_path / "without")
    assert sorted(set(with_sync[0])) == sorted(set(without[0]))
    assert with_sync[1] == without[1] == []


def left_in(js: Any) -> list[str]:
    """Our names in the app's own context."""
    source = "Object.getOwnPropertyNames(globalThis).filter(name => name.startsWith('__handrail'))"
    names: list[str] = js.evaluate(source, by_value=True, wait=False)["result"]["value"]
    return names


async def test_the_session_leaves_the_app_as_it_was_found(w: World) -> None:
    await attached(w, REACT)
    lab: Any = w.phone.app(REACT)
    assert left_in(lab.js)
    await w.session.close()
    await until(lambda: not lab._debuggers)
    assert not left_in(lab.js)
