"""The Studio: what stands on a screen and how to name it, a recording as it grows, and the text of flows.

The rules are those of `handrail record`, `flow check` and the engine; this shows them to a page.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import Field

from handrail.errors import InvalidAction
from handrail.flow.check import check_text
from handrail.flow.document import FlowDocument, loads
from handrail.flow.foreign import maestro
from handrail.flow.plan import step_name
from handrail.flow.python_text import python_call, python_text
from handrail.flow.recording import Recording, ended_actions, is_home
from handrail.flow.write import Elements, flat_yaml, shorten, write_steps
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import Tap
from handrail.protocol.flow import Step
from handrail.protocol.model import CamelModel
from handrail.protocol.observe import ExpectText, ExpectVisible
from handrail.protocol.system import RestartApp
from handrail.protocol.target import Selector
from handrail.screen.node import Node
from handrail.screen.reach import visible_part
from handrail.screen.robust_selector import selector_choices
from handrail.screen.select import find_all
from handrail.web_server.phone import Phones, look, phone_route
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_body, read_number

ROUTES = RouteTable()
MOST_TEXT = 2_000_000
"""Characters of a flow, as `load` reads them."""
_FLAGS = ("enabled", "focused", "checked", "selected", "clickable", "scrollable", "password")
_WORDS = ("text", "description", "hint_text", "state_description", "pane_title", "tooltip_text")


@phone_route("nodes")
async def show_nodes(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Every element of the screen, in its order, each with the order of the one around it; looks again."""
    session = await phones.session(device)
    await look(session, request.visitor.caller())
    last, registry = session.screens.last, session.screens.registry
    if last is None:
        return {"revision": None, "width": 0, "height": 0, "nodes": []}
    screen, redact = last.screen, phones.runtime.secrets.redact
    refs = {id(node): ref for ref, node in registry.refs.items()}
    rows = [
        _node_row(node, refs.get(id(node)), list(visible_part(screen, node)), redact) for node in screen.nodes
    ]
    size = {"width": screen.width, "height": screen.height, "package": screen.package}
    return {"revision": session.screens.revision_name, **size, "nodes": rows}


def _node_row(node: Node, ref: str | None, visible: list[int], redact: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "at": node.order,
        "in": node.parent.order if node.parent else None,
        "ref": ref,
        "role": node.role,
        "class": node.class_name,
        "id": node.resource_id,
        "bounds": list(node.bounds),
        "visible": visible,
        "flags": [name for name in _FLAGS if getattr(node, name, False)],
    }
    row |= {name: redact(words) for name in _WORDS if (words := getattr(node, name))}
    return {name: part for name, part in row.items() if part not in (None, "", [])}


