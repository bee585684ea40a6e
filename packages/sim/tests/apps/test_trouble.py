"""Each trouble does what its row says, on a clock that only the test moves."""

from tests.apps.person import Person

TROUBLE = "com.handrail.trouble"


def in_trouble(row: str = "") -> Person:
    person = Person("trouble", "settings")
    person.open(TROUBLE)
    if row:
        person.tap(row)
    return person


def test_every_trouble_is_a_row() -> None:
    person = in_trouble()
    rows = [node.text for node in person.look().nodes if node.resource_id == "android:id/title"]
    assert len(rows) == 10


def test_the_spinner_ends_after_three_seconds() -> None:
    person = in_trouble("Spinner that ends")
    assert person.sees("Loading…")
    person.wait(2000)
    assert person.sees("Loading…")
    person.wait(1000)
    person.tap("Continue")
    assert person.state(TROUBLE)["done"] == ["loaded"]


def test_a_snapshot_keeps_the_spinner_turning() -> None:
    person = in_trouble("Spinner that ends")
    person.phone.snapshot("turning")
    person.wait(10_000)
    person.phone.restore("turning")
    assert person.sees("Loading…")
    person.wait(3000)
    assert person.sees("Loaded")


def test_the_endless_spinner_is_left_only_by_back() -> None:
    person = in_trouble("Spinner that never ends")
    person.wait(60_000)
    assert person.sees("Loading…")
    person.back()
    assert person.sees("Late button")


def test_the_restless_screen_moves_ten_times_a_second_and_never_rests() -> None:
    person = in_trouble("Never still")
    before = int(person.find("frame").text.split()[1])
    person.wait(1000)
    assert int(person.find("frame").text.split()[1]) - before == 10
    assert not person.phone.is_idle()
    person.tap("I found it")
    assert person.state(TROUBLE)["done"] == ["found"]


def test_a_crash_shows_its_dialog_and_the_app_starts_again() -> None:
    person = in_trouble("Crash")
    assert person.sees("Trouble has stopped")
    assert any("The lantern is not lit" in line.text for line in person.phone.log.lines)
    person.tap("Close app")
    assert not person.sees("Trouble has stopped")
    person.open(TROUBLE)
    assert person.sees("Late button")


def test_a_frozen_app_is_reported_after_five_seconds_without_an_answer() -> None:
    person = in_trouble("Freeze")
    person.tap("Late button")
    assert not person.sees("Agree")
    person.wait(5000)
    assert person.sees("Trouble isn't responding")
    person.tap("Wait")
    assert not person.sees("Trouble isn't responding")
    person.wait(30_000)
    if person.sees("Wait"):
        person.tap("Wait")
    person.tap("Late button")
    assert person.sees("Please read this carefully.")


def test_a_frozen_app_can_be_closed() -> None:
    person = in_trouble("Freeze")
    person.tap("Late button")
    person.wait(5000)
    person.tap("Close app")
    assert not person.sees("Late button")


def test_a_silent_death_leaves_no_dialog_behind() -> None:
    person = in_trouble("Silent death")
    assert not person.sees("Trouble has stopped")
    assert not person.sees("Silent death")
    assert person.phone.packages.pid_of(TROUBLE) is None


def test_the_shifting_list_moves_under_the_finger() -> None:
    person = in_trouble("Shifting list")
    aim = person.find("Kestrel").center
    person.wait(1400)
    person.tap_at(*aim)
    assert person.state(TROUBLE)["missed"]
    person.tap("Kestrel")
    assert person.state(TROUBLE)["done"] == ["chose Kestrel"]


def test_the_late_button_appears_after_four_seconds() -> None:
    person = in_trouble("Late button")
    assert not person.sees("Agree")
    person.wait(4000)
    person.tap("Agree")
    assert person.state(TROUBLE)["done"] == ["agreed"]


def test_a_covered_button_gets_no_tap_until_the_banner_is_gone() -> None:
    person = in_trouble("Covered button")
    person.tap("Accept")
    assert person.state(TROUBLE) == {"done": [], "missed": ["banner"], "form": ""}
    person.tap("Close banner")
    person.tap("Accept")
    assert person.state(TROUBLE)["done"] == ["accepted"]


def test_the_dialog_comes_in_the_middle_of_the_form() -> None:
    person = in_trouble("Interrupting dialog")
    person.type("Una", "name")
    person.tap("Next")
    assert not person.sees("Do you like this app?")
    person.wait(1500)
    person.tap("Not now")
    person.tap("I was careful")
    person.tap("Next")
    assert person.sees("Ready, Una?")
    person.tap("Finish")
    assert person.state(TROUBLE) == {"done": ["finished the form"], "missed": [], "form": "Una"}


def test_a_phone_can_be_given_birds_words_and_a_spinner_without_end() -> None:
    person = Person("trouble")
    person.phone.give(
        {
            "trouble": {
                "rows": {"Late button": "Terms of the Marigold"},
                "birds": ["Curlew", "Knot"],
                "target": "Knot",
                "loading_ms": 0,
                "terms": "Clause nine: bring a rope.",
            }
        }
    )
    person.open(TROUBLE)
    person.tap("Spinner that ends")
    person.wait(60_000)
    assert person.sees("Loading…")
    person.back()
    person.tap("Terms of the Marigold")
    assert person.sees("Clause nine: bring a rope.")
    person.back()
    person.tap("Shifting list")
    assert person.sees("Tap Knot")
