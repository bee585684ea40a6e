"""Observations: what an action that only looks answers with. Nothing here touches the device's state."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from handrail.clock import iso_time
from handrail.engine.look.looks import Look, sure
from handrail.engine.run import Outcome, Stage
from handrail.errors import InvalidAction, SemanticMismatch
from handrail.protocol.envelope import ScreenSnapshot
from handrail.protocol.observe import GetLogs, GetSharedPrefs, GetUiTree, QueryDb, Screenshot, WhatChanged
from handrail.surface.picture import opened, size_of
from handrail.tree.diff import diff_text
from handrail.tree.exports import full_text, outline
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.reach import visible_part
from handrail.tree.select.find import room_of
from handrail.tree.windows import is_input_method, modal_above

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw as Draw

MOST_LINES = 10_000
"""For a search: what is looked for may stand anywhere."""
INDENT = 2
"""Spaces per level of the full text."""


async def get_ui_tree(stage: Stage, action: GetUiTree) -> Outcome:
    """The screen as text with refs, as JSON, or only what changed."""
    before = stage.looks.last
    seen = await stage.look()
    stage.run.after = seen
    if action.since is not None:
        return _since(stage, seen, action.since, before)
    within = room_of(stage.find(action.within).node) if action.within is not None else None
    facts = {"format": action.format, "fingerprint": seen.fingerprint, "revision": stage.looks.revision_name}
    match action.format:
        case "outline":
            part, only = part_of(seen.screen, within), action.only_interactive
            tree = outline(part, max_depth=action.depth, only_interactive=only)
            return Outcome(details={**facts, "tree": tree})
        case "full":
            return Outcome(details={**facts, **_full(part_of(seen.screen, within), action)})
        case "compact":
            return Outcome(details={**facts, **_compact(stage, action, within)})


def read_text(stage: Stage) -> Outcome:
    """What an element says; one without a word is no answer."""
    aim = stage.aim()
    node = aim.node
    text = node.shown_text or node.hint_text or node.description
    if not text:
        raise SemanticMismatch(f"{aim} has no text", hint="Aim at the element that shows it.", ref=aim.ref)
    return Outcome(details={"text": text})


def _compact(stage: Stage, action: GetUiTree, within: Node | None) -> dict[str, Any]:
    result = stage.looks.render(
        max_lines=MOST_LINES if action.find else action.max_lines,
        max_depth=action.depth,
        only_interactive=action.only_interactive,
        within=within,
    )
    header, *lines = result.text.splitlines()
    text, truncated = _chosen(header, lines, action) if action.find else (result.text, result.truncated)
    return {"text": text, "refs": result.ref_count, "lines": text.count("\n") + 1, "truncated": truncated}


def _full(screen: Screen, action: GetUiTree) -> dict[str, Any]:
    header, *lines = full_text(screen).splitlines()
    if action.depth:
        lines = [line for line in lines if _level(line) <= action.depth]
    text, truncated = _chosen(header, lines, action)
    return {"text": text, "lines": text.count("\n") + 1, "truncated": truncated}


def _level(line: str) -> int:
    return (len(line) - len(line.lstrip())) // INDENT


def _chosen(header: str, lines: list[str], action: GetUiTree) -> tuple[str, bool]:
    """The lines that contain the words, as many as are wanted; what is cut is counted."""
    wanted = (action.find or "").casefold()
    found = [line for line in lines if wanted in line.casefold()]
    if not found:
        return f"{header}\n... no line of {len(lines)} contains {action.find!r}", False
    kept = found[: max(1, action.max_lines - 2)] if len(found) + 1 > action.max_lines else found
    cut = [f"... +{len(found) - len(kept)} more (max_lines)"] if len(kept) < len(found) else []
    return "\n".join([header, *kept, *cut]), bool(cut)


def part_of(screen: Screen, node: Node | None) -> Screen:
    """A screen that is only this element and its inside; the whole one for None."""
    if node is None:
        return screen
    nodes = [
        replace(one, children=[], parent=None, order=one.order - node.order, end=one.end - node.order)
        for one in (node, *screen.inside(node))
    ]
    for one in screen.inside(node):
        copy, around = nodes[one.order - node.order], nodes[sure(one.parent).order - node.order]
        copy.parent = around
        around.children.append(copy)
    return replace(screen, root=nodes[0], nodes=nodes, active=None)


async def what_changed(stage: Stage, action: WhatChanged) -> Outcome:
    """The difference to the last look, or to a named revision."""
    before = stage.looks.last
    since = action.since or stage.looks.revision_name
    seen = await stage.look()
    stage.run.after = seen
    return _since(stage, seen, since, before)


def _since(stage: Stage, seen: Look, since: str, before: Look | None) -> Outcome:
    looks = stage.looks
    facts = {"since": since, "revision": looks.revision_name, "fingerprint": seen.fingerprint}
    old = (
        before.screen if before and since == stage.run.revision_before else looks.at_revision(int(since[1:]))
    )
    if old is None:
        note = f"{since} is not known any more; this is the whole screen."
        return Outcome(details={**facts, "note": note, "text": looks.registry.text})
    changes = looks.changes(old, seen.screen)
    stage.run.changes = changes
    return Outcome(details={**facts, "text": diff_text(changes, screen_text=looks.registry.text)})


async def screenshot(stage: Stage, action: Screenshot) -> Outcome:
    """A picture as large as models use it, with refs drawn onto it if asked for.

    Width and height are the screen's, in whose pixels all coordinates are; the picture is `scale` times that.
    """
    png = await stage.looks.eyes.screenshot()
    seen = await stage.look() if action.marks else None
    stage.run.after = seen
    marks = _marks(stage, seen) if seen else []
    shown = await asyncio.to_thread(show, png, marks, action.scale, action.region)
    app = seen.screen.package if seen else (await stage.looks.eyes.foreground()).package
    snapshot = ScreenSnapshot(
        device_id=stage.surface.name,
        current_app=app,
        width=shown.screen_width,
        height=shown.screen_height,
        screenshot_base64=base64.b64encode(shown.png).decode(),
        captured_at=iso_time(stage.clock.now_ms()),
    )
    part = {"region": list(shown.region)} if shown.region else {}
    return Outcome(details={**snapshot.to_dict(), "scale": round(shown.scale, 4), **part})


def _marks(stage: Stage, seen: Look) -> list[Mark]:
    """What a finger could reach, by its visible part; the keys of a keyboard would only hide it."""
    screen, refs = seen.screen, stage.looks.registry.refs
    parts = ((ref, node, visible_part(screen, node)) for ref, node in refs.items())
    return [
        (ref, part)
        for ref, node, part in parts
        if part.area and not is_input_method(node.package_name) and modal_above(screen, node) is None
    ]


async def get_state(stage: Stage) -> Outcome:
    """The device's general state as data and as one paragraph."""
    state = await stage.settings.state()
    return Outcome(details={"state": state.details, "text": state.text})


