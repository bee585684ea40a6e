"""The desk without a mouse, without good eyes, in the dark and in the light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer

pytestmark = pytest.mark.slow

CHECKS = (Path(__file__).parent / "access_checks.js").read_text()
DOCUMENT = "# Head\n\ntext [link](https://example.org) `code`\n\n> quote\n\n|a|b|\n|-|-|\n|1|2|"
TONES = ("default", "muted", "accent", "success", "warning", "error")
COMPONENTS: list[dict[str, Any]] = [
    *({"type": "text", "content": tone, "color": tone} for tone in TONES),
    *(
        {"type": "badge", "label": v, "variant": v}
        for v in ("default", "success", "warning", "error", "info")
    ),
    *({"type": "button", "label": v, "action": v, "variant": v} for v in ("primary", "secondary", "ghost")),
    {"type": "button", "label": "danger", "action": "x", "variant": "danger"},
    {"type": "input", "name": "a", "label": "Name", "placeholder": "Ada"},
    {"type": "select", "name": "b", "options": [{"value": "1", "label": "One"}]},
    {"type": "progress", "value": 40, "label": "Copying", "showValue": True},
]


def furnished(server: DeskServer) -> None:
    """A desk with one of everything on it."""
    words = {"renderer": "text", "data": "words"}
    table = {"renderer": "table", "data": {"headers": ["Name"], "rows": [["Ada"]]}}
    form = {"renderer": "component", "data": {"components": COMPONENTS, "cols": 2}}
    server.window("doc", {"renderer": "markdown", "data": DOCUMENT})
    server.window("table", table, bounds={"x": 700, "y": 20, "w": 300, "h": 200})
    server.window("form", form, bounds={"x": 640, "y": 240, "w": 420, "h": 440})
    server.window("widget", words, variant="widget", bounds={"x": 1080, "y": 20, "w": 180, "h": 120})
    server.window("panel", words, variant="panel", bounds={"x": 0, "y": 0, "w": 1280, "h": 60})
    server.act({"type": "window.lock", "windowId": "form", "agentId": "agent-1"})
    server.act({"type": "notification.show", "id": "n", "title": "Title", "body": "Body"})
    for variant in ("info", "success", "warning", "error"):
        toast = {"id": variant, "message": variant, "variant": variant, "duration": 600_000}
        server.act({"type": "toast.show", **toast})
    server.act({"type": "app.badge", "appId": "journal", "count": 3})


@pytest.fixture(scope="module")
def rich_server(desk_server: DeskServer) -> DeskServer:
    furnished(desk_server)
    return desk_server


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_and_everything_a_name(
    browser: Browser, rich_server: DeskServer, scheme: str
) -> None:
    one = Person.enter(browser, rich_server, color_scheme=scheme)
    expect(one.window("doc").locator("article h1")).to_be_visible()
    checked(one.page)
    one.page.locator("[aria-controls=centre]").click()
    checked(one.page)
    one.page.keyboard.press("Escape")
    one.button("Start").click()
    checked(one.page)
    one.page.keyboard.press("Escape")
    one.button("Menu of form", one.window("form")).click()
    checked(one.page)
    one.page.keyboard.press("Escape")
    future = rich_server.begin_act(
        {"type": "dialog.confirm", "id": "d", "title": "Sure?", "message": "Really?"}
    )
    expect(one.page.locator("dialog")).to_be_visible()
    checked(one.page)
    one.button("No").click()
    one.until(future.done)
    one.leave()


def checked(page: Page) -> None:
    assert page.evaluate(CHECKS) == {"nameless": [], "structure": [], "faint": []}


def test_the_approval_is_readable_in_both_schemes(browser: Browser, rich_server: DeskServer) -> None:
    question = {
        "approvalId": "a", "dialogId": "approval:a", "title": "Allow tap?", "message": "Tap Pay",
        "reason": "I pay",
        "expiresAt": "2126-01-01T00:00:00Z", "canRemember": "session", "wantsData": True,
    }  # fmt: skip

    async def ask(*questions: dict[str, Any]) -> None:
        rich_server.desk.set_approvals(list(questions))

    rich_server.run(lambda: ask(question))
    for scheme in ("light", "dark"):
        one = Person.enter(browser, rich_server, color_scheme=scheme)
        expect(one.button("Approve")).to_be_enabled()
        checked(one.page)
        one.leave()
    rich_server.run(ask)


def test_a_desk_is_used_from_start_to_end_without_a_mouse(browser: Browser, own_server: DeskServer) -> None:
    one = Person.enter(browser, own_server)
    press = one.page.keyboard.press
    components = [
        {"type": "input", "name": "q", "formId": "f", "label": "Question"},
        {"type": "button", "label": "Ask", "action": "ask", "submitForm": "f"},
    ]
    one.show("form", {"renderer": "component", "data": {"components": components}})
    one.show("other", {"renderer": "text", "data": "x"}, bounds={"x": 700, "y": 100, "w": 300, "h": 200})

    press("F6")
    assert focused(one) == "Approvals", "the first icon"
    press("ArrowDown")
    assert focused(one) == "Console"
    press("F6")
    assert focused(one) == "Menu of other", "the window in front"
    press("Alt+Shift+KeyN")
    one.until(lambda: own_server.state()["monitors"][0]["focused"] == "monitor-0/form")
    for _ in range(5):
        press("Tab")  # past the menu, the three buttons, into the field
    one.page.keyboard.type("why?")
    press("Tab")
    press("Enter")
    assert one.letter()["form_data"] == {"q": "why?"}

    press("Alt+Shift+Space")
    press("ArrowDown")
    press("End")
    press("Enter")
    expect(one.window("form")).to_have_count(0)
    press("F6")
    future = own_server.begin_act(
        {"type": "dialog.confirm", "id": "d", "title": "Sure?", "message": "Really?"}
    )
    expect(one.page.locator("dialog")).to_be_visible()
    press("Tab")
    press("Enter")
    one.until(future.done)
    assert future.result()["confirmed"] is True
    expect(one.page.locator("dialog")).to_have_count(0)
    press("?")
    expect(one.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    press("Enter")
    expect(one.page.locator("dialog")).to_have_count(0)
    one.leave()


def focused(person: Person) -> str:
    return str(person.page.evaluate("() => document.activeElement.ariaLabel"))


def test_the_theme_follows_the_system_and_a_choice_is_remembered(
    browser: Browser, rich_server: DeskServer
) -> None:
    one = Person.enter(browser, rich_server, color_scheme="dark")
    assert one.page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    one.button("Use the light theme").click()
    one.page.reload()
    expect(one.button("Use the dark theme")).to_be_visible()
    assert one.page.evaluate("() => document.documentElement.dataset.theme") == "light"
    one.leave()
