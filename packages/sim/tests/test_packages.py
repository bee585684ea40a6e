"""Packages, processes, storage, intents and timers, each on its own."""

from __future__ import annotations

import pytest

from handrail_sim.clock import ManualClock
from handrail_sim.disk.files import Files
from handrail_sim.disk.storage import Prefs, is_stale, open_database
from handrail_sim.system.calls import is_plain, make, to_call
from handrail_sim.system.intents import (
    SEND,
    VIEW,
    Handles,
    Intent,
    full_class,
    short_component,
    split_component,
)
from handrail_sim.system.packages import Packages
from handrail_sim.timers import Timers
from tests.grocer import PACKAGE, Grocer, Rival
from tests.hand import phone_with


def test_components_are_found_by_short_and_full_names() -> None:
    packages = Packages([Grocer])
    assert packages.component(PACKAGE) == f"{PACKAGE}/{PACKAGE}.Main"
    assert packages.component(PACKAGE, ".Detail") == f"{PACKAGE}/{PACKAGE}.Detail"
    assert packages.component(PACKAGE, f"{PACKAGE}.Detail") == f"{PACKAGE}/{PACKAGE}.Detail"
    assert packages.component(PACKAGE, ".Nothing") == ""
    assert packages.component("com.nobody") == ""
    assert full_class("a.b", "Main") == "a.b.Main"
    assert split_component("a.b/.Main") == ("a.b", "a.b.Main")
    assert short_component("a.b/a.b.Main") == "a.b/.Main"
    assert short_component("a.b/c.Main") == "a.b/c.Main"


def test_an_intent_finds_those_that_handle_it() -> None:
    packages = Packages([Grocer, Rival])
    found = packages.resolve(Intent(action=SEND, mime="text/plain"))
    assert found == [f"{PACKAGE}/{PACKAGE}.Form", "com.example.rival/com.example.rival.Form"]
    assert packages.resolve(Intent(action=SEND, mime="text/html")) == found[1:]
    assert packages.resolve(Intent(action=SEND, mime="text/plain", package=PACKAGE)) == found[:1]
    links = Handles("Web", VIEW, scheme="http,https")
    assert links.matches(Intent(action=VIEW, data="https://example.org"))
    assert not links.matches(Intent(action=VIEW, data="tel:1"))


def test_an_installed_package_keeps_its_grants_when_replaced_and_goes_when_uninstalled() -> None:
    packages = Packages([Grocer])
    packages.install("com.new", label="New", requested=["android.permission.CAMERA"])
    packages.grant("com.new", "android.permission.CAMERA")
    again = packages.install("com.new", label="New", requested=["android.permission.CAMERA"], version_code=2)
    assert packages.is_granted("com.new", "android.permission.CAMERA")
    assert again.version_code == 2
    assert packages.uninstall("com.new")
    assert not packages.uninstall("com.new")
    assert "com.new" not in packages.names()


def test_a_process_has_a_pid_while_it_runs() -> None:
    hand = phone_with(Grocer)
    assert hand.phone.packages.pid_of(PACKAGE) is None
    hand.phone.start_activity(package=PACKAGE)
    first = hand.phone.packages.pid_of(PACKAGE)
    hand.phone.force_stop(PACKAGE)
    hand.phone.start_activity(package=PACKAGE)
    assert first is not None
    assert hand.phone.packages.pid_of(PACKAGE) != first


def test_clearing_an_app_empties_its_folder() -> None:
    hand = phone_with(Grocer)
    app = hand.phone.app(PACKAGE)
    assert app is not None
    app.prefs()["a"] = 1
    hand.phone.packages.grant(PACKAGE, "android.permission.CAMERA")
    assert hand.phone.clear_data(PACKAGE)
    assert hand.app_state(PACKAGE) == {"saved": {}}
    assert not hand.phone.packages.is_granted(PACKAGE, "android.permission.CAMERA")
    assert not hand.phone.clear_data("com.nobody")


def test_preferences_are_the_xml_that_android_writes() -> None:
    files = Files(ManualClock())
    prefs = Prefs(files, "/data/local/tmp/p.xml")
    prefs.update({"on": True, "count": 3, "share": 0.5, "name": "A & B"})
    written = files.read("/data/local/tmp/p.xml").decode()
    assert '<boolean name="on" value="true" />' in written
    assert '<string name="name">A &amp; B</string>' in written
    assert dict(prefs) == {"on": True, "count": 3, "share": 0.5, "name": "A & B"}
    del prefs["on"]
    assert len(prefs) == 3


def test_a_database_is_a_real_file_after_each_commit() -> None:
    files = Files(ManualClock())
    db = open_database(files, "/data/local/tmp/a.db")
    with db:
        db.execute("create table t (n integer)")
        db.execute("insert into t values (7)")
    assert files.read("/data/local/tmp/a.db").startswith(b"SQLite format 3")
    assert not is_stale(db)
    other = open_database(files, "/data/local/tmp/a.db")
    assert other.execute("select n from t").fetchone()["n"] == 7
    other.execute("delete from t")
    other.commit()
    assert is_stale(db)
    db.close()
    other.close()


def test_what_an_app_writes_is_its_own() -> None:
    hand = phone_with(Grocer)
    app = hand.phone.app(PACKAGE)
    assert app is not None
    app.prefs("mine")["a"] = "b"
    stat = hand.phone.files.stat(f"/data/data/{PACKAGE}/shared_prefs/mine.xml")
    assert stat.uid == hand.phone.packages.installed[PACKAGE].uid


def test_timers_ring_in_order_and_cancelled_ones_never() -> None:
    timers = Timers()
    heard: list[str] = []
    timers.add(20, lambda: heard.append("late"))
    timers.add(10, lambda: heard.append("one"))
    timers.add(10, lambda: heard.append("two"))
    timers.add(5, lambda: heard.append("never")).cancel()
    assert timers.next_due_ms() == 10
    while (timer := timers.pop_due(15)) is not None:
        timer.run()
    assert heard == ["one", "two"]
    timers.clear()
    assert timers.next_due_ms() is None


def test_a_method_is_kept_by_name_and_a_lambda_only_while_it_lives() -> None:
    class Owner:
        heard = ""

        def hear(self, words: str) -> None:
            self.heard = words

    old, new = Owner(), Owner()
    call = to_call(old, old.hear)
    assert is_plain(call)
    make(new, call, "hello")
    assert new.heard == "hello"
    assert not is_plain(to_call(old, lambda: None))
    assert to_call(old, None) is None
    make(new, None)


@pytest.mark.parametrize("name", ["Main", ".Main", "a.b.Main"])
def test_a_class_name_is_made_whole(name: str) -> None:
    assert full_class("a.b", name) == "a.b.Main"
