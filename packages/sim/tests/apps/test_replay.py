"""A folder of recorded screens becomes an app."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from handrail_sim.apps.replay import Player, at
from handrail_sim.apps.replay.recording import (
    Recorded,
    Screen,
    Transition,
    explain,
    find_target,
    load,
    read_screen,
)
from handrail_sim.clock import ManualClock
from handrail_sim.errors import UnreadableDump
from handrail_sim.phone import Phone
from tests.apps.person import Person
from tests.corpus import CORPUS, needs_corpus
from tests.shown import STATES

REPLAY = "com.handrail.replay"
HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
PLAIN = {
    "text": "",
    "resource-id": "",
    "class": "android.widget.TextView",
    "package": "com.example.walk",
    "content-desc": "",
    "checkable": "false",
    "checked": "false",
    "clickable": "false",
    "enabled": "true",
    "focusable": "false",
    "focused": "false",
    "scrollable": "false",
    "long-clickable": "false",
    "password": "false",
    "selected": "false",
}


def node(index: int, bounds: str, inside: str = "", **attrs: str) -> str:
    named = {"cls": "class", "id": "resource-id", "desc": "content-desc"}
    values = PLAIN | {named.get(name, name): value for name, value in attrs.items()}
    words = " ".join(f'{name}="{value}"' for name, value in values.items())
    return f'<node index="{index}" {words} bounds="{bounds}">{inside}</node>'


def dump(title: str, *rows: str) -> str:
    lines = [node(0, "[0,100][1080,220]", text=title, id="com.example.walk:id/title")]
    for number, row in enumerate(rows):
        top = 300 + 200 * number
        lines.append(
            node(
                number + 1,
                f"[0,{top}][1080,{top + 180}]",
                text=row,
                clickable="true",
                cls="android.widget.Button",
            )
        )
    return (
        HEAD + node(0, "[0,0][1080,2400]", "".join(lines), cls="android.widget.FrameLayout") + "</hierarchy>"
    )


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    (tmp_path / "1.xml").write_text(dump("Home", "Weather", "Letters"))
    (tmp_path / "2.xml").write_text(dump("Letters", "Write", "Close"))
    (tmp_path / "10.xml").write_text(dump("Sent", "Again"))
    return tmp_path


def read(dump: str) -> Screen:
    return read_screen(dump.encode())


def walking(folder: Path) -> Person:
    person = Person()
    person.clock = ManualClock()
    person.phone = Phone(clock=person.clock, apps=["launcher", at(folder)])
    person.open(REPLAY)
    return person


def row(attrs: Mapping[str, str], bounds: Iterable[int]) -> tuple[object, ...]:
    """What a recorded element and a shown one have in common, whoever read them."""
    words = [attrs.get(name, "") for name in ("class", "resource-id", "text", "content-desc", "package")]
    states = frozenset(name for name in STATES if attrs.get(name) == "true")
    return (*words, tuple(bounds), states)


def shown_rows(person: Person) -> list[tuple[object, ...]]:
    return [row(node.attrs, node.bounds) for node in person.look().nodes]


def test_screens_come_in_the_order_of_their_numbers(walk: Path) -> None:
    assert [shot.name for shot in load(walk).shots] == ["1.xml", "2.xml", "10.xml"]


def test_a_screen_is_written_as_it_was_recorded(walk: Path) -> None:
    person = walking(walk)
    recorded = ElementTree.fromstring((walk / "1.xml").read_bytes()).iter("node")
    assert [dict(node.attrs) for node in person.look().nodes] == [dict(one.attrib) for one in recorded]


def test_the_element_that_explains_the_next_screen_leads_there(walk: Path) -> None:
    person = walking(walk)
    person.tap("Weather")
    assert person.sees("Home")
    person.tap("Letters")
    assert person.sees("Write")
    assert person.state(REPLAY)["screen"] == "2.xml"


def test_where_nothing_explains_it_anything_leads_on(walk: Path) -> None:
    person = walking(walk)
    person.tap("Letters")
    person.tap("Write")
    assert person.sees("Sent")


def test_back_goes_the_way_it_came_and_then_out(walk: Path) -> None:
    person = walking(walk)
    person.tap("Letters")
    person.back()
    assert person.sees("Home")
    person.back()
    assert not person.sees("Home")


def test_a_table_of_transitions_is_followed(walk: Path) -> None:
    rows = [
        "from\taction\ttarget\tto\ttext",
        "1\ttap\tWeather\t10\t",
        "10.xml\ttap\t540,390\t1.xml\t",
        "1\tlong_press\tLetters\t2\t",
        "2\tback\t\t10\t",
        "1\tswipe_up\t\t2\t",
    ]
    (walk / "transitions.tsv").write_text("\n".join(rows))
    person = walking(walk)
    person.tap("Letters")
    assert person.sees("Home")
    person.tap("Weather")
    assert person.sees("Sent")
    person.tap("Again")
    assert person.sees("Home")
    person.swipe(540, 1800, 540, 1000)
    assert person.sees("Write")
    person.back()
    assert person.sees("Sent")


def test_transitions_may_be_json_and_may_type(tmp_path: Path) -> None:
    field = node(
        1, "[0,300][1080,480]", cls="android.widget.EditText", clickable="true", id="com.example.walk:id/q"
    )
    first = HEAD + node(0, "[0,0][1080,2400]", field, cls="android.widget.FrameLayout") + "</hierarchy>"
    (tmp_path / "a.xml").write_text(first)
    (tmp_path / "b.xml").write_text(dump("Found", "Close"))
    step = {"from": "a", "action": "type", "target": "q", "to": "b", "text": "fog"}
    (tmp_path / "transitions.json").write_text(json.dumps([step]))
    person = walking(tmp_path)
    person.tap("q")
    person.phone.commit_text("fog")
    person.wait(300)
    assert person.sees("Found")


def test_a_transition_that_makes_no_sense_is_named(walk: Path) -> None:
    (walk / "transitions.json").write_text(json.dumps([{"from": "1", "action": "sing", "to": "2"}]))
    with pytest.raises(UnreadableDump, match="sing"):
        load(walk)


@pytest.mark.parametrize("size", [(1080, 2400), (2160, 4800)])
def test_a_screenshot_beside_the_dump_is_what_one_sees(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "1.xml").write_text(dump("Home", "Weather").replace("[1080,2400]", f"[{size[0]},{size[1]}]"))
    picture = Image.new("RGB", size, (200, 30, 30))
    picture.paste((30, 30, 200), (0, 0, size[0], size[1] // 2))
    picture.save(tmp_path / "1.png")
    person = walking(tmp_path)
    seen = person.phone.frame().image().convert("RGB")
    assert (seen.getpixel((540, 1100)), seen.getpixel((540, 1300))) == ((30, 30, 200), (200, 30, 30))
    assert person.sees("Weather")


def test_the_command_line_names_the_folder(walk: Path) -> None:
    phone = Phone(clock=ManualClock(), apps=[f"replay:{walk}"])
    assert phone.start_activity(package=REPLAY).ok
    assert 'text="Letters"' in phone.dump()


def test_without_a_folder_the_app_says_so() -> None:
    person = Person("replay")
    person.open(REPLAY)
    assert person.sees("Nothing recorded")


def test_a_folder_without_dumps_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(UnreadableDump, match="no readable UI dump"):
        load(tmp_path)


def test_a_list_that_moved_was_swiped() -> None:
    before = read(
        dump("Home", "Ash", "Birch", "Cedar", "Elm").replace('scrollable="false"', 'scrollable="true"', 1)
    )
    moved = dump("Home", "Birch", "Cedar", "Elm", "Fir")
    guess = explain(before, read(moved))
    assert guess is not None
    assert guess.action == "swipe_up"


def test_what_is_selected_now_was_tapped() -> None:
    before = dump("Home", "Day", "Week", "Month")
    head, tail = before.split('text="Week"')
    after = head + 'text="Week"' + tail.replace('selected="false"', 'selected="true"', 1)
    guess = explain(read(before), read(after))
    assert guess is not None
    assert guess.node is not None
    assert guess.node.text == "Week"


def test_ok_explains_a_dialog_that_went_away() -> None:
    dialog = dump("Sure?", "OK", "Later").replace("[0,0][1080,2400]", "[100,800][980,1400]")
    guess = explain(read(dialog), read(dump("Home", "Weather")))
    assert guess is not None
    assert guess.node is not None
    assert guess.node.text == "OK"


def test_unrelated_screens_are_not_explained() -> None:
    assert explain(read(dump("Home", "Ash", "Birch")), read(dump("Zinc", "Iron", "Lead"))) is None


def test_targets_are_labels_ids_places_and_boxes() -> None:
    screen = read(dump("Home", "Weather", "Letters"))
    by = [find_target(screen, target) for target in ("Letters", "500,600", "[0,500][1080,680]")]
    assert len({found.order for found in by if found}) == 1
    assert find_target(screen, "title") is screen.nodes[1]


def seen_rows(screen: Screen) -> list[tuple[object, ...]]:
    """What uiautomator would have written of it: the app's windows without invisible nodes."""

    def seen(node: Recorded) -> bool:
        return not any(one.hidden for one in (node, *node.ancestors()))

    nodes = [node for node in screen.nodes if seen(node) and node.package == screen.package]
    return [row(node.attrs, node.bounds) for node in nodes]


