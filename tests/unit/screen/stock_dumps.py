"""Invented dumps in the exact form that `uiautomator dump` writes, attribute by attribute."""

from __future__ import annotations

from xml.sax.saxutils import escape

from handrail.screen.node import Screen
from handrail.screen.parse import parse

Box = tuple[int, int, int, int]
APP = "com.example.app"
WHOLE: Box = (0, 0, 1080, 2400)
_FLAGS = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long-clickable",
    "password", "selected",
)  # fmt: skip


def node(
    kind: str,
    *children: str,
    box: Box = WHOLE,
    flags: str = "",
    text: str = "",
    desc: str = "",
    rid: str = "",
    package: str = APP,
    index: int = 0,
    extra: str = "",
) -> str:
    """One node. `kind` is a class of android.widget unless it has a dot; `flags` are words."""
    words = set(flags.split())
    values = {flag: flag in words for flag in _FLAGS} | {"enabled": "disabled" not in words}
    marks = " ".join(f'{flag}="{str(values[flag]).lower()}"' for flag in _FLAGS)
    left, top, right, bottom = box
    return (
        f'<node index="{index}" text="{_quoted(text)}" resource-id="{_quoted(rid)}" '
        f'class="{kind if "." in kind else "android.widget." + kind}" package="{package}" '
        f'content-desc="{_quoted(desc)}" {marks} bounds="[{left},{top}][{right},{bottom}]"{extra}'
        + (f">{''.join(children)}</node>" if children else " />")
    )


def hierarchy(*roots: str, attributes: str = ' rotation="0"') -> str:
    """A whole dump."""
    body = "".join(roots)
    return (
        f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy{attributes}>{body}</hierarchy>"
    )


def screen(*inside: str, box: Box = WHOLE, package: str = APP) -> Screen:
    """A parsed screen: one window that holds the given nodes."""
    return parse(hierarchy(node("FrameLayout", *inside, box=box, package=package)))


def _quoted(text: str) -> str:
    return escape(text, {'"': "&quot;", "\n": "&#10;"})
