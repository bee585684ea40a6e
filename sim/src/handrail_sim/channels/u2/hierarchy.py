"""The XML of `dumpWindowHierarchy`: androidx's attributes and indentation, one root node per window."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail_sim.channels.u2.rpc import method
from handrail_sim.channels.u2.server import Server
from handrail_sim.screen.accessibility import Node, active_root, roots

HEADER = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
LINE = "\r\n"
MAX_DEPTH = 50
_NAF_EXCLUDED = frozenset({"android.widget.GridView", "android.widget.GridLayout", "android.widget.ListView"})
_NAF_EXCLUDED |= {"android.widget.TableLayout"}
_SPECIAL = re.compile("[&<>\"'\n\r\t\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_BOOL = ("false", "true")


@method("dumpWindowHierarchy", "bool", "int", "bool")
async def dump(server: Server, compressed: bool, depth: int, only_active: bool) -> str:
    """The active window, or all."""
    phone = server.phone
    phone.catch_up()
    if only_active:
        root = active_root(phone, compressed=compressed)
        found = [] if root is None else [root]
    else:
        found = roots(phone, compressed=compressed)
    return write(found, phone.display.rotation, depth)


@method("dumpWindowHierarchy", "bool", "int")
async def _dump_to_depth(server: Server, compressed: bool, depth: int) -> str:
    return await dump(server, compressed, depth, False)


@method("dumpWindowHierarchy", "bool")
async def _dump_all(server: Server, compressed: bool) -> str:
    return await dump(server, compressed, MAX_DEPTH, False)


def write(found: list[Node], rotation: int, depth: int) -> str:
    """The document; without any window the root has no content."""
    if not found:
        return f'{HEADER}{LINE}<hierarchy rotation="{rotation}" />'
    lines = [line for root in found for line in _lines(root, 0, 1, depth)]
    return LINE.join([HEADER, f'<hierarchy rotation="{rotation}">', *lines, "</hierarchy>"])


def _lines(node: Node, index: int, level: int, depth: int) -> Iterator[str]:
    indent = "  " * level
    children = node.children if depth > 0 else []
    tag = f"{indent}<node{_attributes(node, index)}"
    if not children:
        yield f"{tag} />"
        return
    yield f"{tag}>"
    for child in children:
        yield from _lines(child, child.index, level + 1, depth - 1)
    yield f"{indent}</node>"


def _attributes(node: Node, index: int) -> str:
    left, top, right, bottom = node.bounds
    naf = ' NAF="true"' if _is_naf(node) else ""
    return (
        f'{naf} index="{index}" text={quote(_text(node))} resource-id={quote(node.resource_id)} '
        f'class="{node.cls}" package="{node.package}" content-desc={quote(node.desc)} '
        f'checkable="{_BOOL[node.checkable]}" checked="{_BOOL[node.checked]}" '
        f'clickable="{_BOOL[node.clickable]}" enabled="{_BOOL[node.enabled]}" '
        f'focusable="{_BOOL[node.focusable]}" focused="{_BOOL[node.focused]}" '
        f'scrollable="{_BOOL[node.scrollable]}" long-clickable="{_BOOL[node.long_clickable]}" '
        f'password="{_BOOL[node.password]}" selected="{_BOOL[node.selected]}" visible-to-user="true" '
        f'bounds="[{left},{top}][{right},{bottom}]" drawing-order="{index + (node.parent is not None)}" '
        f'hint={quote(node.hint)} display-id="0"'
    )


def _text(node: Node) -> str:
    """What has a range shows its value."""
    if node.cls in {"android.widget.SeekBar", "android.widget.RatingBar"}:
        return str(float(node.view.value))
    return node.text


def quote(text: str) -> str:
    """Double quotes, or single ones around a text that has double ones; what XML forbids becomes a dot."""
    mark = "'" if '"' in text else '"'
    if not _SPECIAL.search(text):
        return f"{mark}{text}{mark}"

    def replace(match: re.Match[str]) -> str:
        character = match[0]
        if character in "\"'":
            return f"&#{ord(character)};" if character == mark else character
        return _ESCAPES.get(character, ".")

    return f"{mark}{_SPECIAL.sub(replace, text)}{mark}"


def _is_naf(node: Node) -> bool:
    """Clickable, and neither it nor what is in it has words."""
    if node.cls in _NAF_EXCLUDED or not node.clickable or not node.enabled:
        return False
    return not any(inner.text or inner.desc for inner in node)
