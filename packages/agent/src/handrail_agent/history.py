"""A run's steps in words: how each is written down, and what a model is told of its own past, by rule. Also
where a killed run goes on.

The device's words in it are quoted and cut: they are data. What nobody may read is masked here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from handrail.clock import iso_time
from handrail.dialects.interaction import sentence_without_secret
from handrail.engine.envelope_text import envelope_text
from handrail.engine.snapshot import UiSnapshot
from handrail.errors import InvalidAction
from handrail.journal import Journal
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.device import ClearText, TypeText
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import Finish, GetUiTree, RequestHumanAuth, Screenshot
from handrail.protocol.read import action_from
from handrail.safety.approval_request import MASKED
from handrail.screen.node import Screen
from handrail.screen.text import clean, cut, quoted
from handrail_agent.model import Usage
from handrail_agent.phone import ScreenLook
from handrail_agent.run_data import GOOD, AgentStep, RunFolder, StepOutcome

if TYPE_CHECKING:
    from handrail_agent.prompt import ModelAnswer

LAST = 8
"""Steps with a line of their own."""
_LABEL = 60
_LINE = 240
_THOUGHT = 120
_APPS = 6
_ANSWER = 6_000
_WORDS: dict[StepOutcome, str] = {
    "verified": "verified",
    "changed": "the screen changed",
    "unchanged": "nothing changed on the screen",
    "done": "done",
}


def came_of(action: AnyAction, envelope: Envelope) -> StepOutcome:
    if not envelope.success:
        return "refused" if envelope.failure_code == "ACTION_REJECTED" else "failed"
    if envelope.verification is not None and envelope.verification.outcome == "verified":
        return "verified"
    if action.effect in ("read", "desk"):
        return "done"
    return "changed" if envelope.changes else "unchanged"


def line_of(action: AnyAction, envelope: Envelope) -> str:
    """`Tapped "Save": the screen changed`, `Typed "Ada": verified`, `Tapped "Pay": ACTION_REJECTED, …`."""
    done = cut(clean(_done(action, envelope)).rstrip("."), _LINE)
    came = came_of(action, envelope)
    if came in ("failed", "refused"):
        why = cut(clean(envelope.message or ""), _LINE)
        return f"{_tried(action, envelope)}: {envelope.failure_code}, {why}"
    if isinstance(action, Finish):
        return done
    # What a person gave; a secret is only its place.
    data = (envelope.details or {}).get("data") if isinstance(action, RequestHumanAuth) else None
    answer = "" if data is None else f", answered {quoted(cut(clean(str(data)), _LINE))}"
    return f"{done}: {_WORDS[came]}{answer}"


def answer_of(action: AnyAction, envelope: Envelope) -> str:
    """What the model is shown of its last action besides the line; '' where the line says it all."""
    changes = envelope.changes or ()
    if any(change["type"] == "navigated" for change in changes):
        return ""  # the new screen is shown anyway
    if envelope.success and action.effect not in ("read", "desk") and not (changes or envelope.details):
        return ""
    return cut(envelope_text(action, envelope), _ANSWER)


def _done(action: AnyAction, envelope: Envelope) -> str:
    if isinstance(action, TypeText) and is_hidden(action, envelope):
        return "Typed a hidden text"
    if isinstance(action, Finish):
        return f"Finished: {quoted(cut(clean(action.message), _LINE))}"
    return sentence_without_secret(
        action, label=None if isinstance(action, TypeText | ClearText) else _label(envelope)
    )


def _tried(action: AnyAction, envelope: Envelope) -> str:
    """What did not go well is named by what was asked for: there may be no element at all."""
    if isinstance(action, TypeText):
        return action.type
    target = getattr(action, "target", None)
    aim = getattr(target, "text", None) or getattr(target, "handle", None) if target is not None else None
    label = _label(envelope) or (quoted(cut(clean(str(aim)), _LABEL))[1:-1] if aim else "")
    return f'{action.type} "{label}"' if label else action.type


def _label(envelope: Envelope) -> str | None:
    element = envelope.target.resolved if envelope.target else None
    label = (element.text or element.accessibility_id or element.ref) if element else None
    return quoted(cut(clean(label), _LABEL))[1:-1] if label else None


def is_hidden(action: TypeText, envelope: Envelope) -> bool:
    """Typed into a password field, or nobody knows into what: then it is written nowhere."""
    if "${secret:" in action.text:
        return False
    details, verification = envelope.details or {}, envelope.verification
    is_masked = verification is not None and verification.expected == f"{len(action.text)} characters"
    return details.get("password") is True or is_masked or not envelope.success


def history_text(steps: Sequence[AgentStep], last: int = LAST) -> str:
    if not steps:
        return "Nothing was done yet."
    lines = [summary(steps[:-last])] if steps[:-last] else []
    for step in steps[-last:]:
        thought = f" (you thought: {quoted(cut(clean(step.thought), _THOUGHT))})" if step.thought else ""
        lines.append(f"{step.number}. {step.told}{thought}")
    return "\n".join(lines)


def summary(steps: Sequence[AgentStep]) -> str:
    """`Steps 1-14: 9 tap, 3 type_text, 2 swipe in 2 apps (…); 3 without success: ELEMENT_NOT_FOUND.`"""
    kinds = Counter(step.kind for step in steps if step.action)
    apps = list(dict.fromkeys(step.app for step in steps if step.app))
    bad = [step for step in steps if step.outcome not in GOOD]
    codes = list(dict.fromkeys(step.code or step.outcome for step in bad))
    acts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "no action"
    where = f" in {', '.join(apps[:_APPS])}" if apps else ""
    failed = f"; {len(bad)} without success ({', '.join(codes)})" if bad else ""
    return f"Steps {steps[0].number}-{steps[-1].number}: {acts}{where}{failed}."


RAW = 20_000
"""Characters of an answer that are kept."""


@dataclass(slots=True)
class UnfinishedStep:
    """What is known of a step so far."""

    number: int
    at: str
    began_ms: float
    view: ScreenLook = field(default_factory=lambda: ScreenLook(""))
    picture: str | None = None
    model_answer: ModelAnswer | None = None
    usages: list[Usage] = field(default_factory=list)
    """What each call to the model has cost, also one that was cut off."""
    action: AnyAction | None = None

    @property
    def thought(self) -> str:
        """The model's own; a tool call may have it as the action's reason alone."""
        thought = (
            (self.model_answer.choice.thought or self.model_answer.reply.thought) if self.model_answer else ""
        )
        return thought.strip() or ((self.action.reason or "") if self.action else "")

    def step(
        self,
        outcome: StepOutcome,
        line: str,
        *,
        ids: list[str],
        ms: float,
        envelope: Envelope | None = None,
        code: str | None = None,
    ) -> AgentStep:
        usages = self.usages
        costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        thought, action, raw = self._words(envelope)
        return AgentStep(
            number=self.number,
            thought=thought,
            action=action,
            outcome=outcome,
            told=line,
            raw=raw,
            code=code,
            action_id=envelope.action_id if envelope else None,
            action_ids=tuple(ids),
            app=self.view.app,
            fingerprint=self.view.fingerprint,
            revision=self.view.revision,
            picture=self.picture,
            asks=len(usages),
            input_tokens=sum(usage.input_tokens for usage in usages),
            output_tokens=sum(usage.output_tokens for usage in usages),
            cost_usd=sum(costs) if costs else None,
            estimated_tokens=sum(usage.tokens for usage in usages if usage.is_estimate),
            at=self.at,
            ms=ms,
        )

    def _words(self, envelope: Envelope | None) -> tuple[str, dict[str, Any] | None, str]:
        """Thought, action and answer, without what was typed into a password field."""
        raw = self.model_answer.reply.raw[:RAW] if self.model_answer else ""
        if self.action is None:
            return self.thought, None, raw
        written = self.action.to_dict()
        if isinstance(self.action, TypeText) and (envelope is None or is_hidden(self.action, envelope)):
            typed = self.action.text
            masked = self.thought.replace(typed, MASKED) if typed else self.thought
            return masked, {**written, "text": MASKED}, ""
        return self.thought, written, raw


REPEATS = 2
"""The same act on the same screen without any effect, before the model is told."""
PATIENT_REPEATS = 5
"""The same for acts that only wait: something may still come."""
LONGEST_ROUND = 4
"""Steps of a cycle: A-B-A-B has rounds of two."""
ROUNDS = 2
"""Equal rounds, acts included, before the model is told."""
LOOSE_ROUNDS = 3
"""Rounds of the same screens with other acts on them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One act, and the screen on which it was done."""

    place: int
    act: str
    waits: bool = False


class StuckGuard:
    """The trail of one run."""

    def __init__(self) -> None:
        self._trail: list[Moment] = []
        self._warned: frozenset[tuple[int, str]] = frozenset()
        self._told_screens = False

    def note(self, moment: Moment) -> None:
        self._trail.append(moment)
        del self._trail[: -2 * LONGEST_ROUND * LOOSE_ROUNDS]

    def warning(self, place: int) -> str:
        """A warning for the model before its next action on this screen; '' for none."""
        if count := self._repeats(place):
            last = self._trail[-1]
            self._warned |= {(last.place, last.act)}
            return f"You did the same {count} times and the screen did not change. Do something else."
        if length := self._round(place):
            self._warned |= {(moment.place, moment.act) for moment in self._trail[-length:]}
            return (
                f"Your last {length * ROUNDS} steps went round in a circle of {length} and ended where they "
                "began. Try another way, or finish and say why it can't be done."
            )
        if length := self._loose_round(place, LOOSE_ROUNDS):
            self._told_screens = True
            return (
                f"The same {length} screens came {LOOSE_ROUNDS} times in turn. "
                "Try another way, or finish and say why it can't be done."
            )
        return ""

    def stuck(self, moment: Moment) -> str:
        """Why this action must not be repeated after the model was warned; '' when it may."""
        if (moment.place, moment.act) in self._warned:
            if self._repeats(moment.place) and self._trail[-1].act == moment.act:
                return "the same act again on a screen that does not change"
            length = self._round(moment.place)
            if length and self._trail[-length] == moment:
                return "the same round of steps again"
        if self._told_screens and self._loose_round(moment.place, LOOSE_ROUNDS + 1):
            return "the same screens again"
        return ""

    def forget(self) -> None:
        self._trail.clear()
        self._warned = frozenset()
        self._told_screens = False

    def _repeats(self, place: int) -> int:
        """How often the last act was done here without effect; 0 when that is not yet too often."""
        if not self._trail:
            return 0
        last = self._trail[-1]
        count = 0
        for moment in reversed(self._trail):
            if moment != last or moment.place != place:
                break
            count += 1
        return count if count >= (PATIENT_REPEATS if last.waits else REPEATS) else 0

    def _round(self, place: int) -> int:
        """The length of the round that was walked twice and ends where it began."""
        for length in range(2, LONGEST_ROUND + 1):
            steps = self._trail[-length * ROUNDS :]
            if len(steps) < length * ROUNDS or steps[0].place != place:
                continue
            if steps[:length] == steps[length:] and len(set(steps)) > 1:
                return length
        return 0

    def _loose_round(self, place: int, rounds: int) -> int:
        places = (*(moment.place for moment in self._trail), place)
        for length in range(2, LONGEST_ROUND + 1):
            walked = places[-length * rounds - 1 : -1]
            if len(walked) < length * rounds or walked[0] != place:
                continue
            first = walked[:length]
            if walked == first * rounds and len(set(first)) > 1:
                return length
        return 0


MAX_SCREENS = 24
"""Screens that are remembered: a guard that looks for rounds needs no more."""
Same = Callable[[Screen, Screen], bool]


class ScreenNumbers:
    """Every screen that a run has been on lately."""

    def __init__(self, same: Same) -> None:
        self._same = same
        self._numbered: list[tuple[int, UiSnapshot]] = []
        self._next = 0

    def of(self, look: UiSnapshot) -> int:
        """Its number. Fingerprints are compared first: they cost nothing and nearly always decide."""
        for at, (number, other) in enumerate(reversed(self._numbered)):
            if other.fingerprint == look.fingerprint and self._same(other.screen, look.screen):
                index = len(self._numbered) - 1 - at
                self._numbered.append(self._numbered.pop(index))
                return number
        self._next += 1
        self._numbered.append((self._next, look))
        del self._numbered[:-MAX_SCREENS]
        return self._next


_LOOKS: tuple[type[Act], ...] = (GetUiTree, Screenshot)
"""What the loop does by itself; alone they are no step."""


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run as it was left."""

    task: Mapping[str, Any]
    steps: tuple[AgentStep, ...]
    recovered: int = 0
    """Steps that only the journal knew."""