def fits(screen: Screen, phone: Phone) -> bool:
    """A recording of a larger phone is scaled down, so its bounds are others."""
    return screen.width <= phone.display.width and screen.height <= phone.display.height


@needs_corpus
def test_every_recorded_pair_can_be_walked() -> None:
    assert CORPUS is not None
    recording = load(CORPUS / "pairs")
    assert len(recording.shots) > 150
    assert not recording.skipped


@needs_corpus
def test_every_recorded_gesture_leads_to_the_screen_it_led_to() -> None:
    assert CORPUS is not None
    person = walking(CORPUS / "pairs" / "droidbot_*")
    player = person.phone.tasks.top
    assert isinstance(player, Player)
    recording = player.recording
    for transition in recording.transitions:
        player.show(recording.number(transition.source) or 0)
        player.changed()
        repeat(person, player, transition)
        assert player.number == recording.number(transition.goal), transition


def repeat(person: Person, player: Player, transition: Transition) -> None:
    """The recorded gesture with the person's own finger."""
    if transition.action == "back":
        person.back()
        return
    if transition.action == "swipe_left":
        person.swipe(900, 1200, 200, 1200)
        return
    target = find_target(player.recording.shots[player.number].screen, transition.target)
    assert target is not None
    if transition.action == "long_press":
        person.hold_at(*target.bounds.center)
        return
    person.tap_at(*target.bounds.center)
    if transition.action == "type":
        person.phone.editing.select_all()
        person.phone.commit_text(transition.text)
        person.wait(300)
        person.hide_keyboard()


@needs_corpus
@pytest.mark.parametrize(
    "pattern", ["adj_Nora_0*", "droidbot_notes_0*", "adj_appdex_0*", "droidbot_gallery_0*"]
)
def test_recorded_screens_of_real_apps_are_written_as_they_were(pattern: str) -> None:
    assert CORPUS is not None
    place = CORPUS / "pairs" / pattern
    person = walking(place)
    player = person.phone.tasks.top
    assert isinstance(player, Player)
    for number, shot in enumerate(load(place).shots):
        player.show(number)
        player.changed()
        shown, recorded = shown_rows(person), seen_rows(shot.screen)
        if not fits(shot.screen, person.phone):
            shown, recorded = ([(*one[:5], *one[6:]) for one in rows] for rows in (shown, recorded))
        assert shown == recorded
