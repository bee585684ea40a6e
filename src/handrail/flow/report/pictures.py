"""The pictures of a report: each once, small enough that the page opens quickly, marks not burnt in.

A picture is an SVG image that steps refer to, with the touched element marked over it. What is embedded was
written by Pillow, whatever came in.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail.errors import PictureUnreadable
from handrail.flow.filming import touch_of_step
from handrail.flow.report.markup import Html, tag
from handrail.flow.report.summary import walk
from handrail.flow.run_record import FlowRecord, Picture, StepRecord
from handrail.surface.picture import opened
from handrail.tree.node import Bounds, ScreenPoint

if TYPE_CHECKING:
    from PIL.Image import Image

BUDGET_BYTES = 10_000_000
"""Of all pictures in the page's own spelling; a browser opens a page of this size at once."""
_SAMPLE = 12
"""Pictures tried before all are written: sizes differ little within a run."""
_TALLEST = 8_000
"""Pixels; WebP ends at 16 383."""
_BROKEN = "the picture can't be read"
_LEFT_OUT = "left out: the report would be too large"


@dataclass(frozen=True, slots=True)
class Grade:
    """How good pictures are."""

    width: int
    quality: int


GRADES = (Grade(540, 80), Grade(540, 60), Grade(400, 60), Grade(300, 50), Grade(200, 40))
"""Best first."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture as a step shows it: `anchor` names the image, the size is the screen's."""

    anchor: str
    width: int
    height: int


class ReportAlbum:
    """All pictures of some flows."""

    def __init__(self, records: Iterable[FlowRecord], budget_bytes: int = BUDGET_BYTES) -> None:
        raw = {_key(png): png for png in _given(records)}
        self._uris, self._why_not = _fit(raw, budget_bytes)
        self._anchors = {key: f"p{index}" for index, key in enumerate(self._uris)}

    def place(self, picture: Picture) -> PlacedPicture | str:
        """Where the picture is, or why there is none."""
        if picture.png is None:
            return picture.why_not or "no picture was taken"
        key = _key(picture.png)
        if key not in self._anchors:
            return self._why_not[key]
        return PlacedPicture(self._anchors[key], *_size(picture))

    def definitions(self) -> Html:
        """The images themselves, for the end of the page. They fill whatever box a step gives them."""
        images = (
            tag(
                "symbol",
                tag("image", href=uri, width="100%", height="100%", preserveAspectRatio="none"),
                id=self._anchors[key],
            )
            for key, uri in self._uris.items()
        )
        return tag("svg", list(images), class_="album", aria_hidden="true")


def _given(records: Iterable[FlowRecord]) -> Iterator[bytes]:
    for record in records:
        for step in walk(record.steps):
            for picture in (step.before, step.after):
                if picture is not None and picture.png is not None:
                    yield picture.png


def _size(picture: Picture) -> tuple[int, int]:
    """Of the screen; a picture that does not say is taken for as large as it is."""
    image = None if picture.width > 0 < picture.height else _opened(picture.png or b"")
    return (picture.width, picture.height) if image is None else image.size


def _key(png: bytes) -> str:
    return hashlib.sha256(png).hexdigest()


def _fit(raw: Mapping[str, bytes], budget_bytes: int) -> tuple[dict[str, str], dict[str, str]]:
    """Every picture at the best grade for which all of them fit, and why some are missing."""
    written: dict[str, str | None] = {}
    for grade in GRADES[_guess(list(raw.values()), budget_bytes) :]:
        written = _written(raw, grade)
        if sum(len(uri or "") for uri in written.values()) <= budget_bytes:
            break
    uris: dict[str, str] = {}
    why_not: dict[str, str] = {}
    room = budget_bytes
    for key, uri in written.items():
        if uri is None or len(uri) > room:
            why_not[key] = _BROKEN if uri is None else _LEFT_OUT
        else:
            uris[key] = uri
            room -= len(uri)
    return uris, why_not


