"""Reads what an iPhone shows. Trees are in points; `Bounds` are pixels, as pictures are.

The dear part of a tree is `visible`: it is asked for only when the rest of the tree has changed.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from handrail.errors import (
    DeviceError,
    HandrailError,
    IosCommandError,
    PictureUnreadable,
    TreeParseError,
    Unsupported,
)
from handrail.ios.wda import LOOK_MS, READ_MS, Wda
from handrail.screen.node import FOCUSED, Bounds, Node, Screen
from handrail.screen.parse import parse
from handrail.screen.windows import has_keyboard
from handrail.surface.picture import opened
from handrail.surface.values import Display, Foreground

DEPTHS = (60, 40, 25)
"""How deep trees are read: beyond about 60 XCTest fails as a whole, and then the next one is tried."""
TRIES = 3
"""Looks while the app in front changes."""
DENSITY = 160
_MOST_POINTS = 20_000
ELEMENT_KEYS = ("element-6066-11e4-a52e-4f735466cecf", "ELEMENT")
_ROTATIONS = {
    "PORTRAIT": 0,
    "LANDSCAPE": 1,
    "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN": 2,
    "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT": 3,
}
_PNG = b"\x89PNG\r\n"
_TOO_DEEP = ("stale element reference", "kAXError", "snapshot")


@dataclass(frozen=True, slots=True)
class FocusedField:
    """The field that has the keyboard's focus, asked of the phone itself."""

    element: str
    value: str
    placeholder: str
    is_secure: bool

    @property
    def text(self) -> str:
        """ "" for a field that shows its placeholder."""
        return "" if self.value == self.placeholder else self.value


