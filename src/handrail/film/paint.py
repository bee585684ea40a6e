"""A frame of a film as a picture: the screen, where it is touched, and a caption below it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from handrail.errors import PictureUnreadable
from handrail.film.letters import fitted, font_for
from handrail.film.scene import FilmFrame, FilmScene, FilmTone, FilmTouch, Picture
from handrail.surface.picture import opened, size_of
from handrail.tree.node import Bounds

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

NARROW, WIDE = 540, 960
"""Pixels across the screen's part, upright and lying: as wide as the pictures of a report."""
TALLEST = 1_280
CAPTION = 168
_GROUND, _CARD, _LINE = (15, 18, 22), (32, 36, 42), (44, 51, 59)
_INK, _SOFT = (236, 240, 244), (160, 170, 181)
_TONES: dict[FilmTone, tuple[int, int, int]] = {
    "good": (76, 194, 106),
    "plain": (160, 170, 181),
    "bad": (255, 123, 121),
}
_MARK = (224, 33, 138)
_WHITE = (255, 255, 255, 255)
_MARGIN = 20
_KEPT = 8
"""Pictures that stay decoded: one is shown by several frames."""

Colour = tuple[int, int, int]


class FilmPainter:
    """All frames of one film, in one size."""

    def __init__(self, scenes: Sequence[FilmScene]) -> None:
        self._scenes = scenes
        self._end_ms = max((one.started_ms + one.duration_ms for one in scenes), default=0.0)
        self.screen = _screen_size(scenes)
        self.size = (self.screen[0], self.screen[1] + CAPTION)
        self._decoded = lru_cache(_KEPT)(self._decode)

    def paint(self, frame: FilmFrame) -> Image:
        from PIL import Image as Images  # noqa: PLC0415  (30 ms that nobody else need pay)

        canvas = Images.new("RGB", self.size, _GROUND)
        shown, box = self._shown(frame.picture)
        canvas.paste(shown, box[:2])
        if frame.touch and frame.picture is not None and frame.picture.png is not None:
            _draw_touch(canvas, frame.touch, box, _device_size(frame.picture, shown))
        self._caption(canvas, frame)
        return canvas

    # the screen

    def _shown(self, picture: Picture | None) -> tuple[Image, Bounds]:
        """The picture as large as the film shows it, and where."""
        image = self._decoded(picture) if picture is not None and picture.png is not None else None
        if image is None:
            why = picture.why_not if picture is not None else ""
            return _card(self.screen, why or "No picture was taken"), Bounds(0, 0, *self.screen)
        left, top = (self.screen[0] - image.width) // 2, (self.screen[1] - image.height) // 2
        return image, Bounds(left, top, left + image.width, top + image.height)

    def _decode(self, picture: Picture) -> Image | None:
        from PIL import Image as Images  # noqa: PLC0415

        try:
            with opened(picture.png or b"") as read:
                image = read.convert("RGB")
        except PictureUnreadable:
            return None
        scale = min(self.screen[0] / image.width, self.screen[1] / image.height)
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        return image if size == image.size else image.resize(size, Images.Resampling.LANCZOS)

    # the caption

    def _caption(self, canvas: Image, frame: FilmFrame) -> None:
        from PIL import ImageDraw as Draws  # noqa: PLC0415

        draw, scene = Draws.Draw(canvas), self._scenes[frame.scene]
        top, width = self.screen[1], self.size[0]
        done = (frame.scene + (1.0 if frame.is_over else 0.5)) / len(self._scenes)
        tone = _TONES[scene.tone if frame.is_over else "plain"]
        draw.rectangle((0, top, width, top + 3), fill=_LINE)
        draw.rectangle((0, top, round(width * done), top + 3), fill=tone)
        number = font_for(scene.number, 22, bold=True)
        draw.text((_MARGIN, top + 18), scene.number, font=number, fill=_SOFT)
        left = _MARGIN + max(28, round(number.getlength(scene.number)) + 12)
        title = font_for(scene.title, 22, bold=True)
        [line, *_] = fitted(scene.title, title, width - left - _MARGIN, 1) or [""]
        draw.text((left, top + 18), line, font=title, fill=_INK)
        reason = font_for(scene.reason, 18)
        for at, words in enumerate(fitted(scene.reason, reason, width - left - _MARGIN, 2)):
            draw.text((left, top + 53 + 25 * at), words, font=reason, fill=_SOFT)
        self._state(draw, frame, scene, left)

    def _state(self, draw: ImageDraw, frame: FilmFrame, scene: FilmScene, left: int) -> None:
        """How it went, and when it really was."""
        base = self.size[1] - 40
        at_ms = scene.started_ms + (scene.duration_ms if frame.is_over else 0.0)
        moment = f"{_clock(at_ms)} / {_clock(self._end_ms)}"
        small = font_for(moment, 17)
        clock_left = self.size[0] - _MARGIN - small.getlength(moment)
        draw.text((clock_left, base), moment, font=small, fill=_SOFT)
        words = scene.verdict if frame.is_over else "…"
        font = font_for(words, 18, bold=True)
        colour = _TONES[scene.tone if frame.is_over else "plain"]
        draw.ellipse((left, base + 5, left + 12, base + 17), fill=colour)
        [line, *_] = fitted(words, font, clock_left - left - 36, 1) or [""]
        draw.text((left + 20, base - 1), line, font=font, fill=colour)


def _clock(ms: float) -> str:
    """ "0:06.2"."""
    tenths = round(ms / 100)
    return f"{tenths // 600}:{tenths % 600 / 10:04.1f}"


