"""Runs as a runner would leave them: outcomes of every kind, with screens of the simulated phone."""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from handrail.flow.run_record import FlowRecord, Outcome, Picture, StepRecord
from handrail.protocol.envelope import (
    DeviceInfo,
    Envelope,
    EnvelopeTarget,
    ResolvedElement,
    SettleReport,
    SystemDialog,
    Verification,
)
from handrail.protocol.flow import FlowTrace
from handrail.screen.node import Bounds
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.view.view import View

STARTED_MS = 1_773_500_966_000
DEVICE = "127.0.0.1:5555 (Handrail One)"
HEAD = "5f1a0c3b" * 8
STEP_MS = 50


class Stage:
    """A phone whose clock stands still, photographed as it goes."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.phone = Phone(clock=self.clock)

    async def wait(self, duration_ms: int) -> None:
        for _ in range(0, duration_ms, STEP_MS):
            await self.clock.advance(STEP_MS)
            self.phone.catch_up()

    def find(self, words: str) -> View:
        for window in reversed(self.phone.windows()):
            for view in window.views():
                if words in (view.text, view.hint, view.desc) and view.on_screen:
                    return view
        raise LookupError(words)

    async def tap(self, words: str) -> Bounds:
        view = self.find(words)
        bounds = Bounds(int(view.x), int(view.y), int(view.x + view.w), int(view.y + view.h))
        await self.phone.tap(*bounds.center)
        await self.wait(800)
        return bounds

    async def type(self, words: str, into: str) -> Bounds:
        bounds = await self.tap(into)
        self.phone.commit_text(words)
        await self.wait(200)
        return bounds

    def picture(self) -> Picture:
        image = self.phone.frame().image()
        out = io.BytesIO()
        image.save(out, "PNG")
        return Picture(out.getvalue(), image.width, image.height)


@cache
def contact_screens() -> tuple[list[Picture], list[Bounds]]:
    """The screens of a new contact, and what was touched on each but the last."""

    async def story() -> tuple[list[Picture], list[Bounds]]:
        stage = Stage()
        await stage.wait(1000)
        stage.phone.start_activity(package="com.google.android.contacts")
        await stage.wait(1500)
        pictures = [stage.picture()]
        touched = [await stage.tap("Create new contact")]
        pictures.append(stage.picture())
        for words, field in (("Marigold", "First name"), ("Tern", "Last name")):
            touched.append(await stage.type(words, field))
            pictures.append(stage.picture())
        return pictures, touched

    with ThreadPoolExecutor(1) as pool:  # a browser's loop may already run in this thread
        return pool.submit(lambda: asyncio.run(story())).result()


def envelope(kind: str, **fields: Any) -> Envelope:
    code = fields.get("failure_code")
    told = {
        "action_id": f"{kind}_{STARTED_MS}_1",
        "timestamp": "2026-03-14T15:09:26.000Z",
        "action_type": kind,
        "semantic": "input",
        "device": DeviceInfo(id="127.0.0.1:5555", model="Handrail One"),
        "lifecycle_state": "failed" if code else "verified",
        "source_module": "interact",
        "success": code is None,
        "delivery": "not_delivered" if code else "delivered",
        "settle": SettleReport(ms=212.4, reads=4, reason="quiet"),
        "timings_ms": {"queue": 0.2, "resolve": 31.0, "dispatch": 12.8, "settle": 212.4},
    }
    return Envelope(**{**told, **fields})


def step(
    index: int, label: str, kind: str, *, ms: float = 300.0, at: float = 0.0, **fields: Any
) -> StepRecord:
    """`at` is when it began, in milliseconds after the flow."""
    source = fields.pop("source", {kind: label.partition(" ")[2] or None})
    return StepRecord(
        path=fields.pop("path", (index,)),
        label=label,
        source=source,
        device=fields.pop("device", DEVICE),
        started_ms=STARTED_MS + int(at),
        line=fields.pop("line", 6 + 2 * index),
        duration_ms=ms,
        **fields,
    )


def failing_contact(*, attempt: int = 1) -> FlowRecord:
    """Four good steps, one of them only after a second try, then a button that is not there."""
    screens, touched = contact_screens()
    read_back = Verification(mode="built_in", expected="Marigold", observed="Marigold", outcome="verified")
    first_name = ResolvedElement(
        ref="@e2",
        text="First name",
        resource_id="com.google.android.contacts:id/first_name",
        class_="android.widget.EditText",
        bounds=tuple(touched[1]),
    )
    steps = [
        step(0, "start_app com.google.android.contacts", "start_app", ms=812.0, after=screens[0]),
        step(
            1,
            "Tap Create new contact",
            "tap",
            at=830,
            ms=655.0,
            before=screens[0],
            after=screens[1],
            touched=touched[0],
            tries=2,
            diff="Screen changed: PeopleActivity -> ContactEditorActivity",
            envelope=envelope("tap"),
        ),
        step(
            2,
            "Type the first name",
            "type_text",
            at=1500,
            ms=410.0,
            source={
                "type_text": {"target": "First name", "text": "Marigold"},
                "label": "Type the first name",
            },
            before=screens[1],
            after=screens[2],
            touched=touched[1],
            diff='Elements changed:\nEditText "First name" text="" -> text="Marigold"\nKeyboard appeared',
            envelope=envelope(
                "type_text",
                target=EnvelopeTarget(selector={"text": "First name"}, resolved=first_name),
                verification=read_back,
            ),
        ),
        step(
            3, "Type the last name", "type_text", at=1930, ms=371.0,
            before=screens[2], after=screens[3], touched=touched[2], envelope=envelope("type_text"),
        ),
        step(
            4,
            "Tap Save contact",
            "tap",
            at=2310,
            ms=2140.0,
            outcome="failed",
            code="ELEMENT_NOT_FOUND",
            error='nothing on the screen is called "Save contact"; the nearest is Button "Save"',
            hint='Tap "Save", or read the screen with get_ui_tree.',
            before=screens[3],
            after=screens[3],
            log=[
                "03-14 15:09:30.112  1881  1881 I ActivityTaskManager: Displayed ContactEditorActivity",
                "03-14 15:09:31.640  2212  2230 E ContactSaveService: no account to save to",
            ],
            envelope=envelope(
                "tap",
                failure_code="ELEMENT_NOT_FOUND",
                message="nothing on the screen is called Save contact",
                target=EnvelopeTarget(selector={"text": "Save contact"}),
                verification=Verification(mode="none", outcome="not_checked"),
                diagnostics=("looked 9 times within 2000 ms",),
            ),
        ),
    ]  # fmt: skip
    trace = FlowTrace(
        success=False,
        steps_completed=4,
        total_steps=7,
        results=(),
        screen_fingerprint="c0ffee",
        screen_changed=True,
        final_ui_tree="ContactEditorActivity\n@e1 EditText First name = Marigold\n@b1 Button Save",
    )
    return _flow("A new contact", "flows/contact.yaml", steps, "failed", trace=trace, attempt=attempt,
                 tags=("contacts", "smoke"), error=steps[-1].error)  # fmt: skip


def passing(name: str = "Read the news", file: str = "flows/news.yaml", *, attempt: int = 1) -> FlowRecord:
    """A repeat with two rounds inside."""
    inner = [
        step(0, "Tap Next", "tap", path=(1, 0), at=400, ms=220),
        step(1, "Tap Next", "tap", path=(1, 1), at=640, ms=190),
    ]
    steps = [
        step(0, "Tap News", "tap", ms=350),
        step(1, "Repeat 2 times", "repeat", at=360, ms=480, children=inner),
    ]
    return _flow(name, file, steps, "passed", attempt=attempt)


def warned() -> FlowRecord:
    """An optional step failed; a permission dialog was there and is no crash."""
    steps = [
        step(0, "Tap Not now", "tap", ms=90, outcome="warned", code="ELEMENT_NOT_FOUND", error="not there"),
        step(1, "Tap Photos", "tap", at=100, ms=210),
        step(2, "Tap Skip", "tap", at=320, ms=0, outcome="skipped"),
    ]
    dialog = SystemDialog(
        package_name="com.google.android.permissioncontroller",
        title="Allow Gallery to access photos?",
        buttons=("Allow", "Don’t allow"),
        kind="permission",
    )
    trace = FlowTrace(
        success=True,
        steps_completed=3,
        total_steps=3,
        results=(),
        screen_fingerprint="beef",
        screen_changed=False,
        system_dialogs=(dialog,),
    )
    return _flow("Look at photos", "flows/gallery.yaml", steps, "passed", trace=trace)


def two_phones() -> FlowRecord:
    """Bob fails, so Alice is stopped; she stands first in the record."""
    alice = [step(0, "Type Hello", "type_text", path=(0, 0, 0), ms=300, device="alice", outcome="stopped")]
    bob = [
        step(0, "Wait for Hello", "wait_for", path=(0, 1, 0), ms=500, device="bob", outcome="failed",
             code="TIMEOUT", error="Hello did not come within 500 ms"),
    ]  # fmt: skip
    children = [
        step(0, "alice", "device", path=(0, 0), ms=510, device="alice", outcome="stopped", children=alice),
        step(1, "bob", "device", path=(0, 1), ms=500, device="bob", outcome="failed", code="TIMEOUT",
             error="Hello did not come within 500 ms", children=bob),
    ]  # fmt: skip
    top = step(0, "On alice, bob", "parallel", ms=512, device="alice, bob", outcome="failed", code="TIMEOUT",
               error="Hello did not come within 500 ms", children=children)  # fmt: skip
    return _flow("Two phones", "flows/two_phones.yaml", [top], "failed", device="emu-1 (One), emu-2 (Two)")


def not_run() -> FlowRecord:
    return _flow("Pay", "flows/pay.yaml", [], "skipped", error="needs a tag that was excluded")


def interrupted() -> FlowRecord:
    steps = [
        step(0, "Tap Start", "tap", ms=200),
        step(1, "Wait for Done", "wait_for", at=210, ms=900, outcome="stopped", error="It was stopped"),
    ]
    return _flow("A long wait", "flows/wait.yaml", steps, "stopped")


def everything() -> list[FlowRecord]:
    return [failing_contact(), passing(), warned(), two_phones(), not_run(), interrupted()]


def _flow(name: str, file: str, steps: list[StepRecord], outcome: Outcome, **fields: Any) -> FlowRecord:
    ends = [one.started_ms - STARTED_MS + one.duration_ms for one in steps]
    told = {"tags": (), "device": DEVICE, "journal_head": HEAD, "duration_ms": max(ends, default=0.0)}
    return FlowRecord(name, file, started_ms=STARTED_MS, outcome=outcome, steps=steps, **{**told, **fields})
