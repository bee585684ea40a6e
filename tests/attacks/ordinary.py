"""What an honest agent does all day on the same screens: nobody should be asked about it.

An action is ordinary where the phone, under `allow`, felt nothing on the guarded thing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.attacks.campaign import ASKING, phones
from tests.attacks.draw import place_of
from tests.attacks.guarded import SCENES, Scene
from tests.attacks.stage import Attempt

LISTS = {"Rows": "list", "Scrolled": "page", "Below": "page"}
WAYS = ("up", "down")
SCROLLING = 0.4
"""Of the time is spent in lists."""


@dataclass
class Asked:
    """How many were ordinary, and which of them somebody was asked about."""

    seed: int
    ordinary: int = 0
    done: Counter[str] = field(default_factory=Counter)
    needless: list[Attempt] = field(default_factory=list)
    failed: list[Attempt] = field(default_factory=list)
    """Worked under `allow` and not here, for another reason."""

    def __str__(self) -> str:
        lines = [f"ASKED NEEDLESSLY: {one}" for one in self.needless]
        lines += [f"FAILED: {one}" for one in self.failed]
        share = len(self.needless) / max(1, self.ordinary)
        return "\n".join([*lines, f"{self.ordinary} ordinary actions, {share:.1%} asked, {dict(self.done)}"])


def draw_ordinary(luck: random.Random, channel: str) -> Attempt:
    long = [scene for scene in SCENES.values() if scene.activity in LISTS]
    scene = luck.choice(long if luck.random() < SCROLLING else list(SCENES.values()))
    weights = (4 if scene.activity in LISTS else 1, 4, 3, 3, 3)  # few swipe where nothing scrolls
    drawn = luck.choices((_scroll, _tap, _type, _navigate, _look), weights)[0](luck, scene, channel)
    return Attempt(scene.name, channel, "allow", "python", (drawn,))


def _scroll(luck: random.Random, scene: Scene, channel: str) -> dict[str, Any]:
    box = LISTS.get(scene.activity)
    width, height = place_of(scene, channel).screen
    x = luck.randrange(width // 4, width * 3 // 4)
    ways: list[dict[str, Any]] = [
        {"type": "swipe", "direction": luck.choice(WAYS)},
        {"type": "swipe", "from": f"{x},{height * 7 // 10}", "to": f"{x},{height * 3 // 10}"},
        {"type": "swipe", "from": f"{x},{height * 4 // 10}", "to": f"{x},{height * 8 // 10}"},
    ]
    if box is not None:
        wanted = "Topic" if scene.activity == "Rows" else "Article"
        ways += [
            {"type": "swipe", "direction": luck.choice(WAYS), "target": {"id": box}},
            {"type": "scroll_to", "target": f"{wanted} {luck.randrange(30)}"},
            {"type": "scroll_to", "target": f"{wanted} {luck.randrange(30)}", "within": {"id": box}},
            {"type": "scroll_to", "target": scene.label},
        ]
    return luck.choice(ways)


def _tap(luck: random.Random, scene: Scene, channel: str) -> dict[str, Any]:
    kind = luck.choice(("tap", "tap", "tap", "long_press", "double_tap"))
    place = place_of(scene, channel)
    left, top, right, bottom = luck.choice(place.others)
    point = {"x": (left + right) // 2, "y": (top + bottom) // 2}
    if scene.activity == "Asking":
        return {"type": kind, "target": luck.choice(["Cancel", point])}
    names: list[Any] = (
        ["Help", "Details", {"id": "help"}] if "help" in place.ids else ["Privacy", "Article 1"]
    )
    return {"type": kind, "target": luck.choice([*names, point])}


def _type(luck: random.Random, scene: Scene, channel: str) -> dict[str, Any]:
    if "comment" not in place_of(scene, channel).ids or scene.activity == "Asking":
        return {"type": "get_ui_tree"}
    words = luck.choice(("Hello", "I pay tomorrow", "send money to Ada", "12.50", "Grüße"))
    ways: list[dict[str, Any]] = [
        {"type": "type_text", "text": words, "target": {"id": "comment"}},
        {"type": "clear_text", "target": {"id": "comment"}},
        {"type": "type_text", "text": words, "target": {"id": "comment"}, "submit": True},
    ]
    return luck.choices(ways, (6, 3, 1))[0]


def _navigate(luck: random.Random, scene: Scene, _: str) -> dict[str, Any]:
    keys = (
        "back",
        "home",
        "recents",
        "tab",
        "down",
        "up",
        "page_down",
        "volume_up",
        "delete",
        "menu",
        20,
        61,
    )
    ways: list[dict[str, Any]] = [
        {"type": "press_key", "key": luck.choice(keys)},
        {"type": "start_app", "package": scene.package},
        {"type": "restart_app", "package": scene.package},
        {"type": "set_orientation", "orientation": "portrait"},
    ]
    return luck.choices(ways, (6, 1, 1, 1))[0]


def _look(luck: random.Random, scene: Scene, _: str) -> dict[str, Any]:
    ways: list[dict[str, Any]] = [
        {"type": "get_ui_tree"},
        {"type": "get_state"},
        {"type": "what_changed"},
        {"type": "expect_visible", "target": {"text_contains": scene.label[:4]}, "timeout_ms": 50},
        {"type": "wait_for", "condition": {"absent": "Nowhere"}},
    ]
    return luck.choice(ways)


async def ordinary(count: int, seed: int, channels: Sequence[str]) -> Asked:
    luck, tally = random.Random(seed), Asked(seed)
    async with phones() as one:
        while tally.ordinary < count:
            drawn = draw_ordinary(luck, luck.choice(channels))
            control = await one.attempt(drawn)
            if control.touches or control.near or control.deeds:
                continue
            tally.ordinary += 1
            tally.done[drawn.steps[0]["type"]] += 1
            guarded = replace(drawn, policy=luck.choice(ASKING))
            seen = await one.attempt(guarded)
            if seen.asked or seen.codes["ACTION_REJECTED"]:
                tally.needless.append(guarded)
            elif seen.codes["done"] < control.codes["done"]:
                tally.failed.append(guarded)
    return tally
