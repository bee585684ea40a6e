"""Any dump to a `Screen`: decodes the bytes, finds the format, tries the strict reader and then recovery.

Never raises anything but `TreeParseError`. Knows which reader comes when, and nothing about nodes.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, get_args
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.protocol.target import Role
from handrail.screen.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSABLE,
    FOCUSED,
    HIDDEN,
    LONG_CLICKABLE,
    PASSWORD,
    ROWLIKE,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
    Screen,
    class_role,
    role_of,
)
from handrail.screen.parse.build import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    NO_BOUNDS,
    TYPABLE,
    ScreenDraft,
    WindowDraft,
    clamp_bounds,
    complete_screen,
    read_bounds,
)
from handrail.screen.parse.ios_nodes import (
    PREFIX,
    arrange_ios,
    ios_class,
    ios_node,
    is_ios_item,
    mark_touchable,
)
from handrail.screen.parse.xml_dumps import mend_json, read_xml, recover_xml

_TEXTS = {
    "class_name": ("className", "class", "class_name"),
    "resource_id": ("resourceId", "resource-id", "resource_id"),
    "text": ("text",),
    "description": (
        "description",
        "accessibilityText",
        "contentDescription",
        "content-desc",
        "content_description",
        "contentDesc",
    ),
    "package_name": ("packageName", "package", "package_name"),
    "hint_text": ("hintText", "hint", "text-hint", "hint_text"),
    "state_description": ("stateDescription", "state-description", "state_description"),
    "pane_title": ("paneTitle", "pane-title", "pane_title"),
    "tooltip_text": ("tooltipText", "tooltip-text", "tooltip_text"),
}
_FLAGS = {
    "enabled": ENABLED,
    "focused": FOCUSED,
    "selected": SELECTED,
    "checked": CHECKED,
    "checkable": CHECKABLE,
    "clickable": CLICKABLE,
    "scrollable": SCROLLABLE,
    "scrollable-horizontal": SCROLLABLE,
    "scrollable-vertical": SCROLLABLE,
    "longClickable": LONG_CLICKABLE,
    "long-clickable": LONG_CLICKABLE,
    "long_clickable": LONG_CLICKABLE,
    "password": PASSWORD,
    "is_password": PASSWORD,
    "focusable": FOCUSABLE,
}
_HIDING: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("visible", "visible-to-user", "visibleToUser", "displayed"), (False, "false")),
    "visibility": ("gone", "invisible"),
}
_FIELD_OF = {key: name for name, keys in _TEXTS.items() for key in keys}
_NODE_KEYS = {*_FIELD_OF, *_FLAGS, "bounds", "children"}
_SURROGATE = re.compile("[\ud800-\udfff]")
Json = dict[str, Any]


def read_json(value: Any) -> ScreenDraft:
    if isinstance(value, dict) and isinstance(windows := value.get("windows"), list):
        return _read_windows(windows, value)
    if isinstance(value, list):
        return _read_ios_list(value) if value and is_ios_item(value[0]) else _read_trees(value, ScreenDraft())
    if isinstance(value, dict) and is_ios_item(value.get("value")):
        value = value["value"]  # WebDriverAgent's whole answer
    if is_ios_item(value):
        return _read_ios_list([value])
    if not isinstance(value, dict):
        raise TreeParseError("The JSON is neither an object nor a list", offset=0)
    draft = ScreenDraft(width=_pixels(value.get("width")), height=_pixels(value.get("height")))
    if isinstance(views := value.get("views"), list):
        draft.package = _package_of_activity(value.get("foreground_activity"))
        return _read_views(views, draft)
    if isinstance(activity := value.get("activity"), dict):
        draft.package = _package_of_activity(value.get("activity_name"))
        return _read_trees([activity.get("root")], draft)
    if "tree" in value:
        tree = value["tree"]
        draft.package = _text(value.get("packageName"))
        return _read_trees(tree if isinstance(tree, list) else [tree], draft)
    if len(_NODE_KEYS.intersection(value)) >= 2 or isinstance(value.get("attributes"), dict):
        return _read_trees([value], ScreenDraft())
    reason = _text(value.get("error") or value.get("message"))
    raise TreeParseError(f"The JSON holds no UI tree{': ' + reason[:200] if reason else ''}", offset=0)


def _read_trees(trees: list[Any], draft: ScreenDraft) -> ScreenDraft:
    if len(trees) == 1 and isinstance(trees[0], dict) and _only_holds_windows(trees[0]):
        trees = trees[0]["children"]
    _build_nodes(draft, trees, lambda item: item.get("children"))
    return draft


def _read_ios_list(items: list[Any]) -> ScreenDraft:
    """One tree, or idb's flat list: the app and everything in it."""
    draft = ScreenDraft()
    first, *others = items

    def children_of(item: Json) -> list[Any]:
        children = item.get("children")
        return [*(children if isinstance(children, list) else ()), *(others if item is first else ())]

    _build_nodes(draft, [first], children_of, _ios_item)
    return draft


