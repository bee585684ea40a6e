"""uiautomator XML of windows, attribute for attribute as Android 14's `uiautomator dump` writes it.

Only what is visible is written, with bounds cut to what is visible; indexes count invisible siblings too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from handrail_sim.view.view import SCROLLING, View
from handrail_sim.view.windows import Window

HEADER = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
# What XML forbids (the serializer's caller writes dots), what must be escaped, and what lies beyond UTF-16's
# first plane, which Android's serializer writes as a number.
_SPECIAL = re.compile(
    "[&<>\"'\n\r\t\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff"
    "\U00010000-\U0010ffff]"
)
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
# Classes whose clickable, wordless instances uiautomator does not flag.
_NAF_EXCLUDED = (
    "android.widget.GridView",
    "android.widget.GridLayout",
    "android.widget.ListView",
    "android.widget.TableLayout",
)
_BOOL = ("false", "true")


@lru_cache(maxsize=4096)
def quoted(text: str) -> str:
    """An attribute's value with its quotes: single ones when there are double ones inside, as in Android."""
    if not _SPECIAL.search(text):
        return f'"{text}"'
    quote, inside = ("'", "&apos;") if '"' in text else ('"', "'")
    return quote + _SPECIAL.sub(lambda match: _escaped(match[0], inside), text) + quote


def _escaped(character: str, apostrophe: str) -> str:
    if character == '"':
        return character
    if character == "'":
        return apostrophe
    current = _ESCAPES.get(character)
    if current is not None:
        return current
    return f"&#{ord(character)};" if ord(character) > 0xFFFF else "."


def hierarchy(window: Window, rotation: int, *, compressed: bool = False) -> str:
    return f'<hierarchy rotation="{rotation}">{window_nodes(window, compressed)}</hierarchy>'


def window_nodes(window: Window, compressed: bool) -> str:
    """The window's nodes; kept until its layout changes."""
    root = window.root
    saved = window.dumped.get(compressed)
    if saved is not None and saved[0] == window.version:
        return saved[1]
    text = _node(root, 0, window.package, compressed)
    window.dumped[compressed] = (window.version, text)
    return text


def all_windows(windows: Sequence[Window], rotation: int, active: Window | None) -> str:
    """The `--windows` form: topmost window first."""
    parts = [
        _window(number, window, rotation, window is active) for number, window in enumerate(reversed(windows))
    ]
    return f'<displays><display id="0">{"".join(parts)}</display></displays>'


_TYPES = {"ime": "TYPE_INPUT_METHOD", "status_bar": "TYPE_SYSTEM", "navigation_bar": "TYPE_SYSTEM"}
_TYPES |= dict.fromkeys(("toast", "shade", "heads_up", "volume", "overlay"), "TYPE_SYSTEM")


def _window(number: int, window: Window, rotation: int, active: bool) -> str:
    tree = hierarchy(window, rotation)
    left, top, right, bottom = window.bounds
    return (
        f'<window index="{number}" title={quoted(window.title)} bounds="[{left},{top}][{right},{bottom}]" '
        f'active="{_BOOL[active]}" focused="{_BOOL[window.has_focus]}" accessibility-focused="false" '
        f'id="{window.number}" layer="{window.layer}" '
        f'type="{_TYPES.get(window.type, "TYPE_APPLICATION")}">{tree}</window>'
    )


def _node(view: View, index: int, package: str, compressed: bool) -> str:
    """A part that stands where it stood is not written twice."""
    lasting = view.still and not compressed
    if lasting:
        saved = view.written
        if saved is not None and saved[0] == index and saved[1] == package:
            return saved[2]
    own = view.package or package
    inside = _children(view, own, compressed) if view.children else ""
    if compressed and view.parent is not None and not is_important(view):
        return inside
    head = _open(view, index, own)
    text = f"{head}>{inside}</node>" if inside else f"{head} />"
    if lasting:
        view.written = (index, package, text)
    return text


def by_place(view: View) -> list[tuple[int, View]]:
    """Children as Android hands them to accessibility: by their place on the screen, the larger one first.

    Each comes with its number in the order of drawing. Only in a frame do the two differ.
    """
    numbered = [*enumerate(view.children)]
    if view.layout == "frame" and all(child.index is None for child in view.children):
        numbered.sort(key=lambda pair: (pair[1].y, pair[1].x, -pair[1].h, -pair[1].w))
    return numbered


