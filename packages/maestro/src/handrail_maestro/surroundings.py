"""Commands about apps and the phone around them: each becomes Handrail's own actions."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from itertools import pairwise

from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction, IosCommandError, Unsupported
from handrail.flow.parse import Fields, Scalar, scalars_below
from handrail.protocol.actions import AnyAction
from handrail.protocol.observe import GetState
from handrail.protocol.system import (
    AddMedia,
    GrantPermission,
    OpenUrl,
    ResetApp,
    RevokePermission,
    SetAppearance,
    SetLocation,
    SetNetwork,
    SetOrientation,
    StartApp,
    StopApp,
)
from handrail_maestro.play import CommandTurn
from handrail_maestro.words import ORIENTATIONS

GROUPS = {
    "bluetooth": ("BLUETOOTH_CONNECT", "BLUETOOTH_SCAN"),
    "calendar": ("READ_CALENDAR", "WRITE_CALENDAR"),
    "camera": ("CAMERA",),
    "contacts": ("READ_CONTACTS", "WRITE_CONTACTS"),
    "location": ("ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"),
    "medialibrary": (
        "READ_EXTERNAL_STORAGE", "WRITE_EXTERNAL_STORAGE", "READ_MEDIA_AUDIO", "READ_MEDIA_IMAGES",
        "READ_MEDIA_VIDEO",
    ),
    "microphone": ("RECORD_AUDIO",),
    "notifications": ("POST_NOTIFICATIONS",),
    "phone": ("CALL_PHONE", "ANSWER_PHONE_CALLS"),
    "sms": ("READ_SMS", "RECEIVE_SMS", "SEND_SMS"),
    "storage": ("READ_EXTERNAL_STORAGE", "WRITE_EXTERNAL_STORAGE"),
}  # fmt: skip
"""Maestro's words for permissions, and Android's names."""
STEPS = 50
"""Places between two points of a journey."""
_EARTH_M = 6_371_000.0


def permission_actions(package: str, wishes: Iterable[tuple[str, str]]) -> list[AnyAction]:
    """`all` first, then the others in their order."""
    ordered = sorted(wishes, key=lambda one: one[0].lower() != "all")
    made: list[AnyAction] = []
    for name, wish in ordered:
        names = ("all",) if name.lower() == "all" else GROUPS.get(name.lower(), (name,))
        kind = GrantPermission if wish.lower() == "allow" else RevokePermission
        made += [kind(package=package, permission=one) for one in names]
    return made


async def launch_app(turn: CommandTurn) -> None:
    """Clear, permissions, stop, start."""
    package = await turn.app()
    if turn.command.is_on("clearState"):
        await _clear(turn, package)
    node = turn.command.option("permissions")
    wishes = await turn.data(node) if node is not None else {"all": "allow"}
    await _permit(turn, package, wishes)
    if turn.command.is_on("stopApp", default=True):
        await turn.walk.part(StopApp(package=package), turn.on, turn.record)
    start = StartApp(package=package, extras=await _extras(turn) or None)
    await turn.walk.part(start, turn.on, turn.record, lenient=True)


async def _extras(turn: CommandTurn) -> dict[str, bool | float | str]:
    """A plain word is of its own type; a filled one is a text."""
    node = turn.command.option("arguments")
    made: dict[str, bool | float | str] = {}
    for name, entry in node.entries.items() if isinstance(node, Fields) else ():
        if isinstance(entry.value, Scalar):
            value = entry.value.value
            is_typed = isinstance(value, bool | int | float) and "${" not in entry.value.text
            made[await turn.play.filled(name)] = (
                value if is_typed else await turn.play.filled(entry.value.text)
            )
    return made


async def _permit(turn: CommandTurn, package: str, wishes: dict[str, str]) -> None:
    """What can't be given is passed over, as Maestro does; a person's no is not."""
    for action in permission_actions(package, wishes.items()):
        try:
            await turn.walk.part(action, turn.on, turn.record)
        except (AdbCommandError, IosCommandError, Unsupported) as error:
            turn.notes.append(error.message)
            turn.record.children[-1].outcome = "warned"


async def _clear(turn: CommandTurn, package: str) -> None:
    try:
        await turn.walk.part(ResetApp(package=package), turn.on, turn.record)
    except AppNotInstalled:
        turn.record.children[-1].outcome = "skipped"


async def stop_app(turn: CommandTurn) -> None:
    """stopApp and killApp: both end the app for good."""
    if turn.command.name == "killApp":
        turn.notes.append("killApp ends the app wherever it is; Maestro's only ends one in the background")
    await turn.walk.act(StopApp(package=await turn.app()), turn.on, turn.record)


async def clear_state(turn: CommandTurn) -> None:
    """Data and permissions."""
    await _clear(turn, await turn.app())


async def set_permissions(turn: CommandTurn) -> None:
    """As they are written."""
    await _permit(turn, await turn.app(), await turn.data(turn.command.option("permissions")))


async def open_link(turn: CommandTurn) -> None:
    """By whichever app takes it."""
    if turn.command.is_on("browser"):
        turn.notes.append("the phone chooses the browser")
    link = await turn.text("link") or ""
    if ":" not in link:
        raise InvalidAction(f"{link[:60]!r} is not a link", path="link", hint="Write it with its scheme.")
    await turn.walk.act(OpenUrl(url=link), turn.on, turn.record, lenient=True)


async def set_airplane_mode(turn: CommandTurn) -> None:
    """On or off."""
    await _fly(turn, (await turn.text("value") or "").strip().lower() == "enabled")


async def toggle_airplane_mode(turn: CommandTurn) -> None:
    """The other way than it is."""
    state = await _state(turn)
    await _fly(turn, not bool(state.get("airplane_mode")))


async def _fly(turn: CommandTurn, on: bool) -> None:
    await turn.walk.act(SetNetwork(airplane_mode=on), turn.on, turn.record)


async def _state(turn: CommandTurn) -> dict[str, object]:
    envelope = await turn.walk.act(GetState(), turn.on, turn.record)
    return dict((envelope.details or {})["state"])


async def set_dark_mode(turn: CommandTurn) -> None:
    """On or off."""
    await _darken(turn, (await turn.text("value") or "").strip().lower() == "enabled")


async def toggle_dark_mode(turn: CommandTurn) -> None:
    """The other way than it is."""
    await _darken(turn, not await is_dark(turn))


async def is_dark(turn: CommandTurn) -> bool:
    """As the phone says it."""
    return bool((await _state(turn)).get("dark_mode"))


async def _darken(turn: CommandTurn, on: bool) -> None:
    await turn.walk.act(SetAppearance(appearance="dark" if on else "light"), turn.on, turn.record)


async def set_orientation(turn: CommandTurn) -> None:
    """Upright or lying; which side is up is not distinguished."""
    word = (await turn.text("orientation") or "").strip().lower().replace("_", "")
    if word not in ORIENTATIONS:
        raise InvalidAction(
            f"{word[:60]!r} is not an orientation", path="orientation", hint="PORTRAIT, LANDSCAPE_LEFT."
        )
    if word in ("landscaperight", "upsidedown"):
        turn.notes.append(f"the screen stands {ORIENTATIONS[word]}; which side is up is not distinguished")
    upright = ORIENTATIONS[word] == "portrait"
    action = SetOrientation(orientation="portrait" if upright else "landscape")
    await turn.walk.act(action, turn.on, turn.record)


async def set_location(turn: CommandTurn) -> None:
    """One place."""
    latitude, longitude = await turn.number("latitude", 0), await turn.number("longitude", 0)
    await turn.walk.act(SetLocation(latitude=latitude, longitude=longitude), turn.on, turn.record)


async def travel(turn: CommandTurn) -> None:
    """From point to point, at a speed in metres per second."""
    node = turn.command.option("points")
    points = [_degrees(scalar.text) for scalar in scalars_below(node)] if node is not None else []
    speed = max(0.001, await turn.number("speed", 4))
    await _go(turn, points[0])
    for start, end in pairwise(points):
        pause = _metres(start, end) / speed / STEPS * 1_000
        for step in range(1, STEPS + 1):
            share = step / STEPS
            await _go(turn, tuple(a + (b - a) * share for a, b in zip(start, end, strict=True)))
            await turn.walk.clock.sleep_ms(pause)


async def _go(turn: CommandTurn, place: tuple[float, ...]) -> None:
    latitude, longitude = min(max(place[0], -90), 90), min(max(place[1], -180), 180)
    await turn.walk.act(
        SetLocation(latitude=float(latitude), longitude=float(longitude)), turn.on, turn.record
    )


def _degrees(text: str) -> tuple[float, float]:
    latitude, _, longitude = text.partition(",")
    return float(latitude), float(longitude)


def _metres(start: tuple[float, float], end: tuple[float, float]) -> float:
    one, two = (tuple(map(math.radians, point)) for point in (start, end))
    half = math.sin((two[0] - one[0]) / 2) ** 2
    half += math.cos(one[0]) * math.cos(two[0]) * math.sin((two[1] - one[1]) / 2) ** 2
    return 2 * _EARTH_M * math.asin(math.sqrt(min(1.0, half)))


async def add_media(turn: CommandTurn) -> None:
    """Pictures and films of the workspace."""
    node = turn.command.option("files")
    for value in scalars_below(node) if node is not None else ():
        name = await turn.play.filled(value.text)
        path = await asyncio.to_thread(turn.play.workspace.resolve, turn.document.path, name)
        await turn.walk.part(AddMedia(path=str(path)), turn.on, turn.record)
