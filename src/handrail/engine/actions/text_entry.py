"""`type_text` and `clear_text`: focus the field, enter text, read it back. Secrets are filled in last."""

from __future__ import annotations

from handrail.engine.actions.expect import wait_until
from handrail.engine.conditions import Holds
from handrail.engine.resolve import Aim, follow
from handrail.engine.run import Outcome, Stage, fresh_snapshot
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot, required
from handrail.engine.verify import field_contains
from handrail.errors import (
    DeviceError,
    ElementNotInteractable,
    SemanticMismatch,
    Timeout,
    Unsupported,
    VerificationFailed,
)
from handrail.protocol.device import ClearText, TypeText
from handrail.protocol.envelope import Verification
from handrail.screen.node import Node, Screen, ScreenPoint
from handrail.screen.reach import tap_point
from handrail.screen.text import describe, name_of
from handrail.surface.gesture import tap
from handrail.surface.values import Typed

FOCUS_MS = 3_000.0
"""How long a tapped field may take to get the focus: a search bar may open another screen first."""
SLOW_MS = 150.0
"""A channel that waits for idle and took longer has already settled: its read-back is enough."""


async def type_text(stage: Stage, action: TypeText) -> Outcome:
    aimed = await _field(stage)
    filled = await stage.fill(action.text)
    text = filled.text
    field = await _focus(stage, aimed)
    expected = f"{len(text)} characters" if field.password and not filled.names else action.text
    typed = await (_replace(stage, field, text) if action.clear else stage.input.type_text(text))
    if typed.arrived is not False and action.submit:
        await stage.input.key("enter")
    is_told = not (field.password or typed.is_hidden or typed.after is None)
    if action.clear and is_told and typed.after != stage.input.reads_back_as(text):
        # The text arrived, but the field still has other text.
        typed = Typed(typed.way, typed.before, typed.after, False, typed.screen)
    return _outcome(stage, field, typed, expected, submitted=action.submit)


async def clear_text(stage: Stage, _: ClearText) -> Outcome:
    field = await _focus(stage, await _field(stage))
    typed = await stage.input.clear_text()
    return _outcome(stage, field, typed, "0 characters" if field.password else "", submitted=False)


async def _field(stage: Stage) -> Node:
    """Raises before anything is dispatched if the field can't be typed into."""
    aim = stage.run.aims.get("target")
    if aim is not None:
        return _aimed(stage, aim)
    field = _focused(stage.before.screen) or _focused((await fresh_snapshot(stage)).screen)
    if field is None:
        raise ElementNotInteractable(
            "No field has the focus, and no target was given",
            hint="Tap a field first, or give `target`.",
            reason="nothing focused",
        )
    return field


def _aimed(stage: Stage, aim: Aim) -> Node:
    """The target itself, the only field in it, or a search bar that opens one."""
    touched, screen = aim.touched, stage.before.screen
    fields = [node for node in (touched, *screen.inside(touched)) if node.role == "text_field"]
    # A search bar is known by its id, which is not translated, or by its words.
    words = f"{touched.id_tail} {name_of(touched)}".lower()
    if len(fields) != 1 and not (touched.clickable and "search" in words):
        raise SemanticMismatch(
            f"{aim} is not a text field",
            hint="Aim at a field: its ref begins with @f. Tap whatever opens the field first.",
            ref=aim.ref,
        )
    field = fields[0] if len(fields) == 1 else touched
    _point(stage, field)
    return field


def _point(stage: Stage, field: Node) -> ScreenPoint:
    return tap_point(stage.before.screen, field, stage.screens.registry.ref_of)


