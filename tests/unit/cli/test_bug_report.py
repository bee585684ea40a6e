"""`handrail bug-report`: it helps strangers, and tells them nothing that they may not know."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from handrail.cli.bug_report import ReportFilter, mask_letters, zip_of
from handrail.config import Config
from handrail.errors import StoreUnusable
from handrail.journal.redaction import forms_of
from handrail_sim.adbd.server import Served
from tests.unit.android.private_adb import private_env
from tests.unit.cli.command import Handrail
from tests.unit.cli.conftest import wear

PLANTED = {
    "HANDRAIL_SECRET_BANK": "hunter2&Söhne",
    "OPENAI_API_KEY": "sk-proj-0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
    "GITHUB_TOKEN": "ghp_aaaabbbbccccdddd",
    "DB_PASSWORD": "pa ss wo rd",
}
IN_FILE = "from-the-secrets-file"
DESK_TOKEN, DESK_KEY = "desk-token-5b1f9c", "desk-key-7c0aa1"
JOURNAL_KEY = "PRIVATE+KEY+handrail+deadbeef+AYEKFALVYVOYSWHOFTHEKEY"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = {**private_env(tmp_path), "HANDRAIL_ADB": str(tmp_path / "no-adb"), **PLANTED}
    wear(monkeypatch, made)
    config = tmp_path / "handrail" / "config"
    config.mkdir(parents=True, mode=0o700)
    (tmp_path / "handrail").chmod(0o700)
    for name, text in (
        ("secrets", f"WIFI={IN_FILE}\n"),
        ("desk.json", json.dumps({"address": "http://127.0.0.1:1", "token": DESK_TOKEN, "key": DESK_KEY})),
        ("journal.key", f"{JOURNAL_KEY}\n"),
    ):
        (config / name).write_text(text)
        (config / name).chmod(0o600)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def secrets() -> list[str]:
    return [*PLANTED.values(), IN_FILE, DESK_TOKEN, DESK_KEY, JOURNAL_KEY]


def leaks(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Every secret in any form that a program writes it in, and the file it stands in."""
    forms = {form for value in secrets() for form in forms_of(value) if len(form) >= 4}
    return [(name, form) for name, text in texts.items() for form in forms if form in text]


def test_secrets_that_were_planted_everywhere_are_in_no_file_of_the_zip(
    handrail: Handrail, phone: Served, home: Path
) -> None:
    handrail("start-app", "com.handrail.notes")
    assert handrail("tap", "New note").code == 0
    typed = f"${{secret:BANK}} {IN_FILE} {DESK_TOKEN} {PLANTED['OPENAI_API_KEY']} {JOURNAL_KEY}"
    assert handrail("type-text", typed, "--target", "Title", "--reason", f"I note {DESK_KEY}").code == 0
    shown = phone.phone.dump()
    assert "hunter2&amp;S" in shown  # it is truly on the screen
    assert JOURNAL_KEY in shown
    done = handrail("bug-report", "--out", "r.zip")
    assert done.code == 0, done.err
    texts = read(home / "r.zip")
    assert {"versions.json", "doctor.json", "phone.json", "look.json", "readings/wm.txt"} <= set(texts)
    assert leaks(texts) == []
    assert leaks({"out": done.out + done.err}) == []
    assert str(home) not in "".join(texts.values())
    assert (home / "r.zip").stat().st_mode & 0o777 == 0o600


def test_what_helps_is_in_it(handrail: Handrail, phone: Served, home: Path) -> None:
    assert handrail("bug-report", "--out", "r.zip").code == 0
    texts = read(home / "r.zip")
    told = json.loads(texts["phone.json"])
    assert (told["look"], told["channels"]["look"], told["android"]) == (True, "helper", "14")
    assert "Physical size: 1080x2400" in texts["readings/wm.txt"]
    assert any(node["text"] == "Notes" for node in json.loads(texts["look.json"])["nodes"])
    assert any(check["name"] == "looks" for check in json.loads(texts["doctor.json"]))


def test_masked_texts_keep_their_shape_and_no_word(handrail: Handrail, phone: Served, home: Path) -> None:
    assert mask_letters("Call Ada: 555-01") == "xxxx xxx: 000-00"
    assert handrail("bug-report", "--mask", "--out", "r.zip").code == 0
    nodes = json.loads(read(home / "r.zip")["look.json"])["nodes"]
    said = "".join(node["text"] + node["description"] + node["hint"] for node in nodes)
    assert "xxxxx" in said
    assert not any(one.isalpha() and one != "x" for one in said)


def test_without_a_phone_the_report_says_so_and_is_made(handrail: Handrail, home: Path) -> None:
    done = handrail("bug-report", "--json")
    told = json.loads(done.out)
    assert done.code == 0
    assert "no device is connected" in read(home / told["path"])["phone.json"]


def test_serials_names_and_addresses_are_replaced(home: Path) -> None:
    filters = ReportFilter.of(Config(home=home), {"HOME": "/home/ada"}, ["R58M12ABC"])
    text = filters("R58M12ABC at 192.168.1.20:5555 in /home/ada/x, aa:bb:cc:dd:ee:ff, 127.0.0.1")
    assert text == "PHONE at ADDRESS:5555 in ~/x, HARDWARE, 127.0.0.1"


def test_a_secret_that_a_filter_missed_stops_the_report(home: Path) -> None:
    filters = ReportFilter.of(Config(home=home), PLANTED)
    filters.refuse_secrets({"a": filters("sk-proj-0123456789abcdef")})
    with pytest.raises(StoreUnusable):
        filters.refuse_secrets({"a": "sk-proj-0123456789abcdef"})


def test_the_same_parts_make_the_same_zip() -> None:
    assert zip_of({"a": "1", "b": "2"}) == zip_of({"b": "2", "a": "1"})
