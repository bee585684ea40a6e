"""Actions that change nothing on the device: reads, waits, expectations, and control of the task."""

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from handrail.protocol import details as detail_types
from handrail.protocol.act import Act
from handrail.protocol.model import Flag, Name, Number, Text, TimeoutSec, WaitMs, Words, one_of
from handrail.protocol.system import Package
from handrail.protocol.target import ElementProperty, Expectation, Region, Target
from handrail.protocol.traits import ALLOW, BaseVerdict, Capability, ModelView, Pressed, Traits

Revision = Annotated[str, Field(pattern=r"^r[0-9]{1,12}$")]
FileName = Annotated[str, Field(pattern=r"^[^/\x00-\x1f]*[^/\s\x00-\x1f][^/\x00-\x1f]*$", max_length=255)]
LogTime = Annotated[
    str,
    Field(pattern=r"^([0-9]{1,9}(ms|s|m|h)|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}Z?)$", max_length=40),
]
Lines = Annotated[int, Field(strict=True, ge=1, le=10_000)]

READS_PRIVATE = BaseVerdict(
    "allow", "ask", "it reads an app's own data, and the caller is on another machine"
)
CHECK_MS = 1_000
"""How long a check looks: the screen rests already, a second is for what is drawn late. `wait_for` waits."""
HumanCapability = Literal[
    "camera", "sms", "2fa", "location", "biometric", "notification", "contacts", "calendar", "files", "oauth",
    "payment", "permission", "unknown",
]  # fmt: skip
"""What a person is asked to allow or provide: OpenPocket's thirteen."""
_READ = partial(Traits, effect="read", semantic="observation", presses=Pressed.NOTHING, verdict=ALLOW)
_WAIT = partial(Traits, effect="read", semantic="control", presses=Pressed.NOTHING, verdict=ALLOW)


class GetUiTree(Act):
    """Read the screen as text with refs."""

    traits = _READ(
        needs=Capability.LOOK, says="Read the screen.", tools=("core", "flow", "agent"),
        model=ModelView(
            "Read the screen as text with refs. Actions tell what changed: read only when lost.",
            "find within only_interactive format", {"find": "only lines with this text"},
        ),
    )  # fmt: skip
    example = {
        "type": "get_ui_tree", "format": "compact", "depth": 0, "max_lines": 200, "only_interactive": False,
    }  # fmt: skip
    details = detail_types.TreeDetails
    type: Literal["get_ui_tree"] = "get_ui_tree"
    format: Literal["compact", "outline", "full"] = "compact"
    """compact: one line per element; outline: JSON; full: every element with bounds."""
    depth: Annotated[int, Field(strict=True, ge=0, le=1_000)] = 0
    """Deepest level shown; 0 shows all."""
    max_lines: Lines = 200
    """Where the text is cut; the cut says how much is missing."""
    only_interactive: Flag = False
    """Leave plain texts out."""
    within: Target | None = None
    """Only this element's inside, uncut labels."""
    find: Name | None = None
    """Only lines that contain this text."""
    since: Revision | None = None
    """Only what changed after this revision, such as "r12"."""


class ReadText(Act):
    """Read the text of an element: its text, else its hint, else its description."""

    traits = _READ(
        needs=Capability.LOOK, aims=("target",), says="Read the text of {target:at}.", shorthand="target",
    )  # fmt: skip
    example = {"type": "read_text", "target": {"id": "total"}}
    details = detail_types.TextDetails
    type: Literal["read_text"] = "read_text"
    target: Target
    """Whose text."""
    into: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")] | None = None
    """In a flow: the variable that later steps find it in."""


class GetState(Act):
    """Read the device's general state: app in front, keyboard, battery, network, orientation."""

    traits = _READ(
        needs=Capability.SETTINGS, says="Read the device's state.", tools=("core",),
        model=ModelView("Read app in front, keyboard, battery, network, orientation."),
    )  # fmt: skip
    example = {"type": "get_state"}
    details = detail_types.StateDetails
    type: Literal["get_state"] = "get_state"


class WhatChanged(Act):
    """Read what changed on the screen since the last look."""

    traits = _READ(
        needs=Capability.LOOK, says="Compared the screen.", shorthand="since", tools=("core",),
        model=ModelView("Read what changed since your last answer.", ""),
    )  # fmt: skip
    example = {"type": "what_changed", "since": "r12"}
    details = detail_types.ChangeDetails
    type: Literal["what_changed"] = "what_changed"
    since: Revision | None = None
    """The revision to compare with; the last one that was read when absent."""


