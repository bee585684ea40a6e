from __future__ import annotations

from typing import Any

from tests.apps.owner import Owner, story

PACKAGE = "com.google.android.apps.messaging"


def thread(person: Owner, address: str) -> list[dict[str, Any]]:
    threads = person.state(PACKAGE)["threads"]
    found: list[dict[str, Any]] = next((t["messages"] for t in threads if t["address"] == address), [])
    return found


@story("contacts", "messages")
def test_a_message_to_a_contact_is_sent(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Start new conversation")
    person.type("imel", "Type a name or phone number")
    person.tap("Imelda Saltmarsh")
    person.type("Is the ferry running? ⛴", "Send message")
    person.tap("Send SMS")
    assert thread(person, "07700 900156")[-1]["text"] == "Is the ferry running? ⛴"
    assert thread(person, "07700 900156")[-1]["kind"] == "sent"
    assert person.find("compose_message_text").text == "Send message"


@story("messages")
def test_a_message_to_a_typed_number_starts_a_thread(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Start new conversation")
    person.type("07700 900555", "Type a name or phone number")
    person.tap("Continue")
    person.type("Hello", "Send message")
    person.tap("Send SMS")
    person.back()
    assert person.sees("07700 900555")
    assert person.sees("You: Hello")


@story("contacts", "messages")
def test_an_empty_message_cannot_be_sent(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Clementine Ashgrove")
    assert not person.find("Send SMS").enabled


@story("contacts", "messages")
def test_an_sms_with_a_code_is_announced_and_readable_in_its_thread(person: Owner) -> None:
    person.phone.receive_sms("Harbour Bank", "Your code is 482913.")
    posted = person.phone.state()["notifications"]
    assert "482913" in str(posted)
    person.open(PACKAGE)
    person.tap("Harbour Bank")
    assert person.sees("Your code is 482913.")
    assert thread(person, "Harbour Bank")[-1]["read"] is True
    assert "482913" not in str(person.phone.state()["notifications"])


@story("contacts", "messages")
def test_a_message_for_the_open_thread_appears_without_a_notification(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Clementine Ashgrove")
    person.phone.receive_sms("07700900114", "One more thing.")
    assert person.sees("One more thing.")
    assert "One more thing." not in str(person.phone.state()["notifications"])


@story("contacts", "messages", "settings")
def test_in_airplane_mode_a_message_waits_for_another_try(person: Owner) -> None:
    person.phone.settings["global"]["airplane_mode_on"] = "1"
    person.open(PACKAGE)
    person.tap("Clementine Ashgrove")
    person.type("Are you there?", "Send message")
    person.tap("Send SMS")
    assert thread(person, "07700 900114")[-1]["kind"] == "failed"
    person.phone.settings["global"]["airplane_mode_on"] = "0"
    person.tap("Not sent. Tap to try again.")
    assert thread(person, "07700 900114")[-1]["kind"] == "sent"


@story("contacts", "messages")
def test_a_thread_is_deleted_after_a_question(person: Owner) -> None:
    person.open(PACKAGE)
    person.hold("Parcel Post")
    person.tap("Delete")
    assert not person.sees("Parcel Post")
    assert thread(person, "Parcel Post") == []


@story("contacts", "messages")
def test_a_tap_on_the_notification_opens_the_thread(person: Owner) -> None:
    person.phone.receive_sms("07700 900149", "Wind is good today.")
    person.wait(500)
    [note] = person.phone.state()["notifications"]
    assert note["title"] == "Horatio Pebblewick"
    person.swipe(540, 5, 540, 1500)
    person.tap("Wind is good today.")
    assert person.sees("Wind is good today.")
    assert person.sees("The kite is mended. Come and try it.")


@story("contacts", "messages")
def test_a_long_thread_opens_at_its_end(person: Owner) -> None:
    for number in range(30):
        person.phone.receive_sms("Tide Table", f"Tide {number}")
    person.open(PACKAGE)
    person.tap("Tide Table")
    assert person.sees("Tide 29")
    assert not person.sees("Tide 0")


@story("messages")
def test_words_in_a_link_become_a_draft(person: Owner) -> None:
    link = "smsto:07700900321?body=On%20my%20way"
    person.phone.start_activity(action="android.intent.action.SENDTO", data=link)
    person.wait(600)
    person.tap("Send SMS")
    assert thread(person, "07700900321")[-1]["text"] == "On my way"


@story("contacts", "messages")
def test_reading_names_starts_no_process_of_contacts(person: Owner) -> None:
    person.open(PACKAGE)
    assert person.sees("Clementine Ashgrove")
    assert "com.google.android.contacts" not in person.phone.state()["processes"]
