"""Secrets: filled by name, from four places, and never shown."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail.safety.secrets import Secrets, system_keyring
from tests.cases import each


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
    secrets = Secrets({"HANDRAIL_SECRET_MAIL": "from-env"}, file, Ring)
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
    assert (failure.value.hint, failure.value.details["path"]) == (f"chmod 600 {file}", "secrets")
    assert Secrets({"HANDRAIL_SECRET_X": "other-word"}, file).fill("${secret:X}").text == "other-word"


def _refusal(file: Path) -> InvalidAction:
    with pytest.raises(InvalidAction) as failure:
        Secrets({}, file).fill("${secret:PIN}")
    assert "opensesame" not in json.dumps(failure.value.to_dict())
    return failure.value


def _secrets_in(folder: Path, mode: int = 0o600) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "secrets"
    file.write_text("PIN=opensesame\n")
    file.chmod(mode)
    return file


def test_a_link_to_a_file_that_others_can_read_is_refused_with_the_command_for_that_file(
    tmp_path: Path,
) -> None:
    real = _secrets_in(tmp_path / "my files", 0o644)
    link = tmp_path / "secrets"
    link.symlink_to(real)
    assert _refusal(link).hint == f"chmod 600 '{real}'"
    real.chmod(0o600)
    assert Secrets({}, link).fill("${secret:PIN}").text == "opensesame"


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
@pytest.mark.parametrize("where", ["its own", "of the link", "behind the link"])
def test_a_file_in_a_folder_that_others_can_write_is_refused(tmp_path: Path, mode: int, where: str) -> None:
    """They could put another one in its place."""
    file = _secrets_in(tmp_path / "real")
    link = tmp_path / "links" / "secrets"
    link.parent.mkdir()
    link.symlink_to(file)
    open_folder = link.parent if where == "of the link" else file.parent
    open_folder.chmod(mode)
    refused = _refusal(file if where == "its own" else link)
    assert refused.hint == f"chmod go-w {open_folder}"
    assert (refused.code, refused.details["path"]) == ("INVALID_ACTION", "secrets")
    assert f"mode {mode:04o}" in refused.message


def test_a_folder_above_that_everybody_can_write_is_refused_and_one_with_the_sticky_bit_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "above").mkdir()
    file = _secrets_in(tmp_path / "above" / "own")
    (tmp_path / "above").chmod(0o777)
    assert _refusal(file).hint == f"chmod go-w {tmp_path / 'above'}"
    (tmp_path / "above").chmod(0o1777)
    assert Secrets({}, file).fill("${secret:PIN}").text == "opensesame"


def test_a_pipe_in_place_of_the_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "secrets"
    os.mkfifo(pipe, 0o600)
    assert _refusal(pipe).message == f"{pipe} is not a regular file"


@pytest.mark.parametrize("line", ["secondsesame", "second sesame=x", "SECOND="])
def test_a_file_that_can_not_be_understood_names_the_line_and_not_its_content(
    tmp_path: Path, line: str
) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"PIN=opensesame\n{line}\n")
    file.chmod(0o600)
    with pytest.raises(InvalidAction, match="line 2") as failure:
        Secrets({}, file).fill("${secret:PIN}")
    assert failure.value.details["path"] == "secrets"
    assert "sesame" not in json.dumps(failure.value.to_dict())


def test_a_missing_secret_lists_the_names_there_are_and_no_values() -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "opensesame", "HANDRAIL_SECRET_CVV": "123"})
    with pytest.raises(InvalidAction, match=r"'OTHER' is not known; there are: CVV, PIN$") as failure:
        secrets.fill("${secret:OTHER}")
    assert (failure.value.details["path"], failure.value.details["known"]) == ("text", ["CVV", "PIN"])
    assert "opensesame" not in json.dumps(failure.value.to_dict())


@each("name", ["", "a b", "1x", "ü", "../x"])
def test_a_placeholder_with_a_strange_name_is_an_error_and_not_typed(name: str) -> None:
    with pytest.raises(InvalidAction, match=f"^secret '{name}' is not a secret's name"):
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


def test_the_optional_keyring_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert system_keyring() is None


def test_an_installed_keyring_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", Ring())  # type: ignore[arg-type]
    secrets = Secrets({}, keyring=system_keyring)
    assert secrets.redact("from-the-ring") == "from-the-ring", "a keyring can't be listed"
    assert secrets.fill("${secret:RING}").text == "from-the-ring"
    assert secrets.redact("from-the-ring") == "${secret:RING}"


def test_only_variables_with_our_prefix_and_a_value_are_secrets() -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "opensesame", "HANDRAIL_SECRET_NONE": "", "HOME": "/home/ada"})
    assert secrets.names() == ["PIN"]
    assert secrets.redact("/home/ada") == "/home/ada"


def test_a_code_that_was_never_filled_in_is_redacted_by_its_name() -> None:
    secrets = Secrets({})
    secrets.add("CODE", "493817")
    assert secrets.redact("code 493817") == "code ${secret:CODE}"


def test_a_missing_file_is_an_empty_one(tmp_path: Path) -> None:
    assert Secrets({}, tmp_path / "secrets").names() == []
    with pytest.raises(InvalidAction, match=r"'PIN' is not known; there are: none$"):
        Secrets({}, tmp_path / "secrets").fill("${secret:PIN}")


@pytest.mark.parametrize("kind", ["a folder", "not UTF-8"])
def test_a_file_that_can_not_be_read_is_an_error_for_who_needs_it(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "secrets"
    if kind == "a folder":
        file.mkdir()
    else:
        file.write_bytes(b"PIN=\xff\xfe\n")
    file.chmod(0o700 if kind == "a folder" else 0o600)
    with pytest.raises(InvalidAction, match="can't be read") as failure:
        Secrets({}, file).fill("${secret:PIN}")
    assert failure.value.details["path"] == "secrets"
