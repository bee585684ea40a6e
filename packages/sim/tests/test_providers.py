"""Android's content providers by the shell's `content` and `sqlite3`, checked against what the apps show."""

from __future__ import annotations

import re
import sqlite3
from io import BytesIO

import pytest
from PIL import Image

from handrail_sim.phone import Phone
from tests.shell_person import new_phone, out, shell

PEOPLE = "content://com.android.contacts"
ITEM = "vnd.android.cursor.item"
APPS = ("launcher", "contacts", "messages")
SMS_FILE = "/data/data/com.android.providers.telephony/databases/mmssms.db"


def rows(phone: Phone, uri: str, more: str = "") -> list[dict[str, str]]:
    """What `content query` prints, as Android prints it."""
    text = out(f"content query --uri {uri} {more}", phone=phone)
    if text == "No result found.\n":
        return []
    lines = text.splitlines()
    assert all(re.match(rf"Row: {at} \w+=", line) for at, line in enumerate(lines)), lines[:3]
    return [dict(re.findall(r"(\w+)=(.*?)(?=, \w+=|$)", line.split(" ", 2)[2])) for line in lines]


def stored(phone: Phone, name: str, sql: str) -> list[tuple[object, ...]]:
    """Straight from the file on the phone's disk."""
    database = sqlite3.connect(":memory:")
    database.deserialize(phone.files.read(name))
    return database.execute(sql).fetchall()


def test_a_person_made_by_rows_of_data_is_in_the_contacts_app() -> None:
    phone = new_phone(APPS)
    out(
        f"content insert --uri {PEOPLE}/raw_contacts --bind account_type:s:com.x --bind account_name:s:me",
        phone=phone,
    )
    raw = rows(phone, f"{PEOPLE}/raw_contacts", "--sort '_id DESC'")[0]["_id"]
    data = f"content insert --uri {PEOPLE}/data --bind raw_contact_id:i:{raw} --bind mimetype:s:{ITEM}"
    out(f"{data}/name --bind 'data1:s:Ada King Lovelace'", phone=phone)
    out(f"{data}/phone_v2 --bind 'data1:s:+44 20 555'", phone=phone)
    shown = phone.state()["apps"]["com.google.android.contacts"]["contacts"]
    assert [(one["name"], one["phone"]) for one in shown if "Ada" in one["name"]] == [
        ("Ada King Lovelace", "+44 20 555")
    ]
    assert rows(
        phone, "content://contacts/phones/", "--projection display_name:number --where \"number LIKE '%555'\""
    ) == [{"display_name": "Ada King Lovelace", "number": "+44 20 555"}]
    assert rows(phone, f"{PEOPLE}/phone_lookup/+4420555")[0]["display_name"] == "Ada King Lovelace"
    assert rows(phone, f"{PEOPLE}/raw_contacts/{raw}")[0]["account_type"] == "com.x"


def test_a_name_that_was_given_in_parts_or_in_one_is_the_same_person() -> None:
    phone = new_phone(APPS)
    for binds in ("--bind data2:s:Jo --bind data3:s:Bell", "--bind 'data1:s:Jo Bell'"):
        out(f"content insert --uri {PEOPLE}/raw_contacts --bind starred:i:0", phone=phone)
        raw = rows(phone, f"{PEOPLE}/raw_contacts", "--sort '_id DESC'")[0]["_id"]
        name = "--bind mimetype:s:vnd.android.cursor.item/name"
        out(f"content insert --uri {PEOPLE}/data --bind raw_contact_id:i:{raw} {name} {binds}", phone=phone)
    found = rows(phone, f"{PEOPLE}/data", "--projection data1:data2:data3 --where \"display_name='Jo Bell'\"")
    assert found == [{"data1": "Jo Bell", "data2": "Jo", "data3": "Bell"}] * 2


