"""Stories on a simulated iPhone, through usbmuxd and WebDriverAgent: the phone's own log is the witness."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.engine.session import Session
from handrail.flow.document import loads
from handrail.flow.run import FlowRunner
from handrail.ios.wda import Wda
from handrail.runtime import Runtime
from handrail_sim.iphone import ServedIPhone, simulated_iphone
from tests.scenario.world import play, usual_clock, world

CONTACTS, SETTINGS, NOTES = "com.apple.MobileAddressBook", "com.apple.Preferences", "com.handrail.notes"
"""Bundle identifiers; apps of the simulator's own keep their names."""


@dataclass
class IPhoneWorld:
    iphone: ServedIPhone
    runtime: Runtime
    session: Session

    def inputs(self) -> list[dict[str, Any]]:
        return list(self.iphone.phone.input_log)

    async def editor(self) -> None:
        """A new contact's form."""
        assert (await self.session.start_app(CONTACTS)).success
        assert (await self.session.tap("Create new contact")).success
        assert (await self.session.wait_for({"visible": "First name"})).success


@asynccontextmanager
async def iphone_world(home: Path, policy: str | None = None, **options: Any) -> AsyncIterator[IPhoneWorld]:
    clock = usual_clock()
    async with simulated_iphone(clock=clock, **options) as iphone:
        env = {"HANDRAIL_HOME": str(home), "HOME": str(home), "USBMUXD_SOCKET_ADDRESS": iphone.usbmux}
        config = Config.from_env(env)
        if policy is not None:
            config.policy.parent.mkdir(parents=True, exist_ok=True)
            config.policy.write_text(policy)
        async with Runtime.open(config, clock=clock, env=env) as runtime:
            session = await runtime.session(f"ios:{iphone.udid}")
            yield IPhoneWorld(iphone, runtime, session)


