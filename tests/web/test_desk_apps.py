"""Icons, shortcuts of every kind, and apps: the desk's own and a user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.desk_person import Person

pytestmark = pytest.mark.slow

PAGE = """<!doctype html><title>App</title><button id="go">Go</button><p id="told"></p>
<script src="app.js"></script>"""
SCRIPT = """
const told = document.getElementById("told");
addEventListener("message", ({data}) => {
  told.textContent += `${data.type} ${data.theme ?? data.refused};`;
});
document.getElementById("go").onclick = () => {
  for (const message of __MESSAGES__) parent.postMessage({handrail: 1, ...message}, "*");
};
parent.postMessage({handrail: 1, type: "ready"}, "*");
"""


def shortcut(person: Person, **more: Any) -> None:
    one = {"id": "s", "label": "Short", "icon": "star", "createdAt": 1, **more}
    person.server.act({"type": "desktop.createShortcut", "shortcut": one})
    person.button(one["label"]).wait_for()


def stored(person: Person, name: str, data: str | bytes) -> None:
    folder = person.server.home / "storage"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def installed(person: Person, name: str, allow: list[str], messages: list[dict[str, Any]]) -> None:
    folder: Path = person.server.home / "apps" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.json").write_text(json.dumps({"name": f"App {name}", "allow": allow}))
    (folder / "index.html").write_text(PAGE)
    (folder / "app.js").write_text(SCRIPT.replace("__MESSAGES__", json.dumps(messages)))
    person.server.act({"type": "desktop.refreshApps"})
    person.button(f"App {name}").wait_for()


def test_the_desks_own_apps_are_icons_with_badges(person: Person) -> None:
    for name in ("Approvals", "Console", "Flows", "Journal", "Phone"):
        expect(person.button(name)).to_be_visible()
    person.server.act({"type": "app.badge", "appId": "journal", "count": 3})
    expect(person.button("Journal, 3")).to_be_visible()
    person.server.act({"type": "app.badge", "appId": "journal", "count": 0})
    expect(person.button("Journal")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "data", "selector", "words"),
    [
        ("notes.md", "# Stored *words*", "article h1 em", "words"),
        ("plain.txt", "as it is", "pre", "as it is"),
        ("table.csv", 'Name,Says\nAda,"hello, ""you"""\n', "td:last-child", 'hello, "you"'),
        ("data.json", '{"a": 1}', "pre", '{"a": 1}'),
    ],
)
def test_a_file_shortcut_opens_a_read_only_view(
    person: Person, name: str, data: str, selector: str, words: str
) -> None:
    stored(person, name, data)
    shortcut(person, type="file", target=name)
    person.button("Short").click()
    expect(person.page.locator(".window").locator(selector)).to_have_text(words)
    expect(person.page.locator(".window-title")).to_have_text(f"{name} (read-only)")


def test_a_picture_of_the_storage_is_shown(person: Person) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>alert(1)</script></svg>'
    stored(person, "pic.svg", svg)
    shortcut(person, type="file", target="pic.svg")
    person.button("Short").click()
    person.page.wait_for_function("() => document.querySelector('.window img.picture')?.naturalWidth === 30")


def test_a_file_that_is_not_there_is_said(person: Person) -> None:
    shortcut(person, type="file", target="nothing.txt")
    person.button("Short").click()
    expect(person.page.locator(".toast-error")).to_contain_text("nothing.txt")
    person.provokes = True  # the browser's own word on the 404


def test_a_url_shortcut_opens_a_page_in_a_window(person: Person) -> None:
    shortcut(person, type="url", target="http://127.0.0.1:9/page")
    person.button("Short").click()
    person.button("Show it").click()
    expect(person.page.locator(".window .empty")).to_contain_text("does not answer")
    expect(person.page.locator(".page-address")).to_have_text("http://127.0.0.1:9/page")
    person.provokes = True  # nobody answers there


def test_an_action_shortcut_is_a_message_to_the_agent(person: Person) -> None:
    shortcut(person, type="action", target="make the daily report", label="Daily")
    person.button("Daily").click()
    assert person.letter("console")["content"] == "make the daily report"


def test_a_shortcut_is_changed_and_removed_by_keyboard(person: Person) -> None:
    shortcut(person, type="action", target="x")
    update = {"label": "Renamed", "icon": "mail"}
    person.server.act({"type": "desktop.updateShortcut", "shortcutId": "s", "updates": update})
    person.button("Renamed").focus()
    person.page.keyboard.press("Delete")
    expect(person.button("Renamed")).to_have_count(0)
    assert person.server.state()["shortcuts"] == []


def test_a_users_app_says_what_its_manifest_allows(person: Person) -> None:
    messages = [{"type": "send", "text": "from the app"}, {"type": "title", "title": "Named by the app"}]
    installed(person, "good", ["send", "title"], messages)
    person.button("App good").click()
    page = person.page.locator(".window iframe").content_frame
    expect(page.locator("#told")).to_have_text("init light;")
    page.locator("#go").click()
    letter = person.letter("console")
    assert (letter["content"], letter["window_id"]) == ("from the app", "app-good")
    expect(person.page.locator(".window-title")).to_have_text("Named by the app")


def test_what_the_manifest_does_not_allow_is_refused(person: Person) -> None:
    installed(person, "bad", [], [{"type": "send", "text": "let me"}, {"type": "title", "title": "Mine"}])
    person.button("App bad").click()
    page = person.page.locator(".window iframe").content_frame
    page.locator("#go").click()
    expect(page.locator("#told")).to_have_text("init light;refused send;refused title;")
    expect(person.page.locator(".window-title")).to_have_text("App bad")
    assert person.server.letters("console") == []


def test_a_users_app_follows_the_theme(person: Person) -> None:
    installed(person, "themed", [], [])
    person.button("App themed").click()
    told = person.page.locator(".window iframe").content_frame.locator("#told")
    expect(told).to_have_text("init light;")
    person.button("Use the dark theme").click()
    expect(told).to_have_text("init light;theme dark;")
    person.button("Use the light theme").click()


def test_an_app_opened_twice_is_one_window(person: Person) -> None:
    installed(person, "once", [], [])
    icon = person.page.locator(".desk-icon", has_text="App once")
    icon.click()
    person.window("app-once").wait_for()
    person.show("other", {"renderer": "text", "data": "x"})
    icon.click()
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/app-once")
    expect(person.page.locator(".window")).to_have_count(2)


def test_the_start_menu_finds_an_app_by_typing(person: Person) -> None:
    shortcut(person, type="action", target="say it", label="Unusual")
    person.page.keyboard.press("Alt+Shift+KeyS")
    person.page.keyboard.type("unus")
    person.page.keyboard.press("Enter")
    assert person.letter("console")["content"] == "say it"
    expect(person.page.locator(".launcher")).to_be_hidden()
