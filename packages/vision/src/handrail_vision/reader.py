"""One surface's pictures as drawn parts. Only what changed since the last picture is read again."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from handrail.screen.node import Bounds, DrawnPart
from handrail.screen.text import is_clock_like
from handrail.surface.picture import opened
from handrail_vision.codes import codes_in
from handrail_vision.recognise import Line, Picture, Recogniser
from handrail_vision.shapes import WORD_LIKE, boxes_of, unread_ink

BELIEVED = 0.6
"""A line below this confidence is told and not believed: a press on it asks."""
FLAT = 4
"""Levels by which the pixels of a box may differ if nothing is drawn in it."""
SEEN = 24
"""Levels by which a pixel differs so that a person sees it."""
LETTER_PX = (12, 160)
"""Height of ink that may be a single character, and how many it may be at most beside each other."""
LETTERS_WIDE = 3
TILE = 32
MOST_CHANGED = 0.5
"""Share of a box from which it is read anew as a whole."""
MARGIN = 16
"""Pixels around a change that are read with it."""
SMALL_CHANGE = 0.002
"""Share of a box that a cursor or the digits of a clock do not reach."""
LOOKS_ELSE = 0.12
"""Share of an element's own pixels that changed, if it looks different."""


@dataclass(slots=True)
class _Memory:
    """What was read in one box of the display, and from which pixels."""

    pixels: Picture
    lines: list[Line]
    codes: list[tuple[Bounds, str]]
    parts: list[DrawnPart]


@cache
def recogniser() -> Recogniser:
    """One for all surfaces of a process: its models take most of the memory."""
    return Recogniser()


class Reader:
    """Implements the core's `PictureReader`."""

    def __init__(self) -> None:
        self._memory: dict[Bounds, _Memory] = {}
        self._looks = 0
        self._decoded: dict[bytes, Picture] = {}
        self.lines_read = 0
        """Pixels that a recogniser got, for tests and measurements."""

    def is_same(self, png: bytes, other: bytes) -> bool:
        first, second = self._decode(png), self._decode(other)
        if first.shape != second.shape:
            return False
        changed = _changed(first, second)
        return float(changed.mean()) < SMALL_CHANGE

    def read(self, png: bytes, boxes: Sequence[Bounds], width: int, height: int) -> list[list[DrawnPart]]:
        picture = self._decode(png)
        across, down = picture.shape[1] / max(1, width), picture.shape[0] / max(1, height)
        answer = []
        for box in boxes:
            part = _scaled(box, across, down).intersect(Bounds(0, 0, picture.shape[1], picture.shape[0]))
            parts = self._read_box(picture, part) if part.area else []
            answer.append([_placed(drawn, part, across, down) for drawn in parts])
        for old in [key for key in self._memory if key not in {_scaled(box, across, down) for box in boxes}]:
            del self._memory[old]
        return answer

    def _decode(self, png: bytes) -> Picture:
        key = hashlib.blake2b(png, digest_size=16).digest()
        if key not in self._decoded:
            if len(self._decoded) > 1:
                del self._decoded[next(iter(self._decoded))]
            with opened(png) as image:
                self._decoded[key] = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])
        return self._decoded[key]

    def _read_box(self, picture: Picture, box: Bounds) -> list[DrawnPart]:
        pixels = np.ascontiguousarray(picture[box.top : box.bottom, box.left : box.right])
        before = self._memory.get(box)
        if before is not None and np.array_equal(before.pixels, pixels):
            return before.parts
        lines, codes = self._lines_and_codes(pixels, before)
        parts = self._parts(pixels, lines, codes, before)
        self._memory[box] = _Memory(pixels, lines, codes, parts)
        return parts

    def _lines_and_codes(
        self, pixels: Picture, before: _Memory | None
    ) -> tuple[list[Line], list[tuple[Bounds, str]]]:
        height, width = pixels.shape[:2]
        spans = np.ptp(pixels.reshape(-1, 3), axis=0)
        if int(spans.max()) <= FLAT:
            return [], []
        everything = Bounds(0, 0, width, height)
        if before is None:
            return self._recognise(pixels, everything), codes_in(pixels)
        area = _changed_area(before.pixels, pixels, before.lines)
        if area.area > MOST_CHANGED * everything.area:
            return self._recognise(pixels, everything), codes_in(pixels)
        kept = [line for line in before.lines if not area.intersect(line.bounds).area]
        is_code = any(area.intersect(bounds).area for bounds, _ in before.codes)
        codes = codes_in(pixels) if is_code or not before.codes else before.codes
        return kept + self._recognise(pixels, area), codes

    def _recognise(self, pixels: Picture, area: Bounds) -> list[Line]:
        if area.area == 0:
            return []
        part = np.ascontiguousarray(pixels[area.top : area.bottom, area.left : area.right])
        self.lines_read += area.area
        lines = recogniser().lines(part)
        ink = unread_ink(part, lines, boxes_of(part, lines)[0])
        lines += recogniser().read_single(part, [_padded(box, part) for box in ink if _is_letter_like(box)])
        return [replace(line, bounds=_moved(line.bounds, area.left, area.top)) for line in lines]

    def _parts(
        self, pixels: Picture, lines: list[Line], codes: list[tuple[Bounds, str]], before: _Memory | None
    ) -> list[DrawnPart]:
        lines = [line for line in lines if not any(_mostly_in(line.bounds, bounds) for bounds, _ in codes)]
        unread = [line for line in lines if not _is_believed(line)]
        lines = [line for line in lines if _is_believed(line)]
        boxes, free = boxes_of(pixels, lines)
        explained = [*lines, *(Line(bounds, text, 1.0, "code") for bounds, text in codes)]
        ink = unread_ink(pixels, explained, boxes)
        # What the detector took for a line is one, if there is ink that nothing else explains.
        unread = [line for line in unread if any(line.bounds.intersect(shape).area for shape in ink)]
        ink = [shape for shape in ink if not any(_mostly_in(shape, line.bounds) for line in unread)]
        ink += [line.bounds for line in unread]
        parts = []
        for shape in ink:
            if not any(_mostly_in(shape, box.bounds) for box in boxes):
                guess = next((line.text for line in unread if line.bounds == shape), "")
                parts.append(DrawnPart("shape", shape, guess))
        for box in boxes:
            texts = tuple(map(_text_part, sorted(box.lines, key=lambda line: line.bounds.top)))
            is_unread = any(
                _mostly_in(shape, box.bounds) and shape.width > WORD_LIKE * shape.height for shape in ink
            )
            single = texts[0] if len(texts) == 1 else None
            drawn = DrawnPart(
                "shape" if is_unread else "button",
                box.bounds,
                single.text if single else "",
                min(part.confidence for part in texts),
                inside=() if single else texts,
            )
            parts.append(drawn)
        parts += map(_text_part, free)
        parts += [DrawnPart("code", bounds, text, 1.0) for bounds, text in codes]
        shapes = [part for part in parts if part.kind == "shape" and not part.text]
        rest = sorted(
            (part for part in parts if part not in shapes),
            key=lambda part: (part.bounds.top, part.bounds.left),
        )
        return [self._marked(part, pixels, before) for part in (*shapes, *rest)]

    def _marked(self, part: DrawnPart, pixels: Picture, before: _Memory | None) -> DrawnPart:
        left, top, right, bottom = part.bounds
        own = np.ascontiguousarray(pixels[top:bottom, left:right])
        digest = "" if is_clock_like(part.text) else hashlib.blake2b(own.tobytes(), digest_size=8).hexdigest()
        look = "" if is_clock_like(part.text) else self._look(part, own, before)
        inside = tuple(self._marked(inner, pixels, before) for inner in part.inside)
        return replace(part, pixels=digest, look=look, inside=inside)

    def _look(self, part: DrawnPart, own: Picture, before: _Memory | None) -> str:
        """The word that this element had in the last picture, unless it looks different by now."""
        left, top, right, bottom = part.bounds
        if before is not None and before.pixels.shape[0] >= bottom and before.pixels.shape[1] >= right:
            for old in before.parts:
                if old.bounds == part.bounds:
                    was = before.pixels[top:bottom, left:right]
                    if float(_changed(was, own).mean()) < LOOKS_ELSE:
                        return old.look
        self._looks += 1
        return hashlib.blake2b(own.tobytes(), digest_size=4, salt=b"look").hexdigest()


