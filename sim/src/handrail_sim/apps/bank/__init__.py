"""Harbour Bank: password, one-time code by SMS, and screens that forbid screenshots."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from handrail_sim.apps.bank.accounts import AccountPage, Accounts
from handrail_sim.apps.bank.ledger import CUSTOMER, PASSWORD, Ledger
from handrail_sim.apps.bank.login import Code, Login
from handrail_sim.apps.bank.transfer import Confirm, Done, Transfer
from handrail_sim.system.activities import App
from handrail_sim.system.world import DAY_MS, entries, mapping


class Bank(App):
    """The bank; a session lives in the process and ends with it, as a real one does."""

    package = "com.handrail.bank"
    label = "Bank"
    icon = "bank"
    version = "7.0.4"
    permissions = ("android.permission.INTERNET",)
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
        """Customer number and password."""
        kept = self.prefs("customer")
        return str(kept.get("customer", CUSTOMER)), str(kept.get("password", PASSWORD))

    def fill(self, given: Any) -> None:
        """`customer`, `password`; `accounts` with `name`, `cents`, `number`.

        `entries` with `account`, `words`, `cents`, `days_ago`.
        """
        told = mapping(given, "bank", "customer password accounts entries")
        kept = self.prefs("customer")
        for name in ("customer", "password"):
            if name in told:
                kept[name] = str(told[name])
        if "accounts" not in told:
            return
        accounts = entries(told["accounts"], "bank.accounts", "name number cents").rows
        past = entries(told.get("entries", []), "bank.entries", "account words cents days_ago").rows
        now = self.phone.wall_ms()
        self.ledger().replace(
            [
                (str(one["name"]), str(one.get("number", f"HB 0001 {4410 + 8 * at}")), int(one["cents"]))
                for at, one in enumerate(accounts)
            ],
            [
                (
                    one["account"],
                    str(one["words"]),
                    int(one["cents"]),
                    now - int(one.get("days_ago", 1)) * DAY_MS,
                )
                for one in past
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
