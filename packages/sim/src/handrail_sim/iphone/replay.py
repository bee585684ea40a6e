"""An app made of recorded page sources: each XML file of a folder is a screen, served byte for byte.

A screen is chosen by its file's name: `-screen NAME` among the arguments that the app is launched with.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

from lxml import etree

from handrail_sim.errors import UnknownApp
from handrail_sim.iphone.tree import TEXT_INPUTS, Element, Frame
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import absolute, text
from handrail_sim.view.view import View

PACKAGE = "com.handrail.replay"
OPTION = "-screen"


class Recorded(Activity):
    """One recorded screen: what it was read as, and its words where they were."""

    app: Replay

    @property
    def recorded(self) -> str:
        """The file's text."""
        return self.app.files[self._chosen()].read_text(encoding="utf-8")

    def _chosen(self) -> str:
        arguments, _ = getattr(self.phone, "launch_arguments", {}).get(PACKAGE, ([], {}))
        name = dict(pairwise(arguments)).get(OPTION, "")
        return name if name in self.app.files else next(iter(self.app.files))

    def recorded_tree(self) -> Element:
        return read_source(self.recorded)

    def build(self) -> View:
        scale = self.phone.units.dp
        words = []
        for element in self.recorded_tree():
            if not element.children and element.visible and (element.label or element.value):
                view = text(element.label or element.value, "label")
                x, y, width, height = (round(side * scale) for side in element.frame)
                view.rect = (x, y, x + width, y + height)
                words.append(view)
        return absolute(*words)


class Replay(App):
    """The class that a folder is bound to."""

    package = PACKAGE
    label = "Replay"
    files: dict[str, Path]
    activities = {"Recorded": Recorded}


@cache
def replay_of(folder: str) -> type[App]:
    """The app of a folder; raises `UnknownApp` when no page source lies in it."""
    files = {path.stem: path for path in sorted(Path(folder).glob("*.xml"))}
    if not files:
        raise UnknownApp(f"{folder} has no recorded page sources", hint="They are files that end in .xml.")
    return type("FolderReplay", (Replay,), {"files": files, "__module__": __name__})


def read_source(words: str) -> Element:
    """The elements of a page source; what Appium puts around them is left out. Mistakes are passed over."""
    parser = etree.XMLParser(recover=True, huge_tree=True)
    root = etree.fromstring(words.encode(), parser)
    if root is None:
        return Element("Application", (0.0, 0.0, 0.0, 0.0))
    while not _type_of(root) and len(root):
        root = root[0]
    return _element(root, 0)


def _type_of(node: etree._Element) -> str:
    tag = str(node.tag)
    return tag.removeprefix("XCUIElementType") if tag.startswith("XCUIElementType") else ""


def _element(node: etree._Element, place: int) -> Element:
    name, label = node.get("name") or "", node.get("label") or ""
    element = Element(_type_of(node) or "Other", _frame(node), step=str(place))
    element.label = label
    element.identifier = name if name != label else ""
    value, placeholder = node.get("value") or "", node.get("placeholderValue")
    element.value = "" if element.type in TEXT_INPUTS and value == placeholder else value
    element.placeholder = placeholder
    element.enabled = node.get("enabled") != "false"
    element.visible = node.get("visible") != "false"
    element.native = node.get("accessible") == "true"
    element.selected = "Selected" in (node.get("traits") or "")
    element.add(*(_element(child, number) for number, child in enumerate(node.iterchildren("*"))))
    return element


def _frame(node: etree._Element) -> Frame:
    sides = []
    for name in ("x", "y", "width", "height"):
        try:
            sides.append(float(node.get(name) or 0.0))
        except ValueError:
            sides.append(0.0)
    return sides[0], sides[1], sides[2], sides[3]
