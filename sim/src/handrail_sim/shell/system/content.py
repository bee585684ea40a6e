"""`content query|insert|update|delete|call`: the settings, contacts and SMS providers, and those of apps."""

from __future__ import annotations

import re
from collections.abc import Callable
from sqlite3 import DatabaseError
from typing import Any

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.props import TABLES

Row = dict[str, Any]


class _Args:
    """`--uri U --projection a:b --where W --sort S --bind name:type:value`."""

    def __init__(self, args: list[str]) -> None:
        self.values: dict[str, str] = {}
        self.binds: dict[str, str] = {}
        for at in range(len(args) - 1):
            if args[at] == "--bind":
                name, _, rest = args[at + 1].partition(":")
                self.binds[name] = rest.partition(":")[2]
            elif args[at].startswith("--"):
                self.values[args[at]] = args[at + 1]

    @property
    def address(self) -> str:
        return self.values.get("--uri", "").removeprefix("content://").rstrip("/")


def _setting_rows(table: str) -> Callable[[Call], list[Row]]:
    def rows(call: Call) -> list[Row]:
        values = call.phone.settings[table]
        return [{"_id": at, "name": name, "value": values[name]} for at, name in enumerate(sorted(values), 1)]

    return rows


def _database_rows(package: str, name: str, sql: str) -> Callable[[Call], list[Row]]:
    """What an app keeps in its database; a provider starts its app, as Android does."""

    def rows(call: Call) -> list[Row]:
        app = call.phone.app(package)
        if app is None:
            return []
        app.state()
        try:
            return [dict(row) for row in app.database(name).execute(sql)]
        except DatabaseError:  # the app has no such table (yet): an empty provider
            return []

    return rows


_CONTACTS = (
    "SELECT _id, trim(first || ' ' || last) AS display_name, starred, 1 AS has_phone_number FROM contacts"
)
_PHONES = (
    "SELECT _id, trim(first || ' ' || last) AS display_name, phone AS data1, phone AS number FROM contacts"
)
_SMS = "SELECT _id, address, date, type, read, body FROM sms ORDER BY date DESC"
PROVIDERS: dict[str, Callable[[Call], list[Row]]] = {
    **{f"settings/{table}": _setting_rows(table) for table in TABLES},
    "com.android.contacts/contacts": _database_rows("com.android.contacts", "contacts2.db", _CONTACTS),
    "com.android.contacts/raw_contacts": _database_rows("com.android.contacts", "contacts2.db", _CONTACTS),
    "com.android.contacts/data/phones": _database_rows("com.android.contacts", "contacts2.db", _PHONES),
    "contacts/phones": _database_rows("com.android.contacts", "contacts2.db", _PHONES),
    "sms": _database_rows("com.android.messaging", "mmssms.db", _SMS),
}


def _provider(call: Call, address: str) -> Callable[[Call], list[Row]] | None:
    """The system's, or one that an installed app declares; asking it starts the app's process."""
    known = PROVIDERS.get(address.removesuffix("/inbox").removesuffix("/sent"))
    if known is not None:
        return known
    owner = next((app for app in call.phone.apps if address in app.providers), None)
    if owner is None:
        return None

    def rows(call: Call) -> list[Row]:
        call.phone.catch_up()
        app = call.phone.app(owner.package)
        found: list[Row] = getattr(app, owner.providers[address])()
        return found

    return rows


def _wanted(row: Row, where: str) -> bool:
    """`name='x'` and `name="x" AND …`: all that shells ask for."""
    for name, _, text, plain in re.findall(r"(\w+)\s*=\s*(?:(['\"])(.*?)\2|(\S+))", where):
        if str(row.get(name)) != (text or plain):
            return False
    return True


async def run(call: Call) -> int:
    """`content VERB --uri URI …`."""
    verb, args = (call.args[0] if call.args else ""), _Args(call.args[1:])
    if verb not in {"query", "insert", "update", "delete", "call"}:
        await call.err(
            f"[ERROR] Unsupported operation: {verb}"
            if verb
            else "usage: adb shell content [subcommand] [options]"
        )
        return 1
    if not args.address:
        await call.err("[ERROR] Content provider URI not specified. Did you specify --uri argument?")
        return 1
    address = re.sub(r"/\d+$", "", args.address)
    rows = _provider(call, address)
    if rows is None:
        provider = address.partition("/")[0]
        await call.err(
            f"Error while accessing provider:{provider}\njava.lang.IllegalStateException: Could "
            f"not find provider: {provider}"
        )
        return 1
    if verb == "query":
        return await _query(call, args, address, rows(call))
    return await _change(call, verb, args, address)


async def _query(call: Call, args: _Args, address: str, rows: list[Row]) -> int:
    kind = {"sms/inbox": "1", "sms/sent": "2"}.get(address)
    rows = [row for row in rows if kind is None or str(row["type"]) == kind]
    rows = [row for row in rows if _wanted(row, args.values.get("--where", ""))]
    single = re.search(r"/(\d+)$", args.address)
    if single:
        rows = [row for row in rows if str(row["_id"]) == single[1]]
    if not rows:
        await call.line("No result found.")
        return 0
    columns = args.values["--projection"].split(":") if "--projection" in args.values else list(rows[0])
    for number, row in enumerate(rows):
        shown = ", ".join(f"{name}={'NULL' if row.get(name) is None else row[name]}" for name in columns)
        await call.line(f"Row: {number} {shown}")
    return 0


async def _change(call: Call, verb: str, args: _Args, address: str) -> int:
    """The settings tables can be written; contacts and messages belong to their apps."""
    folder, _, table = address.partition("/")
    if folder != "settings" or table not in TABLES:
        owner = "java.lang.SecurityException: Permission Denial: writing"
        await call.err(
            f"Error while accessing provider:{folder}\n{owner} {args.values['--uri']} requires a "
            "permission that the shell has not"
        )
        return 1
    values = call.phone.settings[table]
    if verb == "delete":
        where = args.values.get("--where", "")
        for row in _setting_rows(table)(call):
            if where and _wanted(row, where):
                values.pop(str(row["name"]))
    elif "value" in args.binds:
        name = args.binds.get("name") or next(
            iter(re.findall(r"name\s*=\s*['\"]?([\w.]+)", args.values.get("--where", ""))), ""
        )
        if name:
            call.phone.put_setting(table, name, args.binds["value"])
    return 0


FAMILY: dict[str, Command] = {"content": run}
