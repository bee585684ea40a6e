"""The whole report: one file that needs no network, no server and no font, with a card for each run.

The page's own policy allows one script and one style by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from handrail.errors import PictureUnreadable
from handrail.film.scene import verdict_of
from handrail.flow.filming import touch_of_step
from handrail.flow.report.summary import (
    BAD,
    NOTABLE,
    Content,
    Html,
    all_steps,
    count_outcomes,
    duration,
    failure_message,
    moment,
    overall_outcome,
    repair_words,
    step_to_blame,
    tag,
    verdict,
    worst_first,
)
from handrail.flow.report.timeline import leaves_of, step_track, step_words, timeline, where_time_went
from handrail.flow.run_record import FlowRecord, Outcome, Picture, StepRecord
from handrail.protocol.envelope import Envelope, Verification
from handrail.protocol.flow import FlowTrace
from handrail.screen.node import Bounds
from handrail.screen.text import cut
from handrail.surface.picture import opened

if TYPE_CHECKING:
    from PIL.Image import Image

_START, _HEAD = 30, 60
"""Of an arrow: the radius of the ring where a finger came down, and its head."""
_SIGNS: dict[Outcome, str] = {"passed": "✓", "failed": "✕", "skipped": "–", "warned": "!", "stopped": "■"}


@dataclass(frozen=True, slots=True)
class RowContext:
    """What the rows of one flow need besides their step."""

    record: FlowRecord
    album: ReportAlbum
    many: bool
    """More than one device took part, so that rows say which."""


def outcome_sign(outcome: Outcome) -> Html:
    """An outcome as a shape and a word, because colour must not be the only difference."""
    return tag(
        "span",
        tag("span", _SIGNS[outcome], aria_hidden="true"),
        tag("span", f"{outcome}: ", class_="unseen"),
        class_=f"sign {outcome}",
    )


def step_list(sheet: RowContext, steps: list[StepRecord], prefix: str) -> Html:
    """Rows in the order in which they ran; inner steps inside the one that holds them."""
    rows = (_step_row(sheet, step, f"{prefix}-{index + 1}") for index, step in enumerate(steps))
    return tag("ol", rows, class_="steps")


def _step_row(sheet: RowContext, step: StepRecord, anchor: str) -> Html:
    quiet = not any(inner.outcome in NOTABLE for inner in all_steps([step]))  # nothing that needs a look
    body = tag("div", _step_body(sheet, step, anchor), class_="body")
    details = tag("details", tag("summary", _step_head(sheet, step)), body, open=not quiet, id=anchor)
    return tag("li", details, class_=f"step {step.outcome}{' quiet' if quiet else ''}")


def _step_head(sheet: RowContext, step: StepRecord) -> list[Content]:
    notes = [tag("span", step.code, class_=f"code {step.outcome}")] if step.code else []
    plain = [
        step.device if sheet.many else "",
        f"{step.tries} tries" if step.tries > 1 else "",
        f"line {step.line}" if step.line is not None else "",
    ]
    notes += [tag("span", words, class_="note") for words in plain if words]
    return [
        outcome_sign(step.outcome),
        tag("span", step.number, class_="number"),
        tag("bdi", step.words, class_="label"),
        tag("span", notes, class_="notes"),
        step_track(sheet.record, step),
        tag("span", duration(step.duration_ms), class_="took"),
    ]


def _step_body(sheet: RowContext, step: StepRecord, anchor: str) -> Iterator[Content]:
    if (step.error or step.code) and step_to_blame([step], NOTABLE) is step:
        yield failure_box(failure_message(step), step.hint, step.outcome)
    facts = [*_facts_of_step(step), *(_facts_of_envelope(step.envelope) if step.envelope else ())]
    blocks = [tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts")]
    if step.source.keys() != {"device"}:  # a device's share of a parallel step stands nowhere by itself
        plain = json.loads(json.dumps(_source_outline(step.source), ensure_ascii=False, default=str))
        blocks.append(
            titled_block("Step", yaml.safe_dump(plain, allow_unicode=True, sort_keys=False).rstrip())
        )
    if step.diff:
        blocks.append(screen_diff(step.diff))
    yield tag("div", pictures_of_step(step, sheet.album), tag("div", blocks, class_="told"), class_="sides")
    if step.log:
        yield log_block(step.log)
    if step.children:
        yield step_list(sheet, step.children, anchor)


def failure_box(message: str, hint: str | None, outcome: Outcome) -> Html:
    advice = tag("p", tag("b", "Hint "), tag("bdi", hint), class_="hint") if hint else None
    return tag("div", tag("p", tag("bdi", message)), advice, class_=f"trouble {outcome}")


_LIMIT = 2_000
"""Characters of one fact; a value can be a whole screen."""
_RESTED = {
    "verified": "the expected state was there",
    "quiet": "the screen was at rest",
    "volatile": "only restless parts still moved",
    "budget": "the time was up",
    "loading": "the app was still loading",
}
Fact = tuple[str, Content]


def _facts_of_step(step: StepRecord) -> Iterator[Fact]:
    began = f"{moment(step.started_ms)}, took {duration(step.duration_ms)}"
    yield "When", f"{began} in {step.tries} tries" if step.tries > 1 else began
    if step.spent and (words := step_words(step)):
        yield "Time", words
    if step.loading:
        yield "Loading", _quoted_text(step.loading)


def _facts_of_envelope(envelope: Envelope) -> Iterator[Fact]:
    resolved = envelope.target.resolved if envelope.target else None
    if resolved is not None:
        names = [resolved.text or resolved.accessibility_id, resolved.resource_id, resolved.class_]
        shown: list[Content] = [_quoted_text(name) for name in names if name]
        if resolved.bounds is not None:
            shown.append(tag("code", str(Bounds(*resolved.bounds))))
        yield "Element", [(" · " if index else "", part) for index, part in enumerate(shown)]
    if envelope.verification is not None:
        yield from _verification(envelope.verification)
    if envelope.settle is not None:
        reads = "1 look" if envelope.settle.reads == 1 else f"{envelope.settle.reads} looks"
        words = f"after {duration(envelope.settle.ms)} and {reads}: {_RESTED[envelope.settle.reason]}"
        yield "Settled", (f"{words} ({envelope.settle.loading})" if envelope.settle.loading else words)
    if not envelope.success:
        yield "Delivery", envelope.delivery.replace("_", " ")
    if envelope.approval is not None:
        by = f" by {envelope.approval.by}" if envelope.approval.by else ""
        yield "Approval", f"{envelope.approval.decision}{by} ({envelope.approval.id})"
    if envelope.diagnostics:
        yield "Diagnostics", tag("ul", [tag("li", _quoted_text(line)) for line in envelope.diagnostics])
    yield "Action", tag("code", envelope.action_id)


def _verification(verification: Verification) -> Iterator[Fact]:
    mode = verification.mode.replace("_", " ")
    outcome = verification.outcome.replace("_", " ")
    mood = {"verified": "passed", "failed": "failed"}.get(verification.outcome, "skipped")
    yield "Verification", [tag("span", outcome, class_=f"word {mood}"), f" ({mode})"]
    if verification.expected is not None:
        yield "Expected", _value(verification.expected)
    if verification.observed is not None:
        yield "Observed", _value(verification.observed)


def _value(value: Any) -> Html:
    """Text as it is, everything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _quoted_text(text)


