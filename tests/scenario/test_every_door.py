"""One set of stories through every door: the same action is the same envelope, whoever brings it in.

Every story has a phone of its own; the doors of a home stay open from story to story.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.journal import query
from handrail.safety.approvals import Approvals
from handrail.store import Store, connect
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from tests.scenario.doors import DOORS, Action, Door, Kept, Told, environment
from tests.scenario.people import CHECKOUT, command
from tests.scenario.world import until, usual_clock

pytestmark = pytest.mark.slow

REASON = "I try every door"
CONTACTS, SETTINGS, TROUBLE = "com.google.android.contacts", "com.android.settings", "com.handrail.trouble"
POLICY = """
[[rule]]
name = "payments"
label = ["Pay*"]
verdict = "ask"
why = "it costs money"

[[rule]]
name = "stay online"
label = ["Airplane*"]
verdict = "deny"
why = "the phone would be lost"
"""
OF_THE_MOMENT = frozenset({"action_id", "timestamp", "timings_ms", "settle"})
"""Keys of an envelope that differ between any two runs."""
MOMENTS = {
    r"127\.0\.0\.1:\d+": "PHONE",
    r"\bap_[0-9a-f]+": "APPROVAL",
    r"\b\d+ ms\b": "TIME",
    r"\br\d+\b": "REVISION",
}
"""The same within its texts."""


@dataclass
class Scene:
    """One story's stage: a door, a phone behind it, and everything that was told."""

    door: Door
    phone: Phone
    serial: str
    home: Path
    told: list[Told] = field(default_factory=list)

    async def act(self, kind: str, **fields: Any) -> Told:
        told = await self.door.act(self._action(kind, fields))
        self.told.append(told)
        return told

    def begin(self, kind: str, **fields: Any) -> asyncio.Task[Told]:
        return asyncio.create_task(self.door.act(self._action(kind, fields)))

    def _action(self, kind: str, fields: Action) -> Action:
        return {"type": kind, **fields, "reason": REASON, "device": self.serial}

    def journal(self) -> list[dict[str, Any]]:
        """What every process of this home has written about this phone, oldest first."""
        with closing(connect(Config.from_env(environment(self.home)).db)) as db:
            return [json.loads(line) for line in query.event_lines(db, self.serial, None, None)]

    def ends(self) -> list[Action]:
        return [event["envelope"] for event in self.journal() if event.get("terminal")]


Story = Callable[[Scene], Awaitable[None]]


