"""Actions that only read: the screen, its changes, screenshots, logs, app data."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from handrail.clock import iso_time
from handrail.engine.run import Outcome, Stage
from handrail.engine.snapshot import UiSnapshot, require_present
from handrail.errors import InvalidAction, SemanticMismatch
from handrail.protocol.envelope import ScreenSnapshot
from handrail.protocol.observe import GetLogs, GetSharedPrefs, GetUiTree, QueryDb, Screenshot, WhatChanged
from handrail.screen.diff import diff_text
from handrail.screen.exports import full_text, outline
from handrail.screen.node import Bounds, Node, Screen
from handrail.screen.reach import visible_part
from handrail.screen.select import search_scope
from handrail.screen.windows import is_input_method, modal_above
from handrail.surface.capabilities import AppData, Logs
from handrail.surface.picture import opened, size_of

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw as Draw

MOST_LINES = 10_000
"""A search looks at all lines."""
INDENT = 2
"""Spaces per level of the full text."""


async def get_ui_tree(stage: Stage, action: GetUiTree) -> Outcome:
    """The screen as text with refs, as JSON, or only its changes."""
    before = stage.screens.last
    snapshot = await stage.refresh_screen()
    stage.run.after = snapshot
    if action.since is not None:
        return _changes_since(stage, snapshot, action.since, before)
    within = search_scope(stage.find(action.within).node) if action.within is not None else None
    facts = {
        "format": action.format,
        "fingerprint": snapshot.fingerprint,
        "revision": stage.screens.revision_name,
    }
    match action.format:
        case "outline":
            part, only = part_of(snapshot.screen, within), action.only_interactive
            tree = outline(part, max_depth=action.depth, only_interactive=only)
            return Outcome(details={**facts, "tree": tree})
        case "full":
            header, *lines = full_text(part_of(snapshot.screen, within)).splitlines()
            if action.depth:
                most = (action.depth + 1) * INDENT
                lines = [line for line in lines if len(line) - len(line.lstrip()) < most]
            text, truncated = _lines_that_contain(header, lines, action)
            details = {"text": text, "lines": text.count("\n") + 1, "truncated": truncated}
            return Outcome(details={**facts, **details})
        case "compact":
            return Outcome(details={**facts, **_compact_details(stage, action, within)})


def read_text(stage: Stage) -> Outcome:
    aim = stage.aim()
    node = aim.node
    text = node.shown_text or node.hint_text or node.description
    if not text:
        raise SemanticMismatch(f"{aim} has no text", hint="Aim at the element that shows it.", ref=aim.ref)
    return Outcome(details={"text": text})


def _compact_details(stage: Stage, action: GetUiTree, within: Node | None) -> dict[str, Any]:
    result = stage.screens.render(
        max_lines=MOST_LINES if action.find else action.max_lines,
        max_depth=action.depth,
        only_interactive=action.only_interactive,
        within=within,
    )
    header, *lines = result.text.splitlines()
    text, truncated = (
        _lines_that_contain(header, lines, action) if action.find else (result.text, result.truncated)
    )
    return {"text": text, "refs": result.ref_count, "lines": text.count("\n") + 1, "truncated": truncated}


def _lines_that_contain(header: str, lines: list[str], action: GetUiTree) -> tuple[str, bool]:
    """The lines that contain `find`, at most `max_lines`, with the number of those left out."""
    wanted = (action.find or "").casefold()
    matching = [line for line in lines if wanted in line.casefold()]
    if not matching:
        return f"{header}\n... no line of {len(lines)} contains {action.find!r}", False
    shown = matching[: max(1, action.max_lines - 2)] if len(matching) + 1 > action.max_lines else matching
    cut = [f"... +{len(matching) - len(shown)} more (max_lines)"] if len(shown) < len(matching) else []
    return "\n".join([header, *shown, *cut]), bool(cut)


def part_of(screen: Screen, node: Node | None) -> Screen:
    """A screen of this node and its descendants only; the full one for None."""
    if node is None:
        return screen
    nodes = [
        replace(part, children=[], parent=None, order=part.order - node.order, end=part.end - node.order)
        for part in (node, *screen.inside(node))
    ]
    for part in screen.inside(node):
        copy, around = nodes[part.order - node.order], nodes[require_present(part.parent).order - node.order]
        copy.parent = around
        around.children.append(copy)
    return replace(screen, root=nodes[0], nodes=nodes, active=None)


async def what_changed(stage: Stage, action: WhatChanged) -> Outcome:
    """The difference to the last snapshot, or to a revision."""
    before = stage.screens.last
    since = action.since or stage.screens.revision_name
    snapshot = await stage.refresh_screen()
    stage.run.after = snapshot
    return _changes_since(stage, snapshot, since, before)


def _changes_since(stage: Stage, snapshot: UiSnapshot, since: str, before: UiSnapshot | None) -> Outcome:
    screens = stage.screens
    facts = {"since": since, "revision": screens.revision_name, "fingerprint": snapshot.fingerprint}
    old = (
        before.screen
        if before and since == stage.run.revision_before
        else screens.at_revision(int(since[1:]))
    )
    if old is None:
        note = f"{since} is not known any more; this is the whole screen."
        return Outcome(details={**facts, "note": note, "text": screens.registry.text})
    changes = screens.changes(old, snapshot.screen)
    stage.run.changes = changes
    return Outcome(details={**facts, "text": diff_text(changes, screen_text=screens.registry.text)})


async def screenshot(stage: Stage, action: Screenshot) -> Outcome:
    """A picture in the size that models use, optionally with refs drawn on it.

    Width and height are the screen's, as are all coordinates; the picture is `scale` times that size.
    """
    png = await stage.screens.reader.screenshot()
    snapshot = await stage.refresh_screen() if action.marks else None
    stage.run.after = snapshot
    marks = _ref_marks(stage, snapshot) if snapshot else []
    shown = await asyncio.to_thread(fit_picture, png, marks, action.scale, action.region)
    app = snapshot.screen.package if snapshot else (await stage.screens.reader.foreground()).package
    picture = ScreenSnapshot(
        device_id=stage.surface.name,
        current_app=app,
        width=shown.screen_width,
        height=shown.screen_height,
        screenshot_base64=base64.b64encode(shown.png).decode(),
        captured_at=iso_time(stage.clock.now_ms()),
    )
    part = {"region": list(shown.region)} if shown.region else {}
    return Outcome(details={**picture.to_dict(), "scale": round(shown.scale, 4), **part})


def _ref_marks(stage: Stage, snapshot: UiSnapshot) -> list[Mark]:
    """The visible parts of touchable elements. Keys of the keyboard are left out, since their marks would
    cover it."""
    screen, refs = snapshot.screen, stage.screens.registry.refs
    parts = ((ref, node, visible_part(screen, node)) for ref, node in refs.items())
    return [
        (ref, part)
        for ref, node, part in parts
        if part.area and not is_input_method(node.package_name) and modal_above(screen, node) is None
    ]


async def get_state(stage: Stage) -> Outcome:
    state = await stage.settings.state()
    return Outcome(details={"state": state.details, "text": state.text})


async def get_logs(stage: Stage, action: GetLogs) -> Outcome:
    lines = await stage.surface.need(Logs).log_lines(
        action.package, action.level, action.since, action.max_lines
    )
    return Outcome(details={"lines": len(lines), "logs": "\n".join(lines)})


async def get_shared_prefs(stage: Stage, action: GetSharedPrefs) -> Outcome:
    preferences = await stage.surface.need(AppData).preferences(action.package, action.file)
    return Outcome(details={"package": action.package, "file": action.file, **preferences})


async def query_db(stage: Stage, action: QueryDb) -> Outcome:
    """A statement that writes counts as a dispatch."""
    async with stage.run.dispatching() if action.write else nullcontext():
        rows = await stage.surface.need(AppData).query(
            action.package, action.database, action.query, write=action.write
        )
    return Outcome(details={"package": action.package, "database": action.database, **rows})


LONG_SIDE = 1568
"""Pixels. Models scale larger pictures down themselves, at the sender's cost."""
TAG = 1 / 44
"""Height of a tag's letters, as a share of the picture's width."""
SMALLEST = 11
"""Pixels of a letter that is still legible."""
_COLOURS = {
    "b": (193, 39, 45), "f": (0, 98, 155), "c": (124, 58, 160), "v": (124, 58, 160), "l": (0, 110, 90),
    "i": (150, 80, 0), "s": (90, 90, 90),
}  # fmt: skip
"""By the letter of a ref, to tell nested elements apart. White letters are legible on all of them."""
_OTHER = (193, 39, 45)

