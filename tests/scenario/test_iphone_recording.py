"""`handrail doctor ios --record`: a file that tells how an iPhone answers, and nothing of whose it is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from handrail.ios.examine import record_iphone, without_words
from handrail.ios.surface import open_iphone
from handrail.surface.capabilities import Apps, ScreenReader, TextInput, Touch
from handrail.surface.gesture import tap
from handrail_sim.iphone import simulated_iphone
from tests.scenario.world import play, usual_clock

CONTACTS = "com.apple.MobileAddressBook"
SECRETS = ("Zebulon", "Ōkubo", "Наталья", "สมชาย", "नमस्ते", "🦊🦊", "0176555", "•••••")


def test_the_file_has_calls_and_times_and_nobodys_words() -> None:
    told: list[str] = []

    async def run() -> tuple[dict[str, Any], str, list[dict[str, Any]]]:
        async with simulated_iphone(clock=usual_clock()) as iphone:
            env = {"USBMUXD_SOCKET_ADDRESS": iphone.usbmux, "PATH": ""}
            name = f"ios:{iphone.udid}"
            await _write_a_person(await open_iphone(name, usual_clock(), env))
            before = len(iphone.phone.input_log)
            recording = await record_iphone(name, usual_clock(), env, told.append)
            return recording, iphone.udid, list(iphone.phone.input_log)[before:]

    recording, udid, inputs = play(run())
    written = json.dumps(recording, ensure_ascii=False)
    assert [word for word in (*SECRETS, udid, udid[-8:], "192.168", "Contacts") if word in written] == []
    calls = Counter(call["call"] for call in recording["calls"])
    assert calls["GET /source?format=json"] == calls["GET /session/ID/appium/settings"] == calls["swipe"] == 6
    trees = [call["answer"] for call in recording["calls"] if call["call"] == "GET /source?format=json"]
    assert {tree["type"] for tree in trees} == {"Application"}
    assert {call["answer"] for call in recording["calls"] if call["call"] == "GET /orientation"} == {
        "PORTRAIT"
    }
    assert {entry["action"] for entry in inputs} <= {"down", "move", "up"}, "only swipes"
    assert len(told) == len(recording["calls"])


async def _write_a_person(surface: Any) -> None:
    await surface.need(Apps).start(CONTACTS, None)
    screen = await surface.need(ScreenReader).look()
    create = next(node for node in screen.nodes if node.description == "Create new contact")
    await surface.need(Touch).perform(tap(create.center))
    screen = await surface.need(ScreenReader).look()
    field = next(node for node in screen.nodes if node.role == "text_field")
    await surface.need(Touch).perform(tap(field.center))
    await surface.need(TextInput).type_text(" ".join(SECRETS))
    screen = await surface.need(ScreenReader).look()
    assert any(SECRETS[0] in node.text for node in screen.nodes), "the words are on the screen"
    await surface.close()


def test_a_tree_in_xml_is_masked_in_its_attributes_alone() -> None:
    tree = (
        '<XCUIElementTypeButton type="XCUIElementTypeButton" name="Zebulon &amp; 1" label="Ō" x="12" y="7"/>'
    )
    masked = without_words(tree)
    assert "Zebulon" not in masked
    assert 'x="12" y="7"' in masked
    assert masked.startswith("<XCUIElementTypeButton type=")


def test_the_template_for_issues_asks_for_it() -> None:
    template = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE" / "iphone.md"
    assert "handrail doctor ios --record" in template.read_text()
