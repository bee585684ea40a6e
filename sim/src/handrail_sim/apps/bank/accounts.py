"""What is in the accounts. All of it is FLAG_SECURE."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from handrail_sim.apps.bank.ledger import Account, Entry, money
from handrail_sim.clock import iso_time
from handrail_sim.system.activities import Activity
from handrail_sim.view import (
    Style,
    View,
    button,
    card,
    column,
    header,
    icon_button,
    item,
    lazy_list,
    scroll,
    text,
    toolbar,
)

if TYPE_CHECKING:
    from handrail_sim.apps.bank import Bank


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
        return column(
            toolbar("Accounts", icon_button("logout", "Sign out", self.sign_out, id="sign_out")),
            scroll(
                column(
                    card(text("Total", "label"), text(money(total), "display", id="total")),
                    *map(self.account, accounts),
                    button(
                        "Transfer money", partial(self.start, "TransferActivity"), id="transfer", margin=16.0
                    ),
                ),
                height="wrap",
                weight=1.0,
            ),
            height="fill",
        )

    def account(self, account: Account) -> View:
        amount = text(money(account.cents), "subtitle", id="balance")
        open_it = partial(self.start, "AccountActivity", account=account.id)
        return item(account.name, account.number, trailing=amount, on_click=open_it, id="account")

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
        return column(
            toolbar(account.name, on_up=self.finish),
            card(
                text(account.number, "label", id="number"),
                text(money(account.cents), "display", id="balance"),
            ),
            header("Recent"),
            lazy_list(ledger.entries(account.id), _entry, id="entries", height="wrap", weight=1.0),
            height="fill",
        )


def _entry(entry: Entry) -> View:
    colour = "success" if entry.cents > 0 else ""
    amount = text(money(entry.cents), style=Style(kind="text", size=16.0, color=colour), id="amount")
    return item(entry.words, iso_time(entry.when_ms)[:10], trailing=amount, id="entry")