def _ios_item(item: Json, parent: Node | None) -> Node:
    plain = {key: _text(value) if isinstance(value, str) else value for key, value in item.items()}
    node = ios_node(ios_class(plain), plain, parent)
    mark_touchable(node, plain)
    return node


TOAST_LAYER = 1 << 20
"""Above all windows."""


def _read_windows(windows: list[Any], look: Json) -> ScreenDraft:
    """A look of Handrail's own helper: windows with layers, and packages only where they change."""
    display = look.get("display")
    shown = display if isinstance(display, dict) else {}
    draft = ScreenDraft(width=_pixels(shown.get("width")), height=_pixels(shown.get("height")))
    draft.rotation = _pixels(shown.get("rotation")) % 4
    frames = [
        window for window in windows if isinstance(window, dict) and isinstance(window.get("root"), dict)
    ]
    frames += _toasts(look.get("toasts"), draft)
    _build_nodes(draft, [window["root"] for window in frames], lambda node: node.get("children"))
    for window, frame in zip(draft.windows, frames, strict=False):
        layer = frame.get("layer")
        window.layer = layer if isinstance(layer, int) else 0
        window.focused = True in (frame.get("focused"), frame.get("active"))
    for node in draft.nodes:
        if not node.package_name and node.parent is not None:
            node.package_name = node.parent.package_name
    if isinstance(cycles := look.get("cycles"), int) and cycles:
        draft.warn(f"nodes left out, in a cycle: {cycles}")
    return draft


def _toasts(toasts: Any, draft: ScreenDraft) -> list[Json]:
    """Windows of messages that the helper heard of. Nobody tells their places: each is a line at the foot."""
    messages = toasts if isinstance(toasts, list) and draft.height else []
    line = [0, draft.height - 1, draft.width, draft.height]
    return [
        {"layer": TOAST_LAYER, "root": {**toast, "bounds": line}}
        for toast in messages
        if isinstance(toast, dict)
    ]


def _only_holds_windows(tree: Json) -> bool:
    """A root that only holds windows together: no class, no size."""
    name = _text(tree.get("className") or tree.get("class"))
    children = tree.get("children")
    return name in ("", "root") and isinstance(children, list) and not _bounds(tree.get("bounds")).area


def _read_views(views: list[Any], draft: ScreenDraft) -> ScreenDraft:
    taken: set[int] = set()

    def fetch(numbers: Iterable[Any]) -> list[Any]:
        children = []
        for number in numbers:
            if isinstance(number, int) and 0 <= number < len(views) and number not in taken:
                taken.add(number)
                children.append(views[number])
        return children

    def children(item: Json) -> list[Any]:
        numbers = item.get("children")
        return fetch(numbers) if isinstance(numbers, list) else []

    roots = [
        at for at, view in enumerate(views) if isinstance(view, dict) and view.get("parent") in (None, -1)
    ]
    _build_nodes(draft, fetch(roots), children)
    if len(taken) < len(views):
        draft.warn(f"views left out, without a parent: {len(views) - len(taken)}")
    return draft