Mark = tuple[str, Bounds]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture and how it relates to the screen."""

    png: bytes
    screen_width: int
    screen_height: int
    scale: float
    """Picture pixels per screen pixel."""
    region: Bounds | None = None
    """The part of the screen that is shown; None for all of it."""


def fit_picture(
    png: bytes, marks: Sequence[Mark] = (), scale: float | None = None, region: Sequence[int] | None = None
) -> ShownPicture:
    """Scales by the factor, else to fit `LONG_SIDE`. Marks and region are in screen pixels."""
    from PIL import Image  # noqa: PLC0415  (30 ms that most actions need not pay)

    width, height = size_of(png)
    part = _region_of_picture(region, width, height) if region is not None else Bounds(0, 0, width, height)
    factor = min(1.0, LONG_SIDE / max(part.width, part.height)) if scale is None else scale
    if factor >= 1.0 and not marks and region is None:
        return ShownPicture(png, width, height, 1.0)
    size = max(1, round(part.width * factor)), max(1, round(part.height * factor))
    with opened(png) as picture:
        image: Picture = picture.convert("RGB")
    if region is not None:
        image = image.crop((part.left, part.top, part.right, part.bottom))
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    if marks:
        inside = [(ref, box.intersect(part)) for ref, box in marks]
        _draw_marks(image, [(ref, _scaled_box(box, part, factor)) for ref, box in inside if box.area])
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=6)
    return ShownPicture(written.getvalue(), width, height, factor, part if region else None)


def picture_size(width: int, height: int) -> tuple[int, int]:
    """The size of the picture that models get of such a screen."""
    factor = min(1.0, LONG_SIDE / max(width, height, 1))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _region_of_picture(region: Sequence[int], width: int, height: int) -> Bounds:
    part = Bounds(*region).intersect(Bounds(0, 0, width, height))
    if not part.area:
        raise InvalidAction.at(
            "region",
            f"{list(region)} is not on the screen, which is {width}x{height}",
            hint="Give left, top, right and bottom in pixels of the screen.",
        )
    return part


def _scaled_box(box: Bounds, part: Bounds, factor: float) -> Bounds:
    left, top = part.left, part.top
    moved = (box.left - left, box.top - top, box.right - left, box.bottom - top)
    return Bounds(*(round(edge * factor) for edge in moved))


def _draw_marks(image: Picture, marks: list[Mark]) -> None:
    """Frames first, then tags, so that no frame crosses a tag and no tag covers another."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(max(SMALLEST, image.width * TAG))
    for ref, box in marks:
        edge = (box.left, box.top, max(box.left, box.right - 1), max(box.top, box.bottom - 1))
        draw.rectangle(edge, outline=_colour(ref), width=1 if ref[1] == "s" else 2)
    taken: list[Bounds] = []
    for ref, box in marks:
        place = _tag_place(draw, font, ref, box, taken)
        draw.rectangle((place.left, place.top, place.right - 1, place.bottom - 1), fill=_colour(ref))
        draw.text((place.left + 3, place.top + 1), ref, fill=(255, 255, 255), font=font)
        taken.append(place)


def _colour(ref: str) -> tuple[int, int, int]:
    return _COLOURS.get(ref[1], _OTHER)


def _tag_place(draw: Draw, font: object, ref: str, box: Bounds, taken: list[Bounds]) -> Bounds:
    """A corner of the element; above it if the tag would cover its text."""
    left, _, right, bottom = draw.textbbox((0, 0), ref, font=font)  # type: ignore[arg-type]
    width, height = int(right - left) + 6, int(bottom) + 4
    above = Bounds(box.left, box.top - height, box.left + width, box.top)
    corners = [
        Bounds(box.left, box.top, box.left + width, box.top + height),
        Bounds(box.right - width, box.top, box.right, box.top + height),
        Bounds(box.left, box.bottom - height, box.left + width, box.bottom),
        Bounds(box.right - width, box.bottom - height, box.right, box.bottom),
    ]
    is_low = box.height < 3 * height
    places = [above, *corners] if is_low and above.top >= 0 else [*corners, above]
    free = (place for place in places if not any(place.intersect(other).area for other in taken))
    return next(free, places[0])
