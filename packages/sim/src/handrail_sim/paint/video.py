"""Pictures over time as an MP4 or a bare H.264 stream. The encoder is the extra `video`; knows no phone."""

from __future__ import annotations

import logging
from fractions import Fraction
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

_LOG = logging.getLogger("handrail_sim.video")
_CODECS = ("libx264", "libopenh264", "h264")
_TICKS = 90_000  # per second, as MPEG counts
_FAST = {"preset": "ultrafast", "tune": "zerolatency"}


class NoEncoder(Exception):
    """This host has no encoder: the phone is one without it."""


class Video:
    """One recording: pictures go in with their times, bytes come out."""

    def __init__(self, width: int, height: int, *, bare: bool = False, bit_rate: int = 20_000_000) -> None:
        """Sides are even in H.264; `bare` is a stream of NAL units without a container."""
        av = _library()
        self._file = BytesIO()
        self._size = (width - width % 2, height - height % 2)
        self._taken = 0
        self._last = -1
        self._container: Any = av.open(self._file, "w", format="h264" if bare else "mp4")
        self._stream: Any = self._container.add_stream(_codec(av), rate=60)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.bit_rate = bit_rate
        self._stream.options = _FAST
        self._stream.codec_context.time_base = Fraction(1, _TICKS)
        self._frame_of = av.VideoFrame.from_image

    def add(self, picture: Image, at_ms: float) -> None:
        """What was shown from this time on; time only goes forward."""
        frame = self._frame_of(picture)
        if picture.size != self._size:  # by the video library: a third of what Pillow needs
            frame = frame.reformat(*self._size, "yuv420p", interpolation="AREA")
        self._last = max(self._last + 1, int(at_ms * _TICKS / 1000))
        frame.pts, frame.time_base = self._last, Fraction(1, _TICKS)
        self._container.mux(self._stream.encode(frame))

    def take(self) -> bytes:
        """What a bare stream has to send since the last time."""
        self._file.seek(self._taken)
        data = self._file.read()
        self._taken += len(data)
        return data

    def finish(self) -> bytes:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.getvalue()


def _library() -> Any:
    try:
        import av  # noqa: PLC0415 - an optional extra
    except ImportError:
        _LOG.warning("no video encoder: pip install 'handrail-sim[video]' gives the phones one")
        raise NoEncoder from None
    return av


def _codec(av: Any) -> str:
    for name in _CODECS:
        try:
            av.codec.Codec(name, "w")
        except ValueError:
            continue
        return name
    raise NoEncoder
