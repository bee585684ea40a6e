"""The screen between startRecording and stopRecording: the phone's own video, written as an MP4."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.surface.capabilities import Video
from handrail.waiting import cancel

_TICKS = 1_000
"""Per second: the file's clock."""


@dataclass(slots=True)
class ScreenRecording:
    """One recording. The stream has no times, so each picture has the moment at which it came."""

    path: Path
    clock: Clock
    trouble: str = ""
    """Why it ended before somebody stopped it."""
    _times_ms: list[float] = field(default_factory=list)
    _has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, video: Video, path: Path, clock: Clock) -> ScreenRecording:
        """Returns with the first picture. Raises `Unsupported` where nothing can be recorded."""
        _load_av()
        await video.require_visible()
        recording = cls(path, clock)
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        stream = await asyncio.to_thread(recording._draft.open, "wb")
        recording._task = asyncio.create_task(recording._record(video, stream), name=f"recording {path.name}")
        await recording._has_begun.wait()
        if not recording._times_ms:
            await recording.stop()
            raise Unsupported(recording.trouble, hint="--report has a picture before and after each step.")
        return recording

    @property
    def _draft(self) -> Path:
        return self.path.with_name(f".{self.path.name}.h264")

    async def _record(self, video: Video, stream: BinaryIO) -> None:
        try:
            async with aclosing(video.record(asyncio.Event())) as units:
                async for unit in units:
                    await asyncio.to_thread(stream.write, unit.data)
                    self._times_ms.append(self.clock.monotonic_ms())
                    self._has_begun.set()
        except HandrailError as error:
            self.trouble = error.message
        finally:
            stream.close()
            self._has_begun.set()

    async def stop(self) -> bool:
        """Writes the file. False where there was no picture. Raises `Unsupported`."""
        if self._task is not None:
            await cancel(self._task)
            self._task = None
        try:
            if not self._times_ms:
                return False
            await asyncio.to_thread(self._write, self.clock.monotonic_ms())
        except _load_av().FFmpegError as error:
            raise Unsupported(f"The recording could not be written: {error}") from None
        finally:
            with suppress(FileNotFoundError):
                await asyncio.to_thread(self._draft.unlink)
        return True

    def _write(self, end_ms: float) -> None:
        """The last picture stays until the end."""
        av = _load_av()
        starts = [round(at - self._times_ms[0]) for at in self._times_ms]
        ends = [*starts[1:], max(round(end_ms - self._times_ms[0]), starts[-1] + 1)]
        with (
            av.open(str(self._draft), format="h264") as source,
            av.open(str(self.path), "w", format="mp4") as file,
        ):
            stream = file.add_stream_from_template(source.streams.video[0])
            stream.time_base = Fraction(1, _TICKS)
            last = -1
            packets = (one for one in source.demux(video=0) if one.size)
            for packet, start, end in zip(packets, starts, ends, strict=False):
                last = max(start, last + 1)
                packet.stream, packet.time_base = stream, Fraction(1, _TICKS)
                packet.pts = packet.dts = last
                packet.duration = max(1, end - last)
                file.mux(packet)


def _load_av() -> Any:
    try:
        return importlib.import_module("av")
    except ImportError:
        hint = "pip install 'handrail[video]' brings what writes it."
        raise Unsupported("A recording can't be written here: PyAV is not installed", hint=hint) from None
