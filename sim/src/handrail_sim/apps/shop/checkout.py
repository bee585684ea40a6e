"""From cart to order: an address form, the payment sheet that asks for a yes, a receipt."""

from __future__ import annotations

from handrail_sim.apps.shop.cart import ORDERED, sum_line
from handrail_sim.apps.shop.catalogue import money
from handrail_sim.apps.shop.store import Store, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import (
    Style,
    View,
    button,
    checkbox,
    column,
    field,
    header,
    icon,
    item,
    row,
    scroll,
    spinner,
    text,
    toolbar,
)

PAYING_MS = 1500
_FIELDS = {"name": "Name", "street": "Street and number", "city": "Postcode and city", "email": "Email"}


class Checkout(Activity):
    """`state["order"]` is the pending order; leaving the payment sheet keeps it, Cancel ends it."""

    title = "Checkout"

    def on_create(self) -> None:
        self.state.update(errors={}, order=0, paying=False, gift=False)

    @property
    def store(self) -> Store:
        return open_store(self.app)

    def build(self) -> View:
        total = self.store.total()
        return column(
            toolbar("Checkout", on_up=self.finish),
            scroll(
                column(
                    header("Delivery address", padding=(0.0, 8.0)),
                    *(self.input(name, hint) for name, hint in _FIELDS.items()),
                    checkbox("This is a gift", self.state["gift"], self.set_gift, id="gift"),
                    sum_line("Total", total, bold=True, name="total"),
                    button(f"Pay {money(total)}", self.pay, id="pay", width="fill"),
                    padding=16.0,
                    gap=8.0,
                ),
                height="wrap",
                weight=1.0,
                id="form",
            ),
            height="fill",
        )

    def input(self, name: str, hint: str) -> View:
        error = self.state["errors"].get(name, "")
        kind = "email" if name == "email" else "text"
        return column(
            field(name, hint=hint, input_type=kind, ime_action="done" if name == "email" else "next"),
            text(error, "error", id=f"{name}_error") if error else None,
        )

    def set_gift(self, checked: bool) -> None:
        self.state["gift"] = checked

    def pay(self) -> None:
        values = {name: self.field(name).strip() for name in _FIELDS}
        self.state["errors"] = _errors(values)
        if self.state["errors"]:
            return
        if not self.state["order"]:
            address = f"{values['street']}, {values['city']}"
            placed = self.store.place(values["name"], address, values["email"], self.phone.wall_ms())
            self.state["order"] = placed.id
        self.sheet(self.payment)

    def payment(self) -> View:
        """The sheet of the phone's wallet."""
        order = self.store.order(self.state["order"])
        paying = self.state["paying"]
        return column(
            row(icon("payment"), text("Confirm payment", "title", id="sheet_title"), gap=12.0),
            text(money(order.cents), "display", id="amount"),
            text("To Lantern Shop", id="payee"),
            item("Harbour card •• 41", "Debit", icon("bank"), id="card", padding=0.0),
            row(spinner(desc="Paying"), gravity="center", height=64.0) if paying else self.answers(),
            padding=(24.0, 0.0, 24.0, 24.0),
            gap=8.0,
        )

    def answers(self) -> View:
        return row(
            button("Cancel", self.cancel, "outlined", id="cancel_payment"),
            button("Pay now", self.approve, id="confirm_payment"),
            gap=16.0,
            height=64.0,
        )

    def approve(self) -> None:
        self.state["paying"] = True
        self.later(PAYING_MS, self.paid)

    def paid(self) -> None:
        self.store.pay(self.state["order"])
        self.dismiss()
        self.start("ReceiptActivity", then=self.closed, order=self.state["order"])

    def closed(self, _result: object) -> None:
        self.finish(ORDERED)

    def cancel(self) -> None:
        self.store.cancel(self.state["order"])
        self.state["order"] = 0
        self.dismiss()
        self.toast("Payment cancelled")


def _errors(values: dict[str, str]) -> dict[str, str]:
    errors = {name: f"{_FIELDS[name]} is required" for name, value in values.items() if not value}
    if values["email"] and "@" not in values["email"][1:-1]:
        errors["email"] = "This is not an email address"
    return errors


class Receipt(Activity):
    """The order is paid."""

    title = "Receipt"

    def build(self) -> View:
        order = open_store(self.app).order(int(self.extras["order"]))
        return column(
            icon("check_circle", size=72.0, style=Style(kind="icon", icon="check_circle", color="success")),
            text("Thank you for your order", "headline", id="thanks"),
            text(f"Order {order.number}", id="order_number"),
            text(f"{money(order.cents)} paid", id="paid"),
            text(f"A confirmation goes to {order.email}", "label"),
            button("Continue shopping", self.finish, id="continue"),
            height="fill",
            gravity="center",
            gap=12.0,
            padding=24.0,
        )
