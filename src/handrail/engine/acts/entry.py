"""Text entry: a field that takes the focus, text that reads back, secrets filled in at the last moment."""

from __future__ import annotations

from handrail.engine.acts.expects import wait_until
from handrail.engine.look.conditions import Holds
from handrail.engine.look.looks import Look, Reading, sure
from handrail.engine.look.resolve import Aim, follow
from handrail.engine.look.verify import field_says
from handrail.engine.run import Outcome, Stage, fresh
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
from handrail.surface.values import Typed
from handrail.tree.mention import mention, name_of
from handrail.tree.node import Node, Screen, ScreenPoint
from handrail.tree.reach import tap_point

FOCUS_MS = 3_000.0
"""How long a tapped field may take to get the focus: a search bar may open a screen of its own."""
SLOW_MS = 150.0
"""A channel that waits for idle and takes longer has seen the quiet itself: its read-back is enough."""


async def type_text(stage: Stage, action: TypeText) -> Outcome:
    """Focus, clear, type, read back, submit."""
    aimed = await _field(stage)
    filled = await stage.fill(action.text)
    text = filled.text
    field = await _focus(stage, aimed)
    said = f"{len(text)} characters" if field.password and not filled.names else action.text
    typed = await (_replace(stage, field, text) if action.clear else stage.hands.type_text(text))
    if typed.arrived is not False and action.submit:
        await stage.hands.key("enter")
    is_told = not (field.password or typed.is_hidden or typed.after is None)
    if action.clear and is_told and typed.after != stage.hands.reads_back_as(text):
        typed = _failed(typed)  # it arrived, and something else is there too
    return _outcome(stage, field, typed, said, submitted=action.submit)


async def clear_text(stage: Stage, _: ClearText) -> Outcome:
    """Focus and empty, whatever the length."""
    field = await _focus(stage, await _field(stage))
    typed = await stage.hands.clear_text()
    return _outcome(stage, field, typed, "0 characters" if field.password else "", submitted=False)


async def _field(stage: Stage) -> Node:
    """The field that is meant. Whatever forbids typing into it is said before anything is dispatched."""
    aim = stage.run.aims.get("target")
    if aim is not None:
        return _aimed(stage, aim)
    field = _focused(stage.before.screen) or _focused((await fresh(stage)).screen)
    if field is None:
        raise ElementNotInteractable(
            "No field has the focus, and no target was given",
            hint="Tap a field first, or give `target`.",
            reason="nothing focused",
        )
    return field


def _aimed(stage: Stage, aim: Aim) -> Node:
    """The field itself, the only one in what was aimed at, or what is known to open one: a search bar."""
    touched, screen = aim.touched, stage.before.screen
    fields = [node for node in (touched, *screen.inside(touched)) if node.role == "text_field"]
    if len(fields) != 1 and not _opens_search(touched):
        raise SemanticMismatch(
            f"{aim} is no field to type into",
            hint="Aim at a field: its ref begins with @f. What only opens one has to be tapped first.",
            ref=aim.ref,
        )
    field = fields[0] if len(fields) == 1 else touched
    _point(stage, field)
    return field


def _opens_search(node: Node) -> bool:
    """By its id, which is not translated, or by its words."""
    return node.clickable and ("search" in node.id_tail.lower() or "search" in name_of(node).lower())


def _point(stage: Stage, field: Node) -> ScreenPoint:
    return tap_point(stage.before.screen, field, stage.looks.registry.ref_of)


