"""Reading pages, following links, filling in a form."""

from handrail_sim.apps.browser import address, open_page
from tests.apps.person import Person

BROWSER = "com.handrail.browser"


def browsing() -> Person:
    person = Person("browser")
    person.open(BROWSER)
    return person


def test_a_page_is_a_web_view_with_plain_views_inside() -> None:
    person = browsing()
    document = person.find("Harbour Library")
    assert document.class_name == "android.webkit.WebView"
    assert document.parent is not None
    assert document.parent.class_name == "android.webkit.WebView"
    link = person.find("Opening hours")
    assert (link.class_name, link.text, link.clickable) == ("android.view.View", "", True)


def test_a_link_leads_on_and_back_leads_back() -> None:
    person = browsing()
    person.tap("Opening hours")
    assert person.sees("Thursday: 9 to 22")
    person.back()
    assert person.sees("Become a member")
    assert person.state(BROWSER)["url"] == "https://harbour.example/"


def test_the_form_is_sent_when_it_is_complete() -> None:
    person = browsing()
    person.tap("Become a member")
    person.type("Ada Marrow", "name")
    person.type("ada@harbour.example", "email")
    person.scroll_to("branch")
    person.tap("branch")
    person.tap("Island")
    person.scroll_to("Send application")
    person.tap("terms")
    person.tap("Send application")
    person.wait(500)
    assert person.sees("Thank you, Ada Marrow")
    assert person.sees("Your card is waiting at the Island branch.")
    assert len(person.state(BROWSER)["sent"]) == 1


def test_a_missing_field_is_named_and_nothing_is_sent() -> None:
    person = browsing()
    person.tap("Become a member")
    person.scroll_to("Send application")
    person.tap("Send application")
    assert person.state(BROWSER)["sent"] == []
    person.swipe(540, 700, 540, 1700)
    assert person.sees("Please fill out this field.")


def test_the_address_bar_takes_addresses_and_questions() -> None:
    assert address("harbour.example/hours") == "https://harbour.example/hours"
    assert address("harbour.example") == "https://harbour.example/"
    assert address("opening hours") == "https://search.example/?q=opening+hours"


def test_typing_an_address_opens_it() -> None:
    person = browsing()
    person.tap("url_bar")
    person.phone.editing.select_all()
    person.phone.commit_text("harbour.example/hours")
    person.phone.key(66)
    person.wait(1000)
    assert person.sees("Sunday: 12 to 16")


def test_an_unknown_host_is_a_page_too() -> None:
    assert open_page("https://nowhere.example/").title == "Webpage not available"
    assert open_page("https://harbour.example/nothing").title == "404"


def test_a_link_from_outside_opens_here() -> None:
    person = Person("browser")
    person.phone.start_activity(action="android.intent.action.VIEW", data="https://harbour.example/hours")
    person.wait(1500)
    assert person.sees("Thursday: 9 to 22")


def test_a_page_that_is_opened_again_has_an_empty_form() -> None:
    person = browsing()
    person.tap("Become a member")
    person.type("Ada Marrow", "name")
    assert person.sees("Ada Marrow")
    person.back()
    person.tap("Become a member")
    assert not person.sees("Ada Marrow")