def _guess(pictures: list[bytes], budget_bytes: int) -> int:
    """The first grade that a few pictures say is small enough."""
    if len(pictures) <= _SAMPLE:
        return 0
    few = pictures[:: len(pictures) // _SAMPLE]
    for index, grade in enumerate(GRADES):
        size = sum(len(_uri(png, grade) or "") for png in few)
        if size * len(pictures) <= budget_bytes * len(few):
            return index
    return len(GRADES) - 1


def _written(raw: Mapping[str, bytes], grade: Grade) -> dict[str, str | None]:
    """In threads: Pillow lets go of the interpreter while it works."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(raw, pool.map(lambda png: _uri(png, grade), raw.values()), strict=True))


def _uri(png: bytes, grade: Grade) -> str | None:
    """None for bytes that are no picture."""
    image = _opened(png)
    if image is None:
        return None
    image.thumbnail((grade.width, _TALLEST), reducing_gap=2.0)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=grade.quality, method=2)
    return "data:image/webp;base64," + base64.b64encode(out.getvalue()).decode("ascii")


def _opened(png: bytes) -> Image | None:
    try:
        with opened(png) as picture:
            return picture.convert("RGB")
    except PictureUnreadable:
        return None


_ROUND = 12
"""Device pixels; about what buttons have."""
_POINT = 48
"""Radius of the ring around a touched point, in device pixels."""
_START, _HEAD = 30, 60
"""Of an arrow: the ring where a finger came down, and its head."""


def shots(step: StepRecord, album: ReportAlbum) -> Html | None:
    """None for a step that shows nothing."""
    figures = [*_one(step, step.before, "Before", album), *_one(step, step.after, "After", album)]
    return tag("div", figures, class_="shots") if figures else None


def _one(step: StepRecord, picture: Picture | None, title: str, album: ReportAlbum) -> Iterator[Html]:
    if picture is None:
        return
    placed = album.place(picture)
    if isinstance(placed, str):
        shown = tag("p", f"No picture: {placed}.", class_="missing")
    else:
        marks = list(marks_of(step, placed)) if title == "Before" else []
        words = f"Screen {title.lower()} the step{', touched element marked' if marks else ''}"
        drawn = picture_svg(placed, marks, words)
        shown = tag("button", drawn, type="button", class_="zoom", title="Enlarge")
    yield tag("figure", tag("figcaption", title), shown)


def picture_svg(placed: PlacedPicture, marks: list[Html], words: str) -> Html:
    """A picture of the album with marks over it."""
    box = f"0 0 {placed.width} {placed.height}"
    picture = tag("use", href=f"#{placed.anchor}", width=placed.width, height=placed.height)
    return tag("svg", picture, marks, viewBox=box, role="img", aria_label=words)


def marks_of(step: StepRecord, placed: PlacedPicture) -> Iterator[Html]:
    """Where it was touched. Each twice: a light line under a coloured one is seen on every picture."""
    touch = touch_of_step(step)
    box = _on_screen(touch.box, placed)
    for name in ("casing", "touched"):
        if box is not None:
            at: dict[str, int] = {"x": box.left, "y": box.top, "width": box.width, "height": box.height}
            yield tag("rect", class_=name, rx=_ROUND, **at)
        for stroke in touch.strokes:
            if len(stroke) > 1:
                yield from _arrow(stroke, name)
            elif box is None:
                yield tag("circle", class_=name, cx=stroke[0].x, cy=stroke[0].y, r=_POINT)


def _arrow(stroke: Sequence[ScreenPoint], name: str) -> Iterator[Html]:
    """From where the finger comes down to where it lifts."""
    tip = stroke[-1]
    back = next((one for one in reversed(stroke) if one != tip), tip)
    length = math.hypot(tip.x - back.x, tip.y - back.y) or 1.0
    along, across = (tip.x - back.x) / length, (tip.y - back.y) / length
    wings = [
        (tip.x - _HEAD * (along - way * across), tip.y - _HEAD * (across + way * along))
        for way in (0.7, -0.7)
    ]
    yield tag("circle", class_=name, cx=stroke[0].x, cy=stroke[0].y, r=_START)
    yield tag("polyline", class_=f"{name} way", points=_points(stroke))
    yield tag("polyline", class_=f"{name} way", points=_points([wings[0], tip, wings[1]]))


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in points)


def _on_screen(bounds: Bounds | None, placed: PlacedPicture) -> Bounds | None:
    if bounds is None:
        return None
    seen = bounds.intersect(Bounds(0, 0, placed.width, placed.height))
    return seen if seen.area else None