def load_run(folder: RunFolder, journal: Journal) -> SavedRun:
    """Reads a run's folder, and writes into it what the journal has besides, before the next step.

    Every action of a run has the run's name as its actor. What the journal has and the folder lacks was done
    by a step that died before it was written down; it becomes a step of its own, and is not done twice.
    """
    task, steps = folder.task(), folder.steps()
    folder.mend()
    try:  # nothing before it began can be its own
        since = int(datetime.fromisoformat(str(task.get("started"))).timestamp() * 1000)
    except ValueError:
        since = None
    action_ids = {id_ for step in steps for id_ in step.action_ids}
    lives: dict[str, list[dict[str, Any]]] = {}
    for line in journal.export(since=since):
        event = json.loads(line)
        if "action_id" not in event or (event.get("actor") or {}).get("id") != folder.id:
            continue
        if event["action_id"] not in action_ids:
            lives.setdefault(event["action_id"], []).append(event)
    recovered = _recovered(list(lives.values()), steps[-1].number if steps else 0)
    for step in recovered:
        folder.add(step)
    return SavedRun(task, (*steps, *recovered), len(recovered))


def _recovered(lives: Sequence[list[dict[str, Any]]], number: int) -> list[AgentStep]:
    """One step per act, with the looks before it; looks that led to nothing go with the last one."""
    steps: list[AgentStep] = []
    looks: list[str] = []
    for events in lives:
        first = events[0]
        looks.append(first["action_id"])
        if ACTIONS.get(str((first.get("action") or {}).get("type"))) in _LOOKS:
            continue
        number += 1
        steps.append(_recovered_step(events, number, tuple(looks)))
        looks.clear()
    if looks:
        note = "Looked at the screen; the run was interrupted before anything was chosen."
        steps.append(AgentStep(number + 1, "", None, "unfinished", note, action_ids=tuple(looks)))
    return steps


def _recovered_step(events: list[dict[str, Any]], number: int, ids: tuple[str, ...]) -> AgentStep:
    first, written = events[0], events[-1].get("envelope")
    action = first.get("action") or {}
    line, outcome, code = str(action.get("type")), "unfinished", None
    if written is None:
        line = f"{line}: interrupted, it may have been done; look before you repeat it"
    else:
        envelope = Envelope.model_validate(written)
        with suppress(InvalidAction):  # written by another version
            line = line_of(action_from(dict(action)), envelope)
        is_verified = envelope.lifecycle_state == "verified"
        outcome = "verified" if is_verified else "done" if envelope.success else "failed"
        line, code = f"{line} (before an interruption)", envelope.failure_code
    return AgentStep(
        number=number,
        thought=str(first.get("reason") or ""),
        action=action,
        outcome=cast("StepOutcome", outcome),
        told=line,
        code=code,
        action_id=first["action_id"],
        action_ids=ids,
        at=iso_time(int(first["at_ms"])),
    )
