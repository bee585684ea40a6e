from __future__ import annotations

from tests.apps.owner import Owner, story
from tests.shell_person import out

PACKAGE = "com.google.android.contacts"


def names(person: Owner) -> list[str]:
    return [contact["name"] for contact in person.state(PACKAGE)["contacts"]]


@story("contacts")
def test_a_new_phone_knows_thirty_people(person: Owner) -> None:
    person.open(PACKAGE)
    assert len(names(person)) == 30
    assert person.sees("Alba Thornquill")
    assert not person.sees("Zebedee Winterbourne")
    person.scroll_to("Zebedee Winterbourne")


@story("contacts")
def test_a_created_contact_is_found_again_after_a_restart_of_the_app(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Create new contact")
    person.type("Morwenna", "First name")
    person.type("Glasspool", "Last name")
    person.type("07700 900999", "Phone")
    person.tap("Save")
    assert person.find("large_title").text == "Morwenna Glasspool"

    person.reopen(PACKAGE)
    person.tap("Search")
    person.write("glassp")
    person.tap("Morwenna Glasspool")
    assert person.sees("07700 900999")
    assert names(person).count("Morwenna Glasspool") == 1


@story("contacts")
def test_a_contact_without_a_name_is_not_saved(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Create new contact")
    person.type("12", "Phone")
    person.tap("Save")
    assert person.sees("Name is required")
    assert person.sees("Phone number is too short")
    assert len(names(person)) == 30


@story("contacts")
def test_leaving_a_changed_form_asks_first(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Create new contact")
    person.type("Nobody", "First name")
    person.tap("Cancel")
    person.tap("Keep editing")
    assert person.sees("Nobody")
    person.tap("Cancel")
    person.tap("Discard")
    assert person.sees("Contacts")
    assert "Nobody" not in names(person)


@story("contacts")
def test_an_edited_contact_shows_its_new_name_in_the_list(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alba Thornquill")
    person.tap("Edit contact")
    person.type("-Reed", "Thornquill")
    person.tap("Save")
    assert person.sees("Alba Thornquill-Reed")
    person.tap("Navigate up")
    assert person.sees("Alba Thornquill-Reed")


@story("contacts")
def test_a_favourite_gets_a_star(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Barnaby Fenwhistle")
    person.tap("Add to favorites")
    assert person.sees("Remove from favorites")
    assert [c["starred"] for c in person.state(PACKAGE)["contacts"] if c["name"] == "Barnaby Fenwhistle"] == [
        True
    ]


@story("contacts")
def test_a_contact_is_deleted_only_after_a_yes(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alba Thornquill")
    for answer, left in (("Cancel", 30), ("Delete", 29)):
        person.tap("More options")
        person.tap("Delete")
        person.tap(answer)
        assert len(names(person)) == left
    assert not person.sees("Alba Thornquill")


@story("contacts")
def test_a_search_without_a_match_says_so(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Search")
    person.write("nobody at all")
    assert person.sees("No contacts")
    person.tap("Clear search")
    assert person.sees("Alba Thornquill")


@story("contacts", "messages")
def test_the_message_icon_opens_a_thread_with_that_person(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Barnaby Fenwhistle")
    person.tap("Text mobile 07700 900107")
    assert person.find("compose_message_text").package == "com.google.android.apps.messaging"
    assert person.sees("Barnaby Fenwhistle")


@story("contacts")
def test_another_app_may_fill_the_form_for_a_new_contact(person: Owner) -> None:
    person.phone.start_activity(
        action="android.intent.action.INSERT",
        mime="vnd.android.cursor.dir/contact",
        extras={"name": "Tansy Brook", "phone": "07700 900777"},
    )
    person.wait(600)
    person.tap("Save")
    assert "Tansy Brook" in names(person)


@story("contacts")
def test_the_label_of_a_number_is_chosen_and_kept_as_androids_type(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Create new contact")
    person.type("Jo", "First name")
    person.type("07700 900998", "Phone")
    person.tap("Mobile Phone")
    person.tap("Work")
    assert person.sees("Work Phone")
    person.tap("Save")
    query = "content query --uri content://com.android.contacts/data/phones --projection data1:data2 "
    found = out(query + "--where \"display_name='Jo'\"", phone=person.phone)
    assert found == "Row: 0 data1=07700 900998, data2=3\n"