def tell(home: Path, story: Callable[[IPhoneWorld], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        async with iphone_world(home, **options) as world:
            await story(world)

    play(run())


def test_an_iphone_on_a_cable_is_listed_and_chosen_without_a_name(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        [listed] = [one for one in (await world.runtime.devices()).devices if one.serial.startswith("ios:")]
        assert (listed.serial, listed.usable) == (f"ios:{world.iphone.udid}", True)
        facts = world.session.facts
        assert (facts.platform, facts.system) == ("ios", "iOS 17.5.1")

    tell(tmp_path, story)


def test_a_tap_is_verified_by_what_is_shown_next(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.session.start_app(SETTINGS)
        envelope = await world.session.tap("Display", expect={"visible": "Dark theme"})
        assert (envelope.success, envelope.delivery) == (True, "delivered"), envelope.to_json()
        assert envelope.device is not None
        assert (envelope.device.platform, envelope.device.android_version) == ("ios", None)

    tell(tmp_path, story)


def test_text_is_typed_into_a_field_and_read_back(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.editor()
        typed = await world.session.type_text("Ada O'Neil 🙂", target="First name")
        assert typed.success, typed.to_json()
        assert typed.verification is not None
        assert typed.verification.outcome == "verified"
        cleared = await world.session.clear_text(target="First name")
        assert cleared.success, cleared.to_json()

    tell(tmp_path, story)


def test_letters_that_never_arrive_are_said_and_not_claimed(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.editor()
        typed = await world.session.type_text("Clementine", target="First name")
        assert typed.failure_code == "VERIFICATION_FAILED", typed.to_json()
        keys = [one for one in world.inputs() if one.get("action") == "text"]
        assert len(keys) <= 2 * len("Clementine"), "the rest alone is never typed"

    tell(tmp_path, story, faults=[{"fault": "ime_swallows"}])


def test_back_touches_and_home_is_a_button(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.session.start_app(SETTINGS)
        await world.session.tap("Display")
        back = await world.session.press_key("back")
        assert back.success, back.to_json()
        assert (await world.session.expect_visible("Notifications")).success
        home = await world.session.press_key("home")
        assert home.success, home.to_json()
        assert (await world.session.screens.reader.foreground()).package == "com.apple.springboard"

    tell(tmp_path, story)


def test_enter_in_a_field_counts_for_every_button_of_its_window(tmp_path: Path) -> None:
    policy = '[[rule]]\nname = "no"\nverdict = "deny"\nlabel = ["Save"]\n'

    async def story(world: IPhoneWorld) -> None:
        await world.editor()
        await world.session.tap("First name")
        before = len(world.inputs())
        denied = await world.session.press_key("enter")
        assert denied.failure_code == "ACTION_REJECTED", denied.to_json()
        assert len(world.inputs()) == before

    tell(tmp_path, story, policy=policy)


def test_a_rule_about_a_button_also_stops_back_where_back_would_touch_it(tmp_path: Path) -> None:
    policy = '[[rule]]\nname = "no"\nverdict = "deny"\nlabel = ["Back"]\n'

    async def story(world: IPhoneWorld) -> None:
        await world.session.start_app(SETTINGS)
        await world.session.tap("Display")
        before = len(world.inputs())
        denied = await world.session.press_key("back")
        assert (denied.failure_code, len(world.inputs())) == ("ACTION_REJECTED", before), denied.to_json()

    tell(tmp_path, story, policy=policy)


def test_another_client_that_takes_the_session_is_told_and_not_fought(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.session.start_app(SETTINGS)
        before = len(world.inputs())
        dial = partial(asyncio.open_connection, "127.0.0.1", world.iphone.wda_port)
        other = Wda(dial, world.runtime.clock, "other")
        theirs = await other.open_session()
        refused = await world.session.tap("Display")
        assert (refused.failure_code, refused.delivery) == ("DEVICE_BUSY", "not_delivered"), refused.to_json()
        assert (len(world.inputs()), (await other.status())["sessionId"]) == (before, theirs)
        await other.close()
        assert (await world.session.tap("Display")).success

    tell(tmp_path, story)


def test_what_ios_lets_nobody_do_is_unsupported_with_the_reason(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        for kind, arguments in (
            ("set_network", {"wifi": False}), ("set_clipboard", {"text": "x"}), ("shell", {"command": "ls"}),
            ("press_keys", {"keys": ["ctrl", "a"]}), ("set_orientation", {"orientation": "auto"}),
            ("reset_app", {"package": NOTES}), ("get_logs", {}),
        ):  # fmt: skip
            envelope = await getattr(world.session, kind)(**arguments, reason="I try")
            assert (envelope.failure_code, envelope.delivery) in (
                ("UNSUPPORTED", "not_delivered"),
                ("ACTION_REJECTED", "not_delivered"),
            ), envelope.to_json()

    tell(tmp_path, story, policy='[[rule]]\nname = "all"\nverdict = "allow"\n')


def test_a_phone_that_goes_away_is_said(tmp_path: Path) -> None:
    async def story(world: IPhoneWorld) -> None:
        await world.session.start_app(SETTINGS)
        world.iphone.phone.faults.load(["phone_gone"])
        envelope = await world.session.tap("Display")
        assert envelope.failure_code == "IOS_CONNECTION_ERROR", envelope.to_json()
        assert envelope.delivery in ("not_delivered", "unknown")

    tell(tmp_path, story)


FLOW = Path(__file__).parents[2] / "examples" / "flows" / "note.yaml"


@pytest.mark.parametrize("kind", ["android", "ios"])
def test_one_flow_file_runs_unchanged_on_both_phones(tmp_path: Path, kind: str) -> None:
    async def run() -> None:
        async with world(tmp_path) if kind == "android" else iphone_world(tmp_path) as there:
            runner = FlowRunner({"phone": there.session}, there.runtime.clock)
            record = await runner.run(loads(FLOW.read_text()), None)
            assert record.outcome == "passed", [(step.outcome, step.message) for step in record.steps]

    play(run())