def _quoted_text(text: str) -> Html:
    """A stranger's words: isolated, so that another direction of writing ends where they end."""
    return tag("bdi", cut(text, _LIMIT), class_="said")


LOG_LINES = 200
"""The end of a log; what led to the failure stands there."""
_LINE = 600
"""Characters of one line."""
_BLOCK = 150_000
_LEVEL = re.compile(r"(?:\S+\s+){1,2}\d+\s+\d+\s+[EF]\s|[EF]/")
"""Errors: a moment of one or two words, process, thread and level; or logcat's `brief` form."""
_SECTIONS = {"Elements added:": "added", "Elements removed:": "removed", "Elements changed:": "changed"}


def titled_block(title: str, text: str, line_class: Callable[[str], str | None] = lambda _: None) -> Html:
    """A titled block that scrolls by itself and can be reached with the keyboard."""
    short = "\n".join(cut(line, _LINE) for line in text.splitlines())
    lines = [tag("span", line, "\n", class_=line_class(line)) for line in cut(short, _BLOCK).splitlines()]
    block = tag("pre", lines, tabindex=0, role="region", aria_label=title)
    return tag("div", tag("h3", title), block, class_="listing")


def screen_diff(text: str) -> Html:
    """What changed on the screen; each line is coloured by the section it stands in."""
    section: list[str] = [""]

    def kind(line: str) -> str | None:
        section[0] = _SECTIONS.get(line, section[0])
        return "head" if line in _SECTIONS else section[0] or None

    return titled_block("What changed on the screen", text, kind)


