"""One run of a flow as a card: what it came to, where its time went, its steps."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.flow.records import FlowRecord
from handrail.flow.report.listings import file_diff, listing
from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import Album
from handrail.flow.report.step import Sheet, sign, step_list, trouble
from handrail.flow.report.table import about_repair
from handrail.flow.report.tally import BAD, blamed, walk
from handrail.flow.report.timeline import leaves_of, timeline
from handrail.flow.report.times import duration, moment
from handrail.protocol.flow import FlowTrace


def flow_card(record: FlowRecord, index: int, attempts: int, album: Album) -> Html:
    """`attempts` is how often this flow was run in all."""
    anchor = f"f{index + 1}"
    quiet = record.outcome not in BAD
    body = tag("div", _body(record, anchor, album), class_="inside")
    details = tag("details", tag("summary", _head(record, attempts)), body, open=not quiet, id=anchor)
    return tag("section", details, class_=f"flow {record.outcome}{' quiet' if quiet else ''}")


def _head(record: FlowRecord, attempts: int) -> list[Content]:
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


def _body(record: FlowRecord, anchor: str, album: Album) -> Iterator[Content]:
    told = [record.device, moment(record.started_ms)]
    if record.journal_head:
        told.append(f"journal head {record.journal_head}")
    yield tag("p", [(tag("span", part), " ") for part in told if part], class_="facts-line")
    if record.error and blamed(record.steps) is None:
        yield trouble(record.error, None, record.outcome)
    leaves = list(leaves_of(record.steps, anchor))
    yield timeline(record, leaves)
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
