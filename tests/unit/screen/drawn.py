"""Invented screens for tests: nodes written as uiautomator XML and read by the real parser."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

from handrail.screen.compact import CompactOptions, CompactResult, render
from handrail.screen.elements import elements, fresh_refs
from handrail.screen.node import Screen
from handrail.screen.parse import parse

MARKS = (
    "checkable",
    "checked",
    "clickable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
)
WIDE = (0, 0, 1080, 2400)
Box = tuple[int, int, int, int]


def row(number: int, *, left: int = 0, right: int = 1080) -> Box:
    """The place of the n-th row of 150 px, below a title bar."""
    return (left, 200 + 150 * number, right, 350 + 150 * number)


def node(kind: str, *children: str, box: Box = WIDE, flags: str = "", **attributes: str) -> str:
    """One node. `kind` is a class of android.widget unless it has a dot; `flags` are words: "clickable".

    Children are drawn in their order, and the dump tells it.
    """
    said = {name.replace("_", "-"): value for name, value in attributes.items()}
    words = set(flags.split())
    marks = {word: str(word in words).lower() for word in MARKS}
    left, top, right, bottom = box
    whole = {
        "class": kind if "." in kind else f"android.widget.{kind}",
        "package": "com.example.app",
        "enabled": str("disabled" not in words).lower(),
        "bounds": f"[{left},{top}][{right},{bottom}]",
        **marks,
        **said,
    }
    inside = "".join(
        child
        if "drawing-order" in child.partition(">")[0]
        else child.replace("<node ", f'<node drawing-order="{number}" ', 1)
        for number, child in enumerate(children, 1)
    )
    return f"<node {' '.join(f'{name}={quoteattr(value)}' for name, value in whole.items())}>{inside}</node>"


def screen(*nodes: str) -> Screen:
    """A full-screen frame around the nodes."""
    return parse(windows(node("FrameLayout", *nodes)))


def untold(*nodes: str) -> Screen:
    """The same as a plain dump has it: without drawing order."""
    return parse(re.sub(r' drawing-order="\d+"', "", windows(node("FrameLayout", *nodes))))


def windows(*roots: str) -> str:
    return f"<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation=\"0\">{''.join(roots)}</hierarchy>"


def compact(drawn: Screen, **options: object) -> CompactResult:
    """Rendered with fresh refs and a fixed fingerprint."""
    found = elements(drawn)
    chosen = CompactOptions(**{"fingerprint": "aaaaaa", **options})  # type: ignore[arg-type]
    return render(drawn, found, fresh_refs(found), chosen)


def body(drawn: Screen, **options: object) -> list[str]:
    """The lines after the header."""
    return compact(drawn, **options).text.split("\n")[1:]
