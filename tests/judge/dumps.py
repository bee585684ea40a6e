"""Reads and writes dumps for the judge: XML, and JSON of DroidBot and of RICO. Knows nothing of handrail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from lxml import etree

Box = tuple[int, int, int, int]

_BOX = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_FLAGS = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "long-clickable", "password",
    "scrollable", "selected",
)  # fmt: skip


@dataclass(eq=False)
class View:
    """One node of a dump, as it says of itself. `token` is who it is, where an invented screen knows."""

    kind: str
    id: str = ""
    text: str = ""
    described: str = ""
    hint: str = ""
    package: str = ""
    box: Box = (0, 0, 0, 0)
    flags: frozenset[str] = frozenset()
    children: list[View] = field(default_factory=list)
    token: int = 0

    def walk(self) -> Iterator[View]:
        stack = [self]
        while stack:
            view = stack.pop()
            yield view
            stack.extend(reversed(view.children))

    @property
    def area(self) -> int:
        left, top, right, bottom = self.box
        return max(0, right - left) * max(0, bottom - top)

    def copy(self) -> View:
        """The same elements once more: tokens stay."""
        return View(
            self.kind, self.id, self.text, self.described, self.hint, self.package, self.box, self.flags,
            [child.copy() for child in self.children], self.token,
        )  # fmt: skip


def read(path: Path) -> list[View]:
    """The roots of a dump; none where it is damaged or of another form."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return _read_json(data)
    start, end = data.find(b"<hierarchy"), data.rfind(b"</hierarchy>")
    if start < 0 or end < 0:
        return []
    try:
        root = etree.fromstring(data[start : end + len(b"</hierarchy>")])
    except etree.XMLSyntaxError:
        return []
    return [_from_xml(child) for child in root if isinstance(child.tag, str)]


def _from_xml(node: etree._Element) -> View:
    said = {str(name): str(value) for name, value in node.attrib.items()}
    numbers = _BOX.fullmatch(said.get("bounds", ""))
    left, top, right, bottom = map(int, numbers.groups()) if numbers else (0, 0, 0, 0)
    return View(
        said.get("class") or str(node.tag),
        said.get("resource-id", ""),
        said.get("text", ""),
        said.get("content-desc", ""),
        said.get("hint", ""),
        said.get("package", ""),
        (left, top, right, bottom),
        frozenset(name for name in _FLAGS if said.get(name) == "true") | _hidden(said),
        [_from_xml(child) for child in node if isinstance(child.tag, str)],
    )


def _hidden(said: dict[str, str]) -> frozenset[str]:
    return frozenset({"hidden"} if "false" in (said.get("visible-to-user"), said.get("displayed")) else ())


def _read_json(data: bytes) -> list[View]:
    try:
        whole = json.loads(data)
    except ValueError:
        return []
    if isinstance(whole, dict) and isinstance(whole.get("views"), list) and whole["views"]:
        views = whole["views"]
        made = [_from_droidbot(view) for view in views]
        for view, one in zip(views, made, strict=True):
            one.children = [made[number] for number in view.get("children") or [] if 0 <= number < len(made)]
        return [made[0]]
    root = (whole.get("activity") or {}).get("root") if isinstance(whole, dict) else None
    if not isinstance(root, dict):
        return []
    made_root = _from_rico(root)
    for view in made_root.walk():
        view.package = str(whole.get("activity_name") or "").partition("/")[0]  # its nodes name their library
    return [made_root]


def _from_droidbot(view: dict[str, object]) -> View:
    (left, top), (right, bottom) = view["bounds"]  # type: ignore[misc]
    flags = frozenset(name for name in _FLAGS if view.get(name.replace("-", "_")))
    if view.get("is_password"):
        flags |= {"password"}
    if view.get("editable"):
        flags |= {"editable"}
    if view.get("visible") is False:
        flags |= {"hidden"}
    said = {name: str(view.get(name) or "") for name in ("class", "resource_id", "text", "package")}
    described = str(view.get("content_description") or "")
    return View(
        said["class"], said["resource_id"], said["text"], described, "", said["package"],
        (left, top, right, bottom), flags,
    )  # fmt: skip


def _from_rico(view: dict[str, object]) -> View:
    said = {name: str(view.get(name) or "") for name in ("class", "resource-id", "text", "package")}
    box = view.get("bounds") or [0, 0, 0, 0]
    described = view.get("content-desc") or [""]
    children = [_from_rico(child) for child in view.get("children") or [] if isinstance(child, dict)]  # type: ignore[attr-defined]
    flags = frozenset(name for name in _FLAGS if view.get(name) is True)
    return View(
        said["class"], said["resource-id"], said["text"],
        str(described[0] or "") if isinstance(described, list) else str(described), "", said["package"],
        tuple(box), flags, children,  # type: ignore[arg-type]
    )  # fmt: skip


def write(roots: list[View]) -> bytes:
    """As `uiautomator dump` would."""
    body = "".join(map(_xml, roots))
    return f'<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="0">{body}</hierarchy>'.encode()


def _xml(view: View) -> str:
    left, top, right, bottom = view.box
    said = {
        "class": view.kind, "resource-id": view.id, "text": view.text, "content-desc": view.described,
        "hint": view.hint, "package": view.package, "bounds": f"[{left},{top}][{right},{bottom}]",
        **{name: str(name in view.flags).lower() for name in _FLAGS},
    }  # fmt: skip
    inside = "".join(map(_xml, view.children))
    words = " ".join(f"{name}={quoteattr(_clean(value))}" for name, value in said.items())
    return f"<node {words}>{inside}</node>"


def _clean(text: str) -> str:
    return "".join(char for char in text if char >= " " or char in "\t\n")
