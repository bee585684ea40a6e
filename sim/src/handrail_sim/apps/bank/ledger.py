"""Accounts and transfers, in the app's SQLite file. Knows no screen; amounts are cents."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

CUSTOMER = "100200"
PASSWORD = "lantern"  # noqa: S105
_DAY_MS = 86_400_000
_ACCOUNTS = (
    ("Everyday account", "HB 0001 4410", 184_250),
    ("Savings", "HB 0001 4428", 1_250_000),
    ("Holiday jar", "HB 0001 4436", 31_075),
)
_PAST = (
    (1, "Corner bakery", -640, 1),
    (1, "Tide electricity", -5_490, 3),
    (1, "Salary Ferry & Sons", 231_000, 9),
    (2, "Interest", 1_042, 12),
    (3, "From Everyday account", 5_000, 4),
    (1, "To Holiday jar", -5_000, 4),
)
_GROUPING = re.compile(r",(?=\d{3}(?:\D|$))")
_AMOUNT = re.compile(r"(\d{1,7})(?:[.,](\d{1,2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Account:
    """One account and what is on it."""

    id: int
    name: str
    number: str
    cents: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement on an account."""

    words: str
    cents: int
    when_ms: int


def money(cents: int) -> str:
    """`−£1,234.50`"""
    return f"{'−' if cents < 0 else ''}£{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def read_amount(text: str) -> int | None:
    """Cents, or None for what is no amount."""
    bare = text.strip().removeprefix("£")
    # A comma groups thousands when a point follows or three digits do; else it is the decimal mark.
    found = _AMOUNT.fullmatch(_GROUPING.sub("", bare))
    return int(found[1]) * 100 + int((found[2] or "0").ljust(2, "0")) if found else None


class Ledger:
    """The tables `accounts` and `entries`, seeded once."""

    def __init__(self, database: sqlite3.Connection, now_ms: int) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create(now_ms)

    def _create(self, now_ms: int) -> None:
        run = self._database.execute
        run("CREATE TABLE accounts (_id INTEGER PRIMARY KEY, name TEXT, number TEXT, cents INTEGER)")
        run(
            "CREATE TABLE entries (_id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER, words TEXT, "
            "cents INTEGER, at INTEGER)"
        )
        self._database.executemany("INSERT INTO accounts (name, number, cents) VALUES (?, ?, ?)", _ACCOUNTS)
        for account, words, cents, days in _PAST:
            self._write(account, words, cents, now_ms - days * _DAY_MS)
        run("PRAGMA user_version = 1")
        self._database.commit()

    def replace(
        self, accounts: Sequence[tuple[str, str, int]], past: Sequence[tuple[str, str, int, int]]
    ) -> None:
        """These accounts (name, number, cents) and movements (account, words, cents, at) and no others."""
        self._database.execute("DELETE FROM entries")
        self._database.execute("DELETE FROM accounts")
        self._database.executemany("INSERT INTO accounts (name, number, cents) VALUES (?, ?, ?)", accounts)
        numbers = {account.name: account.id for account in self.accounts()}
        for name, words, cents, at_ms in past:
            self._write(numbers[name], words, cents, at_ms)
        self._database.commit()

    def _write(self, account: int, words: str, cents: int, at_ms: int) -> None:
        self._database.execute(
            "INSERT INTO entries (account, words, cents, at) VALUES (?, ?, ?, ?)",
            (account, words, cents, at_ms),
        )

    def accounts(self) -> list[Account]:
        rows = self._database.execute("SELECT _id, name, number, cents FROM accounts ORDER BY _id")
        return [Account(*row) for row in rows]

    def account(self, number: int) -> Account:
        return next(account for account in self.accounts() if account.id == number)

    def entries(self, account: int) -> list[Entry]:
        """The newest first."""
        rows = self._database.execute(
            "SELECT words, cents, at FROM entries WHERE account = ? ORDER BY at DESC, _id DESC", (account,)
        )
        return [Entry(*row) for row in rows]

    def transfer(self, source: int, payee: str, cents: int, reference: str, now_ms: int) -> None:
        """Takes the money from `source`; an own account named as payee receives it."""
        words = f"To {payee}" + (f": {reference}" if reference else "")
        self._move(source, words, -cents, now_ms)
        for account in self.accounts():
            if payee in (account.name, account.number) and account.id != source:
                self._move(account.id, f"From {self.account(source).name}", cents, now_ms)
        self._database.commit()

    def _move(self, account: int, words: str, cents: int, now_ms: int) -> None:
        self._database.execute("UPDATE accounts SET cents = cents + ? WHERE _id = ?", (cents, account))
        self._write(account, words, cents, now_ms)

    def state(self) -> dict[str, object]:
        return {
            "accounts": [{"name": account.name, "cents": account.cents} for account in self.accounts()],
            "last": [{"words": entry.words, "cents": entry.cents} for entry in self.entries(1)[:5]],
        }
