"""Trees as Compose, React Native and Flutter make them."""

import pytest

from tests.apps.person import Person
from tests.shown import Node

COMPOSE, REACT, FLUTTER = "com.handrail.composelab", "com.handrail.reactlab", "com.handrail.flutterlab"


def opened(app: str, package: str) -> Person:
    person = Person(app)
    person.open(package)
    return person


def own_nodes(person: Person) -> list[Node]:
    """What is inside the app's own root view."""
    screen = person.look()
    content = next(node for node in screen.nodes if node.resource_id == "android:id/content")
    return list(content.children[0].inside())


def test_compose_has_no_ids_below_its_root() -> None:
    person = opened("compose_lab", COMPOSE)
    assert not any(node.resource_id for node in own_nodes(person))


def test_compose_merges_a_row_into_one_node_with_a_description() -> None:
    person = opened("compose_lab", COMPOSE)
    node = person.find("Read aloud")
    assert (node.class_name, node.text, node.children) == ("android.view.View", "", [])
    assert not node.checked
    person.tap("Read aloud")
    assert person.find("Read aloud").checked


def test_a_compose_row_is_checkable_and_its_words_are_not() -> None:
    person = opened("compose_lab", COMPOSE)
    words = person.find("Data saver")
    assert not words.is_("checkable")
    assert words.parent is not None
    assert words.parent.checked
    person.tap("Data saver")
    row = person.find("Data saver").parent
    assert row is not None
    assert not row.checked


def test_compose_words_are_children_of_what_takes_the_tap() -> None:
    person = opened("compose_lab", COMPOSE)
    words = person.find("Increase")
    assert not words.clickable
    assert words.parent is not None
    assert words.parent.clickable
    person.tap("Increase")
    person.tap("Increase")
    assert person.sees("Count: 2")


def test_compose_tells_what_was_saved_and_nothing_before() -> None:
    person = opened("compose_lab", COMPOSE)
    person.tap("Read aloud")
    assert person.state(COMPOSE)["on"] == []
    person.tap("Save")
    saved = person.state(COMPOSE)
    assert (saved["on"], saved["volume"], saved["notifications"]) == (["Data saver", "Read aloud"], 40, "Off")


def test_compose_field_and_list_work() -> None:
    person = opened("compose_lab", COMPOSE)
    person.type("Una", "Your name")
    assert person.sees("Hello, Una")
    person.tap("List")
    person.scroll_to("Item 40")


def test_react_icon_buttons_have_no_words_at_all() -> None:
    person = opened("react_lab", REACT)
    buttons = [node for node in own_nodes(person) if node.clickable]
    wordless = [node for node in buttons if not node.text and not node.description and not node.resource_id]
    assert len(wordless) >= 8


def test_a_react_request_is_pending_without_a_sign_on_the_screen() -> None:
    person = opened("react_lab", REACT)
    post = person.find("Una Birch")
    heart = next(
        node
        for node in person.look().nodes
        if node.clickable and node.bounds.top > post.bounds.bottom and node.children
    )
    before = person.phone.dump()
    person.phone.pointer("down", *heart.center)
    person.wait(50)
    person.phone.pointer("up", *heart.center)
    assert person.state(REACT)["pending_requests"] == 1
    assert person.phone.dump() == before
    person.wait(1300)
    assert person.state(REACT)["pending_requests"] == 0
    assert person.sees("13")


def test_a_react_post_appears_when_its_request_is_answered() -> None:
    person = opened("react_lab", REACT)
    person.type("Hello, harbour", "What is new?")
    field = person.find("Hello, harbour")
    person.tap_at(field.bounds.right + 80, field.center[1])
    person.wait(1500)
    assert person.sees("Hello, harbour")
    assert person.sees("You")


def test_flutter_is_one_canvas_until_somebody_asks() -> None:
    person = opened("flutter_lab", FLUTTER)
    assert own_nodes(person) == []
    person.phone.request_accessibility()
    assert person.sees("Oil the hinge")
    assert person.find("Oil the hinge").is_("checkable")


def test_the_flutter_canvas_takes_touches_before_it_tells_what_it_shows() -> None:
    person = opened("flutter_lab", FLUTTER)
    person.phone.request_accessibility()
    place = person.find("Increment").center
    blind = opened("flutter_lab", FLUTTER)
    blind.tap_at(*place)
    blind.phone.request_accessibility()
    assert blind.sees("Tasks, tapped 1 times")


@pytest.mark.parametrize("app", ["compose_lab", "react_lab", "flutter_lab"])
def test_the_same_phone_twice_is_the_same_tree_twice(app: str) -> None:
    package = {"compose_lab": COMPOSE, "react_lab": REACT, "flutter_lab": FLUTTER}[app]
    assert opened(app, package).phone.dump() == opened(app, package).phone.dump()
