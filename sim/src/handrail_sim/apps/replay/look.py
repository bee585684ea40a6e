"""How a recorded screen is painted without a screenshot: from class, words and size of each node."""

from __future__ import annotations

from dataclasses import replace

from handrail_sim.apps.replay.recorded import Box, Recorded
from handrail_sim.view import Style, View, metrics

_KINDS = (
    ("CheckBox", "checkbox"),
    ("RadioButton", "radio"),
    ("Switch", "switch"),
    ("EditText", "field"),
    ("ImageButton", "icon"),
    ("ImageView", "icon"),
    ("Image", "icon"),
    ("Button", "button"),
    ("SeekBar", "slider"),
    ("ProgressBar", "spinner"),
)
_PICTURE = Style(kind="icon", icon="image", color="outline")
_TAPPABLE = Style(kind="card", background="surface_container", radius=8.0)
NOTHING = Style(kind="card")
_LARGEST, _SMALLEST = 16.0, 7.0


def look_of(node: Recorded, bounds: Box, sp: float) -> Style:
    """`sp` is px per sp; bounds are px."""
    kind = next((kind for ending, kind in _KINDS if node.short_class.endswith(ending)), "")
    if kind == "icon" and not node.description:
        return _PICTURE
    if kind in ("slider", "spinner"):
        return Style(kind=kind)
    if kind in ("checkbox", "radio", "switch", "field") or node.text:
        role = {"button": "tonal", "field": "outlined"}.get(kind, "")
        return Style(kind=kind or "text", role=role, size=_size(node.text, bounds, sp), radius=8.0)
    return _TAPPABLE if node.clickable else NOTHING


def _size(words: str, bounds: Box, sp: float) -> float:
    """As large as the box allows: one line as high as it is, shrunk until the words fit in."""
    size = max(_SMALLEST, min(_LARGEST, bounds.height * 0.8 / sp))
    lines = max(1, int(bounds.height / metrics.line_height(size * sp)))
    width = metrics.line_width(words, size * sp)
    return max(_SMALLEST, min(size, size * lines * bounds.width / width)) if width else size


def caption(node: Recorded, bounds: Box, sp: float) -> View | None:
    """A description that nothing inside repeats is painted as words, and told to nobody."""
    if not node.description or node.text or _has_words(node):
        return None
    style = replace(Style(kind="text"), size=_size(node.description, bounds, sp), color="on_surface_variant")
    return View(cls="android.view.View", text=node.description, style=style, accessible=False)


def _has_words(node: Recorded) -> bool:
    return any(child.text or child.description or _has_words(child) for child in node.children)
