"""Nothing that can be acted on is lost, on screens nobody would design; judged by an independent measure."""

import random

from bench.raw_dump import read
from bench.screen_quality import judge, known_by

from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import Box, compact, node, windows

KINDS = (
    "FrameLayout", "Button", "TextView", "EditText", "Switch", "ListView", "ScrollView", "ImageView",
    "SeekBar", "CheckBox", "RadioButton", "Spinner", "ProgressBar", "android.view.View",
)  # fmt: skip
WORDS = ("A", "Wi-Fi", "@b1 x", "long " * 30, "12%", "\ue001")
FLAGS = (
    "checkable",
    "checked",
    "scrollable",
    "long-clickable",
    "selected",
    "focused",
    "disabled",
    "password",
)


def inside(dice: random.Random, box: Box) -> Box:
    """The same place, or one that begins and ends about there; sometimes without size or outside."""
    if dice.random() < 0.3:
        return box
    left, top, right, bottom = box
    x = sorted(dice.randint(left - 20, right + 20) for _ in range(2))
    y = sorted(dice.randint(top - 20, bottom + 20) for _ in range(2))
    return (x[0], y[0], x[1], y[1])


def grown(dice: random.Random, depth: int, box: Box) -> str:
    count = dice.choice((0, 1, 1, 2, 3)) if depth else 0
    children = [grown(dice, depth - 1, inside(dice, box)) for _ in range(count)]
    flags = [flag for flag in FLAGS if dice.random() < 0.12] + ["clickable"] * (dice.random() < 0.35)
    said: dict[str, str] = {}
    if dice.random() < 0.3:
        said["text"] = dice.choice(WORDS)
    if dice.random() < 0.15:
        said["content_desc"] = dice.choice(("Close", "x" * 100))
    if dice.random() < 0.2:
        said["resource_id"] = "a:id/" + dice.choice(("foo_bar", "x1", "not an id"))
    if dice.random() < 0.1:
        said["drawing_order"] = str(dice.randint(0, 4))
    return node(dice.choice(KINDS), *children, box=box, flags=" ".join(flags), **said)


def wild_dump(seed: int) -> str:
    dice = random.Random(seed)
    grove = [grown(dice, dice.randint(1, 5), (0, 0, 1080, 2400)) for _ in range(dice.randint(1, 3))]
    return windows(node("FrameLayout", *grove))


def wild(seed: int) -> Screen:
    return parse(wild_dump(seed))


@each("seed", range(60))
def test_every_actionable_node_of_a_wild_screen_is_in_the_text(seed: int) -> None:
    shown = compact(wild(seed), max_lines=5000)
    assert judge(read(wild_dump(seed).encode()), shown.text, known_by(shown.ref_map)).missed == ()


@each("seed", range(60))
def test_the_same_dump_gives_the_same_text(seed: int) -> None:
    assert compact(wild(seed)).text == compact(wild(seed)).text


@each("seed", range(60))
def test_no_line_is_longer_than_its_caps_allow(seed: int) -> None:
    lines = compact(wild(seed), max_lines=5000).text.split("\n")
    assert max(len(line.lstrip()) for line in lines) < 500