def _is_letter_like(box: Bounds) -> bool:
    return LETTER_PX[0] <= box.height <= LETTER_PX[1] and box.width <= LETTERS_WIDE * box.height


def _padded(box: Bounds, picture: Picture) -> Bounds:
    pad = max(4, box.height // 5)
    grown = Bounds(box.left - pad, box.top - pad, box.right + pad, box.bottom + pad)
    return grown.intersect(Bounds(0, 0, picture.shape[1], picture.shape[0]))


def _is_believed(line: Line) -> bool:
    return bool(line.text) and line.confidence >= BELIEVED


def _text_part(line: Line) -> DrawnPart:
    return DrawnPart("text", line.bounds, line.text, round(line.confidence, 2))


def _changed(first: Picture, second: Picture) -> NDArray[np.bool_]:
    return np.asarray(cv2.absdiff(first, second).max(axis=2) > SEEN)


def _changed_area(before: Picture, now: Picture, lines: Sequence[Line]) -> Bounds:
    """One box around all changed tiles, and around each line that it cuts."""
    rows, columns = np.nonzero(cv2.absdiff(before, now).max(axis=2))
    if not len(rows):
        return Bounds(0, 0, 0, 0)
    height, width = now.shape[:2]
    area = Bounds(
        max(0, (int(columns.min()) // TILE) * TILE - MARGIN),
        max(0, (int(rows.min()) // TILE) * TILE - MARGIN),
        min(width, (int(columns.max()) // TILE + 1) * TILE + MARGIN),
        min(height, (int(rows.max()) // TILE + 1) * TILE + MARGIN),
    )
    while True:
        cut = [
            line.bounds for line in lines if area.intersect(line.bounds).area and not area.covers(line.bounds)
        ]
        if not cut:
            return area
        for box in cut:
            area = Bounds(
                min(area.left, box.left),
                min(area.top, box.top),
                max(area.right, box.right),
                max(area.bottom, box.bottom),
            )


def _mostly_in(box: Bounds, other: Bounds) -> bool:
    return box.intersect(other).area * 2 > box.area


def _moved(box: Bounds, x: int, y: int) -> Bounds:
    return Bounds(box.left + x, box.top + y, box.right + x, box.bottom + y)


def _scaled(box: Bounds, across: float, down: float) -> Bounds:
    left, top, right, bottom = box
    return Bounds(round(left * across), round(top * down), round(right * across), round(bottom * down))


def _placed(part: DrawnPart, box: Bounds, across: float, down: float) -> DrawnPart:
    """In the display's coordinates."""
    bounds = _scaled(_moved(part.bounds, box.left, box.top), 1 / across, 1 / down)
    return replace(
        part, bounds=bounds, inside=tuple(_placed(inner, box, across, down) for inner in part.inside)
    )


def png_of(picture: Picture) -> bytes:
    """For files and tests."""
    from PIL import Image  # noqa: PLC0415

    written = io.BytesIO()
    Image.fromarray(picture[:, :, ::-1]).save(written, "PNG", compress_level=1)
    return written.getvalue()