async def get_logs(stage: Stage, action: GetLogs) -> Outcome:
    """The newest lines of the log."""
    lines = await stage.logs.log_lines(action.package, action.level, action.since, action.max_lines)
    return Outcome(details={"lines": len(lines), "logs": "\n".join(lines)})


async def get_shared_prefs(stage: Stage, action: GetSharedPrefs) -> Outcome:
    """A preferences file as typed values and as it is written."""
    found = await stage.data.preferences(action.package, action.file)
    return Outcome(details={"package": action.package, "file": action.file, **found})


async def query_db(stage: Stage, action: QueryDb) -> Outcome:
    """Rows of an app's database. A statement that writes is a touch like any other."""
    async with stage.run.dispatching() if action.write else nullcontext():
        rows = await stage.data.query(action.package, action.database, action.query, write=action.write)
    return Outcome(details={"package": action.package, "database": action.database, **rows})


LONG_SIDE = 1568
"""Pixels; larger pictures are scaled down by the models themselves, at the sender's cost."""
TAG = 1 / 44
"""Height of a tag's letters, as a share of the picture's width."""
SMALLEST = 11
"""Pixels of a letter that can still be read."""
_COLOURS = {
    "b": (193, 39, 45), "f": (0, 98, 155), "c": (124, 58, 160), "v": (124, 58, 160), "l": (0, 110, 90),
    "i": (150, 80, 0), "s": (90, 90, 90),
}  # fmt: skip
"""By the letter of a ref: nested elements are told apart. All of them carry white letters."""
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
    """The part of the screen that is shown, where it is not all of it."""


def show(
    png: bytes,
    marks: Sequence[Mark] = (),
    scale: float | None = None,
    region: Sequence[int] | None = None,
) -> ShownPicture:
    """By the given factor, else so that the long side fits; marks and region are in screen pixels."""
    from PIL import Image  # noqa: PLC0415  (30 ms that most actions need not pay)

    width, height = size_of(png)
    part = _on_picture(region, width, height) if region is not None else Bounds(0, 0, width, height)
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
        _draw(image, [(ref, _scaled(_moved(box, part), factor)) for ref, box in inside if box.area])
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=6)
    return ShownPicture(written.getvalue(), width, height, factor, part if region else None)


def picture_size(width: int, height: int) -> tuple[int, int]:
    """Of what models are shown of a screen of this size."""
    factor = min(1.0, LONG_SIDE / max(width, height, 1))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _on_picture(region: Sequence[int], width: int, height: int) -> Bounds:
    part = Bounds(*region).intersect(Bounds(0, 0, width, height))
    if not part.area:
        raise InvalidAction(
            f"region: {list(region)} is not on the screen, which is {width}x{height}",
            path="region",
            hint="Give left, top, right and bottom in pixels of the screen.",
        )
    return part


def _moved(box: Bounds, part: Bounds) -> Bounds:
    return Bounds(box.left - part.left, box.top - part.top, box.right - part.left, box.bottom - part.top)


def _scaled(box: Bounds, factor: float) -> Bounds:
    return Bounds(*(round(edge * factor) for edge in box))


def _draw(image: Picture, marks: list[Mark]) -> None:
    """Frames first, then the tags: no frame crosses a tag, and no tag lies upon another."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(max(SMALLEST, image.width * TAG))
    for ref, box in marks:
        edge = (box.left, box.top, max(box.left, box.right - 1), max(box.top, box.bottom - 1))
        draw.rectangle(edge, outline=_colour(ref), width=1 if ref[1] == "s" else 2)
    taken: list[Bounds] = []
    for ref, box in marks:
        taken.append(_tag(draw, font, ref, _place(draw, font, ref, box, taken)))


def _colour(ref: str) -> tuple[int, int, int]:
    return _COLOURS.get(ref[1], _OTHER)


def _place(draw: Draw, font: object, ref: str, box: Bounds, taken: list[Bounds]) -> Bounds:
    """A corner of the element; above it where the tag would hide what it says."""
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


def _tag(draw: Draw, font: object, ref: str, place: Bounds) -> Bounds:
    draw.rectangle((place.left, place.top, place.right - 1, place.bottom - 1), fill=_colour(ref))
    draw.text((place.left + 3, place.top + 1), ref, fill=(255, 255, 255), font=font)  # type: ignore[arg-type]
    return place