def _focused(screen: Screen) -> Node | None:
    """The innermost one of the topmost window, which receives the input."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return fields[-1] if fields else None


async def _focus(stage: Stage, field: Node) -> Node:
    """Taps the field, waits until it or a field that opened for it has the focus, and returns that."""
    aim = stage.run.aims.get("target")
    if aim is None or field.focused:
        return field
    before, screens = stage.before.screen, stage.screens
    earlier = _focused(before)

    def has_focus(snapshot: UiSnapshot) -> Holds:
        focused = _focused(snapshot.screen)
        node = follow(screens, before, snapshot.screen, field)
        stayed = earlier is not None and follow(screens, before, snapshot.screen, earlier) is focused
        took_it = focused is node if node and node.role == "text_field" else not stayed
        return Holds(focused is not None and took_it, "the focus", focused)

    point = _point(stage, field)
    await stage.input.perform(tap(point))
    snapshot, verdict = await wait_until(screens, stage.clock, has_focus, FOCUS_MS)
    screens.adopt(snapshot)
    if not verdict.met:
        other = f"; {describe(verdict.observed)} has it" if verdict.observed is not None else ""
        raise ElementNotInteractable(
            f"{aim} did not get the focus when it was tapped{other}", reason="no focus", ref=aim.ref
        )
    return required(_focused(snapshot.screen))


async def _replace(stage: Stage, field: Node, text: str) -> Typed:
    """The field is cleared only if the text can be typed. If typing fails and leaves it empty, the old text
    is put back."""
    await stage.input.require_way(text)
    cleared = await _clear(stage, field)
    try:
        typed = await stage.input.type_text(text)
    except (DeviceError, Timeout, Unsupported) as error:
        if error.details.get("delivery") == "not_delivered":
            error.details["former_text"] = await _give_back(stage, field, cleared)
        raise
    if typed.arrived is False and typed.after == "":
        stage.run.details["former_text"] = await _give_back(stage, field, cleared)
    return typed


async def _give_back(stage: Stage, field: Node, cleared: Typed) -> str:
    """A placeholder was not typed by anybody, and hidden text can't be typed again."""
    former = cleared.before
    if not former or cleared.arrived is not True or cleared.is_hidden or field.password:
        return "not known"
    try:
        back = await stage.input.type_text(former)
    except (DeviceError, Timeout, Unsupported):
        return "lost"
    return "put back" if back.arrived else "lost"


async def _clear(stage: Stage, field: Node) -> Typed:
    """Raises if the old text can't be removed, so nothing is appended to it."""
    cleared = await stage.input.clear_text()
    if cleared.arrived is False:
        observed = _observed(cleared, field)
        stage.run.verification = Verification(
            mode="built_in", expected="", observed=observed, outcome="failed"
        )
        raise VerificationFailed(
            "The field could not be cleared, so nothing was typed",
            expected="",
            observed=observed,
            way=cleared.way,
        )
    return cleared


def _observed(typed: Typed, field: Node) -> str | None:
    """None for a field with hidden text: even its length is not reported."""
    if typed.is_hidden or not field.password:
        return typed.after
    return f"{len(typed.after or '')} characters"


def _outcome(stage: Stage, field: Node, typed: Typed, expected: str, *, submitted: bool) -> Outcome:
    stage.run.details |= {"way": typed.way} | ({"password": True} if field.password else {})
    if typed.arrived is None:
        return Outcome()
    observed = expected if typed.is_hidden and typed.arrived else _observed(typed, field)
    verdict = Verification(
        mode="built_in",
        expected=expected,
        observed=observed,
        outcome="verified" if typed.arrived else "failed",
    )
    if not typed.arrived:
        failure = VerificationFailed(
            "The field does not contain the typed text", expected=expected, observed=observed, way=typed.way
        )
        return Outcome(verification=verdict, failure=failure)
    if not submitted and _took_read_back(stage, typed):
        return Outcome(verification=verdict, settle="none")
    keeps = not (submitted or field.password or typed.is_hidden)
    aim = stage.run.aims.get("target")
    return Outcome(
        proof=field_contains(stage.before, aim, typed.after) if keeps else None, verification=verdict
    )


def _took_read_back(stage: Stage, typed: Typed) -> bool:
    """On a slow device the read-back becomes the snapshot after the action, which saves one capture."""
    last = stage.screens.last
    if typed.screen is None or last is None or not stage.screens.reader.waits_for_idle:
        return False
    took = last.ended_ms - last.began_ms
    if took < SLOW_MS:
        return False
    now = stage.clock.monotonic_ms()
    stage.run.after = UiSnapshot(ScreenAnalysis(typed.screen), now - took, now)
    stage.screens.adopt(stage.run.after)
    return True
