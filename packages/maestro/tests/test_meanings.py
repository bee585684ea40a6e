"""What Maestro's words mean, one small flow for each meaning, on the simulated phone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from packages.maestro.tests.test_maestro import CONTACTS, NOTES, POLICY, SETTINGS, every, failure, ran

from tests.scenario.world import FastClock, World, play_live, world

SHOP, CLOCK, TROUBLE = "com.handrail.shop", "com.google.android.deskclock", "com.handrail.trouble"
GALLERY = "com.handrail.gallery"
NEW_NOTE = "- tapOn: New note\n- tapOn: {id: title}\n"


@dataclass(frozen=True)
class Meaning:
    """A flow on an app, how it ends, and what the journal has to have (`type` or `type:value`)."""

    name: str
    app: str
    text: str
    passes: bool = True
    acts: tuple[str, ...] = ()
    header: str = ""


YES = [
    Meaning("a pattern is for the whole text", CONTACTS, "- assertVisible: Alba .*\n- assertNotVisible: Alba\n"),
    Meaning("case does not count", CONTACTS, "- assertVisible: alba thornQUILL\n"),
    Meaning("a text finds itself literally", NOTES, NEW_NOTE + "- inputText: 'a (b'\n- assertVisible: 'a (b'\n"),
    Meaning("an alternative", CONTACTS, "- assertVisible: Nobody|Cosmo Larchmount\n"),
    Meaning("a class of letters is ASCII", CONTACTS, "- assertVisible: '\\w+ Larchmount'\n"),
    Meaning("an id with and without its package", SHOP,
            "- assertVisible: {id: search}\n- assertVisible: {id: 'com.handrail.shop:id/search'}\n"),
    Meaning("a description is a text, too", NOTES, "- tapOn: New note\n- assertVisible: {id: title}\n"),
    Meaning("a hint is a text, too", SHOP, "- assertVisible: Search products\n"),
    Meaning("index counts from the top", SHOP, "- tapOn: {text: Add .* to cart, index: 1}\n"
            "- assertVisible: Cart, 1 .*\n- copyTextFrom: {id: '.*cart.*', index: 0}\n"
            "- assertTrue: ${maestro.copiedText != ''}\n"),
    Meaning("a negative index counts from the end", CONTACTS,
            "- copyTextFrom: {text: '[A-Z][a-z]+ [A-Z][a-z]+', index: -1}\n"
            "- assertTrue: ${maestro.copiedText > 'F'}\n"),
    Meaning("an index is a script's number, cut", CONTACTS,
            "- copyTextFrom: {text: '(Alba|Anselm) .*', index: '${0.9 + 0.2}'}\n"
            "- assertTrue: ${maestro.copiedText == 'Anselm Foxglove'}\n"),
    Meaning("childOf at any depth", SHOP,
            "- assertVisible: {text: Blue mug, childOf: {containsDescendants: [Add Blue mug to cart]}}\n"
            "- assertNotVisible: {text: Orders, childOf: {text: Blue mug}}\n"),
    Meaning("containsDescendants wants each of them", SHOP,
            "- assertVisible: {containsDescendants: [Blue mug, {text: Add Blue mug to cart}]}\n"
            "- assertNotVisible: {containsDescendants: [Blue mug, Nowhere]}\n"),
    Meaning("containsChild is direct", SHOP, "- assertVisible: {containsChild: Add Blue mug to cart}\n"),
    Meaning("below and above go by top edges", SHOP,
            "- assertVisible: {text: Enamel kettle, below: Blue mug}\n"
            "- assertNotVisible: {text: Blue mug, below: Enamel kettle}\n"
            "- assertVisible: {text: Blue mug, above: {text: Enamel kettle}}\n"),
    Meaning("leftOf and rightOf go by left edges", SHOP,
            "- assertVisible: {text: Kitchen, leftOf: Travel}\n- assertNotVisible: {text: Travel, leftOf: All}\n"
            "- assertVisible: {text: Travel, rightOf: Kitchen}\n"),
    Meaning("states", SHOP, "- assertVisible: {text: All, checked: true, enabled: true}\n"
            "- assertVisible: {text: Home, checked: false}\n- assertNotVisible: {text: Home, checked: true}\n"),
    Meaning("selected", CLOCK, "- tapOn: Timer\n- assertVisible: {text: Timer, selected: true}\n"
            "- assertNotVisible: {text: Alarm, selected: true}\n"),
    Meaning("focused", NOTES, NEW_NOTE + "- assertVisible: {id: title, focused: true}\n"
            "- assertVisible: {id: body, focused: false}\n"),
    Meaning("traits", CONTACTS, "- assertVisible: {text: Contacts, traits: text}\n"
            "- assertNotVisible: {text: Contacts, traits: long-text}\n"),
    Meaning("a tap's options in any selector have no effect", CONTACTS,
            "- assertVisible: {text: Contacts, retryTapIfNoChange: true, delay: 5, start: x}\n"),
    Meaning("an option without a value counts as left out", CONTACTS,
            "- tapOn:\n    text: Create new contact\n    id:\n    enabled:\n- assertVisible: {id: first}\n"),
    Meaning("repeat and delay in a tap", CLOCK, "- tapOn: Timer\n- tapOn: {text: '1', repeat: 3, delay: 50}\n"
            "- assertVisible: 00h 01m 11s\n"),
    Meaning("doubleTapOn", CLOCK, "- tapOn: Timer\n- doubleTapOn: '2'\n- assertVisible: 00h 00m 22s\n",
            acts=("double_tap",)),
    Meaning("longPressOn holds three seconds", NOTES, "- longPressOn: Welcome\n", acts=("long_press",)),
    Meaning("a point in per cent of the screen", CLOCK, "- tapOn: {point: '62%,99%'}\n- tapOn: {point: '540,1200'}\n",
            acts=("tap",)),
    Meaning("a point in an element", SETTINGS, "- tapOn: {text: Display, point: '10%,50%'}\n"
            "- assertVisible: Brightness level\n"),
    Meaning("retryTapIfNoChange taps once more", SHOP, "- tapOn: {text: All, retryTapIfNoChange: true}\n",
            acts=("tap", "tap")),
    Meaning("waitToSettleTimeoutMs", SETTINGS, "- tapOn: {text: Display, waitToSettleTimeoutMs: 200}\n"
            "- assertVisible: Brightness level\n"),
    Meaning("swipe by direction, any case", SHOP, "- swipe: {direction: up}\n- assertNotVisible: Blue mug\n"
            "- swipe: {direction: Down, duration: 200}\n", acts=("swipe", "swipe")),
    Meaning("swipe from place to place in per cent", SHOP,
            "- swipe: {start: '50%, 80%', end: '50%, 20%'}\n- assertNotVisible: Blue mug\n"),
    Meaning("swipe with start and end passes over from", SHOP,
            "- swipe: {from: {text: Blue mug}, start: '50%,80%', end: '50%,20%'}\n- assertNotVisible: Blue mug\n"),
    Meaning("swipe from an element", SHOP, "- swipe: {from: Oak notebook, direction: UP}\n"
            "- assertNotVisible: Blue mug\n"),
    Meaning("scroll", SHOP, "- scroll\n- assertNotVisible: Blue mug\n", acts=("swipe",)),
    Meaning("scrollUntilVisible", CONTACTS,
            "- scrollUntilVisible: {element: {text: Horatio.*}, speed: 80, visibilityPercentage: 100}\n"),
    Meaning("scrollUntilVisible, partly and to the middle", CONTACTS,
            "- scrollUntilVisible: {element: Greta Moonhollow, centerElement: true, visibilityPercentage: 10}\n"),
    Meaning("inputRandomNumber has its length", NOTES, NEW_NOTE + "- inputRandomNumber: {length: 5}\n"
            "- assertVisible: '[0-9]{5}'\n"),
    Meaning("inputRandomEmail and …PersonName", NOTES, NEW_NOTE + "- inputRandomEmail\n- assertVisible: .+@.+\n"
            "- eraseText\n- inputRandomPersonName\n- assertVisible: '[A-Z]\\S+ [A-Z]\\S+'\n"),
    Meaning("eraseText by number and all", NOTES, NEW_NOTE + "- inputText: abcdef\n- eraseText: 2\n"
            "- assertVisible: {id: title, text: abcd}\n- eraseText\n- assertNotVisible: abcd\n"),
    Meaning("copyTextFrom and pasteText", NOTES, NEW_NOTE + "- inputText: one\n- copyTextFrom: {id: title}\n"
            "- tapOn: {id: body}\n- pasteText\n- assertVisible: {id: body, text: one}\n"),
    Meaning("setClipboard is the flow's own", NOTES, NEW_NOTE + "- setClipboard: two\n- pasteText\n"
            "- assertVisible: {id: title, text: two}\n- assertTrue: ${maestro.copiedText == 'two'}\n"),
    Meaning("pressKey by name, any case", SETTINGS, "- tapOn: Display\n- pressKey: BACK\n"
            "- assertVisible: Search settings\n- pressKey: {key: volume down}\n- pressKey: Remote Dpad Down\n",
            acts=("press_key:back", "press_key:volume_down", "press_key:dpad_down")),
    Meaning("numbers and booleans are texts", NOTES, NEW_NOTE + "- inputText: 5\n- assertVisible: 5\n"
            "- assertTrue: true\n"),
    Meaning("assertTrue: what is true", SETTINGS, "- assertTrue: ${'0x'}\n- assertTrue: {condition: '${[1].length}'}\n"),
    Meaning("evalScript, output and functions in it", SETTINGS,
            "- evalScript: ${output.add = (a, b) => a + b}\n- assertTrue: ${output.add(1, 2) === 3}\n"),
    Meaning("a literal ${ is escaped", NOTES, NEW_NOTE + "- inputText: '\\${x}'\n- assertVisible: '[$]\\{x\\}'\n"),
    Meaning("repeat.times is cut, repeat.while is asked before each round", SETTINGS,
            "- evalScript: ${output.n = 0}\n- repeat:\n    times: 2.9\n    commands:\n      - evalScript: ${output.n++}\n"
            "- repeat:\n    while: {true: '${output.n < 5}'}\n    commands:\n      - evalScript: ${output.n++}\n"
            "- assertTrue: ${output.n == 5}\n"),
    Meaning("retry runs the block anew", SETTINGS,
            "- evalScript: ${output.n = 0}\n- retry:\n    maxRetries: 2\n    commands:\n"
            "      - evalScript: ${output.n++}\n      - assertTrue: ${output.n == 3}\n"),
    Meaning("runFlow.when: all must hold", SETTINGS, "- runFlow:\n    when: {platform: Android, visible: Display, "
            "true: '${1 < 2}'}\n    commands:\n      - tapOn: Display\n- assertVisible: Brightness level\n"
            "- runFlow:\n    when: {notVisible: Brightness level}\n    commands:\n      - assertTrue: false\n"),
    Meaning("no commands do nothing", SETTINGS, "- runFlow:\n    commands: []\n- repeat: {times: 3, commands: []}\n"),
    Meaning("extendedWaitUntil waits for both", TROUBLE, "- tapOn: Spinner that ends\n- extendedWaitUntil:\n"
            "    notVisible: Loading.*\n    timeout: 15000\n"),
    Meaning("env: inner values end with the block", SETTINGS, "- runFlow:\n    env: {A: inner}\n    commands:\n"
            "      - assertTrue: ${A == 'inner' && B == 'outer'}\n- assertTrue: ${A == 'top'}\n",
            header="env:\n  A: top\n  B: outer\n"),
    Meaning("hooks run around the commands", SETTINGS, "- evalScript: ${output.order += 'b'}\n",
            header="onFlowStart:\n  - evalScript: ${output.order = 'a'}\nonFlowComplete:\n"
            "  - assertTrue: ${output.order == 'ab'}\n"),
    Meaning("optional forgives what is not there", SETTINGS,
            "- tapOn: {text: Nowhere, optional: true}\n- assertVisible: {text: Nowhere, optional: true}\n"
            "- runFlow:\n    optional: true\n    commands:\n      - assertTrue: false\n"),
    Meaning("label names the step", SETTINGS, "- assertVisible: {text: Display, label: 'The ${1 + 1}nd row'}\n"),
    Meaning("travel and setLocation", SETTINGS, "- setLocation: {latitude: 48.2, longitude: '${16 + 0.37}'}\n"
            "- travel:\n    points: ['0.0,0.0', '0.00001, 0.0']\n    speed: 100000\n", acts=("set_location",)),
    Meaning("setOrientation, any spelling", SETTINGS, "- setOrientation: LANDSCAPE_LEFT\n- setOrientation: portrait\n",
            acts=("set_orientation", "set_orientation")),
    Meaning("airplane and dark mode", SETTINGS, "- setAirplaneMode: enabled\n- toggleAirplaneMode\n"
            "- setDarkMode: {value: enabled, strange: 1}\n- assertDarkMode\n- toggleDarkMode\n- assertLightMode\n"),
    Meaning("permissions in a launch", GALLERY, "- launchApp: {clearState: true, permissions: {all: deny}}\n"
            "- assertVisible: .*access photos.*\n- setPermissions: {permissions: {medialibrary: allow}}\n"
            "- launchApp: {permissions: {}}\n- assertNotVisible: No access to photos\n"),
    Meaning("a running app comes back with stopApp off", SETTINGS, "- tapOn: Display\n- pressKey: home\n"
            "- launchApp: {stopApp: false}\n- assertVisible: Brightness level\n- launchApp\n"
            "- assertVisible: Search settings\n"),
]  # fmt: skip
NO = [
    Meaning("part of a text is not the text", CONTACTS, "- assertVisible: Alba\n", False),
    Meaning("an index beyond the matches", CONTACTS, "- tapOn: {text: Contacts, index: 7}\n", False),
    Meaning("both of extendedWaitUntil", SETTINGS,
            "- extendedWaitUntil: {visible: Display, notVisible: Display, timeout: 100}\n", False),
    Meaning("optional never forgives a script", SETTINGS, "- runFlow:\n    optional: true\n    commands:\n"
            "      - evalScript: ${throw new Error('no')}\n", False),
    Meaning("assertTrue: what is false", SETTINGS, "- assertTrue: ${'undefined'}\n", False),
    Meaning("the last hook fails a flow that passed", SETTINGS, "- evalScript: ${1}\n", False,
            header="onFlowComplete:\n  - assertTrue: ${null}\n"),
]  # fmt: skip


def wanted(acts: tuple[str, ...], journal: list[dict[str, object]]) -> list[str]:
    """Those that are missing."""
    left = [f"{one['type']}:{one.get('key')}" if one["type"] == "press_key" else one["type"] for one in journal]
    missing = []
    for act in acts:
        if act in left:
            left.remove(act)
        else:
            missing.append(act)
    return missing


async def ends(w: World, meaning: Meaning) -> None:
    await w.open(meaning.app)
    record = await ran(w, f"appId: {meaning.app}\n{meaning.header}---\n{meaning.text}")
    assert (record.outcome == "passed") == meaning.passes, failure(record)
    assert all(step.outcome != "passed" or not step.error for step in every(record.steps))
    accepted = [event["action"] for event in w.events() if event["kind"] == "accepted"]
    assert wanted(meaning.acts, accepted) == [], accepted


@pytest.mark.parametrize("meaning", YES + NO, ids=lambda one: one.name)
def test_a_word_means_what_it_means_in_maestro(tmp_path: Path, meaning: Meaning) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY, clock=FastClock(20)) as w:
            await ends(w, meaning)

    play_live(story())

