"""What holds without any rule: a verdict for every action type, stricter for callers elsewhere."""

from pathlib import Path
from typing import Any

from handrail.cli.policy import defaults_rows, markdown_table
from handrail.protocol.actions import ACTIONS
from handrail.safety.policy import Policy, rulings
from handrail.safety.subject import TouchedElement, host_of
from tests.cases import each
from tests.unit.safety.policy_subjects import button, subject

SAFETY = Path(__file__).parents[3] / "docs" / "safety.md"
STRICTNESS = ("allow", "ask", "deny")


def kind(action: dict[str, Any] | str, element: TouchedElement | None = None, **more: Any) -> str:
    return Policy().decide(subject(action, element, **more)).kind


def test_every_action_has_a_default_and_nothing_else_has_one() -> None:
    assert {kind for kind, case, _ in rulings() if not case} == ACTIONS.keys()
    assert {kind for kind, _, _ in rulings()} == ACTIONS.keys()


@each("example", [cls.example for cls in ACTIONS.values()], ids=lambda one: one["type"])
def test_every_action_gets_a_verdict_and_a_remote_caller_never_a_milder_one(example: dict[str, Any]) -> None:
    here, elsewhere = kind(example), kind(example, caller="remote")
    assert STRICTNESS.index(here) <= STRICTNESS.index(elsewhere)


def test_the_table_in_the_docs_is_the_one_in_the_code() -> None:
    page = SAFETY.read_text()
    shown = page.partition("<!-- defaults -->\n")[2].partition("\n<!-- /defaults -->")[0]
    assert shown == markdown_table(defaults_rows()), "print it with `handrail policy defaults --markdown`"


@each(
    "action",
    [
        {"type": "shell", "command": "ls"},
        {"type": "run_script", "script": "ls"},
        {"type": "install_app", "path": "a.apk"},
        {"type": "reset_app", "package": "com.a"},
        {"type": "grant_permission", "package": "com.a", "permission": "CAMERA"},
        {"type": "query_db", "package": "com.a", "database": "d", "query": "delete from t", "write": True},
    ],
)
def test_what_reaches_far_asks_here_and_is_denied_elsewhere(action: dict[str, Any]) -> None:
    assert (kind(action), kind(action, caller="remote")) == ("ask", "deny")


@each("action", ["get_state", "screenshot", "get_ui_tree", "tap", "wait"])
def test_looking_and_ordinary_input_are_free(action: str) -> None:
    assert (kind(action), kind(action, caller="remote")) == ("allow", "allow")


def test_reading_an_apps_own_data_is_free_here_and_asks_elsewhere() -> None:
    prefs = {"type": "get_shared_prefs", "package": "com.a", "file": "f"}
    assert (kind(prefs), kind(prefs, caller="remote")) == ("allow", "ask")


@each("form", ["tap", "double_tap", "long_press"])
def test_a_label_that_commits_asks_and_the_answer_is_never_remembered(form: str) -> None:
    verdict = Policy().decide(subject({"type": form, "target": "@b1"}, button("Pay €12.50")))
    assert (verdict.kind, verdict.remember) == ("ask", "never")
    assert "'Pay €12.50' pays" in verdict.why


def test_a_key_on_a_focused_button_and_a_slider_count_as_a_tap_on_them() -> None:
    assert kind({"type": "press_key", "key": "enter"}, button("Pay now")) == "ask"
    assert kind({"type": "swipe", "direction": "right", "target": "x"}, button("Slide to pay")) == "ask"


def test_reading_beside_a_label_that_commits_is_free() -> None:
    assert kind({"type": "expect_visible", "target": "Pay now"}, button("Pay now")) == "allow"


def test_a_bare_password_asks_and_a_secret_does_not() -> None:
    field = TouchedElement(package="com.a", label="Password", role="text_field", password=True)
    assert kind({"type": "type_text", "text": "hunter2"}, field) == "ask"
    assert kind({"type": "type_text", "text": "${secret:PIN}"}, field) == "allow"
    assert kind({"type": "type_text", "text": "${secret:PIN}hunter2"}, field) == "ask"
    assert (
        kind({"type": "type_text", "text": "hunter2"}, TouchedElement(package="com.a", label="Name"))
        == "allow"
    )


def test_a_new_host_asks_and_a_known_one_does_not() -> None:
    page = {"type": "open_url", "url": "https://Example.org/help?x=1"}
    assert kind(page) == "ask"
    assert kind(page, known_hosts=frozenset({"example.org"})) == "allow"
    assert kind(page, known_hosts=frozenset({"example.org"}), caller="remote") == "ask"


def test_hosts_of_the_policy_file_are_known() -> None:
    known = Policy(known_hosts=frozenset({"example.org"}))
    assert known.decide(subject({"type": "open_url", "url": "https://example.org"})).kind == "allow"


@each(
    ("url", "host"),
    [
        ("https://example.org/a", "example.org"),
        ("HTTP://EXAMPLE.org.:8080/", "example.org"),
        ("https://[::1]/", "::1"),
        ("tel:+123", "tel:"),
        ("intent://example.org#Intent;end", "intent:"),
        ("https:example.org", ""),
        ("https://evil.com\\@example.org/", ""),
        ("https://example.org@evil.com/", ""),
        ("https://exämple.org/", ""),
        ("https://[bad/", ""),
        ("https://known.o\trg/", ""),
        ("https://known.org/a b", ""),
        ("https://known.org\\.evil.com/", ""),
        ("https:///path", ""),
    ],
)
def test_a_host_counts_only_where_every_reader_agrees_on_it(url: str, host: str) -> None:
    assert host_of(url) == host


def test_an_address_that_readers_could_take_differently_is_never_known() -> None:
    page = {"type": "open_url", "url": "https://evil.com\\@example.org/"}
    assert kind(page, known_hosts=frozenset({"example.org", ""})) == "ask"
