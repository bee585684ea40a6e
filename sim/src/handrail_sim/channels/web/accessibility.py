"""A page's accessibility as Chromium on Android tells it: classes, words, flags and boxes. Pure.

What Chromium's own tree says is kept, its faults too: the order is that of the document, not of drawing,
and what lies behind a backdrop is told like anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail_sim.view.view import Rect, View

WEB_VIEW = "android.webkit.WebView"
_EDITS = ("textbox", "searchbox", "spinbutton", "Date", "DateTime", "InputTime", "ColorWell")
CLASSES: Mapping[str, str] = {
    **dict.fromkeys(_EDITS, "android.widget.EditText"),
    **dict.fromkeys(("button", "PopUpButton", "DisclosureTriangle"), "android.widget.Button"),
    "ToggleButton": "android.widget.ToggleButton",
    "switch": "android.widget.ToggleButton",
    "checkbox": "android.widget.CheckBox",
    "radio": "android.widget.RadioButton",
    "combobox": "android.widget.Spinner",
    "slider": "android.widget.SeekBar",
    "progressbar": "android.widget.ProgressBar",
    "meter": "android.widget.ProgressBar",
    **dict.fromkeys(("image", "img", "Canvas", "SvgRoot", "graphics-document"), "android.widget.Image"),
    **dict.fromkeys(("list", "listbox", "DescriptionList"), "android.widget.ListView"),
    **dict.fromkeys(("grid", "treegrid", "table"), "android.widget.GridView"),
    "tablist": "android.widget.TabWidget",
    **dict.fromkeys(("dialog", "alertdialog"), "android.app.Dialog"),
    **dict.fromkeys(("menuitem", "menuitemcheckbox", "menuitemradio"), "android.view.MenuItem"),
    "StaticText": "android.widget.TextView",
    "RootWebArea": WEB_VIEW,
}
"""Roles and the classes that they are told as; any other role is a plain View."""
_CLICKED = frozenset(
    (
        *_EDITS,
        "button",
        "PopUpButton",
        "ToggleButton",
        "switch",
        "checkbox",
        "radio",
        "combobox",
        "link",
        "tab",
    )
) | {"menuitem", "menuitemcheckbox", "menuitemradio", "option", "slider", "DisclosureTriangle", "treeitem"}
_LEAVES = _CLICKED - {"treeitem", "tab", "option"} | {"StaticText", "image", "img", "progressbar", "meter"}
_SKIPPED = frozenset({"InlineTextBox", "ListMarker", "LineBreak", "MenuListPopup"})
_SCROLLS = ("auto", "scroll")
STYLES = ("overflow-x", "overflow-y")
"""The computed styles that a snapshot must have."""
DOTS = "•"


@dataclass(slots=True)
class Laid:
    """What layout knows of an element: its box in CSS px of the viewport, its id, and what it does."""

    box: tuple[float, float, float, float]
    html_id: str = ""
    kind: str = ""
    is_clickable: bool = False
    scrolls: bool = False
    hint: str = ""


@dataclass(slots=True)
class Told:
    """One node as Android would tell it; boxes in px of the view."""

    cls: str
    box: tuple[int, int, int, int]
    text: str = ""
    html_id: str = ""
    backend: int = 0
    flags: dict[str, Any] = field(default_factory=dict)
    children: list[Told] = field(default_factory=list)

    def __iter__(self) -> Iterator[Told]:
        yield self
        for child in self.children:
            yield from child


def laid_out(snapshot: Mapping[str, Any]) -> dict[int, Laid]:
    """By backend node id, over all documents of a `DOMSnapshot`."""
    strings: Sequence[str] = snapshot["strings"]
    documents = snapshot["documents"]
    corners = _corners(documents)
    found: dict[int, Laid] = {}
    for number, document in enumerate(documents):
        if number not in corners:
            continue
        left, top = corners[number]
        nodes, layout = document["nodes"], document["layout"]
        clickable = set(nodes.get("isClickable", {}).get("index", ()))
        for place, (index, box) in enumerate(zip(layout["nodeIndex"], layout["bounds"], strict=True)):
            named = _attributes(nodes["attributes"][index], strings)
            styles = [strings[one] if one >= 0 else "" for one in layout["styles"][place]]
            kept = (box[0] + left, box[1] + top, box[2], box[3])
            found.setdefault(
                nodes["backendNodeId"][index],
                Laid(
                    kept,
                    named.get("id", ""),
                    named.get("type", ""),
                    index in clickable,
                    _is_scroller(layout, place, styles),
                    named.get("placeholder", ""),
                ),
            )
    return found


def _corners(documents: Sequence[Mapping[str, Any]]) -> dict[int, tuple[float, float]]:
    """Where the content of each document begins in the viewport; frames are drawn in their element's box."""
    found = {0: (-documents[0]["scrollOffsetX"], -documents[0]["scrollOffsetY"])}
    for number, document in enumerate(documents):
        if number not in found:
            continue
        boxes = dict(zip(document["layout"]["nodeIndex"], document["layout"]["bounds"], strict=True))
        inner = document["nodes"].get("contentDocumentIndex", {"index": [], "value": []})
        for index, which in zip(inner["index"], inner["value"], strict=True):
            if index in boxes:
                x, y = boxes[index][:2]
                other = documents[which]
                found[which] = (
                    found[number][0] + x - other["scrollOffsetX"],
                    found[number][1] + y - other["scrollOffsetY"],
                )
    return found


