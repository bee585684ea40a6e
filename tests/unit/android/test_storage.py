"""Private files of apps: preferences with types, databases with real rows."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from handrail.adb.shell import Output
from handrail.android import app_data
from handrail.android.app_data import (
    Pref,
    check_name,
    list_prefs,
    query,
    query_copy,
    read_file,
    read_prefs,
    read_values,
)
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction, Unsupported
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import CONTACTS, Bench, play

NOTES = "com.handrail.notes"
FOLDER = f"/data/data/{NOTES}"
XML = """<?xml version='1.0' encoding='utf-8' standalone='yes' ?>
<map>
    <string name="name">Ada &amp; &#128578;</string>
    <int name="count" value="-3" />
    <long name="when" value="1776945600000" />
    <float name="ratio" value="1.5" />
    <boolean name="dark" value="true" />
    <set name="tags"><string>b</string><string>a</string></set>
    <null name="none" />
</map>
"""


FIVE = "with recursive c(x) as (select 1 union all select x+1 from c where x<5)"


def made_database(folder: Path, *, wal: bool = False) -> dict[str, bytes]:
    """The files of a database whose last row lies in the write-ahead log, if there is one."""
    path = folder / "made.db"
    db = sqlite3.connect(path, isolation_level=None)
    if wal:
        db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (i INTEGER, r REAL, s TEXT, b BLOB, n)")
    db.execute("CREATE INDEX by_i ON t (i)")
    db.execute("CREATE VIRTUAL TABLE words USING fts5 (word)")
    db.execute("INSERT INTO words VALUES ('needle in hay')")
    db.execute("INSERT INTO t VALUES (1, 1.5, 'a|b\nc', x'00ff', NULL)")
    if wal:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("INSERT INTO t VALUES (2, 2.5, 'late', x'', 'x')")
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "made.db-shm"}
    db.close()
    return found


def put_files(bench: Bench, folder: str, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        bench.phone.files.write(f"{FOLDER}/{folder}/{name}", data, mode=0o666)


# preferences


def test_preferences_keep_their_types() -> None:
    async def story(bench: Bench) -> None:
        put_files(bench, "shared_prefs", {"settings.xml": XML.encode(), "other.xml": b"<map />"})
        shell = bench.device.shell
        assert await list_prefs(shell, NOTES) == ["other", "settings"]
        prefs = await read_prefs(shell, NOTES, "settings")
        assert prefs.values == {
            "name": Pref("string", "Ada & 🙂"),
            "count": Pref("int", -3),
            "when": Pref("long", 1776945600000),
            "ratio": Pref("float", 1.5),
            "dark": Pref("boolean", True),
            "tags": Pref("set", frozenset({"a", "b"})),
            "none": Pref("null", None),
        }
        assert prefs.to_dict()["values"]["tags"] == {"type": "set", "value": ["a", "b"]}
        assert prefs.xml == XML
        assert (await read_prefs(shell, NOTES, "other.xml")).values == {}

    play(story)


def test_a_missing_file_names_those_that_are_there() -> None:
    async def story(bench: Bench) -> None:
        put_files(bench, "shared_prefs", {"settings.xml": b"<map />"})
        with pytest.raises(InvalidAction) as caught:
            await read_prefs(bench.device.shell, NOTES, "setings")
        assert caught.value.details["known"] == ["settings"]

    play(story)


def test_a_file_that_is_half_written_is_an_error_not_an_answer() -> None:
    for data in (
        XML.encode()[:100],
        b"",
        b'<map><int name="a" value="x"/></map>',
        b'<map><odd name="a"/></map>',
    ):
        with pytest.raises(AdbCommandError):
            read_values(data, "a.xml")


def test_entities_are_not_followed() -> None:
    data = (
        b'<!DOCTYPE map [<!ENTITY e SYSTEM "file:///etc/hostname">]><map><string name="a">&e;</string></map>'
    )
    assert read_values(data, "a.xml")["a"].value == ""


def test_closed_and_missing_apps_are_told_apart() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(Unsupported, match="not debuggable") as caught:
            await list_prefs(bench.device.shell, CONTACTS)
        assert "debug variant" in caught.value.hint
        with pytest.raises(AppNotInstalled):
            await list_prefs(bench.device.shell, "com.handrail.note")

    play(story)


@each("name", ["", ".", "..", "a/b", "../../x", "a\nb", "a\0b", "x" * 300])
def test_names_do_not_leave_their_folder(name: str) -> None:
    with pytest.raises(InvalidAction):
        check_name(name, "file")
    said = ScriptedShell()
    with pytest.raises(InvalidAction):
        asyncio.run(query(said, NOTES, name, "select 1"))
    assert said.asked == []


def test_a_file_that_can_not_be_read_is_not_a_missing_one() -> None:
    denied = Output(b"", b"cat: files/x: Permission denied", 1)
    with pytest.raises(AdbCommandError, match="Permission denied"):
        asyncio.run(read_file(ScriptedShell(denied), NOTES, "files", "x"))
    gone = Output(b"", b"cat: files/x: No such file or directory", 1)
    assert asyncio.run(read_file(ScriptedShell(gone), NOTES, "files", "x")) is None


# databases


@pytest.mark.parametrize("wal", [False, True])
def test_rows_have_their_columns_and_types(tmp_path: Path, wal: bool) -> None:
    files = made_database(tmp_path, wal=wal)
    assert ("made.db-wal" in files) == wal

    async def story(bench: Bench) -> None:
        put_files(bench, "databases", files)
        shell = bench.device.shell
        rows = await query(shell, NOTES, "made.db", "select * from t order by i")
        assert rows.columns == ("i", "r", "s", "b", "n")
        assert rows.rows == ((1, 1.5, "a|b\nc", b"\x00\xff", None), (2, 2.5, "late", b"", "x"))
        assert (rows.count, rows.truncated, rows.changed) == (2, False, None)
        assert rows.to_dict()["rows"][0][3] == {"base64": "AP8="}

    play(story)


def local(
    folder: Path, sql: str, *, write: bool = False, max_rows: int = 10, max_bytes: int = 1000
) -> object:
    path = folder / "made.db"
    if not path.exists():
        made_database(folder)
    return asyncio.run(query_copy(path, sql, write=write, max_rows=max_rows, max_bytes=max_bytes))


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t values (1,2,3,4,5)", "delete from t", "drop table t", "create table u (a)",
        "create temp table u (a)", "update t set i = 1", "replace into t values (1,2,3,4,5)", "vacuum",
        "attach 'x' as y", "begin", "pragma user_version = 3", "pragma journal_mode = delete",
        "pragma writable_schema = 1", "with a as (select 1) delete from t", "explain delete from t",
        "select 1; select 2", "select 1; delete from t", "select load_extension('x')", ".shell id", "reindex",
        "insert into t select * from t returning i", "vacuum into 'x'", "", "-- nothing",
        "select * from nowhere", "insert into words values ('x')",
        "insert into words (words) values ('rebuild')",
    ],
)  # fmt: skip
def test_reading_refuses_whatever_is_not_one_read(tmp_path: Path, sql: str) -> None:
    made_database(tmp_path)
    before = (tmp_path / "made.db").read_bytes()
    with pytest.raises(InvalidAction) as caught:
        local(tmp_path, sql)
    assert caught.value.details["path"] == "query"
    assert (tmp_path / "made.db").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["made.db"]


@pytest.mark.parametrize(
    "sql",
    [
        "select 1", "  -- a comment\nselect ';' ;", f"{FIVE} select x from c", "pragma table_info(t)",
        "select * from words where words match 'needle'", "pragma user_version", "explain select * from t",
        "explain query plan select * from t", "values (1, 2)", "select * from pragma_table_info('t')",
        "select json_extract('{\"a\":1}', '$.a')",
    ],
)  # fmt: skip
def test_every_kind_of_read_is_allowed(tmp_path: Path, sql: str) -> None:
    assert local(tmp_path, sql).count > 0  # type: ignore[attr-defined]


def test_nothing_that_can_not_be_held_is_made_up(tmp_path: Path) -> None:
    for sql in ("select zeroblob(1000000000)", "select '\ud800'", "select '\0'"):
        with pytest.raises(InvalidAction):
            local(tmp_path, sql)


def test_long_answers_are_cut_and_counted(tmp_path: Path) -> None:
    many = f"{FIVE.replace('5', '100')} select x, 'abcdefgh' from c"
    rows = local(tmp_path, many)
    assert (len(rows.rows), rows.count, rows.truncated) == (10, 100, True)  # type: ignore[attr-defined]
    rows = local(tmp_path, many, max_bytes=40)
    assert (len(rows.rows), rows.count) == (2, 100)  # type: ignore[attr-defined]


def test_cancelling_interrupts_the_query_itself(tmp_path: Path) -> None:
    made_database(tmp_path)
    endless = "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c"

    async def story() -> None:
        work = query_copy(tmp_path / "made.db", endless, write=False, max_rows=1, max_bytes=1)
        asking = asyncio.ensure_future(work)
        for _ in range(3):
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(story())


def test_an_encrypted_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "made.db").write_bytes(b"\x01" * 4096)
    with pytest.raises(InvalidAction) as caught:
        local(tmp_path, "select 1")
    assert "encrypted" in caught.value.hint


@pytest.mark.parametrize(
    "sql", ["attach 'x' as y", ".shell id", "select writefile('a', 'b')", "delete from t; vacuum"]
)
def test_writing_still_is_one_statement_within_the_database(tmp_path: Path, sql: str) -> None:
    with pytest.raises(InvalidAction):
        local(tmp_path, sql, write=True)


def test_a_device_without_sqlite3_can_not_write() -> None:
    missing = Output(b"", b"run-as: exec failed for sqlite3: No such file or directory", 1)
    with pytest.raises(Unsupported, match="no sqlite3"):
        asyncio.run(app_data._write(ScriptedShell(missing), NOTES, "a.db", "vacuum"))
    locked = Output(b"", b"Error: database is locked", 5)
    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(app_data._write(ScriptedShell(locked), NOTES, "a.db", "vacuum"))
    assert "stop the app" in caught.value.hint


def test_a_log_that_begins_anew_during_the_copy_is_copied_again(tmp_path: Path) -> None:
    files = made_database(tmp_path, wal=True)
    data, wal = files["made.db"], files["made.db-wal"]
    other = bytes([wal[0], *wal[1:16], *b"newsalts", *wal[24:]])
    listing = "made.db\nmade.db-wal\n"
    said = ScriptedShell(listing, other, data, wal, wal, data, wal)
    rows = asyncio.run(query(said, NOTES, "made.db", "select count(*) from t"))
    assert rows.rows == ((2,),)
    assert said.answers == []
    said = ScriptedShell(listing, *[other, data, wal] * 3)
    with pytest.raises(AdbCommandError, match="faster than it can be read"):
        asyncio.run(query(said, NOTES, "made.db", "select 1"))
