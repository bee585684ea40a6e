"""Sending money: a form, a look at what was written, a second yes."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.bank.accounts import SecureActivity
from handrail_sim.apps.bank.ledger import money, read_amount
from handrail_sim.view import (
    View,
    button,
    column,
    field,
    header,
    icon,
    radio,
    row,
    scroll,
    spinner,
    text,
    toolbar,
)

SENDING_MS = 1200
SENT = "sent"


class Transfer(SecureActivity):
    """From which account, to whom, how much."""

    title = "Transfer"

    def on_create(self) -> None:
        self.state.update(source=1, error="")

    def build(self) -> View:
        return column(
            toolbar("Transfer", on_up=self.finish),
            scroll(
                column(
                    header("From", padding=0.0),
                    *(
                        radio(
                            f"{account.name}, {money(account.cents)}",
                            account.id == self.state["source"],
                            partial(self.use, account.id),
                            key=f"from:{account.id}",
                            id="source",
                            width="fill",
                        )
                        for account in self.bank.ledger().accounts()
                    ),
                    field("payee", hint="To: name or account number", ime_action="next"),
                    field("amount", hint="Amount", input_type="decimal", ime_action="next"),
                    field("reference", hint="Reference (optional)"),
                    text(self.state["error"], "error", id="error") if self.state["error"] else None,
                    button("Review", self.review, id="review", width="fill"),
                    padding=16.0,
                    gap=12.0,
                ),
                height="wrap",
                weight=1.0,
            ),
            height="fill",
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
        return column(
            toolbar("Confirm transfer", on_up=self.finish),
            scroll(self.summary(), height="wrap", weight=1.0),
            height="fill",
        )

    def summary(self) -> View:
        sending = self.state["sending"]
        reference = self.extras["reference"]
        return column(
            text(money(self.extras["cents"]), "display", id="amount"),
            text(f"To {self.extras['payee']}", "title", id="payee"),
            text(f"From {self.bank.ledger().account(self.extras['source']).name}", id="source"),
            text(f"Reference: {reference}", id="reference") if reference else None,
            row(
                button("Cancel", self.finish, "outlined", id="cancel", enabled=not sending),
                button("Confirm transfer", self.confirm, id="confirm", enabled=not sending),
                gap=16.0,
            ),
            spinner(desc="Sending") if sending else None,
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
        return column(
            icon("check", size=72.0),
            text("Transfer sent", "headline", id="sent"),
            text(f"{money(self.extras['cents'])} to {self.extras['payee']}", id="summary"),
            button("Done", self.finish, id="done"),
            height="fill",
            gravity="center",
            gap=16.0,
        )
