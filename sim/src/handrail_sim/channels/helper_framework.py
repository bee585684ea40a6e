"""Which toolkit an app is made with, as the helper finds out: class names, then native libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail_sim.screen.accessibility import Node, active_root

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

CLASSES = {
    "flutter": ("FlutterView", "FlutterSurfaceView"),
    "react_native": ("ReactRootView", "ReactViewGroup", "RCTView"),
    "compose": ("AndroidComposeView", "ComposeView"),
}
LIBRARIES = {
    "libflutter": ("flutter",),
    "libhermes": ("react_native", "react_native_hermes"),
    "libjsc": ("react_native",),
    "libreactnative": ("react_native",),
}
DEPTH = 6
PRIORITY = ("flutter", "react_native", "compose")


def framework(phone: Handset, package: str = "") -> dict[str, Any]:
    """The answer of `/framework`; without a package it is about the screen."""
    root = active_root(phone)
    package = package or (root.package if root is not None else "")
    found, signals = _by_class(root)
    app = phone.packages.classes.get(package)
    for library in app.libraries if app is not None else ():
        kinds = next((kinds for name, kinds in LIBRARIES.items() if library.startswith(name)), ())
        found += kinds
        signals += [f"lib:{library}"] if kinds else []
    frameworks = list(dict.fromkeys(found))
    primary = next((kind for kind in PRIORITY if kind in frameworks), "native")
    return {
        "packageName": package,
        "primary": primary,
        "frameworks": frameworks or ["native"],
        "signals": signals,
    }


def _by_class(root: Node | None) -> tuple[list[str], list[str]]:
    names = [] if root is None else list(dict.fromkeys(_classes(root, DEPTH)))
    hits = [
        (kind, cls) for kind, signs in CLASSES.items() for cls in names if any(sign in cls for sign in signs)
    ]
    return [kind for kind, _ in hits], [f"class:{cls}" for _, cls in hits]


def _classes(node: Node, depth: int) -> list[str]:
    below = [cls for child in node.children for cls in _classes(child, depth - 1)] if depth else []
    return [node.cls, *below]