def test_deleting_and_starring_by_the_provider_is_seen_by_the_app_and_its_databases() -> None:
    phone = new_phone(APPS)
    out(f"content update --uri {PEOPLE}/contacts/1 --bind starred:i:1", phone=phone)
    out(f"content delete --uri {PEOPLE}/contacts --where '_id > 2'", phone=phone)
    shown = phone.state()["apps"]["com.google.android.contacts"]["contacts"]
    assert [(one["id"], one["starred"]) for one in shown] == [(1, True), (2, False)]
    path = "/data/data/com.android.providers.contacts/databases/contacts2.db"
    assert stored(phone, path, "SELECT count(*) FROM data WHERE raw_contact_id > 2") == [(0,)]
    assert stored(phone, path, "SELECT count(*) FROM deleted_contacts") == [(28,)]


def test_clearing_the_providers_data_leaves_nobody_and_clearing_the_apps_data_leaves_everybody() -> None:
    phone = new_phone(APPS)
    assert out("pm clear com.google.android.contacts", phone=phone) == "Success\n"
    assert len(rows(phone, f"{PEOPLE}/contacts")) == 30
    assert out("pm clear com.android.providers.contacts", phone=phone) == "Success\n"
    assert rows(phone, f"{PEOPLE}/contacts") == []
    assert phone.state()["apps"]["com.google.android.contacts"]["contacts"] == []
    phone.reboot()
    assert rows(phone, "content://contacts/phones") == []


def test_messages_have_androids_columns_and_threads() -> None:
    phone = new_phone(APPS)
    first = rows(phone, "content://sms/inbox")[0]
    assert " ".join(first) == (
        "_id thread_id address person date date_sent protocol read status type reply_path_present "
        "subject body service_center locked sub_id error_code creator seen"
    )
    words = "--bind address:s:0770-0900114 --bind 'body:s:On my way, now'"
    out(f"content insert --uri content://sms/sent {words}", phone=phone)
    sent = rows(phone, "content://sms/sent", "--projection address:body:type:thread_id")[0]
    thread = rows(phone, "content://sms", "--where \"body LIKE 'Noted%'\"")[0]["thread_id"]
    assert sent == {"address": "0770-0900114", "body": "On my way, now", "type": "2", "thread_id": thread}
    assert (
        rows(phone, "content://mms-sms/conversations", f"--where _id={thread}")[0]["snippet"]
        == "On my way, now"
    )


def test_messages_that_sqlite_deletes_are_gone_from_the_app() -> None:
    phone = new_phone(APPS)
    phone.start_activity(package="com.google.android.apps.messaging")
    assert "Parcel Post" in phone.dump()
    assert shell(f"sqlite3 {SMS_FILE} 'DELETE FROM sms'", phone=phone).status != 0  # the shell is not root
    phone.files.write(SMS_FILE, _changed(phone.files.read(SMS_FILE), "DELETE FROM sms; DELETE FROM threads;"))
    assert phone.state()["apps"]["com.google.android.apps.messaging"]["threads"] == []
    assert rows(phone, "content://sms") == []
    phone.receive_sms("+15550001", "hello")
    assert [one["body"] for one in rows(phone, "content://sms/inbox")] == ["hello"]


def _changed(data: bytes, sql: str) -> bytes:
    database = sqlite3.connect(":memory:")
    database.deserialize(data)
    database.executescript(sql)
    return database.serialize()


def test_calls_and_events_are_kept_with_androids_defaults() -> None:
    phone = new_phone()
    out(
        "content insert --uri content://call_log/calls --bind number:s:555 --bind date:l:5 --bind type:i:2",
        phone=phone,
    )
    out(
        "content insert --uri content://call_log/calls --bind number:s:556 --bind date:l:9 --bind type:i:3",
        phone=phone,
    )
    assert [one["number"] for one in rows(phone, "content://call_log/calls")] == ["556", "555"]
    out("content delete --uri content://call_log/calls", phone=phone)
    assert rows(phone, "content://call_log/calls") == []
    calendar = rows(phone, "content://com.android.calendar/calendars")[0]["_id"]
    start, end = 1_710_000_000_000, 1_710_003_600_000
    out(
        f"content insert --uri content://com.android.calendar/events --bind calendar_id:i:{calendar} "
        f"--bind title:s:Tea --bind dtstart:l:{start} --bind dtend:l:{end} --bind eventTimezone:s:UTC",
        phone=phone,
    )
    assert rows(phone, f"content://com.android.calendar/instances/when/{start}/{end}")[0]["title"] == "Tea"
    assert rows(phone, f"content://com.android.calendar/instances/when/{end + 1}/{end + 2}") == []
    out("content update --uri content://com.android.calendar/events/1 --bind title:s:Coffee", phone=phone)
    assert rows(phone, "content://com.android.calendar/events", "--projection title") == [{"title": "Coffee"}]
    out("content delete --uri content://com.android.calendar/calendars", phone=phone)
    assert rows(phone, "content://com.android.calendar/events") == []


