"""Paints the frames of a film (screen, touch, caption) and writes them as MP4 with PyAV (extra `video`)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from PIL import Image as Images
from PIL import ImageDraw as Draws
from PIL import ImageFont
from PIL.Image import Image
from PIL.ImageDraw import ImageDraw

from handrail.errors import HandrailError, InvalidAction, PictureUnreadable, Unsupported
from handrail.film.scene import FilmFrame, FilmScene, FilmTone, FilmTouch, Picture, SceneTimes, schedule
from handrail.screen.node import Bounds
from handrail.screen.text import clean
from handrail.surface.picture import opened, size_of

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_PLAIN = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Roboto-Regular.ttf", "LiberationSans-Regular.ttf"),
    *("Arial.ttf", "Helvetica.ttc", "segoeui.ttf", "NotoSansCJK-Regular.ttc", "wqy-zenhei.ttc"),
    *("PingFang.ttc", "msyh.ttc", "NotoSansArabic-Regular.ttf", "NotoSansDevanagari-Regular.ttf"),
)
_BOLD = (
    *("DejaVuSans-Bold.ttf", "NotoSans-Bold.ttf", "Roboto-Medium.ttf", "LiberationSans-Bold.ttf"),
    *("Arial Bold.ttf", "arialbd.ttf", "segoeuib.ttf"),
)
_MISSING = "\U0010ffff"
"""No font has it: what it is drawn as, every missing character is drawn as."""


@cache
def fonts(size: int, *, bold: bool) -> tuple[Font, ...]:
    """The installed ones, best first; the last one comes with Pillow."""
    loaded: list[Font] = []
    for name in (*(_BOLD if bold else ()), *_PLAIN):
        try:
            loaded.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return (*loaded, ImageFont.load_default(size))


def font_for(text: str, size: int, *, bold: bool = False) -> Font:
    """The first font that has every character, else the first one."""
    candidates = fonts(size, bold=bold)
    wanted = {char for char in text if not char.isspace()}
    return next((font for font in candidates if all(_has(font, char) for char in wanted)), candidates[0])


@cache
def _has(font: Font, char: str) -> bool:
    return bytes(font.getmask(char)) != bytes(font.getmask(_MISSING))


def fitted(text: str, font: Font, width: float, lines: int) -> list[str]:
    """At most so many lines of this width; the last one is cut where it is too long."""
    fitting: list[str] = []
    rest = clean(text)
    while rest and len(fitting) < lines:
        is_last = len(fitting) == lines - 1
        taken = next(_shorter(rest, font, width, whole_words=not is_last), rest[:1])
        rest_after = rest[len(taken) :].lstrip()
        if is_last and rest_after:
            taken = next(_shorter(rest, font, width, whole_words=False, tail="…"), "…")
        fitting.append(taken.rstrip())
        rest = rest_after
    return fitting


def _shorter(text: str, font: Font, width: float, *, whole_words: bool, tail: str = "") -> Iterator[str]:
    """The longest beginnings of a text that fit."""
    if not tail and font.getlength(text) <= width:
        yield text
        return
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = font.getlength(text[:middle].rstrip() + tail) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    space = text.rfind(" ", 0, low + 1)
    if whole_words and space > 0:
        yield text[:space]
    elif low:
        yield text[:low].rstrip() + tail


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
_MAX_DECODED = 8
"""Pictures that stay decoded: one is shown by several frames."""

Colour = tuple[int, int, int]


class FilmPainter:
    """All frames of one film, in one size."""

    def __init__(self, scenes: Sequence[FilmScene]) -> None:
        self._scenes = scenes
        self._end_ms = max((scene.started_ms + scene.duration_ms for scene in scenes), default=0.0)
        # Taken from the first readable picture. Sides are even, as H.264 needs it.
        width, height = 9, 20
        for picture in (shot for scene in scenes for shot in (scene.before, scene.after)):
            if picture is not None and picture.png is not None:
                try:
                    width, height = size_of(picture.png)
                except PictureUnreadable:
                    continue
                break
        scale = min((NARROW if height >= width else WIDE) / width, TALLEST / height)
        self.screen = max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)
        self.size = (self.screen[0], self.screen[1] + CAPTION)
        self._decoded = lru_cache(_MAX_DECODED)(self._decode)

    def paint(self, frame: FilmFrame) -> Image:
        canvas = Images.new("RGB", self.size, _GROUND)
        shown, box = self._shown(frame.picture)
        canvas.paste(shown, box[:2])
        if frame.touch and frame.picture is not None and frame.picture.png is not None:
            _draw_touch(
                canvas,
                frame.touch,
                box,
                (frame.picture.width, frame.picture.height)
                if frame.picture.width > 0 < frame.picture.height
                else shown.size,
            )
        self._caption(canvas, frame)
        return canvas

    # the screen

    def _shown(self, picture: Picture | None) -> tuple[Image, Bounds]:
        image = self._decoded(picture) if picture is not None and picture.png is not None else None
        if image is None:
            why = picture.why_not if picture is not None else ""
            return _card(self.screen, why or "No picture was taken"), Bounds(0, 0, *self.screen)
        left, top = (self.screen[0] - image.width) // 2, (self.screen[1] - image.height) // 2
        return image, Bounds(left, top, left + image.width, top + image.height)

    def _decode(self, picture: Picture) -> Image | None:
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


def _card(size: tuple[int, int], words: str) -> Image:
    """Stands for a picture that may not be shown."""
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
    across, down = place.width / device[0], place.height / device[1]
    box = (
        (touch.box.left * across, touch.box.top * down, touch.box.right * across, touch.box.bottom * down)
        if touch.box is not None
        else None
    )
    strokes = [[(x * across, y * down) for x, y in path] for path in touch.strokes]
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
    points = [point for stroke in strokes for point in stroke]
    points += [(box[0], box[1]), (box[2], box[3])] if box is not None else []
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = max(0, int(min(xs)) - _ROOM), max(0, int(min(ys)) - _ROOM)
    right, bottom = min(place.width, int(max(xs)) + _ROOM), min(place.height, int(max(ys)) + _ROOM)
    return left, top, max(left + 1, right), max(top + 1, bottom)


def _draw_box(draw: ImageDraw, box: Sequence[float]) -> None:
    """A light line under a coloured one is visible on every picture."""
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
            size = (width + 20) * _FINER
            tip = points[-1]
            back = next((point for point in reversed(points) if point != tip), tip)
            length = ((tip[0] - back[0]) ** 2 + (tip[1] - back[1]) ** 2) ** 0.5 or 1.0
            along = (tip[0] - back[0]) / length, (tip[1] - back[1]) / length
            side = -along[1] * size / 2, along[0] * size / 2
            root = tip[0] - along[0] * size / 2, tip[1] - along[1] * size / 2
            end = tip[0] + along[0] * size / 2, tip[1] + along[1] * size / 2
            corners = [(root[0] + way * side[0], root[1] + way * side[1]) for way in (1, -1)]
            draw.polygon([end, *corners], fill=colour)


HOW_TO_INSTALL = "pip install 'handrail[video]' brings it. The player of a report needs nothing."
_CODECS = ("libx264", "libopenh264", "h264_videotoolbox", "h264")
_TICKS = 1_000
"""Per second: the clock of the file is that of the plan."""
_OPTIONS = {
    "preset": "veryfast",
    "crf": "29",
    "tune": "stillimage",
    "x264-params": "keyint=90:scenecut=0:bframes=0:ref=11:colormatrix=smpte170m",
}
"""An app shows the same screens again and again: a frame may refer to one of several steps ago."""


def need_encoder() -> None:
    """Fails before anything else is begun, for a program that will need a film at its end."""
    _codec(_library())


def _library() -> Any:
    try:
        return importlib.import_module("av")
    except ImportError:
        missing = "Videos can't be written here: PyAV is not installed"
        raise Unsupported(missing, hint=HOW_TO_INSTALL) from None


def _codec(av: Any) -> str:
    for name in _CODECS:
        try:
            av.codec.Codec(name, "w")
        except ValueError:
            continue
        return name
    raise Unsupported("Videos can't be written here: PyAV has no encoder of H.264", hint=HOW_TO_INSTALL)


def write_film(scenes: Sequence[FilmScene], path: Path, title: str = "") -> tuple[SceneTimes, ...]:
    """When the film shows which scene. Readers see all of the file or nothing. Raises `OSError` too."""
    if not scenes:
        raise InvalidAction("There is nothing to film: no action was run", hint="Run something first.")
    av = _library()
    codec = _codec(av)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.mp4")
    try:
        marks = _encode(av, codec, scenes, draft, title)
        draft.replace(path)
    except av.FFmpegError as error:
        raise HandrailError(f"The film could not be written: {error}") from None
    finally:
        draft.unlink(missing_ok=True)
    return marks


def _encode(
    av: Any, codec: str, scenes: Sequence[FilmScene], path: Path, title: str
) -> tuple[SceneTimes, ...]:
    plan, painter = schedule(scenes), FilmPainter(scenes)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as file:
        file.metadata["title"] = title
        stream = file.add_stream(codec, rate=_TICKS, options=_OPTIONS if codec == "libx264" else {})
        stream.width, stream.height = painter.size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, _TICKS)
        stream.codec_context.thread_count = 1
        last = None
        for frame in plan.frames:
            last = av.VideoFrame.from_image(painter.paint(frame))
            _mux(file, stream, last, frame.at_ms)
        _mux(file, stream, last, plan.end_ms)  # the last picture stays as long as it should
        file.mux(stream.encode(None))
    return plan.marks


def _mux(file: Any, stream: Any, frame: Any, at_ms: float) -> None:
    frame.pts, frame.time_base = round(at_ms * _TICKS / 1000), Fraction(1, _TICKS)
    file.mux(stream.encode(frame))
