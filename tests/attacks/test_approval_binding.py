"""One change between the question and the tap, at every place of real screens: the yes must not count.

The changes are made in the dump's text, by a reader of its own; what is visible is judged by its attributes.

    python -m tests.attacks.test_approval_binding --screens 200
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from handrail.safety.screen_binding import ScreenBinding
from handrail.screen.parse import parse
from tests.corpus import CORPUS, needs_corpus

_WORDS = ("text", "content-desc")
_STATES = ("checked", "selected", "enabled")


def dumps(count: int, seed: int = 1) -> list[Path]:
    """Dumps of one window, so that all of it is in front."""
    files = sorted((CORPUS or Path()).rglob("*.xml"))
    random.Random(seed).shuffle(files)
    chosen: list[Path] = []
    for file in files:
        if len(chosen) == count:
            break
        try:
            root = ET.fromstring(file.read_bytes())
        except ET.ParseError:
            continue
        if root.tag == "hierarchy" and len(root) == 1 and any(_texts(root)):
            chosen.append(file)
    return chosen


def _texts(root: ET.Element) -> Iterator[tuple[ET.Element, str]]:
    for node in root.iter("node"):
        if is_visible(node):
            yield from ((node, name) for name in _WORDS if node.get(name, "").strip())


def is_visible(node: ET.Element) -> bool:
    box = [int(number) for number in re.findall(r"-?\d+", node.get("bounds", ""))]
    return len(box) == 4 and box[0] < box[2] and box[1] < box[3] and node.get("visible-to-user") != "false"


def other(text: str, draw: random.Random) -> str:
    """Another amount where there is one, else another letter."""
    at = [place for place, char in enumerate(text) if char.isdigit()]
    if at:
        place = draw.choice(at)
        return (
            f"{text[:place]}{(int(text[place]) + 1) % 10 if text[place].isascii() else 1}{text[place + 1 :]}"
        )
    return f"{text}x"


def changes(root: ET.Element, draw: random.Random) -> Iterator[str]:
    """Makes one change after the other, each undone when the next is asked for."""
    for node, name in list(_texts(root)):
        old = node.attrib[name]
        node.set(name, other(old, draw))
        yield f"{name} {old!r}"
        node.set(name, old)
    for node in root.iter("node"):
        said = any(node.get(name, "").strip() for name in (*_WORDS, "resource-id"))
        if is_visible(node) and said:
            name = draw.choice(_STATES)
            old = node.get(name, "false")
            node.set(name, "false" if old == "true" else "true")
            yield f"{name} of {node.get('text')!r}"
            node.set(name, old)
    yield from _swaps(root)


def _swaps(root: ET.Element) -> Iterator[str]:
    """Two neighbours, each with its place on the screen, change places."""
    for box in root.iter("node"):
        for at in range(len(box) - 1):
            first, second = box[at], box[at + 1]
            if _read(first) and _read(second) and _read(first) != _read(second):
                box.remove(second)
                box.insert(at, second)
                yield f"order of {_read(first)[:2]} and {_read(second)[:2]}"
                box.remove(first)
                box.insert(at, first)


def _read(node: ET.Element) -> list[str]:
    return [each.attrib[name] for each, name in _texts(node)]


def bound(root: ET.Element) -> ScreenBinding:
    return ScreenBinding.of(parse(ET.tostring(root)))


def campaign(count: int, most: int) -> tuple[Counter[str], list[str]]:
    """At most `most` changes of each screen, drawn."""
    counted: Counter[str] = Counter()
    through = []
    for number, file in enumerate(dumps(count)):
        draw = random.Random(number)
        root = ET.fromstring(file.read_bytes())
        asked = bound(root)
        total = sum(1 for _ in changes(root, random.Random(number)))
        chosen = set(draw.sample(range(total), min(most, total)))
        counted["screens"] += 1
        for at, change in enumerate(changes(root, draw)):
            if at in chosen:
                counted[change.split()[0]] += 1
                if asked.changes(bound(root)) == set():
                    through.append(f"{file.name}: {change}")
        if asked.changes(bound(root)) != set():
            through.append(f"{file.name}: unchanged, and void")
    return counted, through


@needs_corpus
def test_every_visible_change_ends_a_yes() -> None:
    counted, through = campaign(25, 12)
    assert not through, "\n".join(through)
    assert counted["screens"] == 25
    assert counted["text"] > 50


@needs_corpus
@pytest.mark.slow
def test_every_visible_change_of_two_hundred_screens_ends_a_yes() -> None:
    counted, through = campaign(200, 10_000)
    assert not through, "\n".join(through[:20])
    assert counted["screens"] == 200


def test_what_other_windows_do_ends_no_yes() -> None:
    """The status bar, a toast, a picture in picture: none of them is the window in front."""
    app = (
        '<node class="android.widget.FrameLayout" package="a.b" bounds="[0,0][1080,2340]">'
        '<node class="android.widget.Button" package="a.b" text="Pay 5.05" clickable="true"'
        ' bounds="[0,900][1080,1000]"/></node>'
    )
    bar = (
        '<node class="android.widget.FrameLayout" package="com.android.systemui" bounds="[0,0][1080,80]">'
        '<node class="android.widget.TextView" package="com.android.systemui" text="{}"'
        ' bounds="[0,0][200,80]"/></node>'
    )
    draw, void = random.Random(3), 0
    for _ in range(500):
        first, second = (f"{draw.randrange(24)}:{draw.randrange(60):02}" for _ in range(2))
        screens = [parse(f"<hierarchy>{app}{bar.format(text)}</hierarchy>") for text in (first, second)]
        asked, now = (ScreenBinding.of(screen) for screen in screens)
        void += asked.changes(now) != set()
    assert void == 0


def test_only_the_element_that_a_person_lets_change_may_change() -> None:
    page = (
        '<hierarchy><node class="android.widget.FrameLayout" package="a.b" bounds="[0,0][1080,2340]">'
        '<node class="android.widget.TextView" resource-id="a.b:id/clock" text="{}"'
        ' bounds="[0,100][500,200]"/>'
        '<node class="android.widget.TextView" resource-id="a.b:id/sum" text="{}" bounds="[0,300][500,400]"/>'
        '<node class="android.widget.Button" text="Pay" clickable="true" bounds="[0,900][1080,1000]"/>'
        "</node></hierarchy>"
    )
    asked = ScreenBinding.of(parse(page.format("10:30", "5.05")))
    [clock] = asked.volatile
    assert asked.volatile[clock] == "10:30"
    assert asked.changes(ScreenBinding.of(parse(page.format("10:31", "5.05")))) == {clock}
    assert asked.changes(ScreenBinding.of(parse(page.format("10:30", "9.05")))) is None
    assert asked.changes(ScreenBinding.of(parse(page.format("10:31", "9.05")))) is None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screens", type=int, default=200)
    parser.add_argument("--most", type=int, default=10_000, help="Changes of one screen.")
    options = parser.parse_args()
    counts, failures = campaign(options.screens, options.most)
    print(dict(counts), f"{len(failures)} through")  # noqa: T201
    print("\n".join(failures[:40]))  # noqa: T201
    raise SystemExit(bool(failures))
