"""Commands that look: assertions, waits, pictures and their comparison."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from pathlib import Path

from handrail.errors import (
    AssertionFailed,
    ElementNotFound,
    IdleTimeout,
    InvalidAction,
    SecureScreen,
    Unsupported,
)
from handrail.protocol.observe import Screenshot, WaitForStable
from handrail.screen.node import Bounds
from handrail.surface.capabilities import Video
from handrail.surface.picture import opened
from handrail_maestro.play import LOOKUP_MS, CommandTurn
from handrail_maestro.recording import ScreenRecording
from handrail_maestro.surroundings import is_dark
from handrail_maestro.words import WORDS

_TOLERANCE = 0.1
"""How far the colours of two pixels may differ that count as the same."""
_FALSE = frozenset({"", "false", "undefined", "null"})


def is_true(text: str) -> bool:
    """By the rules of assertTrue."""
    word = text.strip()
    if word.lower() in _FALSE:
        return False
    try:
        return float(word) != 0
    except ValueError:
        return True


async def assert_visible(turn: CommandTurn) -> None:
    """Seventeen seconds, also where it is optional."""
    wanted = await turn.wanted()
    if await turn.seek(wanted, turn.until(await turn.number("timeout", LOOKUP_MS))) is None:
        hint = "A text is a pattern for the whole text; .* stands for anything."
        raise AssertionFailed(f"{wanted} is not visible", hint=hint)


async def assert_not_visible(turn: CommandTurn) -> None:
    """Gone for half a second."""
    wanted = await turn.wanted()
    if not await turn.is_gone(wanted, turn.until(await turn.number("timeout", LOOKUP_MS))):
        raise AssertionFailed(f"{wanted} is still visible", hint="Look at what shows it.")


async def extended_wait(turn: CommandTurn) -> None:
    """Both, one after the other."""
    timeout = await turn.number("timeout", LOOKUP_MS)
    visible, hidden = turn.command.option("visible"), turn.command.option("notVisible")
    if visible is not None:
        wanted = await turn.wanted(visible)
        if await turn.seek(wanted, turn.until(timeout)) is None:
            raise AssertionFailed(
                f"{wanted} did not become visible within {timeout:g} ms", hint="Wait longer."
            )
    if hidden is not None:
        wanted = await turn.wanted(hidden)
        if not await turn.is_gone(wanted, turn.until(timeout)):
            raise AssertionFailed(f"{wanted} did not go within {timeout:g} ms", hint="Wait longer.")


async def wait_for_animation(turn: CommandTurn) -> None:
    """Until the screen rests; when the time is over it simply goes on."""
    timeout = int(min(max(await turn.number("timeout", 15_000), 0), 600_000))
    try:
        await turn.walk.act(WaitForStable(timeout_ms=timeout), turn.on, turn.record)
    except IdleTimeout as error:
        turn.notes.append(error.message)


async def assert_true(turn: CommandTurn) -> None:
    """Without waiting."""
    text = await turn.text("condition", "") or ""
    if not is_true(text):
        raise AssertionFailed(
            f"{(turn.command.text('condition') or '')[:200]} is {text[:200]!r}", hint="It is false."
        )


async def assert_mode(turn: CommandTurn) -> None:
    """assertDarkMode and assertLightMode: one look."""
    wish = turn.command.name == "assertDarkMode"
    if await is_dark(turn) != wish:
        raise AssertionFailed(f"the phone is {'light' if wish else 'dark'}", hint="setDarkMode changes it.")


async def take_screenshot(turn: CommandTurn) -> None:
    """`path` and `.png`, in the run's own folder."""
    path = _target(turn.play.output, await turn.text("path", "") or "")
    png = await _picture(turn)
    await asyncio.to_thread(_write, path, png)
    turn.notes.append(f"written to {path}")