class Screenshot(Act):
    """Take a picture of the screen."""

    traits = _READ(
        needs=Capability.LOOK, says="Took a screenshot.", tools=("core", "flow"), gives_picture=True,
        model=ModelView(shown="marks", fields={"marks": "draw the refs"}),
    )  # fmt: skip
    example = {"type": "screenshot", "scale": 0.5, "marks": False}
    details = detail_types.PictureDetails
    type: Literal["screenshot"] = "screenshot"
    scale: Annotated[float, Field(strict=True, ge=0.05, le=1)] | None = None
    """Size of the picture; what models use when absent."""
    marks: Flag = False
    """Draw the refs onto it."""
    region: Region | None = None
    """Only this part of the screen: left, top, right, bottom."""


class GetLogs(Act):
    """Read the device's log."""

    traits = _READ(
        needs=Capability.LOGS, verdict=READS_PRIVATE, says="Read the log.", shorthand="package",
        tools=("debug",),
    )  # fmt: skip
    example = {"type": "get_logs", "package": "com.handrail.notes", "level": "warn", "max_lines": 200}
    details = detail_types.LogDetails
    type: Literal["get_logs"] = "get_logs"
    package: Package | None = None
    """Only this app's lines."""
    level: Literal["verbose", "debug", "info", "warn", "error", "fatal"] | None = None
    """Only lines at least this serious."""
    since: LogTime | None = None
    """An age ("90s", "5m") or a time ("2026-04-23T08:00:00Z")."""
    max_lines: Lines = 200
    """The newest lines, at most this many."""


class GetSharedPrefs(Act):
    """Read a preferences file of a debuggable app."""

    traits = _READ(
        needs=Capability.DATA, verdict=READS_PRIVATE, says="Read the preferences {file} of {package}.",
        tools=("debug",),
    )  # fmt: skip
    example = {"type": "get_shared_prefs", "package": "com.handrail.notes", "file": "settings"}
    details = detail_types.PreferencesDetails
    type: Literal["get_shared_prefs"] = "get_shared_prefs"
    package: Package
    """The app's package."""
    file: FileName
    """Name of the file; .xml may be left out."""


class QueryDb(Act):
    """Ask an SQLite database of a debuggable app."""

    traits = _READ(
        needs=Capability.DATA, verdict=READS_PRIVATE, says="Queried {database} of {package}.",
        asks="{query} in {package}/{database}", tools=("debug",),
        model=ModelView(shown="package database query write"),
    )  # fmt: skip
    example = {
        "type": "query_db", "package": "com.handrail.notes", "database": "notes.db",
        "query": "select count(*) from notes", "write": False,
    }  # fmt: skip
    details = detail_types.RowsDetails
    type: Literal["query_db"] = "query_db"
    package: Package
    """The app's package."""
    database: FileName
    """Name of the database."""
    query: Words
    """One SQL statement."""
    write: Flag = False
    """Allow statements that change data."""

    @property
    def effect(self) -> Literal["read", "sensitive"]:
        return "sensitive" if self.write else "read"


class Wait(Act):
    """Wait a fixed time. wait_for and wait_for_stable are nearly always better."""

    traits = _WAIT(needs=None, says="Waited {duration_ms} ms.", shorthand="duration_ms")
    example = {"type": "wait", "duration_ms": 1000}
    type: Literal["wait"] = "wait"
    duration_ms: WaitMs = 1000
    """How long."""


class WaitFor(Act):
    """Wait until a condition holds."""

    traits = _WAIT(
        needs=Capability.LOOK, says="Waited until {condition}.", shorthand="condition",
        tools=("core", "flow", "agent"),
        model=ModelView("Wait until something is visible or absent, or an app is in front.", "timeout_ms",
        texts=("visible", "absent", "app")),
    )  # fmt: skip
    example = {"type": "wait_for", "condition": {"visible": {"text": "Saved"}}, "timeout_ms": 10000}
    type: Literal["wait_for"] = "wait_for"
    condition: Expectation
    """What to wait for."""
    timeout_ms: WaitMs = 10_000
    """When to give up."""
    every_ms: Annotated[int, Field(strict=True, ge=20, le=60_000)] | None = None
    """How often to look; by itself it looks more often while something moves."""


class WaitForStable(Act):
    """Wait until the screen rests and nothing loads."""

    traits = _WAIT(needs=Capability.LOOK, says="Waited for the screen to rest.", shorthand="timeout_ms")
    example = {"type": "wait_for_stable", "timeout_ms": 8000}
    type: Literal["wait_for_stable"] = "wait_for_stable"
    timeout_ms: WaitMs = 8_000
    """When to give up."""


_CHECKS = partial(_READ, needs=Capability.LOOK)


class Check(Act):
    """One that only tells whether something holds. `expect` of MCP is all of them."""


