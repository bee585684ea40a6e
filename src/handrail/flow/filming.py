"""Runs as scenes of a film: a flow's record, or what the journal has of one or several phones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from handrail.errors import HandrailError, InvalidAction
from handrail.film.scene import FilmScene, FilmTone, FilmTouch, Picture, has_acted, touch_of, verdict_of
from handrail.flow.plan import step_name
from handrail.flow.recording import asked_fields, ended_actions
from handrail.flow.run_record import FlowRecord, Outcome, StepRecord
from handrail.journal import Journal
from handrail.journal.query import ActionRow, ShownAction
from handrail.protocol.flow import Step
from handrail.protocol.read import action_from

_BY_ITSELF = re.compile(r" ?\(?flow .*, step [\d.]+: .*$", re.DOTALL)
"""The reason that a step has when nobody gave one."""
_TYPE = re.compile(r"[a-z]+(?:_[a-z]+)*(?= |$)")
_OUTCOMES: dict[Outcome, tuple[str, FilmTone]] = {
    "passed": ("done", "plain"),
    "warned": ("failed, and may", "plain"),
    "failed": ("failed", "bad"),
    "stopped": ("stopped", "bad"),
    "skipped": ("skipped", "plain"),
}
_UNSEEN = "No picture was taken at this moment"
_BLOB_STATES = {
    "withheld": "The screen is not shown: a secret might be on it",
    "swept": "The picture is not kept any more",
    "damaged": "The picture is damaged",
}


def title_of(label: str) -> str:
    """ "start_app com.android.settings" → "Start app com.android.settings", for people."""
    named = _TYPE.match(label)
    title = label if named is None else named[0].replace("_", " ") + label[named.end() :]
    return title[:1].upper() + title[1:]


# a flow


def flow_scenes(record: FlowRecord) -> list[FilmScene]:
    """Every step that did something itself, in the order in which they began."""
    leaves = sorted(_leaves(record.steps), key=lambda step: step.started_ms)
    several = len({step.device for step in leaves}) > 1
    return [_flow_scene(record, step, several=several) for step in leaves]


def _leaves(steps: list[StepRecord]) -> Iterator[StepRecord]:
    for step in steps:
        if step.children:
            yield from _leaves(step.children)
        elif step.outcome != "skipped":
            yield step


def _flow_scene(record: FlowRecord, step: StepRecord, *, several: bool) -> FilmScene:
    verdict, tone = _OUTCOMES[step.outcome]
    envelope = step.envelope
    if envelope is not None and step.outcome == "passed":
        verdict, tone = verdict_of(envelope.to_dict())
    elif step.code:
        verdict = f"{verdict}: {step.code}"
    reason = _BY_ITSELF.sub("", envelope.reason or "") if envelope is not None else ""
    where = f"{step.device}: " if several else ""
    return FilmScene(
        number=step.number,
        title=where + title_of(step.label),
        reason=reason or record.name,
        verdict=verdict,
        tone=tone,
        started_ms=max(0.0, float(step.started_ms - record.started_ms)),
        duration_ms=step.duration_ms,
        before=step.before,
        after=step.after,
        touch=touch_of_step(step),
        device=step.device,
    )


def touch_of_step(step: StepRecord) -> FilmTouch:
    if step.envelope is None:
        return FilmTouch(step.touched)
    envelope = step.envelope.to_dict()
    touch = touch_of(envelope)
    return replace(touch, box=step.touched) if step.touched is not None and has_acted(envelope) else touch


# the journal


def journal_scenes(
    journal: Journal, *, device: str | None = None, since: int | None = None, session: str | None = None
) -> list[FilmScene]:
    """What was done, with the pictures that were taken in between. Raises where there is none of them."""
    scenes: list[FilmScene] = []
    pictures: dict[str, Picture] = {}
    began: int | None = None
    for row, shown in ended_actions(journal, device=device, since=since, session=session):
        where = row.device or ""
        if (picture := _picture(journal, shown)) is not None:
            pictures[where] = picture
            _came_after(scenes, where, picture)
            continue
        if (scene := _journal_scene(row, shown)) is None:
            continue
        began = scene_time(shown) if began is None else began
        at_ms = float(scene_time(shown) - began)
        before = pictures.pop(where, Picture(None, why_not=_UNSEEN))
        number = str(len(scenes) + 1)
        scenes.append(replace(scene, number=number, before=before, started_ms=at_ms, device=where))
    taken = [shot for scene in scenes for shot in (scene.before, scene.after) if shot is not None]
    if not any(shot.png for shot in taken):
        why_not = {shot.why_not for shot in taken}
        reasons = "; ".join(sorted(why_not - {"", _UNSEEN}))
        raise InvalidAction(
            f"the journal has no picture of this time{f': {reasons}' if reasons else ''}",
            hint="`handrail agent`, `handrail run --report` and every screenshot leave pictures there, "
            "but for processes that know a secret.",
            path="video",
        )
    if len({scene.device for scene in scenes}) > 1:
        scenes = [replace(shot, title=f"{shot.device}: {shot.title}") for shot in scenes]
    return scenes


def _came_after(scenes: list[FilmScene], device: str, picture: Picture) -> None:
    """It shows what the last action on this phone has led to."""
    for at in range(len(scenes) - 1, -1, -1):
        if scenes[at].device == device:
            if scenes[at].after is None:
                scenes[at] = replace(scenes[at], after=picture)
            return


def scene_time(shown: ShownAction) -> int:
    """When it was asked for, in milliseconds since 1970."""
    return int(shown.events[0]["at_ms"])


def _picture(journal: Journal, shown: ShownAction) -> Picture | None:
    """The picture of the whole screen that an action has brought."""
    details: dict[str, Any] = (shown.envelope or {}).get("details") or {}
    blobs = [name for event in shown.events for name in (event.get("blobs") or {}).values()]
    if not blobs or "width" not in details or "region" in details:
        return None
    name = blobs[-1]
    data = journal.blob(str(name))
    why_not = "" if data is not None else _BLOB_STATES.get(journal.blob_state(str(name)) or "", _UNSEEN)
    return Picture(data, int(details.get("width") or 0), int(details.get("height") or 0), why_not)


def _journal_scene(row: ActionRow, shown: ShownAction) -> FilmScene | None:
    """Returns None for what only looks, and for what was done elsewhere than on a phone."""
    envelope = shown.envelope or {}
    if envelope.get("semantic") == "observation" or envelope.get("device") is None:
        return None
    try:
        label = step_name(Step(action=action_from(asked_fields(shown))))
    except HandrailError:  # of another version, or masked
        label = row.type or "action"
    verdict, tone = verdict_of(envelope)
    return FilmScene(
        number="",
        title=title_of(label),
        reason=_BY_ITSELF.sub("", row.reason or ""),
        verdict=verdict,
        tone=tone,
        duration_ms=float((envelope.get("timings_ms") or {}).get("total") or 0.0),
        touch=touch_of(envelope),
    )