def file_diff(title: str, text: str) -> Html:
    signs = {"+": "added", "-": "removed", "@": "head"}
    return titled_block(title, text, lambda line: signs.get(line[:1]))


def log_block(lines: Sequence[str]) -> Html:
    shown = lines[-LOG_LINES:]
    title = f"Device log ({len(shown)} of {len(lines)} lines)" if len(shown) < len(lines) else "Device log"
    return titled_block(title, "\n".join(shown), lambda line: "removed" if _LEVEL.match(line) else None)


def _source_outline(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _source_outline(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) and value and all(isinstance(child, Mapping) for child in value):
        return "1 step" if len(value) == 1 else f"{len(value)} steps"
    return value


BUDGET_BYTES = 10_000_000
"""Of all pictures in the page's own spelling; a browser opens a page of this size at once."""
_SAMPLE = 12
"""Pictures tried before all are written: sizes differ little within a run."""
_TALLEST = 8_000
"""Pixels; WebP ends at 16 383."""
_BROKEN = "the picture can't be read"
_LEFT_OUT = "left out: the report would be too large"


Grade = tuple[int, int]
"""How good a picture is: its width in pixels, and its quality."""
GRADES: tuple[Grade, ...] = ((540, 80), (540, 60), (400, 60), (300, 50), (200, 40))
"""Best first."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture as a step shows it: `anchor` names the image, the size is the screen's."""

    anchor: str
    width: int
    height: int


class ReportAlbum:
    """All pictures of some flows."""

    def __init__(self, records: Iterable[FlowRecord], budget_bytes: int = BUDGET_BYTES) -> None:
        raw = {_hash_of_picture(png): png for png in _png_bytes(records)}
        self._uris, self._why_not = _best_fitting_grade(raw, budget_bytes)
        self._anchors = {key: f"p{index}" for index, key in enumerate(self._uris)}

    def place(self, picture: Picture) -> PlacedPicture | str:
        """Where the picture is, or why there is none."""
        if picture.png is None:
            return picture.why_not or "no picture was taken"
        key = _hash_of_picture(picture.png)
        if key not in self._anchors:
            return self._why_not[key]
        image = None if picture.width > 0 < picture.height else _decode_png(picture.png or b"")
        size = (picture.width, picture.height) if image is None else image.size
        return PlacedPicture(self._anchors[key], *size)

    def definitions(self) -> Html:
        """The images themselves, for the end of the page. They fill whatever box a step gives them."""
        images = (
            tag(
                "symbol",
                tag("image", href=uri, width="100%", height="100%", preserveAspectRatio="none"),
                id=self._anchors[key],
            )
            for key, uri in self._uris.items()
        )
        return tag("svg", list(images), class_="album", aria_hidden="true")


def _png_bytes(records: Iterable[FlowRecord]) -> Iterator[bytes]:
    for record in records:
        for step in all_steps(record.steps):
            for picture in (step.before, step.after):
                if picture is not None and picture.png is not None:
                    yield picture.png


def _hash_of_picture(png: bytes) -> str:
    return hashlib.sha256(png).hexdigest()


def _best_fitting_grade(raw: Mapping[str, bytes], budget_bytes: int) -> tuple[dict[str, str], dict[str, str]]:
    """Every picture at the best grade for which all of them fit, and why some are missing."""
    written: dict[str, str | None] = {}
    for grade in GRADES[_guess_grade(list(raw.values()), budget_bytes) :]:
        written = _encode_pictures(raw, grade)
        if sum(len(uri or "") for uri in written.values()) <= budget_bytes:
            break
    uris: dict[str, str] = {}
    why_not: dict[str, str] = {}
    room = budget_bytes
    for key, uri in written.items():
        if uri is None or len(uri) > room:
            why_not[key] = _BROKEN if uri is None else _LEFT_OUT
        else:
            uris[key] = uri
            room -= len(uri)
    return uris, why_not


def _guess_grade(pictures: list[bytes], budget_bytes: int) -> int:
    """The first grade that a few pictures say is small enough."""
    if len(pictures) <= _SAMPLE:
        return 0
    few = pictures[:: len(pictures) // _SAMPLE]
    for index, grade in enumerate(GRADES):
        size = sum(len(_data_uri(png, grade) or "") for png in few)
        if size * len(pictures) <= budget_bytes * len(few):
            return index
    return len(GRADES) - 1


def _encode_pictures(raw: Mapping[str, bytes], grade: Grade) -> dict[str, str | None]:
    """Encodes in threads, because Pillow releases the interpreter lock while it works."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(raw, pool.map(lambda png: _data_uri(png, grade), raw.values()), strict=True))


def _data_uri(png: bytes, grade: Grade) -> str | None:
    """Returns None for bytes that are not a picture."""
    image = _decode_png(png)
    if image is None:
        return None
    width, quality = grade
    image.thumbnail((width, _TALLEST), reducing_gap=2.0)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=quality, method=2)
    return "data:image/webp;base64," + base64.b64encode(out.getvalue()).decode("ascii")


def _decode_png(png: bytes) -> Image | None:
    try:
        with opened(png) as picture:
            return picture.convert("RGB")
    except PictureUnreadable:
        return None


_ROUND = 12
"""Device pixels; about what buttons have."""
_POINT = 48
"""Radius of the ring around a touched point, in device pixels."""


def pictures_of_step(step: StepRecord, album: ReportAlbum) -> Html | None:
    """Returns None for a step that shows nothing."""
    figures = [*_figure(step, step.before, "Before", album), *_figure(step, step.after, "After", album)]
    return tag("div", figures, class_="shots") if figures else None


def _figure(step: StepRecord, picture: Picture | None, title: str, album: ReportAlbum) -> Iterator[Html]:
    if picture is None:
        return
    placed = album.place(picture)
    if isinstance(placed, str):
        shown = tag("p", f"No picture: {placed}.", class_="missing")
    else:
        marks = list(touch_marks(step, placed)) if title == "Before" else []
        words = f"Screen {title.lower()} the step{', touched element marked' if marks else ''}"
        drawn = picture_svg(placed, marks, words)
        shown = tag("button", drawn, type="button", class_="zoom", title="Enlarge")
    yield tag("figure", tag("figcaption", title), shown)


def picture_svg(placed: PlacedPicture, marks: list[Html], words: str) -> Html:
    box = f"0 0 {placed.width} {placed.height}"
    picture = tag("use", href=f"#{placed.anchor}", width=placed.width, height=placed.height)
    return tag("svg", picture, marks, viewBox=box, role="img", aria_label=words)


def touch_marks(step: StepRecord, placed: PlacedPicture) -> Iterator[Html]:
    """Where it was touched. Each twice: a light line under a coloured one is seen on every picture."""
    touch = touch_of_step(step)
    box = _visible_bounds(touch.box, placed)
    for name in ("casing", "touched"):
        if box is not None:
            at: dict[str, int] = {"x": box.left, "y": box.top, "width": box.width, "height": box.height}
            yield tag("rect", class_=name, rx=_ROUND, **at)
        for stroke in touch.strokes:
            if len(stroke) > 1:
                tip = stroke[-1]
                back = next((point for point in reversed(stroke) if point != tip), tip)
                length = math.hypot(tip.x - back.x, tip.y - back.y) or 1.0
                along, across = (tip.x - back.x) / length, (tip.y - back.y) / length
                wings = [
                    (tip.x - _HEAD * (along - way * across), tip.y - _HEAD * (across + way * along))
                    for way in (0.7, -0.7)
                ]
                yield tag("circle", class_=name, cx=stroke[0].x, cy=stroke[0].y, r=_START)
                yield tag("polyline", class_=f"{name} way", points=_svg_points(stroke))
                yield tag("polyline", class_=f"{name} way", points=_svg_points([wings[0], tip, wings[1]]))
            elif box is None:
                yield tag("circle", class_=name, cx=stroke[0].x, cy=stroke[0].y, r=_POINT)


def _svg_points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in points)


def _visible_bounds(bounds: Bounds | None, placed: PlacedPicture) -> Bounds | None:
    if bounds is None:
        return None
    visible = bounds.intersect(Bounds(0, 0, placed.width, placed.height))
    return visible if visible.area else None


NAME = "index.html"


def write(records: Sequence[FlowRecord], folder: Path) -> Path:
    """`index.html` in a folder that is made if need be. Readers see the old page or the new one, not half."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    draft = folder / f".{NAME}.{os.getpid()}"
    draft.write_text(page(records), encoding="utf-8")
    draft.replace(path)
    return path


def page(records: Sequence[FlowRecord]) -> str:
    album = ReportAlbum(records)
    cards = [
        flow_card(record, index, len(run), album, only=len(records) == 1)
        for index, (record, run) in enumerate((record, run) for run in worst_first(records) for record in run)
    ]
    chips = [
        tag("li", tag("b", str(count)), f" {outcome}", class_=f"chip {outcome}")
        for outcome, count in count_outcomes(records).items()
    ]
    body = tag(
        "body",
        tag("a", "Skip to the flows", href="#flows", class_="skip"),
        tag(
            "header",
            tag("p", "Handrail report", class_="brand"),
            tag("h1", verdict(records), class_=overall_outcome(records)),
            tag("ul", chips, class_="chips", aria_label="Flows by outcome"),
            tag("dl", _run_facts(records), class_="summary"),
        ),
        _toolbar(records),
        tag("main", cards or tag("p", "Nothing ran.", class_="empty"), id="flows"),
        tag("p", "Nothing failed.", class_="empty nothing"),
        album.definitions(),
        tag("script", Html(_resource("script.js"))),
        data_show="all",
    )
    return "<!doctype html>\n" + tag("html", _page_head(records), body, lang="en") + "\n"


def _page_head(records: Sequence[FlowRecord]) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
            f"style-src {_hash_of_resource('style.css')}; script-src {_hash_of_resource('script.js')}",
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{verdict(records)} · Handrail"),
        tag("style", Html(_resource("style.css"))),
    )


def _run_facts(records: Sequence[FlowRecord]) -> list[Content]:
    total = sum(record.duration_ms for record in records)
    facts: list[tuple[str, Content]] = [("Total time", duration(total))]
    if records:
        facts.insert(0, ("Started", moment(min(record.started_ms for record in records))))
    devices = dict.fromkeys(name for record in records for name in record.device.split(", ") if name)
    facts.append(("Device" if len(devices) < 2 else "Devices", tag("bdi", ", ".join(devices) or "none")))
    heads = [record.journal_head for record in records if record.journal_head]
    if heads:
        facts.append(("Journal head", tag("code", heads[-1])))
    return [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts]


def _toolbar(records: Sequence[FlowRecord]) -> Html:
    """Hidden until the script runs: without it everything can still be read."""
    bad = sum(record.outcome in BAD for record in records)
    return tag(
        "nav",
        tag(
            "div",
            tag("button", f"All ({len(records)})", type="button", data_show="all", aria_pressed="true"),
            tag("button", f"Failed ({bad})", type="button", data_show="failed", aria_pressed="false"),
            class_="choice",
            role="group",
            aria_label="Which flows and steps to show",
        ),
        tag("button", "Expand all", type="button", data_open="true"),
        tag("button", "Collapse all", type="button", data_open="false"),
        class_="toolbar",
        aria_label="View",
        hidden=True,
    )


@cache
def _resource(name: str) -> str:
    return files("handrail.flow.report").joinpath(name).read_text(encoding="utf-8")


def _hash_of_resource(name: str) -> str:
    """The hash of exactly what stands between the tags, as a page's policy names it."""
    digest = hashlib.sha256(_resource(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def flow_card(
    record: FlowRecord, index: int, attempts: int, album: ReportAlbum, *, only: bool = False
) -> Html:
    """`attempts` is how often this flow was run in all; the `only` one is open, whatever became of it."""
    anchor = f"f{index + 1}"
    quiet = record.outcome not in BAD and not only
    body = tag("div", _card_body(record, anchor, album), class_="inside")
    details = tag("details", tag("summary", _card_head(record, attempts)), body, open=not quiet, id=anchor)
    return tag("section", details, class_=f"flow {record.outcome}{' quiet' if quiet else ''}")


def _card_head(record: FlowRecord, attempts: int) -> list[Content]:
    notes = [tag("span", name, class_="tag") for name in record.tags]
    if attempts > 1:
        notes.append(tag("span", f"attempt {record.attempt} of {attempts}", class_="note"))
    warnings = sum(step.outcome == "warned" for step in all_steps(record.steps))
    if warnings:
        words = "1 warning" if warnings == 1 else f"{warnings} warnings"
        notes.append(tag("span", words, class_="chip warned"))
    if any(trace.app_crash_detected for trace in _traces_of(record)):
        notes.append(tag("span", "app crashed", class_="code failed"))
    title = tag("h2", tag("bdi", record.name))
    return [
        outcome_sign(record.outcome),
        tag("span", title, tag("span", record.file, class_="file"), class_="naming"),
        tag("span", notes, class_="notes"),
        tag("span", _progress_words(record), class_="took"),
    ]


def _progress_words(record: FlowRecord) -> str:
    if record.outcome == "skipped":
        return "skipped"
    total = record.trace.total_steps if record.trace else len(record.steps)
    done = sum(step.outcome not in BAD for step in record.steps)
    if record.trace:
        done = record.trace.steps_completed
    return f"{done} of {total} steps · {duration(record.duration_ms)}"


def _card_body(record: FlowRecord, anchor: str, album: ReportAlbum) -> Iterator[Content]:
    words = [record.device, moment(record.started_ms)]
    if record.journal_head:
        words.append(f"journal head {record.journal_head}")
    yield tag("p", [(tag("span", part), " ") for part in words if part], class_="facts-line")
    blamed = step_to_blame(record.steps)
    if record.error and blamed is None:
        yield failure_box(record.error, None, record.outcome)
    if blamed is not None:
        yield what_failed(record, blamed, album)
    leaves = list(leaves_of(record.steps, anchor))
    yield timeline(record, leaves)
    yield film_player(record, leaves, album, where_time_went(record))
    yield from (file_diff(repair_words(record), text) for text in record.proposals)
    if record.steps:
        many = len({step.device for _, step in leaves}) > 1
        yield step_list(RowContext(record, album, many), record.steps, anchor)
    for trace in _traces_of(record):
        for dialog in trace.system_dialogs or ():
            buttons = ", ".join(dialog.buttons)
            line = f"{dialog.kind or 'system'} dialog of {dialog.package_name}: {dialog.title} [{buttons}]"
            yield tag("p", tag("bdi", line), class_="facts-line")
        if record.outcome in BAD and trace.final_ui_tree:
            yield titled_block("Screen at the end", trace.final_ui_tree)


def what_failed(record: FlowRecord, step: StepRecord, album: ReportAlbum) -> Html:
    """First of all: the error, the picture and the screen of that moment beside one another."""
    tree = next((trace.final_ui_tree for trace in _traces_of(record) if trace.final_ui_tree), "")
    screen = titled_block("The screen then, as agents read it", tree) if tree else None
    sides = [side for side in (pictures_of_step(step, album), screen) if side is not None]
    title = tag("h3", f"Step {step.number}: ", tag("bdi", step.words))
    error = failure_box(failure_message(step), step.hint, step.outcome)
    return tag("section", title, error, tag("div", sides, class_="beside"), class_="what-failed")


def _traces_of(record: FlowRecord) -> list[FlowTrace]:
    return list(record.traces.values()) or ([record.trace] if record.trace else [])


_MISSING = "No picture was taken yet"


ReelFrame = tuple[float, int, Html]
"""What is shown from one moment on: milliseconds, the step's place among those played, the screen."""


def film_player(
    record: FlowRecord, leaves: Sequence[tuple[str, StepRecord]], album: ReportAlbum, below: Html | None
) -> Html | None:
    """`below` stands under its list of steps, and alone where there is no picture to be shown."""
    played = sorted(
        ((anchor, step) for anchor, step in leaves if step.outcome != "skipped"),
        key=lambda leaf: leaf[1].started_ms,
    )
    if not any(leaf.png for _, step in played for leaf in (step.before, step.after) if leaf is not None):
        return below
    frames = list(_reel_frames(record, [step for _, step in played], album))
    several = len({step.device for _, step in played}) > 1
    rows = [_reel_row(anchor, step, at, several=several) for at, (anchor, step) in enumerate(played)]
    span = max(record.duration_ms, *(at_ms for at_ms, _, _ in frames))
    stage = [
        tag("div", shown, class_="frame", data_at=f"{at_ms:.0f}", data_row=row, hidden=True)
        for at_ms, row, shown in frames
    ]
    return tag(
        "section",
        tag("div", stage, class_="stage"),
        tag("div", tag("ol", rows, class_="reel"), _player_controls(record, span), below, class_="desk"),
        class_="player still",
        aria_label=f"Player: {record.name}",
        data_span=f"{span:.0f}",
    )


def _reel_frames(record: FlowRecord, steps: Sequence[StepRecord], album: ReportAlbum) -> Iterator[ReelFrame]:
    """The screen before each step with what it touched, and the screen after it."""
    last: dict[str, Html] = {}
    for row, step in enumerate(steps):
        began = max(0.0, float(step.started_ms - record.started_ms))
        shown = last.get(step.device) or tag("p", _MISSING, class_="missing")
        yield began, row, _screen_at_step(step, step.before, album, touched=True) or shown
        shown = _screen_at_step(step, step.before, album, touched=False) or shown
        last[step.device] = _screen_at_step(step, step.after, album, touched=False) or shown
        yield began + step.duration_ms, row, last[step.device]


def _screen_at_step(
    step: StepRecord, picture: Picture | None, album: ReportAlbum, *, touched: bool
) -> Html | None:
    if picture is None:
        return None
    placed = album.place(picture)
    if not isinstance(placed, PlacedPicture):
        return tag("p", f"No picture: {placed}.", class_="missing")
    marks = list(touch_marks(step, placed)) if touched else []
    return picture_svg(placed, marks, f"Screen {'before' if touched else 'after'} step {step.number}")


def _reel_row(anchor: str, step: StepRecord, at: int, *, several: bool) -> Html:
    label: list[Content] = [
        outcome_sign(step.outcome),
        tag("span", step.number, class_="number"),
        tag("bdi", f"{step.device}: {step.label}" if several else step.label, class_="label"),
        tag("span", _outcome_words(step), class_="note"),
        tag("span", duration(step.duration_ms), class_="took"),
    ]
    return tag("li", tag("button", label, type="button", data_row=at, data_step=anchor, tabindex=-1))


def _outcome_words(step: StepRecord) -> str:
    """The failure's code, or whether the step was verified."""
    if step.code or step.envelope is None:
        return step.code or ""
    return verdict_of(step.envelope.to_dict())[0]


def _player_controls(record: FlowRecord, span: float) -> Html:
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
