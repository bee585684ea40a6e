"""What a screen itself says about the framework that drew it. Free: reads nodes, runs and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.surface.values import Framework
from handrail.tree.node import Node

CLASSES: dict[Framework, tuple[str, ...]] = {
    "flutter": ("io.flutter.", "FlutterView", "FlutterSurfaceView", "FlutterTextureView"),
    "react_native": (
        "com.facebook.react.",
        "com.horcrux.svg.",
        "com.swmansion.",
        "ReactRootView",
        "ReactViewGroup",
        "RCTView",
    ),
    "compose": ("androidx.compose.", "AndroidComposeView", "ComposeView"),
}
_BARE = frozenset({"android.view.View", "android.view.ViewGroup"})
"""What the views of React Native and Flutter call themselves in an accessibility tree."""
MANY_BARE = 3
"""A few are dividers and spacers."""
FEW_IDS = 2
"""Ids of layout files that every activity may have, such as `action_bar_root`. In recorded screens with bare
views launchers, system apps and browsers had four or more, and what a framework drew had at most one."""


def class_signals(nodes: Iterable[Node]) -> dict[Framework, str]:
    """The first telling class name of each framework."""
    names = {node.class_name for node in nodes}
    found: dict[Framework, str] = {}
    for kind, marks in CLASSES.items():
        if hit := next((name for name in sorted(names) if any(mark in name for mark in marks)), None):
            found[kind] = f"class:{hit}"
    return found


def is_odd(nodes: list[Node]) -> bool:
    """Drawn by something else than layout files: hardly an id of those, but bare views, test ids, silence.

    The window's own frame has ids of the package android, whatever is drawn inside it.
    """
    ids = {node.resource_id for node in nodes} - {""}
    own = [one for one in ids if ":id/" in one and not one.startswith("android:")]
    if len(own) > FEW_IDS or not nodes:
        return False
    bare = sum(1 for node in nodes if node.class_name in _BARE)
    is_silent = not own and not any(node.text or node.description for node in nodes)
    return is_silent or bare >= MANY_BARE or any(":" not in one for one in ids)
