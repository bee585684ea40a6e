"""A flow to be played: its pictures one after the other, beside its steps, under its time line.

Everything stands in the page already; the script only shows one frame at a time. Without it there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handrail.film.scene import verdict_of
from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import PlacedPicture, ReportAlbum, marks_of, picture_svg
from handrail.flow.report.step import sign
from handrail.flow.report.summary import duration, number
from handrail.flow.run_record import FlowRecord, Picture, StepRecord

_MISSING = "No picture was taken yet"


@dataclass(frozen=True, slots=True)
class ReelFrame:
    """What is shown from one moment on."""

    at_ms: float
    row: int
    """Of the step among those that are played."""
    shown: Html


def player(
    record: FlowRecord, leaves: Sequence[tuple[str, StepRecord]], album: ReportAlbum, below: Html | None
) -> Html | None:
    """`below` stands under its list of steps, and alone where there is no picture to be shown."""
    played = sorted(
        ((anchor, step) for anchor, step in leaves if step.outcome != "skipped"),
        key=lambda one: one[1].started_ms,
    )
    if not any(one.png for _, step in played for one in (step.before, step.after) if one is not None):
        return below
    frames = list(_frames(record, [step for _, step in played], album))
    several = len({step.device for _, step in played}) > 1
    rows = [_row(anchor, step, at, several=several) for at, (anchor, step) in enumerate(played)]
    span = max(record.duration_ms, *(one.at_ms for one in frames))
    return tag(
        "section",
        tag("div", [_framed(one) for one in frames], class_="stage"),
        tag("div", tag("ol", rows, class_="reel"), _controls(record, span), below, class_="desk"),
        class_="player still",
        aria_label=f"Player: {record.name}",
        data_span=f"{span:.0f}",
    )


def _frames(record: FlowRecord, steps: Sequence[StepRecord], album: ReportAlbum) -> Iterator[ReelFrame]:
    """The screen before each step with what it touched, and the screen after it."""
    last: dict[str, Html] = {}
    for row, step in enumerate(steps):
        began = max(0.0, float(step.started_ms - record.started_ms))
        shown = last.get(step.device) or tag("p", _MISSING, class_="missing")
        yield ReelFrame(began, row, _shown(step, step.before, album, touched=True) or shown)
        shown = _shown(step, step.before, album, touched=False) or shown
        last[step.device] = _shown(step, step.after, album, touched=False) or shown
        yield ReelFrame(began + step.duration_ms, row, last[step.device])


def _shown(step: StepRecord, picture: Picture | None, album: ReportAlbum, *, touched: bool) -> Html | None:
    if picture is None:
        return None
    placed = album.place(picture)
    if not isinstance(placed, PlacedPicture):
        return tag("p", f"No picture: {placed}.", class_="missing")
    marks = list(marks_of(step, placed)) if touched else []
    return picture_svg(placed, marks, f"Screen {'before' if touched else 'after'} step {number(step)}")


def _framed(one: ReelFrame) -> Html:
    return tag("div", one.shown, class_="frame", data_at=f"{one.at_ms:.0f}", data_row=one.row, hidden=True)


def _row(anchor: str, step: StepRecord, at: int, *, several: bool) -> Html:
    label: list[Content] = [
        sign(step.outcome),
        tag("span", number(step), class_="number"),
        tag("bdi", f"{step.device}: {step.label}" if several else step.label, class_="label"),
        tag("span", _how(step), class_="note"),
        tag("span", duration(step.duration_ms), class_="took"),
    ]
    return tag("li", tag("button", label, type="button", data_row=at, data_step=anchor, tabindex=-1))


def _how(step: StepRecord) -> str:
    """Its code, or whether it was verified."""
    if step.code or step.envelope is None:
        return step.code or ""
    return verdict_of(step.envelope.to_dict())[0]


def _controls(record: FlowRecord, span: float) -> Html:
    scrub = tag(
        "input",
        type="range",
        min=0,
        max=f"{span:.0f}",
        step=1,
        value=0,
        class_="scrub",
        aria_label="Moment of the flow; left and right go from picture to picture",
    )
    moment = tag("output", f"0 ms of {duration(span)}", class_="moment")
    video = tag("a", "Video (MP4)", href=record.video, class_="video") if record.video else None
    play = tag("button", "Play", type="button", class_="play")
    return tag("div", play, scrub, moment, video, class_="controls")
