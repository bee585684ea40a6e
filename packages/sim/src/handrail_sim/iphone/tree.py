"""What XCTest sees: the views of the phone as elements with UIKit's types, labels, values and traits.

A tree is a picture of one event. Frames are points with fractions; `rect` is rounded outward, as in WDA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from math import ceil, floor
from typing import Any

from handrail_sim.iphone.phone import SCALE, SPRINGBOARD, IPhone
from handrail_sim.resources import table
from handrail_sim.screen.dump import utf16_length
from handrail_sim.view.view import SCROLLING, View
from handrail_sim.view.windows import Window

Frame = tuple[float, float, float, float]
"""x, y, width, height in points."""

TEXT_INPUTS = frozenset({"TextField", "SecureTextField", "SearchField", "TextView"})
SYSTEM_WINDOWS = frozenset(
    {"status_bar", "navigation_bar", "system_dialog", "shade", "heads_up", "volume", "recents"}
)
"""Windows that belong to SpringBoard, whatever app is in front."""

_TABLE = table("iphone/names.toml")
_KINDS: Mapping[str, str] = _TABLE["kinds"]
_TRAITS: Mapping[str, Sequence[str]] = _TABLE["traits"]
_KEYS: Mapping[str, Sequence[str]] = _TABLE["keys"]
_NATIVE = frozenset(_TRAITS) - {"TabBar"} | TEXT_INPUTS | {"ActivityIndicator"}


@dataclass(slots=True, eq=False)
class Element:
    """One element of a snapshot; `type` is without its prefix."""

    type: str
    frame: Frame
    identifier: str = ""
    label: str = ""
    value: str = ""
    placeholder: str | None = None
    enabled: bool = True
    visible: bool = True
    selected: bool = False
    focused: bool = False
    native: bool = False
    """Whether it is an accessibility element itself."""
    view: View | None = None
    window: Window | None = None
    step: str = ""
    """What it is called among its siblings, as long as it lasts."""
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    traits_more: tuple[str, ...] = ()

    def add(self, *children: Element) -> Element:
        for child in children:
            child.parent = self
            self.children.append(child)
        return self

    def __iter__(self) -> Iterator[Element]:
        yield self
        for child in self.children:
            yield from child

    @property
    def descendants(self) -> Iterator[Element]:
        for child in self.children:
            yield from child

    @property
    def ancestors(self) -> Iterator[Element]:
        parent = self.parent
        while parent is not None:
            yield parent
            parent = parent.parent

    @property
    def root(self) -> Element:
        return next(reversed([self, *self.ancestors]))

    @property
    def depth(self) -> int:
        """Levels from here down."""
        return 1 + max((child.depth for child in self.children), default=0)

    # as WDA words it

    @property
    def full_type(self) -> str:
        return f"XCUIElementType{self.type}"

    @property
    def name(self) -> str | None:
        return self.identifier or self.label or None

    @property
    def wd_label(self) -> str | None:
        return self.label if self.type in ("TextField", "SecureTextField") else self.label or None

    @property
    def wd_value(self) -> str | None:
        if self.type == "StaticText":
            return self.value or self.label or None
        if self.type == "Button":
            return self.value or ("1" if self.selected else None)
        if self.type == "Switch":
            return self.value or "0"
        if self.type in TEXT_INPUTS:
            return self.value or self.placeholder or None
        return self.value or None

    @property
    def rect(self) -> dict[str, int]:
        x, y, width, height = self.frame
        left, top = floor(x), floor(y)
        return {"x": left, "y": top, "width": ceil(x + width) - left, "height": ceil(y + height) - top}

    @property
    def center(self) -> tuple[float, float]:
        x, y, width, height = self.frame
        return x + width / 2, y + height / 2

    @property
    def traits(self) -> str:
        own = [*_TRAITS.get(self.type, ()), *self.traits_more]
        own += ["Selected"] if self.selected else []
        own += [] if self.enabled else ["NotEnabled"]
        return ", ".join(dict.fromkeys(own))

    @property
    def accessible(self) -> bool:
        """A cell counts when its content does; nothing counts inside of something that does."""
        if self.type == "Cell" and not self.native:
            if not (self.children and self.children[0].native):
                return False
        elif self.type not in ("TextField", "SecureTextField") and not self.native:
            return False
        return not any(above.native and above.type != "Table" for above in self.ancestors)

    @property
    def is_container(self) -> bool:
        return any(child.native or child.is_container for child in self.children)

    @property
    def index(self) -> int:
        return self.parent.children.index(self) if self.parent is not None else 0

    @property
    def uid(self) -> str:
        """The same for the same element in every snapshot."""
        path = "/".join(f"{entry.type}:{entry.step}" for entry in [self, *self.ancestors])
        digits = md5(path.encode(), usedforsecurity=False).hexdigest().upper()
        return f"{digits[:8]}-0000-0000-{digits[8:12]}-{digits[12:24]}"

    def describe(self) -> str:
        return f'"{self.name}" {self.type}' if self.name else self.type


# whole applications


def application(phone: IPhone, bundle: str) -> Element:
    """The tree of an app that runs; one in the background has nothing but itself."""
    width, height = phone.display.width / SCALE, phone.display.height / SCALE
    label = phone.label_of(bundle)
    root = Element("Application", (0.0, 0.0, width, height), label=label, step=bundle)
    if not phone.awake and bundle != SPRINGBOARD:
        return root
    for number, window in enumerate(windows_of(phone, bundle)):
        root.add(*_window(phone, window, number, (0.0, 0.0, width, height)))
    return root


def windows_of(phone: IPhone, bundle: str) -> list[Window]:
    """What this app has on the screen, bottom to top."""
    front = phone.front
    shown = phone.windows()
    if bundle == SPRINGBOARD:
        return [window for window in shown if window.type in SYSTEM_WINDOWS or front == SPRINGBOARD]
    return [window for window in shown if window.type not in SYSTEM_WINDOWS] if bundle == front else []


def _window(phone: IPhone, window: Window, number: int, screen: Frame) -> list[Element]:
    if window.type == "navigation_bar":
        return []
    top = Element("Window", screen, step=f"{window.type} {number}", window=window)
    content = _views(window.root, window, "", phone.awake)
    box = Element("Other", screen, step="0", visible=phone.awake)
    top.visible = phone.awake
    if window.type in ("dialog", "system_dialog"):
        box.add(_alert(window, content))
    elif window.type == "sheet":
        box.add(_titled_box("Sheet", window, content))
    elif window.type == "ime":
        box.add(_keyboard(window, content))
    else:
        box.add(*content)
    return [top.add(box)]


def _alert(window: Window, content: list[Element]) -> Element:
    """A dialog with a list is an action sheet, any other an alert that is named by its title."""
    listing = window.find("select_dialog_listview") is not None
    alert = _titled_box("Sheet" if listing else "Alert", window, content)
    panel = next((view for view in window.views() if view.style.kind == "dialog"), window.root)
    alert.frame = _frame(panel)
    return alert


def _titled_box(kind: str, window: Window, content: list[Element]) -> Element:
    title = next((element.label for top in content for element in top if element.type == "StaticText"), "")
    return Element(kind, _frame(window.root), label=title, step="0", window=window).add(*content)


def _keyboard(window: Window, content: list[Element]) -> Element:
    """Keys without the rows that Android puts them in."""
    keys = [entry for top in content for entry in top if entry.type in ("Key", "Button")]
    board = Element("Keyboard", _frame(window.root), step="0", window=window)
    inner = Element("Other", board.frame, step="0")
    for key in keys:
        key.children.clear()
    return board.add(inner.add(*keys))


# views


def _frame(view: View) -> Frame:
    return view.x / SCALE, view.y / SCALE, view.w / SCALE, view.h / SCALE


def _views(view: View, window: Window, step: str, awake: bool) -> list[Element]:
    """A view's element, or those of its children where there is nothing to be seen of itself."""
    if not (view.visible and view.accessible):
        return []
    kind = _type_of(view)
    element = Element(
        kind, _frame(view), step=view.row_key or view.key or view.id or step, view=view, window=window
    )
    element.visible = awake and view.on_screen and view.painted and view.style.alpha > 0
    element.enabled, element.selected = (
        view.enabled,
        view.selected or (kind == "Button" and bool(view.checked)),
    )
    element.identifier = "" if ":" in view.id else view.id.removeprefix("=")
    _set_words(element, view)
    for number, child in enumerate(view.children):
        element.add(*_views(child, window, str(number), awake))
    element.visible = element.visible or any(child.visible for child in element.children)
    _name_group(element, view)
    if view.parent is None or view.parent.layout != "list" or element.type == "Cell":
        return [element]
    if element.type in ("Button", "Other") and element.children:  # a row that is touched as a whole
        element.type, element.native = "Cell", False
        element.label = view.desc or ", ".join(_texts(element))
        return [element]
    return [_cell_around(element)]


