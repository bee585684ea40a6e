"""Redaction: a value is found again in every form it may take, whole, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import shlex
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.journal.redaction import SecretRuns, is_placeholder
from handrail.safety.secrets import Secrets
from tests.cases import each

NASTY = "pä ss\"w\\ör&d/<1>'$"
AGAIN = json.dumps(NASTY)[1:-1]

FORMS = {
    "as it is": ("it is \0!", NASTY),
    "json": ('{"a": "\0"}', AGAIN),
    "json, not ascii": ('{"a": "\0"}', json.dumps(NASTY, ensure_ascii=False)[1:-1]),
    "json in json": ('"{\\"a\\": \\"\0\\"}"', json.dumps(AGAIN)[1:-1]),
    "json in json in json": ('"\\"\0\\""', json.dumps(json.dumps(AGAIN)[1:-1])[1:-1]),
    "xml in json": ('{"tree": "<a>\0</a>"}', json.dumps(escape(NASTY))[1:-1]),
    "url": ("https://x/?q=\0&y", quote(NASTY, safe="")),
    "url path": ("/\0/", quote(NASTY)),
    "url in small letters": ("/\0", quote(NASTY, safe="").lower()),
    "form": ("a=\0", quote_plus(NASTY)),
    "xml text": ("<a>\0</a>", escape(NASTY)),
    "xml attribute": ("<a b='\0'/>", quoteattr(NASTY)[1:-1]),
    "uiautomator's attribute": ('text="\0"', escape(NASTY, {'"': "&quot;", "'": "&apos;"})),
    "html attribute": ('text="\0"', escape(NASTY, {'"': "&quot;", "'": "&#39;"})),
    "shell": ("input text '\0'", shlex.quote(NASTY)[1:-1]),
    "input text": ("input text \0", NASTY.replace(" ", "%s")),
}


def redact(text: str, *values: str) -> str:
    """The first value is `${secret:S1}`."""
    named = {f"HANDRAIL_SECRET_S{number}": value for number, value in enumerate(values, 1)}
    return Secrets(named).redact(text)


@each("form", FORMS)
def test_a_value_is_found_whole_in_every_form(form: str) -> None:
    around, written = FORMS[form]
    assert redact(around.replace("\0", written), NASTY) == around.replace("\0", "${secret:S1}")


@each(
    ("before", "left"),
    [
        ("", "${secret:S1}w=="),
        ("x", "eG${secret:S1}8="),
        ("x:", "eDp${secret:S1}"),
        ("abc", "YWJj${secret:S1}w=="),
    ],
)
@each("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_hides_no_value_at_any_offset(before: str, left: str, encode: type[bytes]) -> None:
    """Letters that hold more of a neighbour than of the value may stay."""
    value = "a~>b~?c~~?"  # its base64 has both letters that differ in addresses
    assert redact(encode((before + value).encode()).decode(), value) == left


@each(("before", "left"), [("", "${secret:S1}A=="), ("xx", "eHg${secret:S1}"), ("x", "eDE3MTA=")])
def test_four_letters_of_base64_may_stand_anywhere_and_five_are_the_value(before: str, left: str) -> None:
    written = base64.b64encode(f"{before}1710".encode()).decode()
    assert redact(written, "1710") == left


@given(st.text(min_size=4, max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_whatever_the_value_is_it_is_not_in_the_redacted_text(value: str, before: str, after: str) -> None:
    assert value not in redact(before + value + after, value).replace("${secret:S1}", "\0")


def test_a_value_that_is_no_valid_unicode_is_redacted_too() -> None:
    """The environment may hold any bytes."""
    assert redact("ab\udcffcd", "ab\udcffcd") == "${secret:S1}"
    assert redact("q=ab%ED%B3%BFcd", "ab\udcffcd") == "q=${secret:S1}"


@pytest.mark.parametrize("values", [("open", "opensesame"), ("opensesame", "open")])
def test_of_a_longer_value_that_begins_like_a_shorter_one_nothing_is_left(values: tuple[str, str]) -> None:
    names = {value: f"${{secret:S{number}}}" for number, value in enumerate(values, 1)}
    assert redact("opensesame, open", *values) == f"{names['opensesame']}, {names['open']}"


def test_of_a_longer_value_that_ends_like_a_shorter_one_nothing_is_left() -> None:
    assert redact("opensesame, sesame", "sesame", "opensesame") == "${secret:S2}, ${secret:S1}"


def test_the_first_name_of_a_value_stays() -> None:
    assert redact("opensesame", "opensesame", "opensesame") == "${secret:S1}"


def test_a_value_that_another_one_is_written_like_is_found_in_its_own_forms_too() -> None:
    assert redact("a%2520bc", "a bc", "a%20bc") == "${secret:S2}"


def test_a_short_value_is_redacted_only_where_it_is_a_whole_string_or_quoted_value() -> None:
    assert redact("123", "123") == "${secret:S1}"
    assert redact('<node text="123" id="1234"/>', "123") == '<node text="${secret:S1}" id="1234"/>'
    assert redact('{"cvv":"123","n":123}', "123") == '{"cvv":"${secret:S1}","n":123}'
    assert redact("<a>123</a> b='123' c=123", "123") == "<a>${secret:S1}</a> b='${secret:S1}' c=${secret:S1}"
    assert redact("step 123 of 1234", "123") == "step 123 of 1234"
    assert redact("step 1234 of 123", "1234") == "step ${secret:S1} of 123"


def test_an_empty_value_is_no_secret() -> None:
    secrets = Secrets({})
    secrets.add("CODE", "")
    assert secrets.redact('<node text=""/>') == '<node text=""/>'
    assert not secrets.used


def test_the_length_of_the_longest_form_is_known() -> None:
    """Who cuts a text needs it: nobody may see half a value at the cut."""
    assert Secrets({}).longest == 0
    assert Secrets({"HANDRAIL_SECRET_PIN": "a"}).used
    plain = Secrets({"HANDRAIL_SECRET_PIN": "opensesame", "HANDRAIL_SECRET_CVV": "123"})
    assert plain.longest == len(base64.b64encode(b"opensesame").rstrip(b"=")) - 1


def test_data_is_redacted_at_any_depth() -> None:
    data = {"a": ["opensesame", {"opensesame": ("x opensesame",)}], "n": 5, "none": None}
    redacted = Secrets({"HANDRAIL_SECRET_PIN": "opensesame"}).redact_data(data)
    assert redacted == {"a": ["${secret:PIN}", {"${secret:PIN}": ["x ${secret:PIN}"]}], "n": 5, "none": None}
    assert data["a"][0] == "opensesame"  # type: ignore[index]


@each("value", ["secret", "cret:S1", "${secret:", "S1}x"])
def test_a_placeholder_that_stands_there_is_not_torn_apart(value: str) -> None:
    once = redact(f"it is {value}!", value)
    assert once == "it is ${secret:S1}!"
    assert redact(once, value) == once


def test_a_value_in_a_placeholder_of_nobody_is_redacted() -> None:
    assert redact("${secret:opensesame}", "opensesame") == "${secret:${secret:S1}}"


def _runs(**values: str) -> SecretRuns:
    runs = SecretRuns()
    for name, value in values.items():
        runs.add(name, value)
    return runs


@each(
    ("text", "left"),
    [
        ("opensesame", "${secret:A}"), ("opensesam", "${secret:A}"), ("a nses b", "a ${secret:A} b"),
        ("open same", "${secret:A} ${secret:A}"), ("ope nse sam", "ope nse sam"),
        ("xopenopenx", "x${secret:A}${secret:A}x"), ("OPENSESAME", "OPENSESAME"), ("", ""),
    ],
)  # fmt: skip
def test_four_characters_in_a_row_are_hidden_with_all_that_follow(text: str, left: str) -> None:
    assert _runs(A="opensesame")(text) == left


def test_a_run_of_two_values_has_the_name_of_the_longer_one() -> None:
    for order in ({"A": "open", "B": "opensesame"}, {"B": "opensesame", "A": "open"}):
        assert _runs(**order)("open") == "${secret:B}"


def test_a_value_with_several_spaces_is_found_where_they_were_made_one() -> None:
    assert _runs(A="a  bc")("say a bc") == "say ${secret:A}"
    assert _runs(A="ab    cd")("x    y") == "x    y", "spaces alone are no secret"


@given(st.text(min_size=4, max_size=20), st.text(max_size=20), st.text(max_size=20), st.data())
def test_no_run_of_a_value_is_left(value: str, before: str, after: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(value)))
    left = _runs(S1=value)(before + value[cut:] + after).replace("${secret:S1}", "\0")
    runs = {value[at : at + 4] for at in range(len(value) - 3)}
    assert not any(run in left for run in runs if not run.isspace() and "\0" not in run)


@each(
    ("value", "is_one"),
    [
        ("${secret:A}", True),
        ("a${secret:A}", False),
        ("${secret:A}${secret:B}", False),
        ("A", False),
        (7, False),
    ],
)
def test_a_placeholder_is_a_text_and_nothing_else_beside_it(value: object, is_one: bool) -> None:
    assert is_placeholder(value) is is_one


def test_adding_a_secret_says_whether_a_run_of_it_is_new_and_the_first_of_one_length_keeps_its_name() -> None:
    runs = SecretRuns()
    assert runs.add("A", "opensesame") is True
    assert runs.add("B", "sesame") is False
    assert runs.add("C", "opens-door") is True
    assert runs.name_in("xopenx") == "${secret:A}"
