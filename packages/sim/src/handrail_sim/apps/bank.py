"""Harbour Bank: password, one-time code by SMS, and screens that forbid screenshots."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.clock import iso_time
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.world import DAY_MS, entries, mapping
from handrail_sim.view import Style, View

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
    """Cents, or None if the text is not an amount."""
    bare = text.strip().removeprefix("£")
    # A comma groups thousands when a point follows or three digits do; else it is the decimal mark.
    match = _AMOUNT.fullmatch(_GROUPING.sub("", bare))
    return int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0")) if match else None


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


class SecureActivity(Activity):
    """A screen behind the login."""

    secure = True

    @property
    def bank(self) -> Bank:
        return cast("Bank", self.app)

    def sign_out(self) -> None:
        self.app.prefs("session")["signed_in"] = False
        self.finish()


class Accounts(SecureActivity):
    """All accounts, and the way to a transfer. Leaving it ends the session."""

    title = "Accounts"

    def build(self) -> View:
        accounts = self.bank.ledger().accounts()
        total = sum(account.cents for account in accounts)
        return ui.screen(
            ui.toolbar("Accounts", ui.icon_button("logout", "Sign out", self.sign_out, id="sign_out")),
            ui.scroll(
                ui.column(
                    ui.card(ui.text("Total", "label"), ui.text(money(total), "display", id="total")),
                    *map(self.account, accounts),
                    ui.button(
                        "Transfer money", partial(self.start, "TransferActivity"), id="transfer", margin=16.0
                    ),
                ),
                weight=1.0,
            ),
        )

    def account(self, account: Account) -> View:
        amount = ui.text(money(account.cents), "subtitle", id="balance")
        open_it = partial(self.start, "AccountActivity", account=account.id)
        return ui.item(account.name, account.number, trailing=amount, on_click=open_it, id="account")

    def back(self) -> bool:
        self.dialog(
            "Sign out?", "You will need your password again.", {"Stay": None, "Sign out": self.sign_out}
        )
        return True


class AccountPage(SecureActivity):
    """The movements of one account."""

    title = "Account"

    def build(self) -> View:
        ledger = self.bank.ledger()
        account = ledger.account(int(self.extras["account"]))
        return ui.screen(
            ui.toolbar(account.name, on_up=self.finish),
            ui.card(
                ui.text(account.number, "label", id="number"),
                ui.text(money(account.cents), "display", id="balance"),
            ),
            ui.header("Recent"),
            ui.lazy_list(ledger.entries(account.id), _entry, id="entries", weight=1.0),
        )


def _entry(entry: Entry) -> View:
    colour = "success" if entry.cents > 0 else ""
    amount = ui.text(money(entry.cents), style=Style(kind="text", size=16.0, color=colour), id="amount")
    return ui.item(entry.words, iso_time(entry.when_ms)[:10], trailing=amount, id="entry")


SENDER = "HARBOUR"
CHECKING_MS = 700
SMS_AFTER_MS = 1500
TRIES = 3
LOCKED_MS = 30_000


class Login(Activity):
    """Three wrong passwords lock the form for half a minute."""

    title = "Harbour Bank"

    def on_create(self) -> None:
        self.state.update(error="", wrong=0, locked_until=0.0, checking=False)
        self.app.prefs("session")["signed_in"] = False

    def build(self) -> View:
        busy = self.state["checking"]
        return ui.scroll(
            ui.column(
                ui.icon("bank", size=72.0, align="center"),
                ui.text("Harbour Bank", "headline", align="center"),
                ui.field("customer", hint="Customer number", input_type="number", ime_action="next"),
                ui.field(
                    "password", hint="Password", input_type="password", password=True, on_submit=self.sign_in
                ),
                ui.text(self.state["error"], "error", id="error") if self.state["error"] else None,
                ui.button("Sign in", self.sign_in, id="sign_in", width="fill", enabled=not busy),
                ui.button("Use fingerprint", self.ask_finger, "tonal", id="fingerprint", width="fill")
                if self.app.prefs("session").get("trusted")
                else None,
                ui.spinner(align="center", desc="Signing in") if busy else None,
                ui.text(
                    "Demonstration customer {}, password {}".format(*self.bank.credentials()),
                    "caption",
                    id="demo",
                )
                if "customer" not in self.bank.prefs("customer")
                else None,
                padding=24.0,
                gap=16.0,
            )
        )

    @property
    def bank(self) -> Bank:
        return cast("Bank", self.app)

    def sign_in(self) -> None:
        if self.phone.now_ms() < self.state["locked_until"]:
            self.state["error"] = "Too many attempts. Try again in a moment."
        elif not self.field("customer") or not self.field("password"):
            self.state["error"] = "Enter your customer number and password."
        else:
            self.state.update(error="", checking=True)
            self.later(CHECKING_MS, self.checked)

    def ask_finger(self) -> None:
        """A phone on which somebody signed in before is trusted: a finger is enough there."""
        title, subtitle = "Sign in to Harbour Bank", f"Customer {self.bank.credentials()[0]}"
        self.phone.ask_finger(self, title, subtitle, "Use password", self.fingerprint_read)

    def fingerprint_read(self, recognized: bool) -> None:
        if recognized:
            self.app.prefs("session")["signed_in"] = True
            self.start("AccountsActivity")

    def checked(self) -> None:
        self.state["checking"] = False
        if (self.field("customer"), self.field("password")) == self.bank.credentials():
            self.state["wrong"] = 0
            self.set_field("password", "")
            self.start("CodeActivity")
            return
        self.state["wrong"] += 1
        self.state["error"] = "Customer number or password is wrong."
        if self.state["wrong"] >= TRIES:
            self.state.update(wrong=0, locked_until=self.phone.now_ms() + LOCKED_MS)


class Code(Activity):
    """The code is sent when the screen opens, and once more on request; it is valid once."""

    title = "Security code"
    secure = True

    def on_create(self) -> None:
        self.state.update(code="", error="")
        self.send()

    def build(self) -> View:
        return ui.screen(ui.toolbar("Security code", on_up=self.finish), ui.scroll(self.form(), weight=1.0))

    def form(self) -> View:
        return ui.column(
            ui.text("We have sent a six-digit code to your phone.", id="explanation"),
            ui.field("code", hint="Code", input_type="number", on_submit=self.check),
            ui.text(self.state["error"], "error", id="error") if self.state["error"] else None,
            ui.button("Continue", self.check, id="continue", width="fill"),
            ui.button("Send a new code", self.send, "text", id="resend"),
            padding=24.0,
            gap=16.0,
        )

    def send(self) -> None:
        self.state["code"] = f"{self.phone.random.randrange(1_000_000):06d}"
        self.later(SMS_AFTER_MS, self.deliver)

    def deliver(self) -> None:
        code = self.state["code"]
        self.phone.receive_sms(SENDER, f"{code} is your Harbour Bank code. Never tell it to anyone.")

    def check(self) -> None:
        if self.field("code").strip() != self.state["code"]:
            self.state["error"] = "That code is not right."
            return
        self.app.prefs("session").update(signed_in=True, trusted=True)
        self.start("AccountsActivity")
        self.finish()


SENDING_MS = 1200
SENT = "sent"


class Transfer(SecureActivity):
    """From which account, to whom, how much."""

    title = "Transfer"

    def on_create(self) -> None:
        self.state.update(source=1, error="")

    def build(self) -> View:
        return ui.screen(
            ui.toolbar("Transfer", on_up=self.finish),
            ui.scroll(
                ui.column(
                    ui.header("From", padding=0.0),
                    *(
                        ui.radio(
                            f"{account.name}, {money(account.cents)}",
                            account.id == self.state["source"],
                            partial(self.use, account.id),
                            key=f"from:{account.id}",
                            id="source",
                            width="fill",
                        )
                        for account in self.bank.ledger().accounts()
                    ),
                    ui.field("payee", hint="To: name or account number", ime_action="next"),
                    ui.field("amount", hint="Amount", input_type="decimal", ime_action="next"),
                    ui.field("reference", hint="Reference (optional)"),
                    ui.text(self.state["error"], "error", id="error") if self.state["error"] else None,
                    ui.button("Review", self.review, id="review", width="fill"),
                    padding=16.0,
                    gap=12.0,
                ),
                weight=1.0,
            ),
        )

    def use(self, account: int, _checked: bool) -> None:
        self.state["source"] = account

    def review(self) -> None:
        cents = read_amount(self.field("amount"))
        self.state["error"] = self.complaint(cents)
        if not self.state["error"]:
            self.start(
                "ConfirmActivity",
                then=self.closed,
                source=self.state["source"],
                payee=self.field("payee").strip(),
                cents=cents,
                reference=self.field("reference").strip(),
            )

    def closed(self, result: object) -> None:
        if result == SENT:
            self.finish()

    def complaint(self, cents: int | None) -> str:
        if not self.field("payee").strip():
            return "Say who gets the money."
        if not cents:
            return "Enter an amount such as 12.50."
        if cents > self.bank.ledger().account(self.state["source"]).cents:
            return "There is not enough money in this account."
        return ""


class Confirm(SecureActivity):
    """Everything once more; only here money moves."""

    title = "Confirm transfer"

    def on_create(self) -> None:
        self.state["sending"] = False

    def build(self) -> View:
        return ui.screen(
            ui.toolbar("Confirm transfer", on_up=self.finish), ui.scroll(self.summary(), weight=1.0)
        )

    def summary(self) -> View:
        sending = self.state["sending"]
        reference = self.extras["reference"]
        return ui.column(
            ui.text(money(self.extras["cents"]), "display", id="amount"),
            ui.text(f"To {self.extras['payee']}", "title", id="payee"),
            ui.text(f"From {self.bank.ledger().account(self.extras['source']).name}", id="source"),
            ui.text(f"Reference: {reference}", id="reference") if reference else None,
            ui.row(
                ui.button("Cancel", self.finish, "outlined", id="cancel", enabled=not sending),
                ui.button("Confirm transfer", self.confirm, id="confirm", enabled=not sending),
                gap=16.0,
            ),
            ui.spinner(desc="Sending") if sending else None,
            padding=24.0,
            gap=16.0,
        )

    def confirm(self) -> None:
        self.state["sending"] = True
        self.later(SENDING_MS, self.send)

    def send(self) -> None:
        extras = self.extras
        self.bank.ledger().transfer(
            extras["source"], extras["payee"], extras["cents"], extras["reference"], self.phone.wall_ms()
        )
        self.start("DoneActivity", then=self.closed, payee=extras["payee"], cents=extras["cents"])

    def closed(self, _result: object) -> None:
        self.finish(SENT)


class Done(SecureActivity):
    """The money is on its way."""

    title = "Transfer sent"

    def build(self) -> View:
        return ui.message(
            ui.icon("check", size=72.0),
            ui.text("Transfer sent", "headline", id="sent"),
            ui.text(f"{money(self.extras['cents'])} to {self.extras['payee']}", id="summary"),
            ui.button("Done", self.finish, id="done"),
            height="fill",
        )


@declared
class Bank(App):
    """The bank; a session lives in the process and ends with it, as a real one does."""

    activities = {
        "LoginActivity": Login,
        "CodeActivity": Code,
        "AccountsActivity": Accounts,
        "AccountActivity": AccountPage,
        "TransferActivity": Transfer,
        "ConfirmActivity": Confirm,
        "DoneActivity": Done,
    }

    def ledger(self) -> Ledger:
        return Ledger(self.database("bank.db"), self.phone.wall_ms())

    def credentials(self) -> tuple[str, str]:
        prefs = self.prefs("customer")
        return str(prefs.get("customer", CUSTOMER)), str(prefs.get("password", PASSWORD))

    def fill(self, content: Any) -> None:
        """`customer`, `password`; `accounts` with `name`, `cents`, `number`.

        `entries` with `account`, `words`, `cents`, `days_ago`.
        """
        fields = mapping(content, "bank", "customer password accounts entries")
        prefs = self.prefs("customer")
        for name in ("customer", "password"):
            if name in fields:
                prefs[name] = str(fields[name])
        if "accounts" not in fields:
            return
        accounts = entries(fields["accounts"], "bank.accounts", "name number cents").rows
        past = entries(fields.get("entries", []), "bank.entries", "account words cents days_ago").rows
        now = self.phone.wall_ms()
        self.ledger().replace(
            [
                (
                    str(entry["name"]),
                    str(entry.get("number", f"HB 0001 {4410 + 8 * at}")),
                    int(entry["cents"]),
                )
                for at, entry in enumerate(accounts)
            ],
            [
                (
                    entry["account"],
                    str(entry["words"]),
                    int(entry["cents"]),
                    now - int(entry.get("days_ago", 1)) * DAY_MS,
                )
                for entry in past
            ],
        )

    def state(self) -> dict[str, Any]:
        """Looking must not leave a trace: before the first start the seeded ledger is told from memory."""
        signed_in = bool(self.prefs("session").get("signed_in", False))
        if self.phone.files.exists(f"{self.folder}/databases/bank.db"):
            return {"signed_in": signed_in, **self.ledger().state()}
        with closing(sqlite3.connect(":memory:")) as seeded:
            return {"signed_in": signed_in, **Ledger(seeded, self.phone.wall_ms()).state()}


APP = Bank