async def assert_screenshot(turn: CommandTurn) -> None:
    """Against a picture next to the flow, or one of this run."""
    name = await turn.text("path", "") or ""
    least = await turn.number("thresholdPercentage", 95)
    reference = await asyncio.to_thread(_reference, turn, name)
    share = await asyncio.to_thread(_alike, await _picture(turn), reference)
    if share is None:
        raise AssertionFailed(f"{name} has another size than the screen", hint="Take it again.")
    if share * 100 < least:
        raise AssertionFailed(
            f"{share:.1%} of the pixels are as in {name}, {least:g} % are wanted", hint="Look."
        )


async def _picture(turn: CommandTurn) -> bytes:
    box: Bounds | None = None
    crop = turn.command.option("cropOn")
    if crop is not None:
        screen, node = await turn.find(await turn.wanted(crop))
        box = node.bounds.intersect(screen.bounds)
        if not box.area:
            raise ElementNotFound("the element to crop on has no size", hint="Name another one.")
    envelope = await turn.walk.act(Screenshot(), turn.on, turn.record)
    png = base64.b64decode((envelope.details or {})["screenshotBase64"])
    return png if box is None else await asyncio.to_thread(_cropped, png, box)


def _cropped(png: bytes, box: Bounds) -> bytes:
    written = io.BytesIO()
    with opened(png) as image:
        image.crop((box.left, box.top, box.right, box.bottom)).save(written, "PNG")
    return written.getvalue()


def _target(folder: Path, name: str, suffix: str = ".png") -> Path:
    """Inside the folder, whatever the name says."""
    last = re.split(r"[\\/]", name)[-1]
    path = (folder / f"{name}{suffix}").resolve()
    if last in ("", ".", "..") or "\x00" in name or not path.is_relative_to(folder.resolve()):
        raise InvalidAction(
            f"{name[:60]!r} can't be a file's name", path="path", hint="Give a name without .."
        )
    return path


def _write(path: Path, png: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png)


def _reference(turn: CommandTurn, name: str) -> bytes:
    try:
        return turn.play.workspace.resolve(turn.document.path, f"{name}.png").read_bytes()
    except InvalidAction as missing:
        path = _target(turn.play.output, name)
        if not path.is_file():
            raise missing from None
        return path.read_bytes()


def _alike(png: bytes, reference: bytes) -> float | None:
    """The share of pixels that are nearly the same; None for pictures of different sizes."""
    from PIL import ImageChops  # noqa: PLC0415  (few flows compare pictures)

    with opened(png) as one, opened(reference) as two:
        if one.size != two.size:
            return None
        apart = ImageChops.difference(one.convert("RGB"), two.convert("RGB"))
    channels = apart.split()
    worst = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    counts = worst.histogram()
    same = sum(counts[: int(255 * _TOLERANCE) + 1])
    return same / max(1, sum(counts))


async def start_recording(turn: CommandTurn) -> None:
    """A second start while one runs is passed over. Where nothing can be recorded the flow goes on."""
    if turn.play.recording is not None:
        turn.notes.append("the screen is recorded already")
        return
    path = _target(turn.play.output, await turn.text("path", "") or "", ".mp4")
    try:
        await turn.walk.act(Screenshot(scale=0.1), turn.on, turn.record)  # policy's word on pictures counts
        video = turn.on.session.surface.need(Video)
        turn.play.recording = await ScreenRecording.start(video, path, turn.walk.clock)
    except (Unsupported, SecureScreen) as error:
        turn.notes.append(f"the screen is not recorded: {error.message}")


async def stop_recording(turn: CommandTurn) -> None:
    """Writes the file; nothing where nothing is recorded."""
    if message := await turn.play.end_recording():
        turn.notes.append(message)


async def not_done(turn: CommandTurn) -> None:
    """A command that Handrail leaves out."""
    word = WORDS[turn.command.name]
    raise Unsupported(f"{turn.command.name} {word.why_not}", hint=word.hint)


async def nothing(turn: CommandTurn) -> None:
    """clearKeychain: Android has none."""
    turn.notes.append("Android has no keychain")
