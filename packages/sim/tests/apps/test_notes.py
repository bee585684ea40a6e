from __future__ import annotations

import sqlite3

from tests.apps.owner import Owner, story

PACKAGE = "com.handrail.notes"
FOLDER = f"/data/data/{PACKAGE}"


def titles(person: Owner) -> list[str]:
    return [note["title"] for note in person.state(PACKAGE)["notes"]]


def write(person: Owner, title: str, body: str) -> None:
    person.tap("New note")
    person.type(title, "Title")
    person.type(body, "Note")


@story("notes")
def test_a_note_survives_rotation_while_it_is_written(person: Owner) -> None:
    person.open(PACKAGE)
    write(person, "Tides", "High 06:12\nLow 12:31")
    person.phone.set_rotation(1)
    assert person.find("title").text == "Tides"
    assert person.find("body").text == "High 06:12\nLow 12:31"


@story("notes")
def test_a_note_is_kept_when_its_writer_goes_home(person: Owner) -> None:
    person.open(PACKAGE)
    write(person, "Tides", "High 06:12")
    person.home()
    person.reopen(PACKAGE)
    assert person.sees("Tides")
    assert person.state(PACKAGE)["notes"][-1]["body"] == "High 06:12"


@story("notes")
def test_notes_lie_in_a_real_sqlite_file(person: Owner) -> None:
    person.open(PACKAGE)
    write(person, "Tides", "High 06:12")
    person.tap("Save")
    database = sqlite3.connect(":memory:")
    database.deserialize(person.phone.files.read(f"{FOLDER}/databases/notes.db"))
    assert ("Tides",) in database.execute("SELECT title FROM notes").fetchall()
    database.close()


@story("notes")
def test_an_empty_note_is_not_kept(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("New note")
    person.tap("Save")
    assert len(titles(person)) == 3


@story("notes")
def test_a_deleted_note_comes_back_by_undo(person: Owner) -> None:
    person.open(PACKAGE)
    person.hold("Shopping")
    person.tap("Delete")
    assert "Shopping" not in titles(person)
    person.tap("Undo")
    assert "Shopping" in titles(person)
    assert person.sees("Shopping")


@story("notes")
def test_undo_is_gone_after_a_few_seconds(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Shopping")
    person.tap("Delete")
    person.tap("Delete")
    assert "Shopping" not in titles(person)
    person.wait(10_000)
    assert not person.sees("Undo")


@story("notes")
def test_the_order_of_notes_is_kept_in_the_preferences(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Sort by")
    person.tap("Title")
    shown = [node.text for node in person.look().nodes if node.id_tail == "note_title"]
    assert shown == ["Books to return", "Shopping", "Welcome"]
    xml = person.phone.files.read(f"{FOLDER}/shared_prefs/settings.xml").decode()
    assert '<string name="sort">title</string>' in xml


@story("notes")
def test_a_search_shows_only_notes_with_the_words(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Search")
    person.write("ferries")
    assert person.sees("Books to return")
    assert not person.sees("Shopping")
    person.tap("Collapse")
    assert person.sees("Shopping")


@story("notes")
def test_a_note_written_into_the_database_from_outside_is_shown(person: Owner) -> None:
    person.open(PACKAGE)
    path = f"{FOLDER}/databases/notes.db"
    database = sqlite3.connect(":memory:")
    database.deserialize(person.phone.files.read(path))
    database.execute("INSERT INTO notes (title, body, changed) VALUES ('By hand', '', 0)")
    database.commit()
    person.phone.files.write(path, database.serialize(), mode=0o660)
    database.close()
    person.reopen(PACKAGE)
    assert person.sees("By hand")


@story("notes")
def test_a_half_written_note_comes_back_with_a_snapshot(person: Owner) -> None:
    person.open(PACKAGE)
    write(person, "Tides", "High 06:12")
    person.phone.snapshot()
    person.tap("Save")
    person.hold("Tides")
    person.tap("Delete")
    person.phone.restore()
    person.wait(500)
    assert person.find("title").text == "Tides"
    person.tap("Save")
    assert titles(person)[-1] == "Tides"
