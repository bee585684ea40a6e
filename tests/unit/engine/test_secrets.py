"""Secrets: filled by name, never shown, and found again in every form a value may take."""

from __future__ import annotations

import base64
import json
import shlex
from pathlib import Path
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.secrets import Secrets
from handrail.errors import InvalidAction

NASTY = "pä ss\"w\\ör&d/<1>'$"


def secrets_with(value: str, name: str = "PIN") -> Secrets:
    return Secrets({f"HANDRAIL_SECRET_{name}": value})


class Ring:
    """A keyring with one secret."""

    def get_password(self, service_name: str, username: str) -> str | None:
        return "from-the-ring" if (service_name, username) == ("handrail", "RING") else None


def test_a_placeholder_is_filled_from_the_environment() -> None:
    filled = secrets_with("opensesame").fill("user ${secret:PIN}, again ${secret:PIN}")
    assert (filled.text, filled.names) == ("user opensesame, again opensesame", ("PIN",))


def test_a_text_without_placeholders_is_left_alone() -> None:
    text = "costs $5 ${other} $(x) ${secret"
    assert secrets_with("opensesame").fill(text).text == text


def test_small_letters_find_the_variable_in_capitals() -> None:
    assert secrets_with("opensesame", "BANK_PIN").fill("${secret:bank_pin}").text == "opensesame"


def test_the_file_and_the_keyring_come_after_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text("# mine\n\nPIN=in the file = with signs\nMAIL=mail-word\n")
    file.chmod(0o600)
    secrets = Secrets({"HANDRAIL_SECRET_MAIL": "from-env"}, file, Ring())
    assert secrets.fill("${secret:PIN}").text == "in the file = with signs"
    assert secrets.fill("${secret:MAIL}").text == "from-env"
    assert secrets.fill("${secret:RING}").text == "from-the-ring"
    assert secrets.names() == ["MAIL", "PIN"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "secrets"
    file.write_text("PIN=opensesame\n")
    file.chmod(mode)
    with pytest.raises(InvalidAction, match=f"can be read by others \\(mode {mode:04o}\\)") as failure:
        Secrets({}, file).fill("${secret:PIN}")
    assert failure.value.hint == f"chmod 600 {file}"
    assert Secrets({"HANDRAIL_SECRET_X": "other-word"}, file).fill("${secret:X}").text == "other-word"


def test_a_file_that_can_not_be_understood_names_the_line_and_not_its_content(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text("PIN=opensesame\nsecondsesame\n")
    file.chmod(0o600)
    with pytest.raises(InvalidAction, match="line 2") as failure:
        Secrets({}, file).fill("${secret:PIN}")
    assert "sesame" not in json.dumps(failure.value.to_dict())


def test_a_missing_secret_lists_the_names_there_are_and_no_values() -> None:
    with pytest.raises(InvalidAction, match="'OTHER' is not known; there are: PIN") as failure:
        secrets_with("opensesame").fill("${secret:OTHER}")
    assert "opensesame" not in json.dumps(failure.value.to_dict())


@pytest.mark.parametrize("name", ["", "a b", "1x", "ü", "../x"])
def test_a_placeholder_with_a_strange_name_is_an_error_and_not_typed(name: str) -> None:
    with pytest.raises(InvalidAction, match="is not a secret's name"):
        secrets_with("opensesame").fill(f"${{secret:{name}}}")


def test_a_secret_for_a_while_is_filled_until_dropped_and_redacted_for_ever() -> None:
    secrets = Secrets({})
    assert not secrets.used
    secrets.add("CODE", "493817")
    assert secrets.used
    assert secrets.fill("${secret:CODE}").text == "493817"
    secrets.drop("CODE")
    with pytest.raises(InvalidAction):
        secrets.fill("${secret:CODE}")
    assert secrets.redact("code 493817 typed") == "code ${secret:CODE} typed"


def test_no_value_is_shown_by_repr_str_or_format() -> None:
    secrets = secrets_with("opensesame")
    shown = f"{secrets!r} {secrets} {secrets.fill('${secret:PIN}')!r}"
    assert "opensesame" not in shown
    assert "PIN" in shown


FORMS = {
    "as it is": NASTY,
    "json": json.dumps({"a": NASTY}),
    "json, not ascii": json.dumps({"a": NASTY}, ensure_ascii=False),
    "json in json": json.dumps(json.dumps({"a": NASTY}, ensure_ascii=False), ensure_ascii=False),
    "url": f"https://x/?q={quote(NASTY, safe='')}&y",
    "url path": quote(NASTY),
    "url in small letters": quote(NASTY, safe="").lower(),
    "form": quote_plus(NASTY),
    "xml text": f"<a>{escape(NASTY)}</a>",
    "xml attribute": f"<a b={quoteattr(NASTY)}/>",
    "uiautomator's attribute": 'text="' + escape(NASTY, {'"': "&quot;", "'": "&apos;"}) + '"',
    "shell": f"input text {shlex.quote(NASTY)}",
    "input text": NASTY.replace(" ", "%s"),
    "base64": base64.b64encode(NASTY.encode()).decode(),
    "base64 for urls": base64.urlsafe_b64encode(NASTY.encode()).decode(),
    "base64 after a user's name": base64.b64encode(b"user:" + NASTY.encode()).decode(),
    "base64 in between": base64.b64encode(b"x:" + NASTY.encode() + b" and more").decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_found_in_every_form(form: str) -> None:
    redacted = secrets_with(NASTY).redact(FORMS[form])
    assert "${secret:PIN}" in redacted
    assert redacted != FORMS[form]


@given(st.text(min_size=4, max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_whatever_the_value_is_it_is_not_in_the_redacted_text(value: str, before: str, after: str) -> None:
    redacted = secrets_with(value).redact(before + value + after)
    assert value not in redacted.replace("${secret:PIN}", "\0")


def test_the_longest_value_wins_where_one_holds_the_other() -> None:
    secrets = Secrets({"HANDRAIL_SECRET_A": "sesame", "HANDRAIL_SECRET_B": "opensesame"})
    assert secrets.redact("opensesame, sesame") == "${secret:B}, ${secret:A}"


def test_a_short_value_is_redacted_only_where_it_is_a_whole_string_or_quoted_value() -> None:
    secrets = secrets_with("123")
    assert secrets.redact("123") == "${secret:PIN}"
    assert secrets.redact('<node text="123" id="1234"/>') == '<node text="${secret:PIN}" id="1234"/>'
    assert secrets.redact('{"cvv":"123","n":123}') == '{"cvv":"${secret:PIN}","n":123}'
    assert secrets.redact("step 123 of 1234") == "step 123 of 1234"


def test_data_is_redacted_at_any_depth() -> None:
    data = {"a": ["opensesame", {"opensesame": ("x opensesame",)}], "n": 5, "none": None}
    redacted = secrets_with("opensesame").redact_data(data)
    assert redacted == {"a": ["${secret:PIN}", {"${secret:PIN}": ["x ${secret:PIN}"]}], "n": 5, "none": None}
    assert data["a"][0] == "opensesame"  # type: ignore[index]


def test_the_optional_keyring_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys  # noqa: PLC0415

    from handrail.engine.secrets import system_keyring  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "keyring", None)
    assert system_keyring() is None
