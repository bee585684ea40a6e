"""A flow is made in Studio by somebody with a browser and no terminal; the phone and the saved file judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from handrail.flow.document import load
from handrail.protocol.flow import Step
from handrail_sim.apps import contacts
from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer

PATIENCE_MS = 60_000
MOST_DEEDS = 45
"""Clicks and typed pieces of the whole way."""
PEOPLE = "content query --uri content://com.android.contacts/raw_contacts --projection display_name"


class OtherWords:
    """The simulator's widgets, in a version of the app that calls its Save button otherwise."""

    def __init__(self, ui: Any) -> None:
        self._ui = ui

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ui, name)

    def button(self, label: str, *rest: Any, **more: Any) -> Any:
        if label == "Save":
            label, more = "Keep contact", {**more, "id": "keep_button"}
        return self._ui.button(label, *rest, **more)


@dataclass
class Newcomer:
    """Somebody at Studio: what they click and type, counted."""

    page: Page
    server: DeskServer
    deeds: int = 0
    ran: str = ""
    """The last run."""

    @property
    def studio(self) -> Locator:
        return self.page.locator(".app-studio")

    def press(self, name: str, within: Locator | None = None, *, exact: bool = True) -> None:
        self.deeds += 1
        (within or self.studio).get_by_role("button", name=name, exact=exact).click()

    def type(self, text: str) -> None:
        self.deeds += 1
        self.page.keyboard.type(text)

    def spot(self, label: str) -> tuple[float, float]:
        """Where the phone's picture shows this label."""
        canvas = self.studio.locator(".phone-canvas")
        device = self.studio.get_by_role("combobox", name="Phone", exact=True).input_value()
        session = self.server.run(lambda: self.server.context.phones.session(device))

        async def box() -> Any:
            await session.get_ui_tree()
            screen = session.screens.registry.screen
            nodes = screen.nodes if screen else ()
            match = next((n for n in nodes if label in (n.text, n.description, n.hint_text)), None)
            return match and (match.bounds.center, screen.width, screen.height)

        for _ in range(40):
            if found := self.server.run(box):
                break
        else:
            raise AssertionError(f"the phone does not show {label}")
        (x, y), width, height = found
        place = canvas.bounding_box()
        return place["x"] + x / width * place["width"], place["y"] + y / height * place["height"]

    def touch(self, label: str) -> None:
        at = self.spot(label)
        self.deeds += 1
        self.page.mouse.click(*at)

    def steps(self, count: int) -> None:
        expect(self.studio.locator(".editor-step")).to_have_count(count, timeout=PATIENCE_MS)

    def expect_of(self, label: str, what: str) -> None:
        self.press("Point")
        expect(self.studio.locator(".studio-node").first).to_be_visible(timeout=PATIENCE_MS)
        self.touch(label)
        self.press(what, self.studio.locator(".studio-ask"))

    def run(self) -> str:
        """How it ended."""
        before = self.ran
        self.press("Run")
        other = f":not([data-run='{before}'])" if before else ""
        verdict = self.studio.locator(f".studio-verdict:not([data-outcome=running]){other}")
        verdict.wait_for()
        self.ran = verdict.get_attribute("data-run") or ""
        return verdict.get_attribute("data-outcome") or ""

    def people(self) -> int:
        """How many contacts of this name the phone has, by its own provider."""
        [session] = self.server.context.runtime.sessions.values()

        async def query() -> str:
            done = await session.surface.inner.device.shell.run(PEOPLE.split())
            return str(done.text)

        return self.server.run(query).count("Ada")


@pytest.fixture
def tester(browser: Browser, own_server: DeskServer) -> Iterator[Newcomer]:
    person = Person.enter(browser, own_server, viewport={"width": 1440, "height": 900})
    yield Newcomer(person.page, own_server)
    assert person.take_complaints() == []
    person.leave()


def record_a_contact(tester: Newcomer) -> None:
    """Eight steps, two of them expectations."""
    studio, text = tester.studio, tester.studio.locator(".editor-paint")
    tester.press("Record")
    expect(studio.locator(".studio-record")).to_have_text("Stop recording", timeout=PATIENCE_MS)
    tester.touch("Contacts")
    tester.steps(2)
    tester.touch("Create new contact")
    expect(text).to_contain_text(
        "restart_app", timeout=PATIENCE_MS
    )  # a flow begins where its next run begins, too
    tester.steps(2)
    tester.expect_of("First name", "Expect: it is visible")
    tester.steps(3)
    for count, (field, words) in enumerate(
        (("First name", "Ada"), ("Last name", "Lovelace"), ("Company", "Engines")), 4
    ):
        tester.touch(field)
        tester.steps(count)
        tester.type(words)
        expect(text).to_contain_text(f"text: {words}", timeout=PATIENCE_MS)
    tester.touch("Save")
    tester.steps(7)
    tester.expect_of("Ada Lovelace", "Expect: this text")
    tester.steps(8)
    tester.press("Stop recording")


def test_the_whole_way_without_a_terminal(tester: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    page, studio = tester.page, tester.studio
    page.locator(".desk-icon", has_text="Studio").click()
    tester.deeds += 1
    tester.press("Start a simulated phone")
    studio.locator(".phone-canvas[data-frames]").wait_for()
    record_a_contact(tester)
    assert tester.people() == 1

    assert tester.run() == "passed"
    assert tester.people() == 2

    monkeypatch.setattr(contacts, "ui", OtherWords(contacts.ui))
    assert tester.run() == "failed"
    expect(studio.locator(".studio-why")).to_contain_text("Save", timeout=PATIENCE_MS)
    expect(studio.locator(".editor-step.is-failed")).to_have_attribute("data-step", "6", timeout=PATIENCE_MS)
    assert tester.people() == 2

    tester.press("Heal: take this edit")
    expect(studio.locator(".editor-paint")).to_contain_text("keep_button", timeout=PATIENCE_MS)
    assert tester.run() == "passed"
    assert tester.people() == 3

    studio.get_by_role("textbox", name="Name of the flow").click()
    tester.deeds += 1
    tester.type("Add Ada")
    tester.press("Save")
    expect(studio.locator(".studio-said")).to_contain_text("Saved as", timeout=PATIENCE_MS)
    assert tester.deeds <= MOST_DEEDS, tester.deeds
    print(f"clicks and typed pieces: {tester.deeds}")  # noqa: T201
    judge_the_file(tester)


def judge_the_file(tester: Newcomer) -> None:
    [file] = (tester.server.home / "flows").glob("*.yaml")
    document = load(file)
    kinds = " ".join(step.action.type for step in document.flow.steps if isinstance(step, Step))
    assert document.name == "Add Ada"
    assert kinds == "restart_app tap expect_visible type_text type_text type_text tap expect_text"
    assert document.element((6,)), "what is known of the element is kept for the next healing"
