from __future__ import annotations

from tests.apps.owner import Owner, story

PACKAGE = "com.android.settings"


def value(person: Owner, space: str, name: str) -> str:
    return person.phone.settings[space][name]


def go(person: Owner, *pages: str) -> None:
    person.open(PACKAGE)
    for page in pages:
        person.scroll_to(page)
        person.tap(page)


@story("settings")
def test_brightness_is_set_with_the_slider(person: Owner) -> None:
    go(person, "Display")
    person.drag_slider("slider", 0.8)
    assert 195 <= int(value(person, "system", "screen_brightness")) <= 213
    person.drag_slider("slider", 0.0)
    assert int(value(person, "system", "screen_brightness")) == 1


@story("settings")
def test_the_list_of_settings_is_longer_than_the_screen(person: Owner) -> None:
    person.open(PACKAGE)
    assert not person.sees("About phone")
    person.scroll_to("About phone")
    assert not person.sees("Network & internet")


@story("settings")
def test_seven_taps_on_the_build_number_make_a_developer(person: Owner) -> None:
    person.phone.put_setting("global", "development_settings_enabled", "0")
    go(person, "About phone")
    person.scroll_to("Build number")
    for _ in range(6):
        person.tap("Build number")
    person.wait(10_000)
    assert person.phone.state()["last_toast"] == "You are now 1 step away from being a developer."
    assert value(person, "global", "development_settings_enabled") == "0"
    person.tap("Build number")
    assert value(person, "global", "development_settings_enabled") == "1"
    person.back()
    person.tap("System")
    assert person.sees("Developer options")


@story("settings")
def test_airplane_mode_takes_wifi_down_and_brings_it_back(person: Owner) -> None:
    go(person, "Network & internet")
    person.tap("Airplane mode")
    assert value(person, "global", "airplane_mode_on") == "1"
    assert value(person, "global", "wifi_on") == "0"
    person.tap("Airplane mode")
    assert value(person, "global", "wifi_on") == "1"


@story("settings")
def test_wifi_is_switched_off_and_on_and_finds_networks_again(person: Owner) -> None:
    go(person, "Network & internet", "Internet")
    person.tap("Wi‑Fi")
    assert value(person, "global", "wifi_on") == "0"
    assert not person.sees("Lighthouse Cafe")
    person.tap("Wi‑Fi")
    assert person.sees("Searching for networks…")
    person.wait(2000)
    assert person.sees("Lighthouse Cafe")


@story("settings")
def test_a_secured_network_wants_a_password(person: Owner) -> None:
    go(person, "Network & internet", "Internet", "Marmalade 5G")
    person.type("short", "Password")
    person.tap("Connect")
    person.wait(3000)
    assert person.state(PACKAGE)["wifi"] == "HandrailNet"
    person.tap("Marmalade 5G")
    person.type("long enough", "Password")
    person.tap("Connect")
    assert person.sees("Connecting…")
    person.wait(3000)
    assert person.state(PACKAGE)["wifi"] == "Marmalade 5G"


@story("settings")
def test_a_bluetooth_device_is_paired_after_a_search(person: Owner) -> None:
    go(person, "Connected devices", "Pair new device")
    assert not person.sees("Blue Headset")
    person.wait(4000)
    person.tap("Blue Headset")
    person.tap("Pair")
    assert "Blue Headset" in person.state(PACKAGE)["paired"]


@story("settings")
def test_the_dark_theme_is_the_phones(person: Owner) -> None:
    go(person, "Display")
    person.scroll_to("Dark theme")
    person.tap("Dark theme")
    assert person.phone.display.dark


@story("settings")
def test_larger_letters_are_larger_on_the_page_itself(person: Owner) -> None:
    person.open(PACKAGE)
    assert person.phone.start_activity(component=f"{PACKAGE}/.Settings$TextReadingSettingsActivity").ok
    person.drag_slider("seekbar", 1.0)
    person.wait(1000)
    assert person.phone.display.font_scale == 2.0


@story("settings")
def test_the_screen_timeout_is_chosen_from_a_list(person: Owner) -> None:
    go(person, "Display", "Screen timeout")
    person.tap("5 minutes")
    assert value(person, "system", "screen_off_timeout") == "300000"


@story("settings", "notes")
def test_an_app_is_force_stopped_and_its_storage_cleared(person: Owner) -> None:
    person.open("com.handrail.notes")
    person.tap("New note")
    person.type("Gone soon", "Title")
    person.tap("Save")
    go(person, "Apps", "Notes")
    person.tap("Force stop")
    person.tap("OK")
    assert "com.handrail.notes" not in person.phone.packages.processes
    person.tap("Storage & cache")
    person.tap("Clear storage")
    person.tap("Delete")
    assert [note["title"] for note in person.state("com.handrail.notes")["notes"]] == [
        "Welcome",
        "Shopping",
        "Books to return",
    ]


@story("settings", "messages")
def test_a_permission_is_given_and_taken_in_settings(person: Owner) -> None:
    go(person, "Apps", "Messaging", "Permissions", "Contacts")
    person.tap("Allow")
    assert person.phone.packages.is_granted(
        "com.google.android.apps.messaging", "android.permission.READ_CONTACTS"
    )
    person.tap("Don't allow")
    assert not person.phone.packages.is_granted(
        "com.google.android.apps.messaging", "android.permission.READ_CONTACTS"
    )


@story("settings")
def test_search_leads_to_the_page(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Search settings")
    person.write("brightness")
    person.tap("Brightness level")
    assert person.find("slider").class_name == "android.widget.SeekBar"


@story("settings")
def test_an_intent_opens_the_wifi_page(person: Owner) -> None:
    assert person.phone.start_activity(action="android.settings.WIFI_SETTINGS").ok
    assert person.sees("Lighthouse Cafe")


@story("settings")
def test_a_secured_network_turns_a_wrong_password_away(person: Owner) -> None:
    air = [{"name": "Home"}, {"name": "Quay", "secured": True, "password": "saltwater"}]
    person.phone.give({"settings": {"wifi": air}})
    go(person, "Network & internet", "Internet", "Quay")
    person.type("freshwater", "password")
    person.tap("Connect")
    person.wait(2000)
    assert person.sees("Check password and try again")
    assert person.phone.state()["apps"][PACKAGE]["wifi"] == "Home"
    person.tap("Quay")
    person.type("saltwater", "password")
    person.tap("Connect")
    person.wait(2000)
    assert person.phone.state()["apps"][PACKAGE]["wifi"] == "Quay"
