"""What a rule looks at: the element that is really touched; and what an answer is remembered for."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from handrail.safety.policy import Policy
from handrail.safety.subject import PolicyDecision, TouchedElement
from handrail.screen.node import Screen
from tests.cases import each
from tests.unit.safety.policy_subjects import NOON_MS, box, button, find, node, push, screen, subject


def resolved(shown: Screen, text: str, **more: Any) -> TouchedElement:
    return TouchedElement.of(shown, find(shown, text), **more)


def test_a_subject_has_the_local_time_of_its_act() -> None:
    at = subject("get_state", at_ms=NOON_MS + 61_000).at
    assert at.replace(tzinfo=None) == datetime(2026, 4, 23, 12, 1, 1)
    assert at.tzinfo is not None


def test_who_sends_it_is_this_machine_through_python_unless_something_else_is_said() -> None:
    plain = subject("get_state")
    assert (plain.device, plain.door, plain.caller, plain.known_hosts) == ("", "python", "local", frozenset())


def test_what_is_touched_is_one_element_several_or_not_known_yet() -> None:
    one, other = button("A", pressed=True), button("B", pressed=True)
    assert subject("tap", one).touched == (one,)
    assert subject("tap", resolved=[one, other]).touched == (one, other)
    assert subject("tap", resolved=None).touched is None


def test_the_app_is_the_one_that_the_action_names_else_the_one_that_is_touched() -> None:
    front = button("x", package="com.front")
    assert subject({"type": "stop_app", "package": "com.a"}, front).package == "com.a"
    assert subject("tap", front).package == "com.front"
    assert subject("tap", resolved=[]).package == ""
    assert subject("tap", resolved=None).package == ""


def test_the_label_is_that_of_the_first_element() -> None:
    assert subject("tap", resolved=[button("A"), button("B")]).label == "A"
    assert subject("tap", resolved=[]).label == ""


@each(
    ("action", "context"),
    [
        ({"type": "open_url", "url": "https://example.org/a"}, "example.org"),
        ({"type": "open_url", "url": "https://a@b.org/"}, "https://a@b.org/"),
        ({"type": "open_url", "url": "tel:1"}, "tel:1"),
        ({"type": "shell", "command": "ls -l"}, "ls -l"),
        ({"type": "shell", "command": ["rm", "a b"]}, "rm 'a b'"),
        ({"type": "install_app", "path": "a.apk"}, "a.apk"),
        ({"type": "grant_permission", "package": "com.a", "permission": "CAMERA"}, "com.a/CAMERA"),
        ({"type": "revoke_permission", "package": "com.a", "permission": "CAMERA"}, "com.a/CAMERA"),
        ({"type": "query_db", "package": "com.a", "database": "d", "query": "select 1"}, "com.a/d: select 1"),
        ({"type": "reset_app", "package": "com.a"}, "com.a"),
    ],
)
def test_an_answer_is_about_what_the_action_names(action: dict[str, Any], context: str) -> None:
    assert subject(action, button("Save")).context == context


def test_an_answer_about_a_script_is_about_every_character_of_it() -> None:
    digest = hashlib.sha256(b"ls -l").hexdigest()[:32]
    assert subject({"type": "run_script", "script": "ls -l"}).context == f"sha256:{digest}"


def test_an_answer_about_an_element_names_app_and_label_or_id() -> None:
    assert subject("tap", button("Save", package="com.a")).context == "com.a/Save"
    assert subject("tap", button("", package="com.a", id="com.a:id/x")).context == "com.a/com.a:id/x"
    both = [button("Card", package="com.a"), button("Bin", package="com.b")]
    assert (
        subject({"type": "drag", "from": "1,1", "to": "2,2"}, resolved=both).context
        == "com.a/Card → com.b/Bin"
    )


def test_an_answer_about_a_bare_place_is_about_that_place_in_that_app() -> None:
    front = TouchedElement(package="com.a")
    here = subject({"type": "tap", "target": "1,1"}, front).context
    assert here.startswith("com.a/sha256:")
    assert here != subject({"type": "tap", "target": "1,2"}, front).context
    assert (
        here == subject({"type": "tap", "target": "1,1", "reason": "I want it", "device": "X"}, front).context
    )
    assert subject({"type": "tap", "target": "1,1"}, resolved=[]).context == here.replace("com.a", "")


def test_what_an_answer_is_kept_for_stays_the_same_from_version_to_version() -> None:
    digest = hashlib.sha256(b'{"type":"wait","duration_ms":5}').hexdigest()[:32]
    assert subject({"type": "wait", "duration_ms": 5}, TouchedElement()).context == f"/sha256:{digest}"


def test_a_context_is_kept_as_it_is_up_to_200_characters() -> None:
    def of(length: int) -> str:
        return subject({"type": "install_app", "path": "a" * length}).context

    assert of(200) == "a" * 200
    assert of(201).startswith("a" * 200 + "… sha256:")
    assert of(201) != of(202)


@each(
    ("text", "secret"),
    [
        ("${secret:PIN}", True),
        (" ${secret:PIN} ${secret:OTHER}\n", True),
        ("${secret:PIN}x", False),
        ("x${secret:PIN}", False),
        ("${secret:}", False),
        ("${SECRET:PIN}", False),
        ("", False),
    ],
)
def test_a_text_is_secret_if_it_is_placeholders_and_nothing_else(text: str, secret: bool) -> None:
    assert subject({"type": "type_text", "text": text}).has_secret is secret


def test_what_opens_no_address_has_no_host() -> None:
    assert subject("get_state").url_host == ""


def test_only_typed_text_can_be_secret() -> None:
    assert not subject({"type": "shell", "command": "${secret:PIN}"}).has_secret


def test_an_elements_id_counts_whole_and_by_its_tail() -> None:
    assert button("x", id="com.a:id/pay").id_tail == "pay"
    assert button("x", id="pay").id_tail == "pay"


def test_what_is_touched_is_the_box_that_takes_the_touch() -> None:
    row = box(
        node("Wi-Fi", package="com.inner", resource_id="a:id/title"),
        node("Connected"),
        clickable="true",
        resource_id="a:id/row",
        package="com.outer",
    )
    touched = resolved(screen(box(row)), "Connected")
    assert (touched.label, touched.id, touched.package) == ("Wi-Fi", "a:id/row", "com.outer")
    assert touched.names == ("Wi-Fi", "Connected")
    assert touched.role == "container"


def test_what_the_box_does_not_have_is_taken_from_what_was_found() -> None:
    row = box(node("Wi-Fi", resource_id="a:id/title"), clickable="true")
    assert resolved(screen(box(row)), "Wi-Fi").id == "a:id/title"
    secret = box(node("PIN", password="true"), clickable="true")
    assert resolved(screen(box(secret)), "PIN").password
    nobody = screen(box(node("Plain", package="")))
    assert resolved(nobody, "Plain").package == nobody.package


def test_a_label_that_the_agent_reads_comes_first_and_is_not_said_twice() -> None:
    shown = screen(box(push("OK", content_desc="Accept")))
    named = resolved(shown, "OK", label_of=lambda each: f"the {each.text}")
    assert (named.label, named.says) == ("the OK", ("OK", "Accept"))
    assert resolved(shown, "OK", label_of=lambda _: "").label == "OK"


def test_an_element_says_its_description_hint_and_tooltip_once_each() -> None:
    shown = screen(box(push("Go", content_desc="Send it", tooltip_text="Send it", hint="Or not")))
    assert resolved(shown, "Go").says == ("Send it", "Or not")


def test_eight_texts_inside_are_a_button_and_nine_a_page() -> None:
    def inside(count: int) -> TouchedElement:
        return resolved(screen(box(*(node(f"T{n}") for n in range(count)), clickable="true")), "T0")

    assert inside(8).names == tuple(f"T{n}" for n in range(8))
    assert inside(9).names == ("T0",)


def test_touchable_things_inside_a_box_speak_for_themselves() -> None:
    card = box(
        node("Card"),
        box(node("Pay now"), clickable="true"),
        node("~"),
        push("Later"),
        node("Total"),
        clickable="true",
    )
    assert resolved(screen(box(card)), "Card").names == ("Card", "~", "Total")


def test_what_stands_around_is_told_outwards_as_long_as_it_is_no_page() -> None:
    shown = screen(box(node("Question?"), box(node("Version 2"), box(push("OK")))))
    assert resolved(shown, "OK").around == ("Question?", "Version 2")
    shown = screen(box(node("a" * 700), box(node("Question?"), box(push("OK")))))
    assert resolved(shown, "OK").around == ("Question?",)
    assert resolved(screen(box(push("OK"))), "OK").around == ()


def test_a_long_text_around_asks_by_its_end() -> None:
    def around(length: int) -> tuple[str, ...]:
        return resolved(screen(box(node("a" * 300), node("b" * (length - 300)), push("OK"))), "OK").around

    assert around(600) == ("a" * 300, "b" * 300)
    assert around(601) == (("a" * 300 + " · " + "b" * 301)[-600:],)


def test_a_field_is_called_by_description_and_hint_and_never_by_what_it_holds() -> None:
    field = node("pay now", kind="android.widget.EditText", hint="Message", content_desc="To all")
    typed = resolved(screen(box(field)), "pay now")
    assert (typed.label, typed.says) == ("To all", ("Message",))


def test_a_denial_says_the_rule_and_its_reason_once() -> None:
    failure = PolicyDecision("deny", "night", "agents rest").rejection()
    assert failure.message == "night denies it: agents rest"
    assert (failure.details["rule"], failure.details["why"]) == ("night", "agents rest")
    assert PolicyDecision("deny", "night").rejection().message == "night denies it"
    assert PolicyDecision("ask", "night").remember == "never"


def test_hosts_that_the_session_knows_and_those_of_the_file_count_together() -> None:
    rules = Policy(known_hosts=frozenset({"a.org"}))
    for host, kind in (("a.org", "allow"), ("b.org", "allow"), ("c.org", "ask")):
        page = {"type": "open_url", "url": f"https://{host}/"}
        assert rules.decide(subject(page, known_hosts=frozenset({"b.org"}))).kind == kind
