"""Maestro's flows on the simulated iPhone: the words that iOS has, checked on the phone itself."""

from __future__ import annotations

from pathlib import Path

from packages.maestro.tests.test_maestro import POLICY, failure

from handrail.flow.run import FlowRunner
from handrail_maestro.document import MaestroSettings, open_maestro
from handrail_maestro.files import Workspace
from tests.scenario.test_iphone import iphone_world
from tests.scenario.world import play_live

FLOW = """appId: com.apple.MobileAddressBook
---
- launchApp
- runFlow:
    when: {platform: Android}
    commands:
      - assertTrue: false
- assertTrue: ${maestro.platform == 'ios'}
- tapOn: Create new contact
- tapOn: First name
- inputText: Ada
- eraseText: 1
- inputText: da
- assertVisible: {text: "Adda|Ada"}
- tapOn: Save
- assertVisible: Ad.*
- back
- scroll
- pressKey: home
- launchApp: {appId: com.apple.Preferences, stopApp: true}
- scrollUntilVisible: {element: "About phone.*"}
- setOrientation: LANDSCAPE_LEFT
- setOrientation: PORTRAIT
- openLink: https://example.com
- stopApp: com.apple.Preferences
"""


def test_a_flow_of_maestros_plays_on_an_iphone(tmp_path: Path) -> None:
    async def story() -> None:
        async with iphone_world(tmp_path, policy=POLICY) as there:
            path = tmp_path / "flow.yaml"
            path.write_text(FLOW)
            settings = MaestroSettings(Workspace.of(path), tmp_path / "pictures")
            runner = FlowRunner({"phone": there.session}, there.runtime.clock)
            record = await runner.run(open_maestro(path, settings), None)
            assert record.outcome == "passed", failure(record)
            log = there.iphone.phone.input_log
            assert [entry["turns"] for entry in log if entry["action"] == "rotate"] == [1, 0]
            assert there.iphone.phone.state()["front"]["package"] == "com.handrail.browser"

    play_live(story())
