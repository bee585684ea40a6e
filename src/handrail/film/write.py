"""Paints the frames of a film (screen, touch, caption) and writes them as MP4 with PyAV (extra `video`)."""

from __future__ import annotations

import importlib
import math
import os
from bisect import bisect_right
from collections.abc import Sequence
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
from handrail.film.scene import FilmFrame, FilmScene, FilmTone, FilmTouch, Picture, SceneTimes, plan_film
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
_MISSING = "\U0010ffff"  # a character that no font has; every missing character is drawn like it


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
    return next((font for font in candidates if all(_font_has(font, char) for char in wanted)), candidates[0])


@cache
def _font_has(font: Font, char: str) -> bool:
    return bytes(font.getmask(char)) != bytes(font.getmask(_MISSING))


def fit_lines(text: str, font: Font, width: float, lines: int) -> list[str]:
    """At most so many lines of this width; the last one is cut where it is too long."""
    fitting: list[str] = []
    rest = clean(text)
    while rest and len(fitting) < lines:
        tail = "…" if len(fitting) == lines - 1 and font.getlength(rest) > width else ""

        def width_of(count: int, text: str = rest, tail: str = tail) -> float:
            return font.getlength(text[:count].rstrip() + tail)

        end = bisect_right(range(1, len(rest) + 1), width, key=width_of)
        if end < len(rest) and not tail:
            end = max(rest.rfind(" ", 0, end + 1), 0) or end
        fitting.append(rest[: end or 1].rstrip() + tail)
        rest = rest[end or 1 :].lstrip()
    return fitting


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
_MAX_DECODED = 8  # pictures that stay decoded: one is shown by several frames


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
        shown, box = self._screen_picture(frame.picture)
        canvas.paste(shown, box[:2])
        if frame.touch and frame.picture is not None and frame.picture.png is not None:
            size = frame.picture.width, frame.picture.height
            _draw_touch(canvas, frame.touch, box, size if all(size) else shown.size)
        self._draw_caption(canvas, frame)
        return canvas

    # the screen

    def _screen_picture(self, picture: Picture | None) -> tuple[Image, Bounds]:
        image = self._decoded(picture.png) if picture is not None and picture.png is not None else None
        if image is None:
            why = picture.why_not if picture is not None else ""
            return _text_card(self.screen, why or "No picture was taken"), Bounds(0, 0, *self.screen)
        left, top = (self.screen[0] - image.width) // 2, (self.screen[1] - image.height) // 2
        return image, Bounds(left, top, left + image.width, top + image.height)

    def _decode(self, png: bytes) -> Image | None:
        try:
            with opened(png) as read:
                image = read.convert("RGB")
        except PictureUnreadable:
            return None
        scale = min(self.screen[0] / image.width, self.screen[1] / image.height)
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        return image if size == image.size else image.resize(size, Images.Resampling.LANCZOS)

    # the caption

    def _draw_caption(self, canvas: Image, frame: FilmFrame) -> None:
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
        [line, *_] = fit_lines(scene.title, title, width - left - _MARGIN, 1) or [""]
        draw.text((left, top + 18), line, font=title, fill=_INK)
        reason = font_for(scene.reason, 18)
        for at, words in enumerate(fit_lines(scene.reason, reason, width - left - _MARGIN, 2)):
            draw.text((left, top + 53 + 25 * at), words, font=reason, fill=_SOFT)
        base = self.size[1] - 40
        at_ms = scene.started_ms + (scene.duration_ms if frame.is_over else 0.0)
        moment = f"{_time_text(at_ms)} / {_time_text(self._end_ms)}"
        small = font_for(moment, 17)
        clock_left = self.size[0] - _MARGIN - small.getlength(moment)
        draw.text((clock_left, base), moment, font=small, fill=_SOFT)
        words = scene.verdict if frame.is_over else "…"
        font = font_for(words, 18, bold=True)
        draw.ellipse((left, base + 5, left + 12, base + 17), fill=tone)
        [line, *_] = fit_lines(words, font, clock_left - left - 36, 1) or [""]
        draw.text((left + 20, base - 1), line, font=font, fill=tone)


