"""Actions that change nothing: reads, pictures, waits, checks, and the question to a person."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from handrail.clock import Clock, iso_time
from handrail.engine.conditions import NO_ELEMENT, ConditionResult, check_condition, fulfilling_node
from handrail.engine.resolve import aim_at
from handrail.engine.run import Outcome, Stage
from handrail.engine.settle import SettleLoop
from handrail.engine.snapshot import ScreenTracker, UiSnapshot, require_present
from handrail.engine.verify import verified_by_read_back
from handrail.errors import (
    ActionRejected,
    AssertionFailed,
    DeviceOffline,
    ExpectStateMismatch,
    HandrailError,
    IdleTimeout,
    InvalidAction,
    SemanticMismatch,
    Timeout,
)
from handrail.protocol import observe
from handrail.protocol.envelope import ScreenSnapshot, Verification
from handrail.protocol.target import Condition, Selector, StateIs, TextIs
from handrail.screen.diff import diff_text
from handrail.screen.exports import full_text, outline
from handrail.screen.node import Bounds, Node, Screen
from handrail.screen.reach import visible_part
from handrail.screen.select import candidate_list, did_you_mean, nearest_nodes, search_scope
from handrail.screen.windows import is_input_method, modal_above
from handrail.surface.capabilities import AppData, LogAccess
from handrail.surface.picture import opened, size_of
from handrail.waiting import Deadline, Expired

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw as Draw

MOST_LINES = 10_000
"""A search looks at all lines."""
INDENT = 2
"""Spaces per level of the full text."""


async def get_ui_tree(stage: Stage, action: observe.GetUiTree) -> Outcome:
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
    text = node.masked_text or node.hint_text or node.description
    if not text:
        raise SemanticMismatch(f"{aim} has no text", hint="Aim at the element that shows it.", ref=aim.ref)
    return Outcome(details={"text": text})


def _compact_details(stage: Stage, action: observe.GetUiTree, within: Node | None) -> dict[str, Any]:
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


def _lines_that_contain(header: str, lines: list[str], action: observe.GetUiTree) -> tuple[str, bool]:
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


async def what_changed(stage: Stage, action: observe.WhatChanged) -> Outcome:
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


async def screenshot(stage: Stage, action: observe.Screenshot) -> Outcome:
    """A picture in the size that models use, optionally with refs drawn on it.

    Width and height are the screen's, as are all coordinates; the picture is `scale` times that size.
    """
    png = await stage.screens.reader.screenshot()
    snapshot = await stage.refresh_screen() if action.marks else None
    stage.run.after = snapshot
    marks: list[Mark] = []
    if snapshot:  # the visible parts of what can be touched, but for the keyboard: marks would cover its keys
        screen = snapshot.screen
        marks = [
            (ref, box)
            for ref, node in stage.screens.registry.refs.items()
            if (box := visible_part(screen, node)).area
            and not is_input_method(node.package_name)
            and modal_above(screen, node) is None
        ]
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


async def get_state(stage: Stage) -> Outcome:
    state = await stage.settings.state()
    return Outcome(details={"state": state.details, "text": state.text})


async def get_logs(stage: Stage, action: observe.GetLogs) -> Outcome:
    lines = await stage.surface.need(LogAccess).log_lines(
        action.package, action.level, action.since, action.max_lines
    )
    return Outcome(details={"lines": len(lines), "logs": "\n".join(lines)})


async def get_shared_prefs(stage: Stage, action: observe.GetSharedPrefs) -> Outcome:
    preferences = await stage.surface.need(AppData).preferences(action.package, action.file)
    return Outcome(details={"package": action.package, "file": action.file, **preferences})


async def query_db(stage: Stage, action: observe.QueryDb) -> Outcome:
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
    part = Bounds(0, 0, width, height)
    if region is not None and not (part := part.intersect(Bounds(*region))).area:
        problem = f"{list(region)} is not on the screen, which is {width}x{height}"
        hint = "Give left, top, right and bottom in pixels of the screen."
        raise InvalidAction.at("region", problem, hint=hint)
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


async def _capture_until_met(
    stage: Stage,
    check: Check,
    timeout_ms: float,
    condition: Condition | None = None,
    every_ms: int | None = None,
) -> tuple[Outcome, ConditionResult]:
    """Captures snapshots until the check holds, and adopts the last one in any case.

    The node that fulfils the condition becomes the resolved target of the envelope.
    """
    with stage.run.phase("watch"):
        snapshot, verdict = await wait_until(stage.screens, stage.clock, check, timeout_ms, every_ms)
    stage.screens.adopt(snapshot)
    stage.run.after = snapshot
    if condition is not None and condition.subject is not None and verdict.met:
        node = fulfilling_node(condition, snapshot.screen, stage.screens.registry)
        if node is not None:
            stage.run.aims["target"] = aim_at(stage.screens, condition.subject, node)
    verification = verdict.verification("explicit")
    stage.run.verification = verification
    return Outcome(verification=verification), verdict


async def wait_for(stage: Stage, action: observe.WaitFor) -> Outcome:
    """Compares with the last snapshot, so a change that happened before the call counts."""
    before = stage.screens.last or await stage.refresh_screen()

    def check(snapshot: UiSnapshot) -> ConditionResult:
        return check_condition(action.condition, snapshot, stage.screens.refs_on(snapshot), before)

    outcome, verdict = await _capture_until_met(
        stage, check, action.timeout_ms, action.condition, action.every_ms
    )
    if not verdict.met:
        raise Timeout(
            _unmet_message(str(action.condition), verdict, action.timeout_ms),
            expected=verdict.expected,
            observed=verdict.observed,
        )
    return outcome


async def wait_for_stable(stage: Stage, action: observe.WaitForStable) -> Outcome:
    """Stable and not loading, by the same rules as after an action."""
    with stage.run.phase("settle"):
        limit = action.timeout_ms
        settled = await SettleLoop(stage.screens, stage.clock, None, budget_ms=limit, loading_ms=limit).wait()
    stage.run.settled = settled.report
    stage.screens.adopt(settled.snapshot)
    stage.run.after = settled.snapshot
    if settled.report.reason in ("budget", "loading"):
        why = f"still loading: {settled.report.loading}" if settled.report.loading else "it is still moving"
        raise IdleTimeout(f"The screen did not come to rest within {action.timeout_ms} ms; {why}")
    return Outcome(verification=verified_by_read_back(settled.report.reason))


Expect = (
    observe.ExpectVisible
    | observe.ExpectAbsent
    | observe.ExpectText
    | observe.ExpectState
    | observe.ExpectScreen
    | observe.ExpectApp
)


async def expect(stage: Stage, action: Expect) -> Outcome:
    if isinstance(action, observe.ExpectScreen) and action.activity is not None:
        return await _expect_activity(stage, action, action.activity)
    condition = _condition_of_check(action)

    def check(snapshot: UiSnapshot) -> ConditionResult:
        return check_condition(condition, snapshot, stage.screens.refs_on(snapshot), None)

    outcome, verdict = await _capture_until_met(stage, check, action.timeout_ms, condition)
    if verdict.met:
        return outcome
    if not isinstance(action, observe.ExpectVisible | observe.ExpectAbsent | observe.ExpectText):
        raise _unmet_error(ExpectStateMismatch, str(condition), verdict, action.timeout_ms)
    similar: list[Node] = []
    if verdict.observed in ("not visible", NO_ELEMENT):
        target = action.target
        words = (target.text or target.text_contains) if isinstance(target, Selector) else None
        similar = nearest_nodes(
            require_present(stage.screens.last).screen, words or "", stage.screens.registry
        )
    raise _unmet_error(
        AssertionFailed,
        str(condition),
        verdict,
        action.timeout_ms,
        hint=did_you_mean(similar, stage.screens.registry),
        candidates=candidate_list(similar, stage.screens.registry) or None,
    )


def _condition_of_check(action: Expect) -> Condition:
    match action:
        case observe.ExpectVisible():
            return Condition(visible=action.target)
        case observe.ExpectAbsent():
            return Condition(absent=action.target)
        case observe.ExpectText(target=target, equals=equals, contains=contains):
            return Condition(text=TextIs(target=target, equals=equals, contains=contains))
        case observe.ExpectState(target=target, property=name, value=value):
            return Condition(state=StateIs(target=target, property=name, value=value))
        case observe.ExpectScreen():
            return Condition(fingerprint=action.fingerprint)
        case observe.ExpectApp():
            return Condition(app=action.package)


async def _expect_activity(stage: Stage, action: observe.ExpectScreen, activity: str) -> Outcome:
    async def check(_: UiSnapshot) -> ConditionResult:
        front = await stage.screens.reader.foreground()
        return ConditionResult(is_activity(front.activity, activity), activity, front.activity)

    outcome, verdict = await _capture_until_met(stage, check, action.timeout_ms)
    if not verdict.met:
        raise _unmet_error(ExpectStateMismatch, f"the screen is {activity}", verdict, action.timeout_ms)
    return outcome


def is_activity(shown: str, wanted: str) -> bool:
    """Accepts the full name, its last parts, or `package/.Class`."""
    package, slash, name = wanted.partition("/")
    full_name = (package + name if name.startswith(".") else name) if slash else wanted
    return shown == full_name or (not slash and f".{shown}".endswith(f".{full_name.removeprefix('.')}"))


def _unmet_error(
    failure: type[HandrailError], wanted: str, verdict: ConditionResult, waited_ms: int, **details: Any
) -> HandrailError:
    message = _unmet_message(wanted, verdict, waited_ms)
    return failure(message, expected=verdict.expected, actual=verdict.observed, **details)


def _unmet_message(wanted: str, verdict: ConditionResult, waited_ms: int) -> str:
    waited = f"Waited {waited_ms / 1000:g} s" if waited_ms else "Looked once"
    return f"Expected: {wanted}. Found: {verdict.observed_text}. {waited}."


async def request_human_auth(stage: Stage, action: observe.RequestHumanAuth) -> Outcome:
    """Waits for the answer. Secret data in it is only a placeholder."""
    answer = await stage.run.session.ask_person(stage, action)
    if not answer.approved:
        why = "The person denied it" if answer.decision == "denied" else "No one answered in time"
        raise ActionRejected(why, approval=answer.id)
    verification = Verification(mode="explicit", expected="approved", observed="approved", outcome="verified")
    return Outcome(details={"approved": True, "data": answer.data}, verification=verification)


FIRST_GAP_MS = 20.0
LONGEST_GAP_MS = 200.0

Check = Callable[[UiSnapshot], ConditionResult | Awaitable[ConditionResult]]

LAST_LOOK_MS = 5_000.0
"""Extra time for a snapshot that began in time; a device that needs more is offline."""


async def wait_until(
    screens: ScreenTracker, clock: Clock, check: Check, timeout_ms: float, every_ms: int | None = None
) -> tuple[UiSnapshot, ConditionResult]:
    """Captures snapshots until the check holds or the time is over. Returns the last one and its result."""
    deadline = clock.monotonic_ms() + timeout_ms
    gap = FIRST_GAP_MS
    last: UiSnapshot | None = None
    while True:
        left = max(0.0, deadline - clock.monotonic_ms()) + LAST_LOOK_MS
        try:
            async with Deadline(clock, left):
                snapshot = await screens.capture()
        except Expired:
            raise DeviceOffline(
                f"The screen could not be read for {left:.0f} ms",
                hint="Check `handrail devices`; wake the phone.",
            ) from None
        if (
            last is not None and snapshot.screen is last.screen
        ):  # unchanged, so it is worth fetching its labels
            await screens.fetch_labels(snapshot)
        verdict = check(snapshot)
        if isinstance(verdict, Awaitable):
            verdict = await verdict
        now = clock.monotonic_ms()
        if verdict.met or now >= deadline:
            return snapshot, verdict
        gap = (
            FIRST_GAP_MS
            if last is None or snapshot.screen is not last.screen
            else min(gap * 2, LONGEST_GAP_MS)
        )
        last = snapshot
        await clock.sleep_ms(min(every_ms or gap, deadline - now))