def _type_of(view: View) -> str:
    kind = view.style.kind
    if view.editable:
        return _input_type(view)
    if kind == "key":
        return _KEYS.get(view.desc, ("Key", "", ""))[0]
    if kind in _KINDS and not (kind == "image" and view.children):
        return _KINDS[kind]
    if view.layout in SCROLLING or view.cls.endswith(("WebView", "HorizontalScrollView")):
        return _scroller_type(view)
    if kind == "item" and view.is_clickable:
        return "Cell"
    if kind == "icon" or view.cls.endswith("ImageView"):
        return "Button" if view.is_clickable else "Image"
    if not view.children and (view.text or view.cls.endswith("TextView")):
        return _text_type(view)
    return "Button" if view.cls.endswith("Button") or _is_touchable_group(view) else "Other"


def _scroller_type(view: View) -> str:
    if view.cls.endswith("WebView"):
        return "WebView"
    if view.layout == "list":
        return "Table" if view.columns == 1 else "CollectionView"
    if view.layout not in SCROLLING:
        return "SegmentedControl"
    return "Table" if _has_rows(view) else "ScrollView"


def _input_type(view: View) -> str:
    if view.password:
        return "SecureTextField"
    if view.multiline:
        return "TextView"
    return "SearchField" if view.ime_action == "search" else "TextField"


