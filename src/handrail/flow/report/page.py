"""The whole report: one file that needs no network, no server and no font, with a card for each run.

The page's own policy allows one script and one style by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import ReportAlbum
from handrail.flow.report.player import player
from handrail.flow.report.step import Sheet, file_diff, listing, sign, step_list, trouble
from handrail.flow.report.summary import (
    BAD,
    about_repair,
    blamed,
    counts,
    duration,
    moment,
    overall,
    verdict,
    walk,
    worst_first,
)
from handrail.flow.report.time_parts import where_time_went
from handrail.flow.report.timeline import leaves_of, timeline
from handrail.flow.run_record import FlowRecord
from handrail.protocol.flow import FlowTrace

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
    """The text of the report."""
    album = ReportAlbum(records)
    cards = [
        flow_card(record, index, len(run), album)
        for index, (record, run) in enumerate((record, run) for run in worst_first(records) for record in run)
    ]
    body = tag(
        "body",
        tag("a", "Skip to the flows", href="#flows", class_="skip"),
        _header(records),
        _toolbar(records),
        tag("main", cards or tag("p", "Nothing ran.", class_="empty"), id="flows"),
        tag("p", "Nothing failed.", class_="empty nothing"),
        album.definitions(),
        tag("script", Html(_resource("script.js"))),
        data_show="all",
    )
    return "<!doctype html>\n" + tag("html", _head(records), body, lang="en") + "\n"


def _head(records: Sequence[FlowRecord]) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{verdict(records)} · Handrail"),
        tag("style", Html(_resource("style.css"))),
    )


def _policy() -> str:
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash('style.css')}; script-src {_hash('script.js')}"
    )


def _header(records: Sequence[FlowRecord]) -> Html:
    chips = [
        tag("li", tag("b", str(count)), f" {outcome}", class_=f"chip {outcome}")
        for outcome, count in counts(records).items()
    ]
    return tag(
        "header",
        tag("p", "Handrail report", class_="brand"),
        tag("h1", verdict(records), class_=overall(records)),
        tag("ul", chips, class_="chips", aria_label="Flows by outcome"),
        tag("dl", _facts(records), class_="summary"),
    )


def _facts(records: Sequence[FlowRecord]) -> list[Content]:
    total = sum(record.duration_ms for record in records)
    told: list[tuple[str, Content]] = [("Total time", duration(total))]
    if records:
        told.insert(0, ("Started", moment(min(record.started_ms for record in records))))
    devices = dict.fromkeys(name for record in records for name in record.device.split(", ") if name)
    told.append(("Device" if len(devices) < 2 else "Devices", tag("bdi", ", ".join(devices) or "none")))
    heads = [record.journal_head for record in records if record.journal_head]
    if heads:
        told.append(("Journal head", tag("code", heads[-1])))
    return [tag("div", tag("dt", name), tag("dd", value)) for name, value in told]


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


def _hash(name: str) -> str:
    """Of exactly what stands between the tags."""
    digest = hashlib.sha256(_resource(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def flow_card(record: FlowRecord, index: int, attempts: int, album: ReportAlbum) -> Html:
    """`attempts` is how often this flow was run in all."""
    anchor = f"f{index + 1}"
    quiet = record.outcome not in BAD
    body = tag("div", _card_body(record, anchor, album), class_="inside")
    details = tag("details", tag("summary", _card_head(record, attempts)), body, open=not quiet, id=anchor)
    return tag("section", details, class_=f"flow {record.outcome}{' quiet' if quiet else ''}")


def _card_head(record: FlowRecord, attempts: int) -> list[Content]:
    notes = [tag("span", name, class_="tag") for name in record.tags]
    if attempts > 1:
        notes.append(tag("span", f"attempt {record.attempt} of {attempts}", class_="note"))
    warnings = sum(step.outcome == "warned" for step in walk(record.steps))
    if warnings:
        words = "1 warning" if warnings == 1 else f"{warnings} warnings"
        notes.append(tag("span", words, class_="chip warned"))
    if any(trace.app_crash_detected for trace in _traces(record)):
        notes.append(tag("span", "app crashed", class_="code failed"))
    title = tag("h2", tag("bdi", record.name))
    return [
        sign(record.outcome),
        tag("span", title, tag("span", record.file, class_="file"), class_="naming"),
        tag("span", notes, class_="notes"),
        tag("span", _progress(record), class_="took"),
    ]


def _progress(record: FlowRecord) -> str:
    if record.outcome == "skipped":
        return "skipped"
    total = record.trace.total_steps if record.trace else len(record.steps)
    done = (
        record.trace.steps_completed
        if record.trace
        else sum(step.outcome not in BAD for step in record.steps)
    )
    return f"{done} of {total} steps · {duration(record.duration_ms)}"


def _card_body(record: FlowRecord, anchor: str, album: ReportAlbum) -> Iterator[Content]:
    told = [record.device, moment(record.started_ms)]
    if record.journal_head:
        told.append(f"journal head {record.journal_head}")
    yield tag("p", [(tag("span", part), " ") for part in told if part], class_="facts-line")
    if record.error and blamed(record.steps) is None:
        yield trouble(record.error, None, record.outcome)
    leaves = list(leaves_of(record.steps, anchor))
    yield timeline(record, leaves)
    yield player(record, leaves, album, where_time_went(record))
    yield from (file_diff(about_repair(record), text) for text in record.proposals)
    if record.steps:
        many = len({step.device for _, step in leaves}) > 1
        yield step_list(Sheet(record, album, many), record.steps, anchor)
    yield from _ending(record)


def _ending(record: FlowRecord) -> Iterator[Html]:
    """What the screen came to, where it explains something."""
    for trace in _traces(record):
        for dialog in trace.system_dialogs or ():
            buttons = ", ".join(dialog.buttons)
            words = f"{dialog.kind or 'system'} dialog of {dialog.package_name}: {dialog.title} [{buttons}]"
            yield tag("p", tag("bdi", words), class_="facts-line")
        if record.outcome in BAD and trace.final_ui_tree:
            yield listing("Screen at the end", trace.final_ui_tree)


def _traces(record: FlowRecord) -> list[FlowTrace]:
    return list(record.traces.values()) or ([record.trace] if record.trace else [])
