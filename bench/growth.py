"""Synthetic screens of growing size: what each step costs per node, and whether it grows with the tree."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lxml import etree

from handrail.screen.compact import CompactOptions, render
from handrail.screen.diff import diff
from handrail.screen.elements import elements, fresh_refs
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.match import match
from handrail.screen.parse import parse

SIZES = (1_000, 3_000, 10_000)
# The attributes in the order in which stock uiautomator writes them.
_NODE = (
    '<node index="0" text="{text}" resource-id="" class="android.widget.{kind}" package="com.example.app" '
    'content-desc="" checkable="false" checked="false" clickable="{clickable}" enabled="true" '
    'focusable="false" focused="false" scrollable="{scrollable}" long-clickable="false" password="false" '
    'selected="false" bounds="[{left},{top}][{right},{bottom}]">'
)


def growth(rounds: int) -> dict[str, Any]:
    """Microseconds per node, for each size."""
    return {f"{size:,} nodes, µs per node": _costs(size, rounds) for size in SIZES}


def synthetic(size: int, *, first: int = 0) -> bytes:
    """A scrolling list of rows with a title, a detail, a nameless icon and a switch: five nodes a row."""
    rows = size // 5
    height = 120
    parts = [f'<hierarchy rotation="0">{_open("FrameLayout", (0, 0, 1080, rows * height))}']
    parts.append(_open("ListView", (0, 0, 1080, rows * height), scrollable="true"))
    for number in range(first, first + rows):
        top = (number - first) * height
        parts.append(_open("LinearLayout", (0, top, 1080, top + height), clickable="true"))
        parts.append(_leaf("TextView", (20, top, 700, top + 50), text=f"Row {number}"))
        parts.append(
            _leaf("TextView", (20, top + 50, 700, top + 100), text=f"Detail of {number * 7919 % 10007}")
        )
        parts.append(_leaf("ImageView", (720, top, 800, top + 90), clickable="true"))
        parts.append(_leaf("Switch", (900, top, 1060, top + 90), clickable="true"))
        parts.append("</node>")
    return "".join([*parts, "</node></node></hierarchy>"]).encode()


def _open(kind: str, box: tuple[int, int, int, int], **more: str) -> str:
    left, top, right, bottom = box
    said = {"text": "", "clickable": "false", "scrollable": "false", **more}
    return _NODE.format(kind=kind, left=left, top=top, right=right, bottom=bottom, **said)


def _leaf(kind: str, box: tuple[int, int, int, int], **more: str) -> str:
    return _open(kind, box, **more)[:-1] + "/>"


def _costs(size: int, rounds: int) -> dict[str, float]:
    raw, later = synthetic(size), synthetic(size, first=3)
    old, new = parse(raw), parse(later)
    found = elements(old)
    refs = fresh_refs(found)
    shown = CompactOptions(fingerprint="aaaaaa")
    work: dict[str, Callable[[], object]] = {
        "bare lxml": lambda: etree.fromstring(raw),
        "parse": lambda: parse(raw),
        "elements": lambda: (old.memo.clear(), elements(old)),
        "render": lambda: render(old, found, refs, shown),
        "fingerprint": lambda: (old.memo.clear(), screen_fingerprint(old)),
        "match": lambda: match(old, new),
        "match + diff": lambda: diff(old, new),
    }
    return {
        name: round(_shortest(step, min(rounds, 3)) / len(old.nodes) * 1e6, 2) for name, step in work.items()
    }


def _shortest(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)
