"""The whole report: one file that needs no network, no server and no font, and runs one known script.

The page's own policy allows the script and the style by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from handrail.flow.records import FlowRecord
from handrail.flow.report.flow_card import flow_card
from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import Album
from handrail.flow.report.tally import BAD, attempts, counts, overall, verdict
from handrail.flow.report.times import duration, moment

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
    album = Album(records)
    cards = [
        flow_card(record, index, len(run), album)
        for index, (record, run) in enumerate((record, run) for run in attempts(records) for record in run)
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
