"""Names that people give to phones: kept by serial, seen by every process, and never misleading."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.device_names import FILE, LONGEST, DeviceNames
from handrail.errors import InvalidAction


def test_a_name_is_kept_for_every_spelling_of_a_serial_and_every_process(tmp_path: Path) -> None:
    here, elsewhere = DeviceNames(tmp_path), DeviceNames(tmp_path)
    assert elsewhere.get("127.0.0.1:5555") == ""
    here.give("localhost:5555", " Mum's phone ")
    assert elsewhere.get("emulator-5554") == "Mum's phone"
    assert elsewhere.shown("127.0.0.1:5555") == "Mum's phone (127.0.0.1:5555)"
    elsewhere.give("emulator-5554", "Büro")
    assert here.get("localhost:5555") == "Büro"
    here.give("emulator-5554", "")
    assert elsewhere.all() == {}
    assert elsewhere.shown("R58M") == "R58M"


@pytest.mark.parametrize(
    "name",
    [
        "x" * (LONGEST + 1), "two  spaces", "turned \u202e round", "hidden\u200b", "line\nbreak", "kitchen",
        "KITCHEN", "r58m", "127.0.0.1:6555", "browser",
    ],
)  # fmt: skip
def test_a_name_that_could_be_taken_for_something_else_is_refused(tmp_path: Path, name: str) -> None:
    names = DeviceNames(tmp_path)
    names.give("R58M", "Kitchen")
    with pytest.raises(InvalidAction):
        names.give("emulator-5554", name)
    assert names.all() == {"R58M": "Kitchen"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"R58M": 3}', '{"R58M": "a\\u202eb"}', "\x00"])
def test_a_damaged_file_names_nothing_and_is_mended_by_the_next_name(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    names = DeviceNames(tmp_path)
    assert names.all() == {}
    names.give("R58M", "Kitchen")
    assert DeviceNames(tmp_path).get("R58M") == "Kitchen"
