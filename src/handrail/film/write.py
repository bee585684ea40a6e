"""Frames into an MP4 that browsers and players open. The encoder is PyAV, the extra `video`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.film.paint import FilmPainter
from handrail.film.scene import FilmMark, FilmScene, schedule

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
    """For a program that will want a film at its end: fail before anything else is begun."""
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


def write_film(scenes: Sequence[FilmScene], path: Path, title: str = "") -> tuple[FilmMark, ...]:
    """The file, and when it shows which scene. Readers see all of it or nothing. Raises `OSError` too."""
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


def _encode(av: Any, codec: str, scenes: Sequence[FilmScene], path: Path, title: str) -> tuple[FilmMark, ...]:
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
