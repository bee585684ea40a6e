"""Words of phones, agents and models are data wherever people read them: reports, journal, windows, dialogs.

The words are generated; what is checked is the page's DOM, not our own escaping.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from handrail.flow import report
from handrail.flow.document import loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from tests.scenario.world import FastClock, play_live, world
from tests.unit.flow.test_report import hostile_flow
from tests.web.apps_stage import Stage, stage
from tests.web.desk_person import Person
from tests.web.hostile_words import DOM, hostile_words

SEED = 20_260_817


class Watched:
    """A page, and what the browser did on it that words alone would not."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        page.on("console", lambda told: told.type == "error" and self.said.append(told.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: "evil" in request.url and self.asked.append(request.url))

    def stayed_words(self) -> None:
        assert self.page.evaluate(DOM) == {"pwned": None, "bad": [], "made": []}
        assert (self.said, self.asked) == ([], [])


@pytest.mark.slow
def test_the_same_words_do_run_on_a_page_that_trusts_them(browser: Browser) -> None:
    """The control: the check sees what it should."""
    page = browser.new_page()
    page.route("**", lambda route: route.abort())
    page.set_content("".join(hostile_words(SEED, 60)), wait_until="commit")
    page.wait_for_function("() => window.pwned === 1")
    found = page.evaluate(DOM)
    assert len(found["bad"]) >= 5
    assert found["made"]
    page.close()


def _report(browser: Browser, records: list[FlowRecord], folder: Path) -> Watched:
    watched = Watched(browser.new_page())
    watched.page.goto(report.write(records, folder).as_uri())
    watched.page.get_by_role("button", name="Expand all").click()
    return watched


def test_generated_words_in_a_report_run_nothing(browser: Browser, tmp_path: Path) -> None:
    words = hostile_words(SEED, 30)
    watched = _report(browser, [hostile_flow(one) for one in words], tmp_path)
    expect(watched.page.locator("h2")).to_have_count(len(words))
    watched.stayed_words()
    assert watched.page.locator("script").count() == 1
    assert watched.page.locator("iframe, img, a:not([href^='#'])").count() == 0
    watched.page.close()


@pytest.mark.slow
def test_a_thousand_words_in_reports_run_nothing(browser: Browser, tmp_path: Path) -> None:
    for turn in range(5):
        words = hostile_words(SEED + turn, 200)
        watched = _report(browser, [hostile_flow(one) for one in words], tmp_path / str(turn))
        watched.stayed_words()
        assert watched.page.locator("script").count() == 1
        watched.page.close()


@pytest.mark.slow
def test_words_that_a_phone_shows_run_nothing_in_the_report_of_a_run(
    browser: Browser, tmp_path: Path
) -> None:
    """Typed into the phone, read from its screen, journalled, and written down."""
    words = [one for one in hostile_words(SEED, 12) if "\x00" not in one and "\n" not in one]
    steps: list[dict[str, Any]] = []
    for one in words:
        typed = {"type_text": {"target": "First name", "text": one}, "optional": True}
        steps += [{"restart_app": "com.google.android.contacts"}, {"tap": "Create new contact"}, typed]
    flow = yaml.safe_dump({"name": words[0], "app": "com.google.android.contacts", "steps": steps})

    async def run() -> FlowRecord:
        clock = FastClock()
        async with world(tmp_path, clock=clock) as stage:
            runner = FlowRunner({"phone": stage.session}, clock, evidence=ReportEvidence())
            return await runner.run(loads(flow, tmp_path / "contact.yaml"))

    with ThreadPoolExecutor(1) as pool:  # the browser's loop runs in this thread
        record = pool.submit(lambda: play_live(run())).result()
    assert sum(step.outcome == "passed" for step in record.steps) > 2.5 * len(words)
    watched = _report(browser, [record], tmp_path / "report")
    watched.stayed_words()
    watched.page.close()


@pytest.fixture(scope="module")
def desk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("home")) as one:
        yield one


@pytest.mark.slow
def test_words_in_the_journal_run_nothing_on_the_desk(desk: Stage, browser: Browser) -> None:
    words = [one for one in hostile_words(SEED, 10) if "\x00" not in one]

    async def acts() -> None:
        session = desk.world.session
        for one in words:
            await session.run({"type": "tap", "target": {"text": one}}, reason=one)
            await session.run(
                {"type": "expect_visible", "target": {"text_contains": one}, "timeout_ms": 100}, reason=one
            )

    desk.do(acts())
    page = desk.log_in(browser)
    watched = Watched(page)
    root = desk.open(page, "journal")
    rows = root.locator(".row")
    expect(rows).to_have_count(len(words))
    for number in range(rows.count()):
        rows.nth(number).click()
        expect(root.locator(".journal-title")).to_be_visible()
    watched.stayed_words()
    page.close()


def _components(words: list[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for at, one in enumerate(words):
        options = [{"value": one, "label": one}]
        made += [
            {"type": "text", "content": one},
            {"type": "text", "content": one, "variant": "code"},
            {"type": "button", "label": one, "action": one, "icon": one[:100]},
            {"type": "badge", "label": one},
            {"type": "progress", "value": 1, "label": one},
            {"type": "input", "name": f"i{at}", "label": one, "placeholder": one, "defaultValue": one},
            {"type": "select", "name": f"s{at}", "label": one, "placeholder": one, "options": options},
        ]
    return made


def _fill(person: Person, words: list[str]) -> None:
    """Every place of the desk that an agent can write to."""
    data: dict[str, Any] = {"components": _components(words)}
    person.show("components", {"renderer": "component", "data": data}, title=words[0][:200])
    person.show("table", {"renderer": "table", "data": {"headers": words[:5], "rows": [words[:5]] * 3}})
    person.show("text", {"renderer": "text", "data": "\n".join(words)})
    for renderer in ("markdown", "html"):
        person.show(renderer, {"renderer": renderer, "data": "\n\n".join(["the start", *words])})
        expect(person.window(renderer).locator(".prose")).to_contain_text("the start")
    for at, one in enumerate(words[:5]):
        person.server.act(
            {"type": "notification.show", "id": f"n{at}", "title": one, "body": one, "icon": one}
        )
        person.server.act({"type": "toast.show", "id": f"t{at}", "message": one})


def _stayed_words(person: Person) -> None:
    person.frame()
    assert person.page.evaluate(DOM) == {"pwned": None, "bad": [], "made": []}
    assert [url for url in person.requests if "evil" in url] == []
    assert person.take_complaints() == []


def test_generated_words_in_windows_run_nothing(person: Person) -> None:
    _fill(person, hostile_words(SEED, 30))
    _stayed_words(person)


@pytest.mark.slow
def test_a_thousand_words_in_windows_run_nothing(person: Person) -> None:
    for turn in range(20):
        _fill(person, hostile_words(SEED + turn, 50))
        _stayed_words(person)
        person.clear()


def test_a_question_can_not_be_turned_around(person: Person) -> None:
    """Marks that change the direction of writing are shown as their codes where a person decides."""
    asked = {
        "type": "dialog.confirm",
        "id": "d",
        "title": "Keep \u202eevas\u202c it",
        "message": "a\u2066b\u2069c",
    }
    future = person.server.begin_act(asked)
    expect(person.page.locator("dialog h2")).to_have_text("Keep \\u202eevas\\u202c it")
    expect(person.page.locator("dialog")).to_contain_text("a\\u2066b\\u2069c")
    person.button("No").click()
    person.until(future.done)
