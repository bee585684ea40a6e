"""An app's real views as React sees them: every view is a host component, below those that drew it.

Measured as the old architecture does: dp, from the lower edge of the status bar. `context.js` makes fibers.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from handrail_sim.channels.react.component import component_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handrail_sim.system.activities import Context
    from handrail_sim.view.view import View
    from handrail_sim.view.windows import Window

FIRST_TAG = 5
_HOSTS = {
    "android.widget.TextView": "RCTText",
    "android.widget.EditText": "AndroidTextInput",
    "android.widget.ImageView": "RCTImageView",
    "android.widget.ScrollView": "RCTScrollView",
    "com.horcrux.svg.SvgView": "RNSVGSvgView",
    "com.horcrux.svg.GroupView": "RNSVGGroup",
    "com.horcrux.svg.PathView": "RNSVGPath",
}
_DRAWN_BY = {"RCTText": "Text", "RCTImageView": "Image", "RCTScrollView": "ScrollView", "RNSVGSvgView": "Svg"}
_DRAWN_BY |= {"RNSVGGroup": "G", "RNSVGPath": "Path", "AndroidTextInput": "TextInput", "RCTView": "View"}


def window_of(phone: Context, package: str) -> Window | None:
    """The app's topmost window."""
    own = [window for window in phone.windows() if window.package == package]
    return own[-1] if own else None


def fibers_of(phone: Context, window: Window) -> dict[str, Any] | None:
    """The outermost view that a component drew, with all below it; None where there is none."""
    drawn = next((view for view in window.views() if component_of(view) is not None), None)
    return _of(phone, drawn, count(FIRST_TAG, 2)) if drawn is not None else None


def _of(phone: Context, view: View, tags: Iterator[int]) -> dict[str, Any]:
    """The view's host, the component of React Native that draws such a host, and the app's own."""
    units, top = phone.units, phone.display.status_px
    host = _HOSTS.get(view.cls, "RCTView")
    component = component_of(view)
    return {
        "tag": next(tags),
        "host": host,
        "native": "Pressable" if view.on_click is not None else _DRAWN_BY[host],
        "component": component.name if component else None,
        "given": dict(component.props) if component else {},
        "props": _props(view),
        "box": [view.x / units.dp, (view.y - top) / units.dp, view.w / units.dp, view.h / units.dp],
        "children": [_of(phone, child, tags) for child in view.children],
    }


def _props(view: View) -> dict[str, Any]:
    found: dict[str, Any] = {"accessible": view.on_click is not None}
    if view.text:
        found["children"] = view.text
    if view.desc:
        found["accessibilityLabel"] = view.desc
    if view.id.startswith("=") and len(view.id) > 1:
        found["testID"] = view.id[1:]
    return found
