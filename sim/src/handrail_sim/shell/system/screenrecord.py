"""`screenrecord`: what the screen shows over time, as MP4 or as a bare H.264 stream."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from handrail_sim.paint.video import NoEncoder, Video
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import Options, read_getopt

_BETWEEN_MS = 33.0
_LONGEST_S = 180
_OPTIONS = {
    name: f"{name}:"
    for name in ["size", "bit-rate", "time-limit", "display-id", "output-format", "codec-name"]
}
_OPTIONS |= {"help": "h", "verbose": "v", "bugreport": "", "rotate": "", "show-frame-time": ""}
_USAGE = "Usage: screenrecord [options] <filename>"


async def screenrecord(call: Call) -> int:
    """`screenrecord [--size WxH] [--time-limit S] [--output-format mp4|h264] FILE`."""
    options = read_getopt(call.args, "vh", _OPTIONS, 2)
    if "h" in options:
        await call.line(_USAGE)
        return 0
    try:
        name, size, limit_ms, bare = _recording(options)
    except ValueError as wrong:
        await call.err(str(wrong))
        return 2
    phone, clock = call.phone, call.phone.clock
    try:
        video = Video(*(size or (phone.display.width, phone.display.height)), bare=bare)
    except NoEncoder:
        await call.err("ERROR: unable to create video/avc codec instance")
        return 1
    began, last = clock.monotonic_ms(), None
    try:
        while (passed := clock.monotonic_ms() - began) < limit_ms:
            await phone.refresh_web(pictures=True)
            frame = phone.frame()
            if frame != last:
                last = frame
                await phone.painted(partial(_add, video, frame, passed))
            if name == "-":
                await call.out(video.take())
            took = clock.monotonic_ms() - began - passed
            await clock.sleep_ms(max(1.0, min(_BETWEEN_MS, limit_ms - passed) - took))
    finally:  # Ctrl-C ends a recording as the time limit does
        await _close(call, video, last, min(clock.monotonic_ms() - began, limit_ms), name)
    return 0


def _add(video: Video, frame: Any, at_ms: float) -> None:
    video.add(frame.image(), at_ms)


async def _close(call: Call, video: Video, last: Any, end_ms: float, name: str) -> None:
    """The last picture is there until the end."""
    if last is not None:
        await call.phone.painted(partial(_add, video, last, end_ms))
    data = await call.phone.painted(video.finish)
    if name == "-":
        await call.out(video.take())
    else:
        call.session.files.write(call.path(name), data)


def _recording(options: Options) -> tuple[str, tuple[int, int] | None, float, bool]:
    """Name, size, milliseconds, and whether it is a bare stream."""
    given, names = options.values, options.rest
    seconds = given.get("time-limit", str(_LONGEST_S))
    size = re.fullmatch(r"(\d{2,4})x(\d{2,4})", given.get("size", "720x1280"))
    form = given.get("output-format", "mp4")
    wrong = ""
    if not seconds.isdigit() or not 1 <= int(seconds) <= _LONGEST_S:
        wrong = f"Time limit {seconds}s outside acceptable range [1,{_LONGEST_S}]"
    elif size is None:
        wrong = f"Invalid size '{given['size']}', must be width x height"
    elif form not in {"mp4", "h264"}:
        wrong = f"Unknown format '{form}'"
    elif not names:
        wrong = "Must specify output file (see --help)."
    if wrong or size is None:
        raise ValueError(wrong)
    wanted = (int(size[1]), int(size[2])) if "size" in given else None
    return names[0], wanted, int(seconds) * 1000.0, form == "h264"


FAMILY: dict[str, Command] = {"screenrecord": screenrecord}