def frame_owners(snapshot: Mapping[str, Any]) -> dict[int, str]:
    """The frames of a page by the backend node id of the element that each is drawn in."""
    strings, documents = snapshot["strings"], snapshot["documents"]
    found: dict[int, str] = {}
    for document in documents:
        nodes = document["nodes"]
        inner = nodes.get("contentDocumentIndex", {"index": [], "value": []})
        for index, which in zip(inner["index"], inner["value"], strict=True):
            found[nodes["backendNodeId"][index]] = strings[documents[which]["frameId"]]
    return found


def _attributes(pairs: Sequence[int], strings: Sequence[str]) -> dict[str, str]:
    words = [strings[one] if one >= 0 else "" for one in pairs]
    return dict(zip(words[::2], words[1::2], strict=False))


def _is_scroller(layout: Mapping[str, Any], place: int, styles: Sequence[str]) -> bool:
    if not any(one in _SCROLLS for one in styles):
        return False
    inner, whole = layout["clientRects"][place], layout["scrollRects"][place]
    return bool(inner and whole) and (whole[3] > inner[3] + 1 or whole[2] > inner[2] + 1)


AxTree = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a view shows of a page: px for each CSS px, the corner in the layout, the view's size in px."""

    scale: float
    corner: tuple[float, float]
    size: tuple[int, int]


def told_tree(
    page: AxTree, frames: Mapping[int, AxTree], laid: Mapping[int, Laid], shown: Shown
) -> Told | None:
    """The page as told; `frames` by the element that each is drawn in."""
    if not page:
        return None
    nodes = {node["nodeId"]: node for tree in (page, *frames.values()) for node in tree}
    writer = _Writer(nodes, {owner: tree[0] for owner, tree in frames.items() if tree}, laid, shown)
    root = Told(WEB_VIEW, (0, 0, *shown.size), _value(page[0].get("name")))
    root.children = writer.below(page[0])
    is_inside = any(one.flags.get("focused") for one in root)
    root.flags = {"focusable": True, "focused": not is_inside and bool(_properties(page[0]).get("focused"))}
    return root