def _build_nodes(
    draft: ScreenDraft,
    roots: list[Any],
    children_of: Callable[[Json], Any],
    read_node: Callable[[Json, Node | None], Node] | None = None,
) -> None:
    """Builds the nodes in document order, without recursion."""
    nodes = draft.nodes
    stack: list[tuple[Any, Node | None, int]] = [(root, None, 0) for root in reversed(roots)]
    left_out = 0
    while stack:
        item, parent, depth = stack.pop()
        if not isinstance(item, dict):
            continue  # RICO writes null for children that it could not read
        if depth >= MAX_DEPTH or len(nodes) >= MAX_NODES:
            left_out += 1
            continue
        node = (read_node or _node)(item, parent)
        node.order = len(nodes)
        nodes.append(node)
        if parent is None:
            node.position = len(draft.windows)
            draft.windows.append(WindowDraft(node))
        else:
            node.position = len(parent.children)
            parent.children.append(node)
        children = children_of(item)
        if isinstance(children, list):
            stack.extend((child, node, depth + 1) for child in reversed(children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    if left_out:
        draft.warn(f"nodes left out, nested too deeply or too many: {left_out}")


def _node(item: Json, parent: Node | None) -> Node:
    if isinstance(attributes := item.get("attributes"), dict):
        item = {**item, **attributes}  # Maestro's hierarchy
    texts: Json = dict.fromkeys(_TEXTS, "")
    flags = 0 if "enabled" in item else ENABLED
    for key, value in item.items():
        if name := _FIELD_OF.get(key):
            if value and not texts[name]:
                texts[name] = _text(value)
        elif flag := _FLAGS.get(key):
            if value is True or value == "true":
                flags |= flag
        elif key in _HIDING and value in _HIDING[key]:
            flags |= HIDDEN
    index = item.get("index")
    index = index if isinstance(index, int) and abs(index) < 1_000_000 else 0
    drawn = item.get("drawingOrder")
    drawn = drawn if isinstance(drawn, int) and abs(drawn) < 1_000_000 else 0
    places: Json = {"bounds": _bounds(item.get("bounds")), "index": index, "drawing_order": drawn}
    role = _role(item, texts["class_name"], parent)
    return Node(**texts, **places, flags=flags, role=role, parent=parent)


def _role(item: Json, class_name: str, parent: Node | None) -> str:
    role = role_of(class_name, parent.role if parent else "")
    if role in TYPABLE and item.get("editable") is True:
        return "text_field"
    if role in ROWLIKE and isinstance(ancestors := item.get("ancestors"), list):
        # RICO lists the superclasses, which tell what an app's own class is.
        inherited = (class_role(name) for name in ancestors if isinstance(name, str))
        role = next((candidate for candidate in inherited if candidate not in ROWLIKE), role)
    if role == "unknown" and item.get("role") in get_args(Role):
        return str(item["role"])
    return role


def _text(value: Any) -> str:
    if isinstance(value, list):  # RICO: the description of a node is a list
        value = " ".join(part for part in value if isinstance(part, str))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _bounds(value: Any) -> Bounds:
    if isinstance(value, str):
        return read_bounds(value) or NO_BOUNDS
    if isinstance(value, dict):
        value = [value.get(side) for side in ("left", "top", "right", "bottom")]
    if not isinstance(value, list):
        return NO_BOUNDS
    if len(value) == 4 and {*map(type, value)} == {int}:
        return clamp_bounds(value)
    if len(value) == 2 and all(isinstance(corner, list) for corner in value):
        value = [*value[0], *value[1]]
    if len(value) != 4 or not all(map(_is_number, value)):
        return NO_BOUNDS
    return clamp_bounds(int(side) for side in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _pixels(value: Any) -> int:
    return value if isinstance(value, int) and 0 < value < 100_000 else 0


def _package_of_activity(activity: Any) -> str:
    return _text(activity).partition("/")[0]


_XML_START = re.compile(
    r"<\?xml|<(?:hierarchy|displays|node|AppiumAUT|XCUIElementType\w{1,40}|[A-Za-z_]\w{0,99}(?:\.[\w$]{1,99}){1,20})[\s/>]"
)
_IOS = re.compile(rf"{PREFIX}|UIA[A-Z]|AX[A-Z]")
_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False)


def parse(data: bytes | str, *, scale: float = 1.0, package: str = "") -> Screen:
    """Reads a UI dump of any known format. Raises `TreeParseError` and nothing else, on any input.

    `scale` and `package` are for trees of iPhones, which tell points and often not whose they are.
    """
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if len(raw) > MAX_BYTES:
        raise TreeParseError(f"The dump has {len(raw)} bytes; the limit is {MAX_BYTES}", offset=MAX_BYTES)
    draft = _read_any(raw)
    if draft.windows and _IOS.match(draft.windows[0].root.class_name):
        arrange_ios(draft, scale, package)
    return complete_screen(draft)


def _read_any(raw: bytes) -> ScreenDraft:
    text, warnings = decode(raw)
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        draft = _read_json_text(text, 0) or _read_xml_text(text, warnings)
    elif _XML_START.search(text):
        draft = _read_xml_text(text, warnings)
    elif (start := text.find("{")) >= 0:
        draft = _read_json_text(text, start) or _read_xml_text(text, warnings)
    else:
        raise TreeParseError(f"No UI dump: {_excerpt(text)}", offset=0)
    draft.warnings[:0] = warnings
    return draft


def _read_xml_text(text: str, warnings: list[str]) -> ScreenDraft:
    if doctype := _DOCTYPE.search(text):
        raise TreeParseError("The dump has a DTD, which no UI dump needs", offset=doctype.start())
    body = _without_noise(text, warnings)
    try:
        return read_xml(body.encode("utf-8", "replace"))
    except expat.ExpatError as error:
        draft = recover_xml(body)
        if draft.windows:
            if not draft.warnings:
                draft.warn(f"the XML is damaged: {error}")
            return draft
        reason = f"The dump is not readable as XML ({error}): {_excerpt(text)}"
        raise TreeParseError(reason, line=error.lineno, column=error.offset) from None


def _without_noise(text: str, warnings: list[str]) -> str:
    """Cuts off what a shell printed before and after the XML, and warns."""
    start_tag = _XML_START.search(text)
    start = start_tag.start() if start_tag else 0
    if before := text[:start].strip():
        warnings.append(f"text before the XML was skipped: {_excerpt(before)}")
    mark = "</displays>" if text.find("<displays", start, start + 400) >= 0 else "</hierarchy>"
    at = text.find(mark, start)
    if at < 0:
        return text[start:]  # cut short, or not framed at all
    end = at + len(mark)
    if after := text[end:].strip():
        warnings.append(f"text after the XML was skipped: {_excerpt(after)}")
    return text[start:end]


def _read_json_text(text: str, start: int) -> ScreenDraft | None:
    """The draft of the JSON at `start`; None if it is not JSON and XML may follow."""
    try:
        value, _ = _JSON.raw_decode(text, start)
        return read_json(value)
    except RecursionError:
        raise TreeParseError("The JSON is nested too deeply", offset=start) from None
    except json.JSONDecodeError as error:
        draft = _read_mended_json(text[start : error.pos])
        if draft or _XML_START.search(text):
            return draft
        reason = f"The JSON is not readable ({error.msg}): {_excerpt(text)}"
        raise TreeParseError(reason, line=error.lineno, column=error.colno, offset=error.pos) from None
    except ValueError as error:  # a number of thousands of digits
        raise TreeParseError(f"The JSON is not readable: {error}", offset=start) from None


def _read_mended_json(text: str) -> ScreenDraft | None:
    """The part before the damage, if it is a tree."""
    mended = mend_json(text)
    if mended is None:
        return None
    try:
        draft = read_json(_JSON.raw_decode(mended)[0])
    except (ValueError, RecursionError, TreeParseError):
        return None
    draft.warn(f"the JSON is damaged or cut short at character {len(text)}: the rest is left out")
    return draft


def _excerpt(text: str) -> str:
    line = " ".join(text[:200].split())
    return repr(line[:79] + "…" if len(line) > 80 else line)


_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding=["']([\w.-]{1,20})["']""")
# Python knows more codecs than dumps use, some of them slow on hostile input.
_ALLOWED = re.compile(
    r"gbk|gb2312|gb18030|big5|shift_jis|euc-(?:jp|kr)|(?:iso-8859-|windows-125|cp125)\d{1,2}|koi8-r"
)
_HAN_PART = 0.8


def decode(data: bytes) -> tuple[str, list[str]]:
    """The text, and a warning for everything that had to be guessed or replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding)
    if encoding := _unmarked_wide(data[:64]):
        return _decode_as(data, encoding)
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        declaration = _DECLARED.search(data[:400])
        name = declaration[1].decode("ascii", "replace").lower() if declaration else ""
        return _decode_as(
            data,
            (name if _ALLOWED.fullmatch(name) and _can_decode(data, name) else "") or _guess_encoding(data),
        )


def _decode_as(data: bytes, encoding: str) -> tuple[str, list[str]]:
    warnings = [] if encoding == "utf-8" else [f"the dump is encoded in {encoding.upper()}"]
    try:
        return data.decode(encoding), warnings
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, [*warnings, f"bytes that are not {encoding.upper()} were replaced"]


def _unmarked_wide(head: bytes) -> str:
    """UTF-16 without a mark: every other byte of ASCII markup is zero."""
    even, odd = head[0::2], head[1::2]
    if len(odd) >= 8 and odd.count(0) > len(odd) * 0.8:
        return "utf-16-le"
    if len(odd) >= 8 and even.count(0) > len(even) * 0.8:
        return "utf-16-be"
    return ""


def _guess_encoding(data: bytes) -> str:
    """GB18030 if that reads as Chinese, else UTF-8 with holes."""
    if not _can_decode(data, "gb18030"):
        return "utf-8"
    foreign = [character for character in data.decode("gb18030") if character > "\x7f"]
    han = sum("\u4e00" <= character <= "\u9fa5" or "\u3000" <= character <= "\u303f" for character in foreign)
    return "gb18030" if han >= _HAN_PART * len(foreign) else "utf-8"


def _can_decode(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True
