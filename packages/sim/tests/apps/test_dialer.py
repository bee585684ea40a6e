from __future__ import annotations

from tests.apps.owner import Owner, story
from tests.shell_person import out

PACKAGE = "com.google.android.dialer"
CALLS = "content query --uri content://call_log/calls --projection number:type:name"


@story("dialer")
def test_a_number_that_was_typed_is_called_and_logged(owner: Owner) -> None:
    owner.open(PACKAGE)
    assert owner.sees("Your call history is empty")
    owner.tap("Keypad")
    for digit in "07700900100":
        owner.tap(digit)
    owner.tap("Dial")
    assert owner.sees("Calling…")
    assert owner.sees("Alba Thornquill")
    assert "mCallState=2" in out("dumpsys telephony.registry", phone=owner.phone)
    owner.tap("Hang up")
    assert out(CALLS, phone=owner.phone) == "Row: 0 number=07700900100, type=2, name=Alba Thornquill\n"
    owner.tap("Recents")
    owner.tap("Call Alba Thornquill")
    assert owner.phone.state()["call"]["number"] == "07700900100"


@story("dialer")
def test_a_link_fills_the_keypad_and_a_call_intent_calls(owner: Owner) -> None:
    owner.phone.start_activity(action="android.intent.action.DIAL", data="tel:555%20123")
    owner.wait(1000)
    assert owner.find("digits").text == "555 123"
    assert owner.phone.state()["call"] is None
    out("am start -a android.intent.action.CALL -d tel:5550100", phone=owner.phone)
    owner.wait(1000)
    assert owner.phone.state()["call"]["number"] == "5550100"
    assert owner.sees("5550100")
    owner.phone.key(6)
    owner.wait(500)
    assert owner.phone.state()["call"] is None


@story("dialer")
def test_the_call_log_of_the_provider_is_the_apps(owner: Owner) -> None:
    values = f"--bind number:s:5550199 --bind type:i:3 --bind date:l:{owner.phone.wall_ms()}"
    out(f"content insert --uri content://call_log/calls {values}", phone=owner.phone)
    owner.open(PACKAGE)
    assert owner.sees("5550199")
    out("content delete --uri content://call_log/calls", phone=owner.phone)
    owner.reopen(PACKAGE)
    assert owner.sees("Your call history is empty")