def _time_text(ms: float) -> str:
    """ "0:06.2"."""
    tenths = round(ms / 100)
    return f"{tenths // 600}:{tenths % 600 / 10:04.1f}"


def _text_card(size: tuple[int, int], words: str) -> Image:
    """Stands for a picture that may not be shown."""
    card = Images.new("RGB", size, _CARD)
    draw, font = Draws.Draw(card), font_for(words, 20)
    for at, line in enumerate(fit_lines(words, font, size[0] - 4 * _MARGIN, 6)):
        left = (size[0] - font.getlength(line)) / 2
        draw.text((left, size[1] / 2 - 60 + 30 * at), line, font=font, fill=_SOFT)
    return card


_FINER = 2  # marks are drawn so much larger and shrunk: lines of Pillow have steps otherwise
_FINGER = 17  # radius of a finger's ring, in pixels of the film


def _draw_touch(canvas: Image, touch: FilmTouch, place: Bounds, device: tuple[int, int]) -> None:
    across, down = place.width * _FINER / device[0], place.height * _FINER / device[1]
    strokes = [[(x * across, y * down) for x, y in path] for path in touch.strokes]
    sheet = Images.new("RGBA", (place.width * _FINER, place.height * _FINER), (*_MARK, 0))
    draw = Draws.Draw(sheet)
    if (box := touch.box) is not None:
        edges = box.left * across, box.top * down, box.right * across, box.bottom * down
        _draw_box(draw, edges)
        strokes = strokes or [[((edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2)]]
    for stroke in strokes:
        _draw_stroke(draw, stroke)
    mark = sheet.reduce(_FINER)
    canvas.paste(mark, place[:2], mark)


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
    tip = points[-1]
    if (back := next((point for point in reversed(points) if point != tip), None)) is None:
        return
    direction = math.degrees(math.atan2(tip[0] - back[0], back[1] - tip[1]))  # clockwise from upwards
    for width, colour in ((11, _WHITE), (6, (*_MARK, 255))):
        draw.line([*points], fill=colour, width=width * _FINER, joint="curve")
        draw.regular_polygon((*tip, (width + 20) * _FINER * 0.6), 3, rotation=-direction, fill=colour)


HOW_TO_INSTALL = "pip install 'handrail[video]' brings it. The player of a report needs nothing."
_CODECS = ("libx264", "libopenh264", "h264_videotoolbox", "h264")
_TICKS = 1_000  # per second: the clock of the file is that of the plan
_OPTIONS = {
    "preset": "veryfast",
    "crf": "29",
    "tune": "stillimage",
    "x264-params": "keyint=90:scenecut=0:bframes=0:ref=11:colormatrix=smpte170m",
}
"""An app shows the same screens again and again: a frame may refer to one of several steps ago."""


def need_encoder() -> None:
    """Fails before anything else is begun, for a program that will need a film at its end."""
    _find_codec(_load_av())


def _load_av() -> Any:
    try:
        return importlib.import_module("av")
    except ImportError:
        missing = "Videos can't be written here: PyAV is not installed"
        raise Unsupported(missing, hint=HOW_TO_INSTALL) from None


def _find_codec(av: Any) -> str:
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
    av = _load_av()
    codec = _find_codec(av)
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
    plan, painter = plan_film(scenes), FilmPainter(scenes)
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
            _write_frame(file, stream, last, frame.at_ms)
        _write_frame(file, stream, last, plan.end_ms)  # the last picture stays as long as it should
        file.mux(stream.encode(None))
    return plan.marks


def _write_frame(file: Any, stream: Any, frame: Any, at_ms: float) -> None:
    frame.pts, frame.time_base = round(at_ms * _TICKS / 1000), Fraction(1, _TICKS)
    file.mux(stream.encode(frame))
