"""Harbour Bank: password, one-time code by SMS, and screens that forbid screenshots."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from handrail_sim.apps.bank.accounts import AccountPage, Accounts
from handrail_sim.apps.bank.ledger import Ledger
from handrail_sim.apps.bank.login import Code, Login
from handrail_sim.apps.bank.transfer import Confirm, Done, Transfer
from handrail_sim.system.activities import App


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

    def state(self) -> dict[str, Any]:
        """Looking must not leave a trace: before the first start the seeded ledger is told from memory."""
        signed_in = bool(self.prefs("session").get("signed_in", False))
        if self.phone.files.exists(f"{self.folder}/databases/bank.db"):
            return {"signed_in": signed_in, **self.ledger().state()}
        with closing(sqlite3.connect(":memory:")) as seeded:
            return {"signed_in": signed_in, **Ledger(seeded, self.phone.wall_ms()).state()}


APP = Bank