def _text_type(view: View) -> str:
    if not view.is_clickable:
        return "StaticText"
    above: View | None = view
    while above is not None:
        if above.cls.endswith("WebView"):
            return "Link"
        above = above.parent
    return "Button"


def _is_touchable_group(view: View) -> bool:
    """React Native's views and others that name no class stay `Other`, as they do on a phone."""
    return view.is_clickable and view.cls not in ("android.view.ViewGroup", "android.view.View")


def _has_rows(view: View) -> bool:
    return any(
        row.style.kind == "item"
        for child in view.children
        for row in (child, *child.children)
        if row.is_clickable
    )


def _set_words(element: Element, view: View) -> None:
    """Label, value and placeholder of one view."""
    kind = element.type
    element.label = view.desc or ("" if kind in TEXT_INPUTS else view.text)
    if kind in TEXT_INPUTS:
        element.value = "•" * utf16_length(view.text) if view.password else view.text
        element.placeholder = view.hint
        element.traits_more = ("SearchField",) if kind == "SearchField" else ()
    elif kind == "Switch":
        element.value = "1" if view.checked else "0"
    elif kind in ("Slider", "ProgressIndicator"):
        share = (view.value - view.low) / (view.high - view.low or 1.0)
        element.value = f"{round(share * 100)}%"
    elif kind == "ActivityIndicator":
        element.label, element.value = view.desc or "In progress", "1"
    elif view.style.kind == "key" and view.desc in _KEYS:
        _, element.identifier, element.label = _KEYS[view.desc]
    elif view.state:
        element.value = view.state
    elif kind == "Other" and view.is_clickable and view.cls == "android.view.View":
        element.traits_more = ("Button",)  # Compose says so; React Native's views say nothing
    if view.style.role in ("headline", "title") and kind == "StaticText":
        element.traits_more = ("Header",)
    element.native = kind in _NATIVE or bool(view.desc and not view.children)
    if kind == "Image":
        element.native = bool(element.label)
    element.native = element.native and view.style.alpha > 0


