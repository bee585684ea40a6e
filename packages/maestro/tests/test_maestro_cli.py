"""`handrail run` and `handrail flow` with Maestro's files, as people and CI call them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.scenario.test_flows_cli import handrail

SETTINGS = "com.android.settings"
FLOWS = {
    "first.yaml": "name: First\ntags: [smoke]\n---\n- launchApp\n- assertVisible: ${WHO || 'Display'}\n",
    "second.yaml": "name: Second\ntags: [smoke]\n---\n- launchApp\n- assertTrue: ${MAESTRO_MARK == 'none'}\n",
    "third.yaml": "name: Third\ntags: [smoke]\n---\n- launchApp\n",
    "other.yaml": "name: Other\ntags: [smoke]\n---\n- runFlow: parts/open.yaml\n- takeScreenshot: seen\n",
    "left.yaml": "name: Left\ntags: [wip]\n---\n- tapOn: No such thing\n",
    "parts/open.yaml": "name: Part\n---\n- launchApp\n- assertVisible: Settings\n",
}
CONFIG = """
excludeTags: [wip]
testOutputDir: pictures
executionOrder:
  continueOnFailure: false
  flowsOrder: [First, Second, Third]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".maestro"
    (made / "parts").mkdir(parents=True)
    for name, text in FLOWS.items():
        (made / name).write_text(f"appId: {SETTINGS}\n{text}")
    (made / "config.yaml").write_text(CONFIG)
    return made


@pytest.mark.slow
def test_a_workspace_runs_by_its_config_with_junit_and_report(folder: Path, tmp_path: Path) -> None:
    junit, report = tmp_path / "junit.xml", tmp_path / "report"
    done = handrail(tmp_path / "home", "run", "--sim", folder, "--junit", junit, "--report", report)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    assert list(cases) == ["First", "Second", "Third", "Other"]
    assert cases["Second"].find("failure") is not None
    skipped = cases["Third"].find("skipped")
    assert skipped is not None
    assert "Second failed before it" in skipped.get("message", "")
    assert cases["Other"].find("failure") is None
    assert (folder / "pictures" / "seen.png").read_bytes().startswith(b"\x89PNG")
    page = (report / "index.html").read_text()
    assert "takeScreenshot seen" in page
    assert "assertTrue" in page


@pytest.mark.slow
def test_one_file_takes_variables_and_tags_do_not_hide_it(folder: Path, tmp_path: Path) -> None:
    words = ("run", "--sim", folder / "first.yaml", "--include-tags", "other", "-e", "WHO=Batter.*", "--json")
    done = handrail(tmp_path / "home", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    [flow] = json.loads(done.stdout)["flows"]
    assert flow["trace"]["stepsCompleted"] == 2


def test_a_broken_workspace_is_refused_before_a_phone_is_opened(folder: Path, tmp_path: Path) -> None:
    (folder / "third.yaml").write_text(f"appId: {SETTINGS}\n---\n- tapOnn: Save\n- evalScript: ${{1 +}}\n")
    done = handrail(tmp_path / "home", "run", "--sim", folder)
    assert done.returncode == 2
    assert "third.yaml:3:3" in done.stderr
    assert "tapOn" in done.stderr
    (folder / "third.yaml").write_text(f"appId: {SETTINGS}\n---\n- evalScript: ${{1 +}}\n")
    again = handrail(tmp_path / "home", "run", "--sim", folder)
    assert again.returncode == 2
    assert "can't be read" in again.stderr


def test_flow_check_tells_the_level_and_convert_what_it_left_out(folder: Path, tmp_path: Path) -> None:
    found = handrail(tmp_path / "home", "flow", "check", "--json", folder)
    files = json.loads(found.stdout)["files"]
    assert found.returncode == 0
    assert {one["level"] for one in files} == {5}
    assert len(files) == len(FLOWS)
    done = handrail(tmp_path / "home", "flow", "convert", "--strict", folder / "second.yaml")
    assert done.returncode == 1
    assert "start_app: com.android.settings" in done.stdout
    assert "second.yaml:6: assertTrue" in done.stderr