class _Writer:
    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]],
        frames: Mapping[int, Mapping[str, Any]],
        laid: Mapping[int, Laid],
        shown: Shown,
    ) -> None:
        self._nodes = nodes
        self._frames = frames
        self._laid = laid
        self._shown = shown

    def below(self, node: Mapping[str, Any]) -> list[Told]:
        inside = [self._nodes[one] for one in node.get("childIds", ()) if one in self._nodes]
        frame = self._frames.get(node.get("backendDOMNodeId", 0))
        if frame is not None and not inside:
            inside = [frame]
        return [told for one in inside for told in self._node(one)]

    def _node(self, node: Mapping[str, Any]) -> list[Told]:
        role = _value(node.get("role"))
        if role in _SKIPPED:
            return []
        laid = self._laid.get(node.get("backendDOMNodeId", 0))
        if node.get("ignored") or laid is None:
            return self.below(node)
        box = self._box(laid)
        told = Told(_class(role, node), box, backend=node.get("backendDOMNodeId", 0), html_id=laid.html_id)
        _describe(told, role, node, laid)
        is_leaf = role in _LEAVES or (role == "heading" and told.text)
        told.children = [] if is_leaf else self.below(node)
        if is_leaf and not told.text and role == "link":
            told.children = self.below(node)
        is_seen = box[2] > box[0] and box[3] > box[1]
        return [told] if is_seen else told.children

    def _box(self, laid: Laid) -> tuple[int, int, int, int]:
        """Cut to the view, as everything that is told to a dump."""
        shown = self._shown
        x, y = ((one - corner) * shown.scale for one, corner in zip(laid.box, shown.corner, strict=False))
        w, h = (one * shown.scale for one in laid.box[2:])
        wide, tall = shown.size
        return (
            max(0, min(wide, round(x))),
            max(0, min(tall, round(y))),
            max(0, min(wide, round(x + w))),
            max(0, min(tall, round(y + h))),
        )


def _class(role: str, node: Mapping[str, Any]) -> str:
    if role == "combobox" and _properties(node).get("editable"):
        return "android.widget.EditText"
    return CLASSES.get(role, "android.view.View")


def _describe(told: Told, role: str, node: Mapping[str, Any], laid: Laid) -> None:
    properties = _properties(node)
    name, value = _value(node.get("name")), _value(node.get("value"))
    is_field = told.cls.endswith("EditText")
    told.text = (value or laid.hint or name) if is_field else value if role == "combobox" and value else name
    flags: dict[str, Any] = {
        "clickable": role in _CLICKED or laid.is_clickable,
        "focusable": bool(properties.get("focusable")),
        "focused": bool(properties.get("focused")),
        "enabled": not properties.get("disabled"),
        "selected": bool(properties.get("selected")),
        "scrollable": laid.scrolls,
        "password": laid.kind == "password",
        "field": is_field,
    }
    if role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"):
        flags["checked"] = properties.get("checked") == "true"
    if is_field and not value:
        flags["hint"] = told.text
    if properties.get("multiline"):
        flags["multiline"] = True
    told.flags = flags


def _value(told: Any) -> str:
    value = told.get("value") if isinstance(told, dict) else None
    return str(value) if value is not None else ""


def _properties(node: Mapping[str, Any]) -> dict[str, Any]:
    return {one["name"]: one["value"].get("value") for one in node.get("properties", ())}


def view_of(told: Told, at: tuple[int, int], *, is_focused: bool) -> View:
    """The node as a view that is told and neither painted nor touched; `at` is the view's corner."""
    left, top, right, bottom = told.box
    rect: Rect = (left + at[0], top + at[1], right + at[0], bottom + at[1])
    flags = told.flags
    return View(
        cls=told.cls,
        text=told.text,
        id=f"={told.html_id}" if told.html_id else "",
        key=f"node:{told.backend}",
        rect=rect,
        layout="absolute",
        loose=True,
        painted=False,
        tag=told,
        clickable=bool(flags.get("clickable")),
        long_clickable=False,
        focusable=bool(flags.get("focusable")),
        focused=is_focused and bool(flags.get("focused")),
        scrollable=bool(flags.get("scrollable")),
        enabled=flags.get("enabled", True),
        selected=bool(flags.get("selected")),
        password=False,
        checked=flags.get("checked"),
        hint=flags.get("hint", ""),
        multiline=bool(flags.get("multiline")),
        attrs={"password": "true"} if flags.get("password") else None,
        children=[view_of(child, at, is_focused=is_focused) for child in told.children],
    )
