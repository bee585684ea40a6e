"""`doctor` and `connect` on every Android from 4.4 to 16: what serves, and why not where nothing does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from handrail_sim.adbd.server import Served
from handrail_sim.system.profiles import become
from handrail_sim.system.releases import OLD_RELEASES, RELEASES
from tests.cases import each
from tests.unit.android.private_adb import adb_env
from tests.unit.cli.command import Handrail, handrail
from tests.unit.cli.test_devices import served_phones

__all__ = ["adb_env", "handrail"]

OLD = {4: ("4.4.4", 19), 5: ("5.1.1", 22), 6: ("6.0.1", 23), 7: ("7.1.1", 25)}
"""Below Android 8 the simulator lacks what these lacked, and prints what Android 8 does."""
VERSIONS = [*OLD, *RELEASES]


@pytest.fixture
def phone(adb_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    for name, text in adb_env.items():
        monkeypatch.setenv(name, text)
    for number, (version, sdk) in OLD.items():
        monkeypatch.setitem(OLD_RELEASES, number, replace(RELEASES[8], version=version, sdk=sdk))
    with served_phones() as [served]:
        monkeypatch.setenv("HANDRAIL_DEVICES", served.address)
        yield served


def checks(handrail: Handrail, name: str) -> list[dict[str, Any]]:
    return [
        check for check in json.loads(handrail("doctor", "--json").out)["checks"] if check["name"] == name
    ]


def test_our_helper_serves_every_android_and_connect_ends_with_a_look(
    handrail: Handrail, phone: Served
) -> None:
    for number in VERSIONS:
        become(phone.phone, android=number)
        [line] = checks(handrail, "looks")
        assert (line["state"], "looks go by helper" in line["found"]) == ("ok", True), (number, line)
        done = handrail("connect", phone.address, "--json")
        assert done.code == 0, (number, done)
        said = " ".join(step["say"] for step in done.lines)
        version = (OLD_RELEASES | RELEASES)[number].version
        assert f"Android {version}, is ready as {phone.address}" in said, (number, said)
        assert "A look by helper took" in said, (number, said)


@each("number", VERSIONS)
def test_where_no_helper_starts_doctor_says_why_in_the_words_of_that_android(
    number: int, handrail: Handrail, phone: Served
) -> None:
    become(phone.phone, android=number)
    phone.phone.faults.add("helper_refused", why="Error: too little memory")
    [line] = checks(handrail, "looks")
    phone.phone.faults.clear()
    assert line["state"] == "warning"
    assert "plain adb works" in line["found"]
    assert "helper: the helper ended: Error: too little memory" in line["found"]
    one_dex = f"Android {OLD.get(number, ('',))[0]} reads one dex file of a jar"
    assert (one_dex in line["found"]) == (number < 5), line
    assert "profile" not in line["found"]
