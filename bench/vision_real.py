"""Recall of words on screenshots of real apps; the tree that was dumped with each of them is the judge.

    python bench/vision_real.py FOLDER [--most 200] [--seconds 600]

FOLDER holds DroidBot's `states`: `screen_NAME.jpg` or `.png` beside `state_NAME.json`, at any depth. Counted
are the words of visible text nodes (no descriptions, which nobody draws), and what a tap by text would hit.
"""

from __future__ import annotations

import argparse
import io
import random
import time
from collections import Counter
from pathlib import Path

from bench.vision_scripts import cpu, texts_of, words
from PIL import Image

from handrail.errors import TreeParseError
from handrail.screen.node import HIDDEN, Bounds, Node, Screen
from handrail.screen.parse import parse
from handrail.screen.windows import visible
from handrail_vision.reader import Reader

SCRIPTS = (
    ("Korean", 0xAC00, 0xD7AF), ("Japanese", 0x3040, 0x30FF), ("Chinese", 0x4E00, 0x9FFF),
    ("Cyrillic", 0x400, 0x52F), ("Greek", 0x370, 0x3FF), ("Arabic", 0x600, 0x6FF),
    ("Devanagari", 0x900, 0x97F),
)  # fmt: skip


def script_of(text: str) -> str:
    counts = Counter(name for char in text for name, first, last in SCRIPTS if first <= ord(char) <= last)
    return counts.most_common(1)[0][0] if counts else "Latin"


def drawn_texts(screen: Screen) -> list[Node]:
    """Texts that are shown whole: inside the display, large enough, and not under another text."""
    shown = visible(screen)
    return [
        node
        for node in screen.nodes
        if shown[node.order] and node.text and not node.flags & HIDDEN and not node.password
        and screen.bounds.covers(node.bounds) and node.bounds.height >= 20 and node.bounds.width >= 20
        and node.bounds.area / max(1, len(node.text)) >= 300  # an ellipsis hides the rest of a long one
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--most", type=int, default=200)
    options.add_argument("--seconds", type=float, default=3600)
    options.add_argument("--misses", action="store_true")
    chosen = options.parse_args()
    pictures = sorted(path for path in chosen.folder.rglob("screen_*") if path.suffix in (".jpg", ".png"))
    random.Random(1).shuffle(pictures)
    began, used, seen = time.monotonic(), cpu(), 0
    wanted: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    taps = wrong = 0
    missed: Counter[str] = Counter()
    for path in pictures:
        if seen == chosen.most or time.monotonic() - began > chosen.seconds:
            break
        state = path.with_name(path.name.replace("screen_", "state_")).with_suffix(".json")
        try:
            screen = parse(state.read_bytes())
            with Image.open(path) as picture:
                width, height = picture.size
                png = io.BytesIO()
                picture.convert("RGB").save(png, "PNG", compress_level=1)
        except (OSError, TreeParseError):
            continue
        nodes = drawn_texts(screen)
        if not nodes or screen.width != width:
            continue
        seen += 1
        parts = Reader().read(png.getvalue(), [Bounds(0, 0, width, height)], width, height)[0]
        read = texts_of(parts)
        for node in nodes:
            near = [part for part in read if _touches(part.bounds, node.bounds)]
            script = script_of(node.text)
            got = Counter(word for part in near for word in words(part.text, script))
            asked = Counter(word for word in words(node.text, script) if word)
            wanted[script] += sum(asked.values())
            hits[script] += sum((asked & got).values())
            missed.update((asked - got).keys())
            same = [part for part in read if part.text.casefold() == node.text.casefold()]
            others = [other for other in nodes if other.text.casefold() == node.text.casefold()]
            if len(same) == 1 and len(others) == 1:
                taps += 1
                wrong += not _grown(node.bounds).holds(*same[0].bounds.center)
    print(f"{seen} screenshots, {(cpu() - used) / max(1, seen):.1f} CPU s each")
    for script, count in wanted.most_common():
        print(f"{script}: {hits[script]}/{count} words, {hits[script] / count:.1%}")
    print(f"tapped by text: {taps}, at another element: {wrong}")
    if chosen.misses:
        print(missed.most_common(60))


def _grown(box: Bounds) -> Bounds:
    return Bounds(box.left - 8, box.top - 8, box.right + 8, box.bottom + 8)


def _touches(box: Bounds, other: Bounds) -> bool:
    return box.intersect(_grown(other)).area > 0


if __name__ == "__main__":
    main()