class ExpectVisible(Check):
    """Check that an element can be seen."""

    traits = _CHECKS(says="Checked that {target:at} is visible.", shorthand="target")
    example = {"type": "expect_visible", "target": {"text": "Saved"}, "timeout_ms": 1000}
    type: Literal["expect_visible"] = "expect_visible"
    target: Target
    """What should be there."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take to come."""


class ExpectAbsent(Check):
    """Check that an element can't be seen."""

    traits = _CHECKS(says="Checked that {target:at} is absent.", shorthand="target")
    example = {"type": "expect_absent", "target": {"text": "Loading…"}, "timeout_ms": 1000}
    type: Literal["expect_absent"] = "expect_absent"
    target: Target
    """What should not be there."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take to go."""


class ExpectText(Check):
    """Check the text of an element."""

    traits = _CHECKS(says="Checked the text of {target:at}.")
    example = {"type": "expect_text", "target": {"id": "total"}, "equals": "12.50", "timeout_ms": 1000}
    type: Literal["expect_text"] = "expect_text"
    target: Target
    """Whose text."""
    equals: Text | None = None
    """The whole text."""
    contains: Text | None = None
    """A part of it."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take."""

    _check_comparison = one_of("equals", "contains")


class ExpectState(Check):
    """Check a property of an element."""

    traits = _CHECKS(says="Checked {property} of {target:at}.")
    example = {
        "type": "expect_state", "target": {"text": "Wi-Fi"}, "property": "checked", "value": True,
        "timeout_ms": 1000,
    }  # fmt: skip
    type: Literal["expect_state"] = "expect_state"
    target: Target
    """Whose property."""
    property: ElementProperty
    """Which property."""
    value: Flag | Number | Text
    """What it should be."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take."""


class ExpectScreen(Check):
    """Check which screen is shown, by fingerprint or by activity."""

    traits = _CHECKS(says="Checked which screen is shown.", shorthand="fingerprint")
    example = {"type": "expect_screen", "fingerprint": "k3x9qa", "timeout_ms": 1000}
    type: Literal["expect_screen"] = "expect_screen"
    fingerprint: Name | None = None
    """The screen's fingerprint."""
    activity: Name | None = None
    """The activity's class, whole or its last part."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take."""

    _check_choice = one_of("fingerprint", "activity")


class ExpectApp(Check):
    """Check which app is in front."""

    traits = _CHECKS(says="Checked that {package} is in front.", shorthand="package")
    example = {"type": "expect_app", "package": "com.google.android.contacts", "timeout_ms": 1000}
    type: Literal["expect_app"] = "expect_app"
    package: Package
    """The app's package."""
    timeout_ms: WaitMs = CHECK_MS
    """How long it may take."""


class RequestHumanAuth(Act):
    """Ask the person to allow or provide something, and wait for the answer."""

    traits = _WAIT(
        needs=None, says="Asked the person: {instruction}", shorthand="instruction",
        tools=("core", "flow", "agent"),
        model=ModelView(
            "Ask the person to allow or provide something, or for information that is missing.",
            "capability instruction",
        ),
    )  # fmt: skip
    example = {
        "type": "request_human_auth", "capability": "2fa",
        "instruction": "Enter the code from the message.", "timeout_sec": 300,
    }  # fmt: skip
    details = detail_types.HumanDetails
    type: Literal["request_human_auth"] = "request_human_auth"
    capability: HumanCapability = "unknown"
    """What is needed."""
    instruction: Annotated[Words, Field(max_length=10_000)]
    """What the person should do."""
    timeout_sec: TimeoutSec = 300
    """How long the person has."""


class GiveAnswer(Act):
    """Tell the person what the task asks for; the task goes on."""

    traits = _WAIT(needs=None, says="Answered: {text}", shorthand="text")
    example = {"type": "give_answer", "text": "The code is 482913."}
    details = detail_types.AnswerDetails
    type: Literal["give_answer"] = "give_answer"
    text: Words
    """What is to be known."""


class Finish(Act):
    """End the task."""

    traits = _WAIT(
        needs=None, says="{message}", shorthand="message", tools=("agent",),
        model=ModelView("End the task, done or impossible, and say what was achieved.", gives_reason=False),
    )  # fmt: skip
    example = {"type": "finish", "message": "Task finished.", "status": "done"}
    details = detail_types.FinishDetails
    type: Literal["finish"] = "finish"
    message: Text = "Task finished."
    """What was achieved."""
    status: Literal["done", "infeasible", "failed"] = "done"
    """How it ended; infeasible: no one could do it here."""
    answer: Text | None = None
    """What was asked for and nothing else, such as 12500, 07:05 or 2026-03-04; a list has a line for each."""