def _screen_size(scenes: Sequence[FilmScene]) -> tuple[int, int]:
    """Of the first picture that can be read; others get a margin. Sides are even in H.264."""
    width, height = 9, 20
    for picture in (one for scene in scenes for one in (scene.before, scene.after)):
        if picture is not None and picture.png is not None:
            try:
                width, height = size_of(picture.png)
            except PictureUnreadable:
                continue
            break
    scale = min((NARROW if height >= width else WIDE) / width, TALLEST / height)
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)


def _device_size(picture: Picture, shown: Image) -> tuple[int, int]:
    return (picture.width, picture.height) if picture.width > 0 < picture.height else shown.size


def _card(size: tuple[int, int], words: str) -> Image:
    """In the place of a picture that may not be shown."""
    from PIL import Image as Images  # noqa: PLC0415
    from PIL import ImageDraw as Draws  # noqa: PLC0415

    card = Images.new("RGB", size, _CARD)
    draw, font = Draws.Draw(card), font_for(words, 20)
    for at, line in enumerate(fitted(words, font, size[0] - 4 * _MARGIN, 6)):
        left = (size[0] - font.getlength(line)) / 2
        draw.text((left, size[1] / 2 - 60 + 30 * at), line, font=font, fill=_SOFT)
    return card


_FINER = 3
"""Marks are drawn so much larger and shrunk: lines of Pillow have steps otherwise."""
_FINGER = 17
"""Radius of a finger's ring, in pixels of the film."""
_ROOM = 32
"""Around a mark: a ring, a line's width."""


def _draw_touch(canvas: Image, touch: FilmTouch, place: Bounds, device: tuple[int, int]) -> None:
    from PIL import Image as Images  # noqa: PLC0415
    from PIL import ImageDraw as Draws  # noqa: PLC0415

    across, down = place.width / device[0], place.height / device[1]
    box = _scaled(touch.box, across, down) if touch.box is not None else None
    strokes = [[(x * across, y * down) for x, y in one] for one in touch.strokes]
    if box is not None and not strokes:
        strokes = [[((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)]]
    left, top, right, bottom = _around(box, strokes, place)
    sheet = Images.new("RGBA", ((right - left) * _FINER, (bottom - top) * _FINER), (*_MARK, 0))
    draw = Draws.Draw(sheet)
    if box is not None:
        moved = (box[0] - left, box[1] - top, box[2] - left, box[3] - top)
        _draw_box(draw, [edge * _FINER for edge in moved])
    for stroke in strokes:
        _draw_stroke(draw, [((x - left) * _FINER, (y - top) * _FINER) for x, y in stroke])
    mark = sheet.resize((right - left, bottom - top), Images.Resampling.BOX)
    canvas.paste(mark, (place.left + left, place.top + top), mark)


def _around(
    box: Sequence[float] | None, strokes: Sequence[Sequence[tuple[float, float]]], place: Bounds
) -> tuple[int, int, int, int]:
    """What the marks need, inside the picture."""
    points = [point for stroke in strokes for point in stroke]
    points += [(box[0], box[1]), (box[2], box[3])] if box is not None else []
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = max(0, int(min(xs)) - _ROOM), max(0, int(min(ys)) - _ROOM)
    right, bottom = min(place.width, int(max(xs)) + _ROOM), min(place.height, int(max(ys)) + _ROOM)
    return left, top, max(left + 1, right), max(top + 1, bottom)


def _scaled(box: Bounds, across: float, down: float) -> tuple[float, float, float, float]:
    return box.left * across, box.top * down, box.right * across, box.bottom * down


def _draw_box(draw: ImageDraw, box: Sequence[float]) -> None:
    """A light line under a coloured one is seen on every picture."""
    left, top, right, bottom = box
    if right - left < 2 * _FINER or bottom - top < 2 * _FINER:
        return
    draw.rounded_rectangle((left, top, right, bottom), 8 * _FINER, outline=_WHITE, width=5 * _FINER)
    inner = (left + _FINER, top + _FINER, right - _FINER, bottom - _FINER)
    draw.rounded_rectangle(inner, 7 * _FINER, fill=(*_MARK, 30), outline=(*_MARK, 255), width=3 * _FINER)


def _draw_stroke(draw: ImageDraw, points: Sequence[tuple[float, float]]) -> None:
    """A ring where the finger comes down, and an arrow to where it lifts."""
    x, y = points[0]
    for radius, colour in ((_FINGER + 2, _WHITE), (_FINGER, (*_MARK, 255))):
        reach = radius * _FINER
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=colour)
    hole = (_FINGER - 4) * _FINER
    draw.ellipse((x - hole, y - hole, x + hole, y + hole), fill=(*_MARK, 110))
    if len(points) > 1 and points[0] != points[-1]:
        for width, colour in ((11, _WHITE), (6, (*_MARK, 255))):
            draw.line([*points], fill=colour, width=width * _FINER, joint="curve")
            _draw_head(draw, points, (width + 20) * _FINER, colour)


def _draw_head(
    draw: ImageDraw, points: Sequence[tuple[float, float]], size: float, colour: tuple[int, int, int, int]
) -> None:
    tip = points[-1]
    back = next((one for one in reversed(points) if one != tip), tip)
    length = ((tip[0] - back[0]) ** 2 + (tip[1] - back[1]) ** 2) ** 0.5 or 1.0
    along = (tip[0] - back[0]) / length, (tip[1] - back[1]) / length
    side = -along[1] * size / 2, along[0] * size / 2
    root = tip[0] - along[0] * size / 2, tip[1] - along[1] * size / 2
    end = tip[0] + along[0] * size / 2, tip[1] + along[1] * size / 2
    corners = [(root[0] + way * side[0], root[1] + way * side[1]) for way in (1, -1)]
    draw.polygon([end, *corners], fill=colour)