async def reads(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    seen = await s.act("get_ui_tree")
    assert "Network & internet" in seen.envelope["details"]["text"]  # type: ignore[index]
    found = await s.act("get_ui_tree", find="Display")
    assert "Battery" not in found.envelope["details"]["text"]  # type: ignore[index]


async def taps_by_text_ref_and_point(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    assert not (await s.act("tap", target="Network & internet")).failed
    seen = await s.act("get_ui_tree")
    by_ref = await s.act("tap", target=ref_of(seen, "Data Saver"))
    assert by_ref.envelope["changes"], by_ref  # type: ignore[index]
    by_point = await s.act("tap", target="960,1030")
    assert by_point.envelope["target"]["resolved"]["ref"] == by_ref.envelope["target"]["resolved"]["ref"], (
        by_point
    )  # type: ignore[index]


async def types_and_reads_back(s: Scene) -> None:
    await s.act("start_app", package=CONTACTS)
    await s.act("tap", target="Create new contact", expect={"visible": "First name"})
    typed = await s.act("type_text", text="Ada 24", target="First name")
    assert not typed.failed, typed
    assert typed.envelope["verification"]["observed"] == "Ada 24"  # type: ignore[index]


async def scrolls(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    found = await s.act("scroll_to", target="About phone")
    assert not found.failed, found


async def finds_nothing_and_too_much(s: Scene) -> None:
    await s.act("start_app", package=TROUBLE)
    missing = await s.act("tap", target="There is no such thing")
    several = await s.act("tap", target={"id": "trouble"})
    assert [code(missing), code(several)] == ["ELEMENT_NOT_FOUND", "AMBIGUOUS_TARGET"]
    assert several.envelope["details"]["candidates"]  # type: ignore[index]


async def is_refused_by_policy(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    await s.act("tap", target="Network & internet")
    refused = await s.act("tap", target="Airplane mode")
    assert (code(refused), refused.envelope["delivery"]) == ("ACTION_REJECTED", "not_delivered")  # type: ignore[index]


async def is_approved_by_another_process(s: Scene) -> None:
    s.phone.start_activity(CHECKOUT)
    await s.act("expect_visible", target={"id": "pay"})
    doing = s.begin("tap", target={"id": "pay"})
    request = await until(lambda: asked(s.home, s.serial))
    assert not doing.done()
    ended, said = await command(s.home, "approve", request)
    assert ended == 0, said
    s.told.append(await doing)
    assert s.told[-1].envelope["approval"]["decision"] == "approved"  # type: ignore[index]


async def expects_in_vain(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    waited = await s.act("wait_for", condition={"visible": "Jupiter"}, timeout_ms=50)
    looked = await s.act("expect_visible", target="Saturn", timeout_ms=50)
    assert [code(waited), code(looked)] == ["TIMEOUT", "ASSERTION_FAILED"]


async def is_no_action_at_all(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    wrong = await s.act("tap", target={"colour": "red"})
    assert (wrong.failed, wrong.envelope) == (True, None)
    assert wrong.text.startswith("INVALID_ACTION: ")
    assert "colour" in wrong.text


async def is_left_by_its_caller(s: Scene) -> None:
    await s.act("start_app", package=SETTINGS)
    doing = s.begin("wait_for", condition={"visible": "Godot"}, timeout_ms=500_000)
    await until(lambda: any(event.get("action", {}).get("type") == "wait_for" for event in s.journal()))
    await s.door.leave(doing)
    await until(lambda: len(s.ends()) == 2)
    assert s.ends()[-1]["failure_code"] == "CANCELLED"


STORIES: tuple[Story, ...] = (
    reads, taps_by_text_ref_and_point, types_and_reads_back, scrolls, finds_nothing_and_too_much,
    is_refused_by_policy, is_approved_by_another_process, expects_in_vain, is_no_action_at_all,
    is_left_by_its_caller,
)  # fmt: skip


def ref_of(told: Told, label: str) -> str:
    found = re.search(rf"(@\w+) .*{re.escape(label)}", told.envelope["details"]["text"])
    assert found, told.envelope["details"]["text"]
    return found[1]


def code(told: Told) -> str | None:
    assert told.envelope, told
    assert told.failed == ("failure_code" in told.envelope)
    found: str | None = told.envelope.get("failure_code")
    return found


async def asked(home: Path, serial: str) -> str | None:
    """The question about this phone that waits for a person."""
    store = Store(Config.from_env(environment(home)).db)
    try:
        pending = await Approvals(store, usual_clock()).pending()
    finally:
        store.close()
    return next((one.id for one in pending if one.request.device == serial), None)


class House:
    """A home with a policy, one door, and a phone for every story."""

    def __init__(self, name: str, home: Path, runner: asyncio.Runner) -> None:
        policy = Config.from_env(environment(home)).policy
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        self._home = home
        self._runner = runner
        self._kept = Kept(runner, furnished(name, home))
        self._door, self._phones = self._kept.open()
        self._played: dict[Story, Scene] = {}

    def play_live(self, story: Story) -> Scene:
        """Once: what is compared with three doors need not be done three times."""
        if story not in self._played:
            served = self._phones[story]
            scene = Scene(self._door, served.phone, served.address, self._home)
            self._runner.run(bounded(story(scene)))
            self._played[story] = scene
        return self._played[story]

    def close(self) -> None:
        self._kept.close()


@asynccontextmanager
async def furnished(name: str, home: Path) -> AsyncIterator[tuple[Door, dict[Story, Served]]]:
    phones = [Phone(clock=usual_clock()) for _ in STORIES]
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serve(phones, port=0))
        door = await stack.enter_async_context(DOORS[name](home, [one.address for one in served]))
        yield door, dict(zip(STORIES, served, strict=True))


async def bounded(story: Awaitable[None]) -> None:
    async with asyncio.timeout(60):
        await story


def house(name: str, home: Path) -> Iterator[House]:
    with asyncio.Runner() as runner:
        opened = House(name, home, runner)
        try:
            yield opened
        finally:
            opened.close()


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """What the others are compared with: no door between the story and the engine."""
    yield from house("in-process", tmp_path_factory.mktemp("in-process"))


@pytest.fixture(scope="module", params=[name for name in DOORS if name != "in-process"])
def elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    yield from house(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_story_is_the_same_through_every_door(at_home: House, elsewhere: House, story: Story) -> None:
    expected, scene = at_home.play(story), elsewhere.play(story)
    assert not (found := differences(expected.ends(), scene.ends())), found
    assert not (found := differences(envelopes(expected), envelopes(scene))), found
    assert [told.failed for told in scene.told] == [told.failed for told in expected.told]
    for told in scene.told:
        if told.envelope and told.failed:
            assert told.envelope["failure_code"] in told.text
    begun = [event for event in scene.journal() if event["kind"] == "accepted"]
    assert {event["door"] for event in begun} == {scene.door.word}
    assert {event["reason"] for event in begun} == {REASON}


def envelopes(scene: Scene) -> list[Action | None]:
    return [told.envelope for told in scene.told]


def differences(expected: list[Any], found: list[Any]) -> str:
    """Only what differs, line by line: an envelope of a whole screen is long."""
    compared = difflib.ndiff(lines(expected), lines(found))
    return "\n".join(line for line in compared if line.startswith(("- ", "+ ")))


def lines(envelopes: list[Any]) -> list[str]:
    """Without the moment: times, numbers of actions and approvals, addresses of phones."""
    text = json.dumps(
        [one and lasting(one) for one in envelopes], ensure_ascii=False, indent=1, sort_keys=True
    )
    for pattern, word in MOMENTS.items():
        text = re.sub(pattern, word, text)
    return text.splitlines()


def lasting(envelope: Action) -> Action:
    """How far an action moved the revision, not where it stood: a process that looks later counts more.

    What looks only once says which screen was before it where its process happens to remember one.
    """
    kept = {key: value for key, value in envelope.items() if key not in OF_THE_MOMENT}
    before, after = kept.pop("revision_before", None), kept.get("revision_after")
    if before and after and envelope.get("ui_fingerprint_before"):
        kept["moved"] = int(after[1:]) - int(before[1:])
    return kept
