"""What is drawn on a picture besides texts: the boxes that texts stand in, and ink that no text explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from handrail.screen.node import Bounds
from handrail_vision.recognise import Line, Picture

FILL_STEP = 2
"""Levels by which neighbouring pixels of one surface may differ: a gradient is a surface, an edge is none."""
LARGEST_BOX = 0.25
"""Share of the picture; a larger surface is a card or the background."""
MOST_LINES = 3
"""Lines in one box; a box with more is a dialog or a card."""
STRAIGHT = 0.6
"""Share of its bounds that a surface fills with its texts, if it is a box."""
ROUNDED = 0.15
"""Share of a box's smaller side that its edge and round corners reach into it."""
INK = 6
"""Levels between neighbouring pixels that a person can see as a line."""
SMALLEST_INK = 6
"""Pixels; what is smaller in both directions is noise."""
LINE_LIKE = 3
"""Pixels; what is thinner is a divider or the edge of a box."""
WORD_LIKE = 2.5
"""Width to height of ink in a box that may be a word; an icon is nearly square."""
MOST_SHAPES = 40
"""More are one: a map or a photo."""


@dataclass(frozen=True, slots=True)
class Box:
    """A surface that carries texts, as a button does."""

    bounds: Bounds
    lines: tuple[Line, ...]


def boxes_of(picture: Picture, lines: Sequence[Line]) -> tuple[list[Box], list[Line]]:
    """The boxes with their lines, and the lines that stand in none."""
    height, width = picture.shape[:2]
    mask = np.zeros((height + 2, width + 2), np.uint8)
    surfaces: list[tuple[Bounds, int, list[Line]]] = []
    labels = np.zeros((height, width), np.int32)
    for line in lines:
        seed = _seed(picture, line.bounds)
        label = int(labels[seed[1], seed[0]])
        if not label:
            mask[:] = 0
            step = (FILL_STEP,) * 3
            flags = 4 | (255 << 8) | cv2.FLOODFILL_MASK_ONLY
            _, _, _, (left, top, across, down) = cv2.floodFill(
                picture, mask, seed, (0, 0, 0), step, step, flags
            )
            filled = mask[1:-1, 1:-1] == 255
            surfaces.append((Bounds(left, top, left + across, top + down), int(filled.sum()), []))
            label = len(surfaces)
            labels[filled] = label
        surfaces[label - 1][2].append(line)
    boxes: list[Box] = []
    free: list[Line] = []
    for bounds, filled_px, inside in surfaces:
        texts = sum(line.bounds.area for line in inside)
        is_box = (
            len(inside) <= MOST_LINES
            and bounds.area <= LARGEST_BOX * width * height
            and filled_px + texts >= STRAIGHT * bounds.area
            and all(bounds.intersect(line.bounds).area >= 0.7 * line.bounds.area for line in inside)
            and max(line.bounds.width for line in inside) * 1.02 < bounds.width
        )
        if is_box:
            boxes.append(Box(bounds, tuple(inside)))
        else:
            free += inside
    return boxes, free


def _seed(picture: Picture, box: Bounds) -> tuple[int, int]:
    """A pixel of what the text stands on: of those along its edge, the most usual one."""
    height, width = picture.shape[:2]
    left, right = max(0, box.left), min(width, box.right) - 1
    top, bottom = max(0, box.top), min(height, box.bottom) - 1
    points = [(x, y) for x in range(left, right + 1, 2) for y in (top, bottom)]
    points += [(x, y) for y in range(top, bottom + 1, 2) for x in (left, right)]
    colours = np.array([picture[y, x] for x, y in points], np.int16)
    away = np.abs(colours - np.median(colours, axis=0)).sum(axis=1)
    return points[int(away.argmin())]


def unread_ink(picture: Picture, lines: Sequence[Line], boxes: Sequence[Box]) -> list[Bounds]:
    """Bounds of what is drawn and is no line of text, no edge of a box and no divider."""
    kernel = np.ones((3, 3), np.uint8)
    ink = (cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, kernel).max(axis=2) > INK).astype(np.uint8)
    for line in lines:
        pad = max(3, line.bounds.height // 5)
        ink[
            max(0, line.bounds.top - pad) : line.bounds.bottom + pad,
            max(0, line.bounds.left - pad) : line.bounds.right + pad,
        ] = 0
    for box in boxes:
        left, top, right, bottom = box.bounds
        edge = max(6, round(ROUNDED * min(box.bounds.width, box.bounds.height)))
        inner = ink[top + edge : bottom - edge, left + edge : right - edge].copy()
        ink[max(0, top - 6) : bottom + 6, max(0, left - 6) : right + 6] = 0
        ink[top + edge : bottom - edge, left + edge : right - edge] = inner
    joined = cv2.dilate(ink, np.ones((5, 15), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    shapes = []
    for left, top, across, down, _ in stats[1:count]:
        part = ink[top : top + down, left : left + across]
        rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        bounds = Bounds(
            int(left + columns[0]), int(top + rows[0]), int(left + columns[-1] + 1), int(top + rows[-1] + 1)
        )
        if max(bounds.width, bounds.height) >= SMALLEST_INK and min(bounds.width, bounds.height) > LINE_LIKE:
            shapes.append(bounds)
    if len(shapes) <= MOST_SHAPES:
        return shapes
    sides = list(zip(*shapes, strict=True))
    return [Bounds(min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))]
