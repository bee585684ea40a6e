"""Screens that no page draws: a dialog of the browser, and a page that has crashed.

A dialog stops its page: nothing of the page can be read until somebody answers. So the dialog is the screen,
with buttons that are pressed as any other. Nobody answers it by himself.
"""

from __future__ import annotations

from dataclasses import dataclass

from handrail.browser.page import OpenDialog
from handrail.tree.node import CLICKABLE, ENABLED, FOCUSABLE, FOCUSED, Bounds, Node, Screen

OK, CANCEL, FIELD, RELOAD = "ok", "cancel", "field", "reload"
_WIDTH, _LINE, _PAD = 420, 36, 16
_BUTTONS = {
    "alert": ((OK, "OK"),),
    "beforeunload": ((CANCEL, "Stay"), (OK, "Leave")),
}
_ASK = ((CANCEL, "Cancel"), (OK, "OK"))
_TITLES = {"beforeunload": "Leave the page? Changes may be lost."}


@dataclass(frozen=True, slots=True)
class DrawnDialog:
    """A dialog as a screen, and where on it what is pressed."""

    screen: Screen
    parts: dict[str, Bounds]

    def part_at(self, x: int, y: int) -> str:
        """Which of its parts is there; "" for none."""
        return next((name for name, box in self.parts.items() if box.holds(x, y)), "")


def dialog_screen(dialog: OpenDialog, origin: str, size: tuple[int, int], typed: str) -> DrawnDialog:
    """`typed` is what the field of a prompt holds."""
    said = dialog.message or _TITLES.get(dialog.kind, "")
    has_field = dialog.kind == "prompt"
    buttons = _BUTTONS.get(dialog.kind, _ASK)
    return _drawn(dialog.kind, said, buttons, origin, size, typed if has_field else None)


def crash_screen(url: str, origin: str, size: tuple[int, int]) -> DrawnDialog:
    """What a browser shows instead of a page whose process has died."""
    return _drawn("crash", f"The page {url} has crashed", ((RELOAD, "Reload"),), origin, size, None)


def _drawn(
    kind: str,
    said: str,
    buttons: tuple[tuple[str, str], ...],
    origin: str,
    size: tuple[int, int],
    typed: str | None,
) -> DrawnDialog:
    width, height = size
    rows = 2 + (typed is not None)
    left, top = max(0, (width - _WIDTH) // 2), max(0, height // 5)
    box = Bounds(left, top, min(width, left + _WIDTH), top + rows * (_LINE + _PAD) + _PAD)
    root = Node(
        "dialog", kind, "", "", origin, box, ENABLED, "container", 0, pane_title=f"{kind} of the page"
    )
    parts: dict[str, Bounds] = {}
    y = top + _PAD
    inner = Bounds(box.left + _PAD, y, box.right - _PAD, y + _LINE)
    _under(root, Node("text", "message", said, "", origin, inner, ENABLED, "text_view", 0))
    if typed is not None:
        y += _LINE + _PAD
        parts[FIELD] = Bounds(inner.left, y, inner.right, y + _LINE)
        flags = ENABLED | CLICKABLE | FOCUSABLE | FOCUSED
        _under(root, Node("input", FIELD, typed, said, origin, parts[FIELD], flags, "text_field", 0))
    y += _LINE + _PAD
    wide = (inner.width - _PAD * (len(buttons) - 1)) // len(buttons)
    for at, (name, label) in enumerate(buttons):
        x = inner.left + at * (wide + _PAD)
        parts[name] = Bounds(x, y, x + wide, y + _LINE)
        _under(root, Node("button", name, label, "", origin, parts[name], ENABLED | CLICKABLE, "button", 0))
    nodes = [root, *root.children]
    for order, node in enumerate(nodes):
        node.order, node.end = order, order + 1
    root.end = len(nodes)
    screen = Screen(root, nodes, width, height, origin, active=root, is_exact=True)
    return DrawnDialog(screen, parts)


def _under(parent: Node, node: Node) -> None:
    node.parent, node.position, node.index = parent, len(parent.children), len(parent.children)
    parent.children.append(node)
