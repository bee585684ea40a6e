"""What an agent, an app and a person may do after a secret was typed: moves that a seed puts in a row."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.config import Config
from handrail.engine.envelope_text import envelope_text
from handrail.engine.session import Session
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.apps import DEFAULT
from handrail_sim.phone import Phone
from tests.attacks.echo_app import DATABASE, PACKAGE, PREFS, Echo
from tests.attacks.leak_judge import (
    boxes_with,
    is_uniform,
    leaks_in,
    leaks_in_files,
    without_pictures,
)
from tests.scenario.world import FastClock

ALLOW_ALL = '[[rule]]\nname = "all"\naction = "*"\nverdict = "allow"\n'
SPEED = 20.0


@dataclass
class Siege:
    """One phone, one home, and everything that was heard from them."""

    phone: Phone
    serial: str
    home: Path
    value: str
    helper: Any
    env: dict[str, str]
    clock: FastClock
    runtime: Runtime = field(init=False)
    session: Session = field(init=False)
    heard: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    async def act(self, **action: Any) -> Any:
        """Do it, listen to every word of the answer, and look at every picture."""
        self.done.append(str(action))
        envelope = await self.session.run(action)
        text, pictures = without_pictures(envelope.to_dict())
        screen = self.session.screens.registry.text
        self.hear(f"{text} {envelope_text(action_from(action), envelope, screen)} {screen}")
        for png in pictures if not action.get("marks") else ():  # tags are drawn upon what was painted over
            self.look_at(png)
        return envelope

    def hear(self, said: str) -> None:
        self.wrong += [f"{run!r} after {self.done[-6:]}" for run in leaks_in(said, self.value)]

    def look_at(self, png: bytes) -> None:
        width = self.phone.display.width
        self.wrong += [
            f"box {box} can be read after {self.done[-4:]}"
            for box in boxes_with(self.phone, self.value)
            if not is_uniform(png, box, width)
        ]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        config = Config.from_env(self.env)
        async with Runtime.open(config, clock=self.clock, env=self.env) as self.runtime:
            self.session = await self.runtime.session(self.serial, helper=self.helper)
            listener = self.session.events()
            yield
            await self.session.close()
            async for event in listener:
                self.hear(str(without_pictures(event.to_dict())[0]))

    def judge(self) -> None:
        self.wrong += leaks_in_files(self.home, self.value)
        assert not self.wrong, "\n".join(self.wrong[:10])


@asynccontextmanager
async def siege(
    home: Path,
    value: str,
    *,
    helper: Any = "none",
    speed: float = SPEED,
    apps: tuple[Any, ...] = (Echo, *DEFAULT),
) -> AsyncIterator[Siege]:
    """Nothing is open yet: `opened` is one life of Handrail, and there may be several."""
    clock = FastClock(speed)
    phone = Phone(clock=clock, apps=apps)
    given = {"HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_SECRET_WORD": value}
    config = Config.from_env(given)
    config.policy.parent.mkdir(parents=True, exist_ok=True)
    config.policy.write_text(ALLOW_ALL)
    async with serve([phone], port=0) as [served]:
        yield Siege(phone, served.address, home, value, helper, given, clock)


CONTACTS = "com.google.android.contacts"
FIELDS: dict[str, tuple[str, Any]] = {
    PACKAGE: (f"{PACKAGE}/.Main", {"id": "word"}),
    "com.handrail.notes": ("com.handrail.notes/.EditActivity", {"id": "title"}),
    CONTACTS: (
        "com.google.android.contacts/com.android.contacts.activities.ContactEditorActivity",
        {"text": "First name"},
    ),
    "com.handrail.composelab": ("com.handrail.composelab/.MainActivity", {"text": "Your name"}),
}
"""An ordinary field of several apps: by its window and its selector."""

Move = Callable[[Siege, random.Random], Awaitable[Any]]


def _does(**action: Any) -> Move:
    return lambda s, _: s.act(**action)


def _key(name: str) -> Move:
    return _does(type="press_key", key=name)


def _tap(label: str) -> Move:
    return _does(type="tap", target={"text": label})


async def _separator(s: Siege, rng: random.Random) -> None:
    await s.act(type="type_text", text=rng.choice("-. x"))


async def _copy_all(s: Siege, _: random.Random) -> None:
    await s.act(type="long_press", target={"id": "word"})
    await s.act(type="tap", target={"text": "Select all"})
    await s.act(type="press_key", key="copy")
    await s.act(type="tap", target={"id": "second"})
    await s.act(type="press_key", key="paste")


async def _split(s: Siege, _: random.Random) -> None:
    """Separators between all of its characters, and a copy of that."""
    for _ in range(4):
        await s.act(type="press_key", key="left")
        await s.act(type="type_text", text="-")
        await s.act(type="press_key", key="left")


async def _guess(s: Siege, rng: random.Random) -> None:
    part = s.value[: rng.randint(1, 3)]
    await s.act(type="expect_text", target={"id": "word"}, contains=part, timeoutMs=0)


async def _shade(s: Siege, _: random.Random) -> None:
    await s.act(type="swipe", **{"from": "540,5", "to": "540,1500"}, durationMs=200)
    await s.act(type="get_ui_tree")
    await s.act(type="press_key", key="back")


MOVES: dict[str, Move] = {
    "delete": _key("delete"),
    "forward delete": _key("forward_delete"),
    "left": _key("left"),
    "home of line": _key("move_home"),
    "cut": _key("cut"),
    "paste": _key("paste"),
    "a separator": _separator,
    "separators": _split,
    "copy all": _copy_all,
    "toast": _tap("Toast"),
    "notify": _tap("Notify"),
    "shade": _shade,
    "log": _tap("Log"),
    "save": _tap("Save"),
    "share": _tap("Share"),
    "next": _tap("Next"),
    "back": _key("back"),
    "up": _tap("Up"),
    "other field": _does(type="type_text", text="Ada", target={"id": "second"}),
    "clear and type": _does(type="type_text", text="Ada", target={"id": "word"}, clear=True),
    "the secret again": _does(type="type_text", text="${secret:WORD}", target={"id": "word"}),
    "clear": _does(type="clear_text", target={"id": "word"}),
    "guess": _guess,
    "tree": _does(type="get_ui_tree"),
    "full tree": _does(type="get_ui_tree", format="full"),
    "outline": _does(type="get_ui_tree", format="outline"),
    "changes": _does(type="what_changed"),
    "picture": _does(type="screenshot"),
    "marks": _does(type="screenshot", marks=True),
    "state": _does(type="get_state"),
    "logs": _does(type="get_logs"),
    "prefs": _does(type="get_shared_prefs", package=PACKAGE, file=PREFS),
    "rows": _does(type="query_db", package=PACKAGE, database=DATABASE, query="SELECT * FROM said"),
    "shell": _does(type="shell", command=["dumpsys", "notification"]),
    "raw shell": _does(type="shell", command="logcat -d | tail -20", raw=True),
    "clipboard": _does(type="set_clipboard", text="${secret:WORD}"),
    "turn": _does(type="set_orientation", orientation="landscape"),
    "turn back": _does(type="set_orientation", orientation="portrait"),
    "ref": _does(type="tap", target="@f1"),
    "expect": _does(type="expect_visible", target={"textContains": "said"}, timeoutMs=0),
    "restart": _does(type="restart_app", package=PACKAGE),
}
CERTAIN = ("delete", "tree", "picture")
"""In every row, whatever else is drawn."""


async def begin(s: Siege, package: str) -> None:
    """The secret in an ordinary field of this app."""
    window, target = FIELDS[package]
    s.phone.start_activity(window)
    typed = await s.act(type="type_text", text="${secret:WORD}", target=target)
    assert typed.success, typed.to_json()
    assert list(boxes_with(s.phone, s.value)), "the phone does not show it: nothing is tested"


async def play_moves(s: Siege, rng: random.Random, count: int) -> None:
    names = [*CERTAIN, *rng.choices(sorted(MOVES), k=max(0, count - len(CERTAIN)))]
    rng.shuffle(names)
    for name in names:
        s.done.append(f"[{name}]")
        await MOVES[name](s, rng)