class IosScreenReader:
    """`ScreenReader` of an iPhone."""

    waits_for_idle = False

    def __init__(self, wda: Wda) -> None:
        self._wda = wda
        self._scale = 0.0
        self._depth_at = 0
        self._depth_app = ""
        """The app that the depth is for: another one is read at full depth again."""
        self._configured = ("", 0)
        self._last: tuple[str, Bounds | None, Screen] | None = None
        self.app = ""
        """The app of the last look that was not only a system alert."""

    @property
    def last(self) -> Screen | None:
        return self._last[2] if self._last is not None else None

    async def look(self) -> Screen:
        await self.scale()
        depth_before = self._depth_at
        light = await self._source("visible")
        if self._last is not None and self._last[0] == light:
            focus = await self._focus(self._last[2])
            if focus == self._last[1]:
                return self._last[2]
        full, package = await self._full_tree()
        screen = self._screen(full, package)
        focus = await self._focus(screen)
        for node in screen.nodes:
            if focus is not None and node.role == "text_field" and node.bounds == focus:
                node.flags |= FOCUSED
        screen.memo.clear()
        if self._depth_at == depth_before and screen.package != self._depth_app:
            self._depth_at = 0
        self._depth_app = screen.package
        self._last = (light, focus, screen)
        return screen

    async def _full_tree(self) -> tuple[str, str]:
        """The tree with visibility, and whose it is: asked before and after, as the app may change."""
        package = (await self.foreground()).package
        for _ in range(TRIES):
            tree = await self._source("")
            after = (await self.foreground()).package
            if after == package:
                break
            package = after
        return tree, package

    async def _source(self, excluded: str) -> str:
        """Raises `TreeParseError` where no depth can be read; a tree that failed is never an empty screen."""
        query = f"&excluded_attributes={excluded}" if excluded else ""
        while True:
            await self._configure_depth()
            try:
                tree = await self._wda.get(f"/source?format=json{query}", timeout_ms=LOOK_MS)
                break
            except IosCommandError as error:
                if not any(word in f"{error.details.get('error')} {error.message}" for word in _TOO_DEEP):
                    raise
                if self._depth_at + 1 == len(DEPTHS):
                    raise TreeParseError(
                        f"XCTest could not read this screen: {error.message}",
                        hint="Take a screenshot; some apps can't be read by accessibility at all.",
                        offset=0,
                    ) from None
                self._depth_at += 1
        try:
            text = tree if isinstance(tree, str) else json.dumps(tree, ensure_ascii=False) if tree else ""
        except RecursionError:
            text = ""
        if not text:
            raise TreeParseError("WebDriverAgent returned no readable tree", offset=0)
        return text

    async def _configure_depth(self) -> None:
        """Once in each session, and again when a screen was too deep."""
        wanted = (self._wda.session, DEPTHS[self._depth_at])
        if wanted[0] and self._configured != wanted:
            self._configured = wanted
            await self._wda.configure({"snapshotMaxDepth": wanted[1]})

    def _screen(self, tree: str, package: str) -> Screen:
        screen = parse(tree, scale=self._scale, package=package)
        if _depth(screen.root) >= DEPTHS[self._depth_at]:
            screen.warnings.append(f"elements deeper than {DEPTHS[self._depth_at]} levels were not read")
            screen.is_cut = True
        if self._wda.is_taken:
            screen.warnings.append(
                "another program has the session of WebDriverAgent: system alerts may be missing"
            )
        if not (len(screen.windows) > 1 and screen.package.startswith("com.apple.springboard")):
            self.app = screen.package
        for warning in screen.warnings:
            if warning not in self._wda.lines:
                self._wda.lines.append(f"look: {warning}")
        return screen

    async def _focus(self, screen: Screen) -> Bounds | None:
        """The place of the field that has the focus: trees do not tell it. None where that is unknown."""
        fields = [node for node in screen.nodes if node.role == "text_field"]
        if not fields or not has_keyboard(screen):
            return None
        if len(fields) == 1:
            return fields[0].bounds
        try:
            element = element_of(await self._wda.read("/element/active"))
            rect = await self._wda.read(f"/element/{element}/rect")
            box = [float(rect[side]) * self._scale for side in ("x", "y", "width", "height")]
        except (DeviceError, Unsupported, KeyError, TypeError, ValueError):
            return None
        x, y, width, height = box
        near = [field for field in fields if _is_at(field.bounds, x + width / 2, y + height / 2)]
        return min(near, key=lambda field: field.bounds.area).bounds if near else None

    async def focused_field(self) -> FocusedField | None:
        """Returns None where nothing has the focus."""
        try:
            element = element_of(await self._wda.read("/element/active"))
            kind, value, placeholder = [
                await self._wda.read(f"/element/{element}/attribute/{name}")
                for name in ("type", "value", "placeholderValue")
            ]
        except KeyError:
            return None
        except IosCommandError as error:
            if error.details.get("error") in ("no such element", "stale element reference"):
                return None
            raise
        return FocusedField(element, str(value or ""), str(placeholder or ""), "Secure" in str(kind))

    async def scale(self) -> float:
        """Pixels for a point."""
        if not self._scale:
            answer = await self._wda.get("/wda/screen")
            scale = answer.get("scale") if isinstance(answer, dict) else None
            self._scale = float(scale) if isinstance(scale, int | float) and 0 < scale < 10 else 1.0
        return self._scale

    async def points(self) -> tuple[float, float]:
        """Width and height as the screen is turned now."""
        size = await self._wda.get("/window/size")
        try:
            width, height = float(size["width"]), float(size["height"])
        except (KeyError, TypeError, ValueError, OverflowError):
            width = height = 0.0
        if not (0 < width < _MOST_POINTS and 0 < height < _MOST_POINTS):
            raise IosCommandError("WebDriverAgent did not report the screen's size", command="/window/size")
        return width, height

    async def display(self) -> Display:
        scale = await self.scale()
        width, height = await self.points()
        rotation = _ROTATIONS.get(str(await self._wda.get("/orientation")), 0)
        return Display(round(width * scale), round(height * scale), round(DENSITY * scale), rotation)

    async def foreground(self) -> Foreground:
        answer = await self._wda.get("/wda/activeAppInfo")
        bundle = answer.get("bundleId") if isinstance(answer, dict) else None
        return Foreground(str(bundle or ""), "")

    async def screenshot(self) -> bytes:
        data = await self._picture()
        if data.startswith(_PNG):
            return data
        if data[4:8] == b"ftyp":  # HEIC, which not every machine can open
            await self._wda.configure({"screenshotQuality": 1})
            data = await self._picture()
        written = io.BytesIO()
        opened(data).save(written, "PNG", compress_level=1)
        return written.getvalue()

    async def _picture(self) -> bytes:
        text = await self._wda.get("/screenshot", timeout_ms=READ_MS * 2)
        try:
            return base64.b64decode(str(text), validate=False)
        except (binascii.Error, ValueError) as error:
            raise PictureUnreadable(f"WebDriverAgent's picture is not base64: {error}") from None

    async def is_locked(self) -> bool | None:
        """Returns None where the phone does not tell."""
        try:
            answer = await self._wda.get("/wda/locked")
        except HandrailError:
            return None
        return answer if isinstance(answer, bool) else None


def element_of(reference: Any) -> str:
    """The id in a reference to an element, for an address. Raises `KeyError` for anything else."""
    if isinstance(reference, dict):
        for key in ELEMENT_KEYS:
            if isinstance(reference.get(key), str) and reference[key]:
                return quote(reference[key], safe="")
    raise KeyError("no element")


def _is_at(box: Bounds, x: float, y: float) -> bool:
    return box.left <= x < box.right and box.top <= y < box.bottom


def _depth(root: Node) -> int:
    deepest, stack = 0, [(root, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        stack += [(child, depth + 1) for child in node.children]
    return deepest