def _children(view: View, package: str, compressed: bool) -> str:
    parts = []
    for number, (_, child) in enumerate(by_place(view)):
        if child.visible and child.accessible and child.on_screen:
            parts.append(_node(child, number if child.index is None else child.index, package, compressed))
    return "".join(parts)


def nodes(window: Window) -> Iterator[tuple[View, int, int]]:
    """What a plain dump writes, parents first: view, depth, index."""
    stack = [(window.root, 0, 0)]
    while stack:
        view, depth, index = stack.pop()
        yield view, depth, index
        for number, (_, child) in reversed([*enumerate(by_place(view))]):
            if child.visible and child.accessible and child.on_screen:
                stack.append((child, depth + 1, number if child.index is None else child.index))


def utf16_length(text: str) -> int:
    """As Java counts: a password's dots stand for chars, two for an emoji."""
    return len(text) + sum(character > "\uffff" for character in text)


def text_of(view: View) -> str:
    """The text that accessibility reports: dots for a password, the hint of an empty field."""
    if view.password:
        return "•" * utf16_length(view.text) or view.hint
    return view.text or (view.hint if view.editable else "")


def _open(view: View, index: int, package: str) -> str:
    left, top, right, bottom = view.clip
    words = text_of(view) if view.editable or view.password else view.text
    clickable = view.is_clickable
    naf = ' NAF="true"' if clickable and not words and not view.desc and view.enabled and is_naf(view) else ""
    flags = _flags(
        view.checked,
        clickable,
        view.enabled,
        clickable or view.layout in SCROLLING if view.focusable is None else view.focusable,
        view.focused,
        is_scrollable(view),
        view.is_long_clickable,
        view.password,
        view.selected,
    )
    desc = view.desc
    text = (
        f'<node{naf} index="{index}" text={quoted(words) if words else _EMPTY} '
        f"{_identity(view.id, view.cls, package)} content-desc={quoted(desc) if desc else _EMPTY} {flags} "
        f'bounds="[{left},{top}][{right},{bottom}]"'
    )
    return _overridden(text, view.attrs) if view.attrs else text


_EMPTY = '""'


@lru_cache(maxsize=4096)
def _identity(own: str, cls: str, package: str) -> str:
    """What says who a node is: there are few of these in an app, and many nodes."""
    return f'resource-id="{resource_id(own, package)}" class="{cls}" package="{package}"'


_FLAGS = (
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
)


@lru_cache(maxsize=512)
def _flags(checked: bool | None, *others: bool) -> str:
    """The boolean attributes from checkable to selected, in Android's order."""
    first = f'checkable="{_BOOL[checked is not None]}" checked="{_BOOL[bool(checked)]}"'
    rest = [f'{name}="{_BOOL[bool(value)]}"' for name, value in zip(_FLAGS, others, strict=True)]
    return " ".join([first, *rest])


def _overridden(text: str, attrs: dict[str, str]) -> str:
    for name, value in attrs.items():
        created = f"{name}={quoted(value)}"
        text, count = re.subn(
            rf"(?<= ){re.escape(name)}=(\"[^\"]*\"|'[^']*')", created.replace("\\", r"\\"), text, count=1
        )
        if not count:
            text += f" {created}"
    return text


@lru_cache(maxsize=4096)
def resource_id(own: str, package: str) -> str:
    """Short ids belong to the package; "=tag" is a tag as it is."""
    if not own or ":" in own:
        return own
    return quoted(own[1:])[1:-1] if own.startswith("=") else f"{package}:id/{own}"


def is_scrollable(view: View) -> bool:
    if view.scrollable is not None:
        return view.scrollable
    if view.layout not in SCROLLING:
        return False
    if view.layout == "pager":
        return len(view.children) > 1
    return view.content > (view.w if view.layout == "hscroll" else view.h)


def is_important(view: View) -> bool:
    """Would accessibility keep it without being asked for everything? Plain containers are dropped."""
    if view.important is not None:
        return view.important
    if view.text or view.desc or view.checked is not None or view.editable or view.state:
        return True
    return (
        view.is_clickable
        or view.is_long_clickable
        or view.layout in SCROLLING
        or bool(view.style.kind == "slider")
    )


def is_naf(view: View) -> bool:
    """Not accessibility friendly: it can be clicked, and neither it nor anything in it has words."""
    return not view.cls.endswith(_NAF_EXCLUDED) and not _has_words(view)


def _has_words(view: View) -> bool:
    return any(child.text or child.desc or _has_words(child) for child in view.children)