def _texts(element: Element) -> list[str]:
    return list(
        dict.fromkeys(
            child.label for child in element.descendants if child.type == "StaticText" and child.label
        )
    )


def _name_group(element: Element, view: View) -> None:
    """Cells, buttons around words and bars are named by what is in them."""
    kind, words = element.type, _texts(element)
    if kind == "NavigationBar":
        element.identifier, element.label = (words[0] if words else ""), ""
        for child in element.children:
            if child.type == "Button" and child.label == "Navigate up":
                child.label, child.identifier = "Back", "BackButton"
    elif kind == "TabBar":
        element.label = "Tab Bar"
    elif not element.label and words and (kind in ("Cell", "Button", "Link") or view.is_clickable):
        element.label = ", ".join(words) if kind == "Cell" else " ".join(words)
    if kind == "Cell":
        for child in element.descendants:
            if child.type in ("Switch", "Slider") and not child.label and words:
                child.label = words[0]
    if kind in ("Button", "Cell") and element.selected:
        for child in element.children:
            child.selected = child.selected and child.type == "Button"


def _cell_around(element: Element) -> Element:
    """A list's row: the cell, its content view, and in it what the app put there, often of the same name."""
    cell = Element(
        "Cell", element.frame, label=element.label or ", ".join(_texts(element)), visible=element.visible,
        enabled=element.enabled, view=element.view, window=element.window, step=element.step,
    )  # fmt: skip
    element.step = "0"
    return cell.add(element)


def focused_element(root: Element) -> Element | None:
    """Where the keyboard types into."""
    return next(
        (
            element
            for element in root
            if element.type in TEXT_INPUTS and element.view is not None and element.view.focused
        ),
        None,
    )


def find_alert(phone: IPhone, bundle: str) -> Element | None:
    """The system's alert first, then the app's; an alert before a sheet."""
    for owner in dict.fromkeys((SPRINGBOARD, bundle)):
        tree = application(phone, owner)
        for kind in ("Alert", "Sheet"):
            match = next((element for element in tree if element.type == kind), None)
            if match is not None:
                return match
    return None


def attribute_values(element: Element) -> dict[str, Any]:
    """By the names that attributes have in requests, predicates and class chains."""
    return {
        "type": element.full_type,
        "elementType": element.type,
        "name": element.name,
        "label": element.wd_label,
        "value": element.wd_value,
        "rawIdentifier": element.identifier or None,
        "identifier": element.identifier,
        "placeholderValue": element.placeholder,
        "title": None,
        "enabled": element.enabled,
        "visible": element.visible,
        "accessible": element.accessible,
        "accessibilityContainer": element.is_container,
        "nativeAccessibilityElement": element.native,
        "focused": element.focused,
        "selected": element.selected,
        "hittable": element.visible and element.frame[2] > 0,
        "index": element.index,
        "rect": element.rect,
        "frame": element.rect,
        "nativeFrame": element.frame,
        "traits": element.traits,
        "UID": element.uid,
        "minValue": element.view.low if element.type == "Slider" and element.view else None,
        "maxValue": element.view.high if element.type == "Slider" and element.view else None,
        "customActions": None,
    }
