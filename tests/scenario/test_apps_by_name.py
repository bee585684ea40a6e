"""Apps by what their icons say: on the phone, in its APKs, and in policy, which goes by packages."""

from __future__ import annotations

from pathlib import Path

import pytest
import uiautomator2

from handrail.android.app_labels import LabelRef, label_in_manifest, texts_of
from handrail.engine.actions.apps_and_commands import choose_app, fold_name
from handrail.errors import AmbiguousTarget, AppNotInstalled
from handrail.surface.values import InstalledApp
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
CLOCK = "com.google.android.deskclock"
BANK = "com.handrail.bank"
DENY = '[[rule]]\nname = "no bank"\nverdict = "deny"\napp = "com.handrail.bank"\n'
REAL_APK = Path(uiautomator2.__file__).parent / "assets" / "app-uiautomator.apk"


async def test_an_app_is_started_by_any_of_its_names(w: World) -> None:
    for name in ("Contacts", "contacts", " CONTACTS ", "the Contacts app", "Kontakte", "通讯录"):
        await w.open(CLOCK)
        done = await w.session.start_app(name=name)
        assert done.lifecycle_state == "verified", done.to_json()
        assert done.details["package"] == CONTACTS
        assert w.phone.state()["front"]["package"] == CONTACTS


async def test_a_name_that_nobody_has_starts_nothing_and_tells_what_is_near(w: World) -> None:
    done = await w.session.start_app(name="Contakts")
    assert done.failure_code == "APP_NOT_INSTALLED"
    assert done.delivery == "not_delivered"
    assert '"Contacts" (com.google.android.contacts)' in (done.hint or "")


async def test_a_denied_app_is_denied_by_its_name_too(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=DENY) as w:
        before = w.phone.state()["front"]
        done = await w.session.start_app(name="bank")
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert w.phone.state()["front"] == before


async def test_apps_are_listed_with_names_and_packages(w: World) -> None:
    done = await w.session.list_apps()
    listed = {one["package"]: one["name"] for one in done.details["apps"]}
    shown = {one.name: one.label for one in w.phone.packages.installed.values() if one.name in listed}
    assert listed == shown
    assert listed[CLOCK] == "Clock"
    found = await w.session.list_apps("uhr")
    assert [one["package"] for one in found.details["apps"]] == [CLOCK]


async def test_names_are_read_once_for_each_version(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w:
        (tmp_path / "app-names.json").write_text("[no JSON")
        await w.session.list_apps()
    async with world(tmp_path, clock=FastClock(10)) as w:
        for package in w.phone.packages.installed.values():
            if w.phone.files.exists(package.path):
                w.phone.files.write(package.path, b"no APK")
        done = await w.session.start_app(name="Kontakte")
        assert done.success, done.to_json()
        w.phone.packages.installed[CONTACTS].version_code += 1
        again = await w.session.start_app(name="Kontakte")
        assert again.failure_code == "APP_NOT_INSTALLED"


async def test_the_label_of_a_real_apk_is_read_from_the_phone(w: World) -> None:
    """An APK that was not made by us: its manifest is compiled, its label stands in its resources."""
    contacts = w.phone.packages.installed[CONTACTS]
    w.phone.files.write(contacts.path, REAL_APK.read_bytes())
    done = await w.session.list_apps()
    listed = {one["package"]: one["name"] for one in done.details["apps"]}
    assert listed[CONTACTS] == "ATX"


def test_what_is_no_manifest_has_no_label() -> None:
    for broken in (b"", b"\x03\x00\x08\x00", b"<manifest/>", bytes(range(256)) * 8):
        assert label_in_manifest(broken) is None
        assert texts_of(broken, LabelRef(0x7F010000)) == {}


def test_spellings_of_a_name_are_one() -> None:
    assert fold_name("Wi-Fi Anályzer") == fold_name("wifi analyzer") == fold_name("the WIFI ANALYZER app")
    assert fold_name("App") == "app"


def test_two_apps_of_one_name_are_told() -> None:
    apps = [InstalledApp("a.mail", "Mail"), InstalledApp("b.mail", "MAIL"), InstalledApp("c", "Maps")]
    with pytest.raises(AmbiguousTarget) as told:
        choose_app("mail", apps)
    assert "a.mail or b.mail" in told.value.hint
    assert choose_app("b.mail", apps).package == "b.mail"
    with pytest.raises(AppNotInstalled):
        choose_app("…", apps)