@phone_route("selectors")
async def show_selectors(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """How the element `node` of the last look can be named, the lasting way first, and steps with it."""
    session = await phones.session(device)
    last, registry = session.screens.last, session.screens.registry
    at = read_number(request, "node", 0, 1_000_000)
    if last is None or at >= len(last.screen.nodes):
        raise InvalidAction(
            "node: this element is not on the screen any more", path="node", hint="Look again."
        )
    if request.query_params.get("revision") != session.screens.revision_name:
        raise InvalidAction("revision: the screen has changed since", path="revision", hint="Look again.")
    node, redact = last.screen.nodes[at], phones.runtime.secrets.redact
    choices = selector_choices(last.screen, node, registry)
    best = choices[0][0]
    words = redact(node.text or registry.label_of(node))
    touch = Tap(target=best)
    steps: dict[str, AnyAction] = {touch.type: touch, "visible": ExpectVisible(target=best)}
    if words and not node.password:
        steps["text"] = ExpectText(target=best, equals=words)
    return {
        "selectors": [{"text": redact(_in_short(choice)), "matches": count} for choice, count in choices],
        "steps": {name: redact(write_steps([Step(action=step)])) for name, step in steps.items()},
        "actions": {name: step.to_dict() for name, step in steps.items()},
        "python": redact(python_call(touch)),
    }


def _in_short(selector: Selector) -> str:
    short = shorten({"target": selector.model_dump(mode="json", exclude_none=True, exclude_defaults=True)})
    return flat_yaml(short["target"])


class FlowText(CamelModel):
    """A flow as an editor holds it."""

    text: str = Field(max_length=MOST_TEXT)
    file: str = Field(default="", max_length=300)
    form: str = ""
    before: str | None = None
    """What the editor began with; another text in the file is not overwritten."""


@phone_route("matches", "POST")
async def count_matches_of(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """What a target, written as in a flow, means on the last screen: the boxes of every match."""
    body = await json_body(request, FlowText)
    [step] = loads(f"steps:\n  - tap: {body.text}\n").flow.steps
    target = step.action.target if isinstance(step, Step) and isinstance(step.action, Tap) else None
    session = await phones.session(device)
    last = session.screens.last
    if last is None or target is None:
        return {"matches": []}
    nodes = find_all(last.screen, target, session.screens.registry)
    return {"matches": [{"at": node.order, "bounds": list(node.bounds)} for node in nodes]}


@phone_route("recording")
async def show_recording(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """What was done since the journal's entry `after`, as steps; without `after` the newest entry."""
    serial, journal = (await phones.session(device)).serial, phones.runtime.journal
    newest = journal.actions(1)
    if "after" not in request.query_params:
        return {"after": newest[0].seq if newest else 0}
    recording = Recording()

    def read() -> None:
        after = read_number(request, "after", 0, 10**15)
        for _, shown in ended_actions(journal, device=serial, after=after):
            recording.add_action(shown)

    await asyncio.to_thread(read)
    if not recording.steps:
        return {"app": None, "steps": []}
    flow, elements = recording.flow("recorded")
    steps = list(enumerate(flow.steps))
    if app := _app_begun_at_home(recording):
        # The icon only starts it where it was left; a flow has to begin where the next run begins, too.
        steps[:2] = [(-1, Step(action=RestartApp(package=app)))]
    rows = []
    for at, step in steps:
        portraits: Elements = {(0,): elements[at,]} if (at,) in elements else {}
        rows.append({"label": step_name(step), "text": write_steps([step], portraits)})
    return {"app": flow.app, "steps": rows}


def _app_begun_at_home(recording: Recording) -> str:
    """The app whose icon was tapped first, on the home screen; '' where it began elsewhere."""
    first, second = [*recording.steps[:2], None, None][:2]
    if first is None or second is None or not isinstance(first.action, Tap):
        return ""
    is_icon = is_home(first.package) and second.package and not is_home(second.package)
    return second.package if is_icon else ""


@ROUTES("/api/flows/check", "POST", person="Checking a flow")
async def check_flow(request: DeskRequest) -> JSON:
    """What is wrong with a text, and on which lines each step stands."""
    body = await json_body(request, FlowText)
    path = request.context.flows.folders.place(body.file)
    checked = await asyncio.to_thread(check_text, body.text, path)
    steps: list[dict[str, Any]] = []
    if not checked.broken:
        document = loads(body.text, path)
        starts = [document.places.of((at,)).line for at in range(len(document.drafts))]
        ends = [*(line - 1 for line in starts[1:]), body.text.rstrip().count("\n") + 1]
        labels = (
            [step.label or step_name(step) for step in document.valid_flow.steps]
            if document.valid_flow
            else []
        )
        steps = [
            {"line": first, "end": last, "label": labels[at] if at < len(labels) else ""}
            for at, (first, last) in enumerate(zip(starts, ends, strict=True))
        ]
    return checked.to_dict() | {"file": body.file, "steps": steps, "name": checked.name}


@ROUTES("/api/flows/file", person="Reading a flow")
async def read_flow(request: DeskRequest) -> JSON:
    """The text of a listed flow."""
    path = request.context.flows.folders.path(request.query_params.get("file", ""))
    return {"text": await asyncio.to_thread(path.read_text, "utf-8")}


@ROUTES("/api/flows/file", "POST", person="Saving a flow")
async def save_flow(request: DeskRequest) -> JSON:
    """Write a flow, Maestro's file or Python into the folder of flows; never over a text nobody has read."""
    body = await json_body(request, FlowText)
    folders = request.context.flows.folders
    if not folders.folders:
        raise InvalidAction("There is no folder of flows here", hint="Start the desk with --flows DIR.")
    name = Path(body.file).name
    if not name or name != body.file.replace("\\", "/").rpartition("/")[2] or name.startswith("."):
        raise InvalidAction("file: should be a file's name", path="file", hint="For example buy-a-mug.yaml.")
    path = folders.files().get(body.file) or folders.folders[-1] / name
    if (path.read_text("utf-8") if path.is_file() else None) != body.before:
        raise InvalidAction(
            f"{path.name} is there already, with another text", path="file", hint="Give another name."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(path.write_text, body.text, "utf-8")
    return {"file": body.file if body.file in folders.files() else path.name, "path": str(path)}


@ROUTES("/api/flows/convert", "POST", person="Converting a flow")
async def convert_flow(request: DeskRequest) -> JSON:
    """The text in another form: `maestro`, `pytest` or `script`; with what can't be carried over."""
    body = await json_body(request, FlowText)
    document = loads(body.text, request.context.flows.folders.place(body.file))
    text, left_out = await asyncio.to_thread(_converted, document, body.form)
    return {"text": text, "leftOut": left_out}


def _converted(document: FlowDocument, form: str) -> tuple[str, list[str]]:
    match form:
        case "pytest" | "script":
            return python_text(document, form)
        case "maestro":
            converted = maestro("Saving as Maestro's").to_maestro(document)
            return converted.text, converted.left_out
    raise InvalidAction(f"form: {form!r:.40} is not maestro, pytest or script", path="form")
