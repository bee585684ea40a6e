"""The head's desk in a real browser: phones of all hosts on the wall, and a question of host 2 answered."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages.fleet.tests.plain import PlainFleet, plain_fleet
from playwright.sync_api import Page, expect, sync_playwright

from tests.web.conftest import QUIET, chromium

pytestmark = pytest.mark.slow
ASKS = """
name: Ask somebody
steps:
  - request_human_auth: {capability: permission, instruction: May I go on?}
  - press_key: home
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainFleet]:
    if chromium() is None:
        pytest.skip("no Chromium found: install it, or name it in CHROME_BIN")
    with plain_fleet(tmp_path_factory.mktemp("fleet"), hosts=2, phones=1) as made:
        yield made


@pytest.fixture(scope="module")
def page(fleet: PlainFleet) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(fleet.link)
        yield opened
        browser.close()


def hand_in(fleet: PlainFleet) -> str:
    flow = fleet.folder / "ask.yaml"
    flow.write_text(ASKS, encoding="utf-8")
    line = ("run", str(flow), "--fleet", "local", "--detach", "--device", "sim-1@h2")
    told = fleet.command(*line)
    assert told.returncode == 0, told.stderr
    return told.stdout.split()[1]


def test_a_question_of_host_2_is_answered_at_the_heads_desk(fleet: PlainFleet, page: Page) -> None:
    run = hand_in(fleet)
    dialog = page.get_by_role("dialog").filter(has_text="May I go on?")
    expect(dialog).to_be_visible(timeout=60_000)
    expect(dialog).to_contain_text("sim-1@h2")
    dialog.get_by_role("button", name="Approve").click()
    told = fleet.command("fleet", "attach", run)
    assert told.returncode == 0, told.stdout + told.stderr
    verified = fleet.command("fleet", "verify", run)
    assert "1 of 1 accepted results are proved" in verified.stdout


def test_a_question_is_answered_by_the_command_line_at_the_head(fleet: PlainFleet, page: Page) -> None:
    run = hand_in(fleet)
    expect(page.get_by_role("dialog").filter(has_text="May I go on?")).to_be_visible(timeout=60_000)
    id_ = fleet.command("approvals").stdout.split("\t")[0]
    assert fleet.command("reject", id_, "--reason", "not today").returncode == 0
    told = fleet.command("fleet", "attach", run)
    assert told.returncode == 1
    assert "denied" in fleet.command("approvals", "--all").stdout


def test_the_wall_shows_phones_of_all_hosts_live(fleet: PlainFleet, page: Page) -> None:
    window = {
        "type": "window.create", "windowId": "wall", "title": "Phones",
        "bounds": {"x": 20, "y": 20, "w": 1200, "h": 760},
        "content": {"renderer": "iframe", "data": "app:wall"},
    }  # fmt: skip
    shown = fleet.command("desk", json.dumps(window))
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for name in ("sim-1@h1", "sim-1@h2"):
        tile = page.locator(f".tile[data-device='{name}']")
        expect(tile).to_be_visible(timeout=20_000)
        expect(tile.locator("canvas")).to_be_visible(timeout=30_000)
    page.screenshot(path=str(Path(fleet.folder) / "wall.png"))
