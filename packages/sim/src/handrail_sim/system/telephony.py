"""Calls: who rings, who was answered, what the call log says. The call is data; the log is the provider's."""

from __future__ import annotations

import re
from typing import Any

from handrail_sim.system.activities import Context

PACKAGE = "com.google.android.dialer"
SCREEN = "com.android.incallui.InCallActivity"
ANSWER, DECLINE, HANG_UP = "Answer", "Decline", "Hang up"
INCOMING, OUTGOING, MISSED, REJECTED = 1, 2, 3, 5
"""Types in Android's call log."""
KEY = "call"
_DIGITS = 7  # as many as two spellings of a number must share at their end


def ring(phone: Context, number: str) -> bool:
    """Somebody calls: a banner while the phone is in use, the whole screen when it slept.

    False when another call is under way, or when this is no number.
    """
    phone.catch_up()
    if phone.call is not None or not is_number(number):
        return False
    phone.call = call = _call(phone, number, "ringing")
    slept = not phone.awake
    phone.awake = True
    phone.logcat("I", "Telecom", f"Event: RecordEntry TC@1: START_RINGER, {number}")
    _post(phone, call, "Incoming call", [DECLINE, ANSWER])
    if slept:
        show(phone)
    return True


def dial(phone: Context, number: str) -> bool:
    """The phone itself calls; the other side rings until `accept`."""
    if phone.call is not None or not is_number(number):
        return False
    phone.call = call = _call(phone, number, "dialing")
    _post(phone, call, "Dialing…", [HANG_UP])
    show(phone)
    return True


def answer(phone: Context) -> bool:
    if phone.call is None or phone.call["state"] == "active":
        return False
    phone.call |= {"state": "active", "since_ms": phone.wall_ms()}
    _post(phone, phone.call, "Ongoing call", [HANG_UP])
    show(phone)
    return True


def end(phone: Context, *, here: bool = True) -> bool:
    """The call is over; one that rang is rejected when it was ended here, missed when the caller gave up."""
    call = phone.call
    if call is None:
        return False
    active = call["state"] == "active"
    kind = INCOMING if call["incoming"] else OUTGOING
    if call["incoming"] and not active:
        kind = REJECTED if here else MISSED
    seconds = (phone.wall_ms() - call["since_ms"]) // 1000 if active else 0
    phone.call = None
    log = phone.providers.database("calllog.db")
    name = call["name"] if call["name"] != call["number"] else None
    log.execute(
        "INSERT INTO calls (number, name, date, duration, type, new, is_read, countryiso) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 'US')",
        (call["number"], name, phone.wall_ms(), seconds, kind, int(kind == MISSED), int(kind != MISSED)),
    )
    log.commit()
    phone.cancel_notification(PACKAGE, KEY)
    phone.end_heads_up()
    for activity in [
        entry for entry in phone.tasks.open_activities() if entry.component == f"{PACKAGE}/{SCREEN}"
    ]:
        activity.finish()
    if kind == MISSED:
        phone.notify(PACKAGE, "Missed call", call["name"], importance=3)
    phone.touched_app()
    return True


def press(phone: Context, action: str) -> None:
    if action == ANSWER:
        answer(phone)
    else:
        end(phone)


def show(phone: Context) -> None:
    component = phone.packages.component(PACKAGE, SCREEN)
    if component:
        phone.start_activity(component)
    phone.end_heads_up()


def _call(phone: Context, number: str, state: str) -> dict[str, Any]:
    name = contact_name(phone, number)
    return {
        "number": number,
        "name": name,
        "state": state,
        "incoming": state == "ringing",
        "since_ms": phone.wall_ms(),
    }


def contact_name(phone: Context, number: str) -> str:
    wanted = re.sub(r"\D", "", number)[-_DIGITS:]
    rows = phone.providers.database("contacts2.db").execute("SELECT name, number FROM view_v1_phones")
    names = [row[0] for row in rows if re.sub(r"\D", "", row[1] or "")[-_DIGITS:] == wanted]
    return str(names[0]) if names else number


def call_log(phone: Context) -> list[dict[str, Any]]:
    rows = phone.providers.database("calllog.db").execute(
        "SELECT number, name, date, duration, type FROM calls ORDER BY date, _id"
    )
    return [dict(row) for row in rows]


def is_number(text: str) -> bool:
    return re.fullmatch(r"\+?[\d*#() -]*\d[\d*#() -]*", text) is not None


def registry_state(phone: Context) -> tuple[int, str]:
    call = phone.call
    if call is None:
        return 0, ""
    return (1, call["number"]) if call["state"] == "ringing" else (2, "")


def _post(phone: Context, call: dict[str, Any], text: str, actions: list[str]) -> None:
    more: dict[str, Any] = {"key": KEY, "ongoing": True, "actions": actions, "tap": (SCREEN, None)}
    importance = 5 if call["state"] == "ringing" else 2
    phone.notify(PACKAGE, call["name"], text, importance=importance, **more)
