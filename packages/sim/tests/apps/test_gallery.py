"""A permission denied and granted, a picture pinched, turned, shared."""

import pytest

from tests.apps.person import Person

GALLERY = "com.handrail.gallery"


def with_photos() -> Person:
    person = Person("gallery", "messages", "react_lab")
    person.open(GALLERY)
    person.tap("Allow")
    return person


def in_the_viewer() -> Person:
    person = with_photos()
    person.tap("tile", 1)
    assert person.sees("photo")
    return person


def test_the_prompt_comes_before_the_first_picture() -> None:
    person = Person("gallery")
    person.open(GALLERY)
    assert person.sees("Allow")
    assert not person.sees("tile")


def test_a_denied_permission_is_explained_and_can_be_granted_later() -> None:
    person = Person("gallery")
    person.open(GALLERY)
    person.tap("Don’t allow")
    assert person.sees("No access to photos")
    person.tap("Allow access")
    person.tap("Allow")
    assert person.sees("tile")


def test_a_granted_permission_shows_the_grid() -> None:
    assert with_photos().sees("tile")


def test_two_fingers_zoom_the_picture() -> None:
    person = in_the_viewer()
    person.pinch("photo", 200, 500)
    assert person.state(GALLERY)["scale"] == pytest.approx(2.5, abs=0.05)
    person.pinch("photo", 500, 100)
    assert person.state(GALLERY)["scale"] == 1.0


def test_a_swipe_shows_the_next_picture_unless_zoomed() -> None:
    person = in_the_viewer()
    person.swipe(900, 1200, 200, 1200)
    assert person.state(GALLERY)["last_viewed"] == 2
    person.pinch("photo", 200, 500)
    person.swipe(900, 1200, 200, 1200)
    assert person.state(GALLERY)["last_viewed"] == 2


def test_favourites_are_remembered() -> None:
    person = in_the_viewer()
    person.tap("Add to favourites")
    assert person.sees("Remove from favourites")
    assert person.state(GALLERY)["favourites"] == [1]


def test_a_deleted_picture_is_gone_from_the_grid() -> None:
    person = in_the_viewer()
    before = person.find("caption").text
    person.tap("delete")
    person.tap("Delete")
    assert person.sees("grid")
    person.tap("tile", 1)
    assert person.state(GALLERY)["last_viewed"] == 2
    assert person.state(GALLERY)["deleted"]
    assert before


def test_sharing_asks_which_app() -> None:
    person = in_the_viewer()
    person.tap("Share")
    person.tap("React lab")
    person.wait(1500)
    assert person.state("com.handrail.reactlab")["posts"] == ["A photo"]