def _focused(screen: Screen) -> Node | None:
    """The innermost of the topmost window, as input goes there."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return fields[-1] if fields else None


async def _focus(stage: Stage, field: Node) -> Node:
    """Tap, and look until this field has the focus, or one of what opened for it; the field that has it."""
    aim = stage.run.aims.get("target")
    if aim is None or field.focused:
        return field
    before, looks = stage.before.screen, stage.looks
    earlier = _focused(before)

    def has_focus(seen: Look) -> Holds:
        focused = _focused(seen.screen)
        meant = follow(looks, before, seen.screen, field)
        stayed = earlier is not None and follow(looks, before, seen.screen, earlier) is focused
        took_it = focused is meant if meant and meant.role == "text_field" else not stayed
        return Holds(focused is not None and took_it, "the focus", focused)

    point = _point(stage, field)
    await stage.hands.tap(*point)
    seen, verdict = await wait_until(looks, stage.clock, has_focus, FOCUS_MS)
    looks.take(seen)
    if not verdict.met:
        other = f"; {mention(verdict.observed)} has it" if verdict.observed is not None else ""
        raise ElementNotInteractable(
            f"{aim} did not take the focus when it was tapped{other}", reason="no focus", ref=aim.ref
        )
    return sure(_focused(seen.screen))


async def _replace(stage: Stage, field: Node, text: str) -> Typed:
    """A field is not emptied for a text that nobody can type. Where it fails after all and the field stayed
    empty, what it said before is put back.
    """
    await stage.hands.require_way(text)
    cleared = await _clear(stage, field)
    try:
        typed = await stage.hands.type_text(text)
    except (DeviceError, Timeout, Unsupported) as error:
        if error.details.get("delivery") == "not_delivered":
            error.details["former_text"] = await _give_back(stage, field, cleared)
        raise
    if typed.arrived is False and typed.after == "":
        stage.run.details["former_text"] = await _give_back(stage, field, cleared)
    return typed


async def _give_back(stage: Stage, field: Node, cleared: Typed) -> str:
    """A placeholder is no text of a person, and what may not be told can't be typed again."""
    former = cleared.before
    if not former or cleared.arrived is not True or cleared.is_hidden or field.password:
        return "not known"
    try:
        back = await stage.hands.type_text(former)
    except (DeviceError, Timeout, Unsupported):
        return "lost"
    return "put back" if back.arrived else "lost"


async def _clear(stage: Stage, field: Node) -> Typed:
    """Nothing is typed behind a text that would not go."""
    cleared = await stage.hands.clear_text()
    if cleared.arrived is False:
        observed = _told(cleared, field)
        stage.run.verification = Verification(
            mode="built_in", expected="", observed=observed, outcome="failed"
        )
        raise VerificationFailed(
            "The field could not be emptied, so nothing was typed",
            expected="",
            observed=observed,
            way=cleared.way,
        )
    return cleared


def _failed(typed: Typed) -> Typed:
    return Typed(typed.way, typed.before, typed.after, False, typed.screen)


def _told(typed: Typed, field: Node) -> str | None:
    """Of a field that may not be told, not even how long its text is."""
    if typed.is_hidden or not field.password:
        return typed.after
    return f"{len(typed.after or '')} characters"


def _outcome(stage: Stage, field: Node, typed: Typed, said: str, *, submitted: bool) -> Outcome:
    stage.run.details |= {"way": typed.way} | ({"password": True} if field.password else {})
    if typed.arrived is None:
        return Outcome()
    observed = said if typed.is_hidden and typed.arrived else _told(typed, field)
    verdict = Verification(
        mode="built_in",
        expected=said,
        observed=observed,
        outcome="verified" if typed.arrived else "failed",
    )
    if not typed.arrived:
        failure = VerificationFailed(
            "The field does not say what was typed", expected=said, observed=observed, way=typed.way
        )
        return Outcome(verification=verdict, failure=failure)
    if not submitted and _took_read_back(stage, typed):
        return Outcome(verification=verdict, settle="none")
    keeps = not (submitted or field.password or typed.is_hidden)
    aim = stage.run.aims.get("target")
    return Outcome(proof=field_says(stage.before, aim, typed.after) if keeps else None, verification=verdict)


def _took_read_back(stage: Stage, typed: Typed) -> bool:
    """Make the read-back of a slow phone the screen afterwards: as good as a settle, and one look less."""
    last = stage.looks.last
    if typed.screen is None or last is None or not stage.looks.eyes.waits_for_idle:
        return False
    took = last.ended_ms - last.began_ms
    if took < SLOW_MS:
        return False
    now = stage.clock.monotonic_ms()
    stage.run.after = Look(Reading(typed.screen), now - took, now)
    stage.looks.take(stage.run.after)
    return True