def test_what_lies_in_shared_storage_is_what_the_media_provider_lists() -> None:
    phone = new_phone()
    picture = BytesIO()
    Image.new("RGB", (64, 48), "navy").save(picture, "JPEG")
    phone.files.write("/sdcard/DCIM/a.jpg", picture.getvalue())
    phone.files.write("/sdcard/Android/data/hidden.jpg", b"x")
    phone.files.write("/sdcard/Download/b.txt", b"hi")
    uri = "content://media/external/images/media"
    found = rows(phone, uri)
    assert [(one["_data"], one["width"], one["height"], one["mime_type"]) for one in found] == [
        ("/storage/emulated/0/DCIM/a.jpg", "64", "48", "image/jpeg")
    ]
    number = found[0]["_id"]
    assert out(
        "content call --uri content://media --method scan_file --arg /sdcard/DCIM/a.jpg", phone=phone
    ) == (f"Result: Bundle[{{uri=content://media/external_primary/images/media/{number}}}]\n")
    assert shell(f"content read --uri {uri}/{number}", phone=phone).stdout == picture.getvalue()
    assert [one["_display_name"] for one in rows(phone, "content://media/external/downloads")] == ["b.txt"]
    out("mv /sdcard/DCIM/a.jpg /sdcard/Pictures/c.jpg", phone=phone)
    assert [one["relative_path"] for one in rows(phone, uri)] == ["Pictures/"]
    out(f"content delete --uri {uri}", phone=phone)
    assert not phone.files.exists("/sdcard/Pictures/c.jpg")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("query --uri content://sms --projection weight", "no such column: weight"),
        ("query --uri content://sms --where '1=1) UNION SELECT 1'", "SQLiteException"),
        ("query --uri content://sms --where '1; DROP TABLE sms'", "SQLiteException"),
        ('query --uri content://sms --sort "(SELECT zeroblob(900000000))"', "too big"),
        ("query --uri content://sms/nonsense", "IllegalArgumentException: Unknown URL"),
        ("query --uri content://nobody/x", "Could not find provider: nobody"),
        ("insert --uri content://sms --bind weight:s:1", "no column named weight"),
        ("insert --uri content://sms --bind nothing", "Binding not well formed"),
        ("insert --uri content://sms --bind date:i:soon", 'For input string: "soon"'),
        ("query", "URI not specified"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_and_changes_nothing(command: str, words: str) -> None:
    phone = new_phone()
    answer = shell(f"content {command}", phone=phone)
    assert words in answer.errors
    assert answer.status == 1
    assert len(rows(phone, "content://sms")) == 8


def test_a_clause_that_never_ends_is_ended() -> None:
    phone = new_phone()
    endless = "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT count(*) FROM n)"
    assert (
        "interrupted" in shell(f'content query --uri content://sms --where "{endless}"', phone=phone).errors
    )


def test_a_snapshot_brings_people_and_messages_back() -> None:
    phone = new_phone(APPS)
    phone.snapshot()
    out(f"content delete --uri {PEOPLE}/raw_contacts", phone=phone)
    phone.receive_sms("+15550001", "hello")
    phone.restore()
    assert len(rows(phone, f"{PEOPLE}/contacts")) == 30
    assert len(rows(phone, "content://sms")) == 8
