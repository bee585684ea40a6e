"""What is in the cart, how many of each, and what it comes to."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.shop.browse import PRICE
from handrail_sim.apps.shop.catalogue import money
from handrail_sim.apps.shop.product_page import stepper
from handrail_sim.apps.shop.store import Line, Store, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import (
    Style,
    View,
    button,
    column,
    icon,
    icon_button,
    image,
    lazy_list,
    row,
    spacer,
    text,
    toolbar,
)

ORDERED = "ordered"


def sum_line(words: str, cents: int, bold: bool = False, name: str = "") -> View:
    """Words on the left, an amount on the right."""
    style = Style(kind="text", size=16.0, bold=bold)
    amount = "Free" if cents == 0 and words == "Shipping" else money(cents)
    return row(text(words, style=style), spacer(weight=1.0), text(amount, style=style, id=name))


class Cart(Activity):
    """Lines, sums, checkout."""

    title = "Cart"

    @property
    def store(self) -> Store:
        return open_store(self.app)

    def build(self) -> View:
        lines = self.store.cart()
        body = self.filled(lines) if lines else self.empty()
        return column(toolbar("Cart", on_up=self.finish), *body, height="fill")

    def empty(self) -> list[View]:
        return [
            column(
                icon("cart", size=72.0),
                text("Your cart is empty", "title", id="empty"),
                button("Continue shopping", self.finish, "tonal", id="continue"),
                height="wrap",
                weight=1.0,
                gravity="center",
                gap=16.0,
            )
        ]

    def filled(self, lines: list[Line]) -> list[View]:
        store = self.store
        return [
            lazy_list(lines, self.line, item_key=_key, id="lines", height="wrap", weight=1.0),
            column(
                sum_line("Subtotal", store.subtotal(), name="subtotal"),
                sum_line("Shipping", store.shipping(), name="shipping"),
                sum_line("Total", store.total(), bold=True, name="total"),
                button("Checkout", self.checkout, id="checkout", width="fill"),
                padding=16.0,
                gap=8.0,
                style=Style(kind="bottom_bar", background="surface_container"),
            ),
        ]

    def checkout(self) -> None:
        self.start("CheckoutActivity", then=self.closed)

    def closed(self, result: object) -> None:
        """Nothing is left to look at once it is ordered."""
        if result == ORDERED:
            self.finish(ORDERED)

    def line(self, line: Line) -> View:
        number, name = line.product.number, line.product.name
        return row(
            image(line.product.picture, name, width=72.0, height=72.0, id="photo"),
            column(
                text(name, "subtitle", id="name"),
                text(money(line.cents), id="price", style=PRICE),
                stepper(
                    line.quantity,
                    partial(self.set, number, line.quantity - 1),
                    partial(self.set, number, line.quantity + 1),
                    name,
                ),
                width="wrap",
                weight=1.0,
                gap=4.0,
            ),
            icon_button("delete", f"Remove {name}", partial(self.set, number, 0), id="remove"),
            gap=16.0,
            padding=(16.0, 8.0),
            id="line",
        )

    def set(self, number: int, quantity: int) -> None:
        self.store.set_quantity(number, quantity)


def _key(line: Line) -> str:
    return str(line.product.number)
