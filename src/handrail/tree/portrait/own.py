"""What of a screen is the app's own, and which node of it a person means who points at a text or an icon."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.tree.mention import receiver, touchable
from handrail.tree.node import Node, Screen
from handrail.tree.packages import is_input_method
from handrail.tree.visible import on_screen
from handrail.tree.windows import is_system_bar

_CONTROLS = frozenset(
    {"text_field", "switch", "check_box", "radio_button", "slider", "spinner", "button", "image_button"}
)


def stands_alone(node: Node) -> bool:
    """It is meant itself, also where only the row around it takes touches."""
    return touchable(node) or node.scrollable or node.role in _CONTROLS


def thing_of(node: Node) -> Node:
    """The element that is meant: for a plain text or icon, the row or button it belongs to."""
    return node if stands_alone(node) else receiver(node) or node


def own_nodes(screen: Screen) -> Iterator[Node]:
    """On the display, without keyboard and system bars; what something else covers is there too."""
    shown = on_screen(screen)
    for window in screen.windows:
        if is_input_method(window.package_name) or is_system_bar(screen, window):
            continue
        for node in screen.nodes[window.order : window.end]:
            if shown[node.order]:
                yield node


def in_list(node: Node) -> bool:
    """A row, or a part of one: others with the same template may stand beside it tomorrow."""
    return node.role == "list_item" or any(around.role == "list" for around in node.ancestors())
