"""From a flow file to the page in a browser: what a person sees after a run on the simulated phone."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from handrail.flow import report
from handrail.flow.document import loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from tests.npm import modules
from tests.scenario.world import FastClock, play_live, world
from tests.web.pictures import box_of_mark

FLOW = """
name: A new contact
app: com.google.android.contacts
steps:
  - tap: Create new contact
  - type_text: {target: First name, text: Marigold}
  - tap: Save
    expect: Somebody else
"""


async def run(home: Path) -> FlowRecord:
    clock = FastClock()
    async with world(home, clock=clock) as stage:
        runner = FlowRunner({"phone": stage.session}, clock, evidence=ReportEvidence())
        return await runner.run(loads(FLOW, home / "contact.yaml"))


@pytest.fixture(scope="module")
def record(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> FlowRecord:
    with ThreadPoolExecutor(1) as pool:  # the browser's loop runs in this thread
        failed = pool.submit(lambda: play_live(run(tmp_path_factory.mktemp("home")))).result()
    assert failed.outcome == "failed", failed.error
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_in_a_report(
    browser: Browser, record: FlowRecord, tmp_path: Path, scheme: Any
) -> None:
    axe = (modules("axe-core") / "axe-core" / "axe.min.js").read_text()
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
    page.goto(report.write([record], tmp_path / "report").as_uri())
    page.evaluate(axe)
    violations = page.evaluate("async () => (await axe.run()).violations")
    assert not [(one["id"], one["nodes"][0]["html"]) for one in violations]
    page.close()


def test_a_failing_flow_shows_what_was_touched_expected_and_logged(
    browser: Browser, record: FlowRecord, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(report.write([record], tmp_path / "report").as_uri() + "#f1-3")
    expect(page.locator("h1")).to_have_text("1 of 1 flow failed")
    failed = page.locator("#f1-3")
    expect(failed.locator(".trouble")).to_contain_text(
        'VERIFICATION_FAILED: Expected: "Somebody else" is visible.'
    )
    expect(failed.locator(".facts")).to_contain_text("failed (explicit)")
    expect(failed.get_by_role("region", name="Device log")).to_contain_text("ActivityTaskManager")
    touched = record.steps[2].touched
    assert touched
    shown = Image.open(io.BytesIO(failed.locator(".zoom svg").first.screenshot())).convert("RGB")
    scale = shown.width / 1080
    for seen, real in zip(box_of_mark(shown), touched, strict=True):
        assert abs(seen - real * scale) <= 3, f"{box_of_mark(shown)} is not {touched} at {scale}"
    page.close()
