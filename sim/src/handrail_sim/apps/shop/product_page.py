"""One product: picture, price, how many, and into the cart."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.shop.browse import PRICE, cart_button
from handrail_sim.apps.shop.catalogue import Product, money
from handrail_sim.apps.shop.store import MOST, catalogue, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import (
    Style,
    View,
    button,
    column,
    divider,
    icon_button,
    image,
    item,
    row,
    scroll,
    spacer,
    text,
    toolbar,
)

_REVIEWS = (
    ("Does what it says", "Bought a second one for my neighbour."),
    ("Smaller than I thought", "Still good. Measure first."),
    ("Third winter, no complaints", "The spare part came in handy."),
    ("Quick delivery", "The parcel was here the next day."),
)


def stepper(quantity: int, less: partial[None], more: partial[None], name: str = "") -> View:
    """Minus, a number, plus."""
    of = f" of {name}" if name else ""
    return row(
        icon_button("remove", f"Decrease quantity{of}", less, id="less", enabled=quantity > 1 or bool(name)),
        text(str(quantity), "subtitle", id="quantity", desc=f"Quantity {quantity}"),
        icon_button("add", f"Increase quantity{of}", more, id="more", enabled=quantity < MOST),
        width="wrap",
        gap=8.0,
    )


class ProductPage(Activity):
    """`extras["number"]` says which."""

    title = "Product"

    def on_create(self) -> None:
        self.state["quantity"] = 1

    def build(self) -> View:
        shown = catalogue(self.app).product(int(self.extras["number"]))
        return column(
            toolbar(shown.name, cart_button(self, self.cart_closed), on_up=self.finish),
            scroll(self.details(shown), height="wrap", weight=1.0, id="page"),
            row(
                stepper(self.state["quantity"], partial(self.change, -1), partial(self.change, 1)),
                spacer(weight=1.0),
                button("Add to cart", partial(self.add, shown.number), id="add_to_cart"),
                padding=(16.0, 12.0),
                style=Style(kind="bottom_bar", background="surface_container"),
            ),
            height="fill",
        )

    def details(self, shown: Product) -> View:
        return column(
            image(shown.picture, shown.name, width="fill", height=280.0, id="photo"),
            column(
                text(shown.name, "headline", id="name"),
                text(money(shown.cents), id="price", style=PRICE),
                text(f"{shown.rating:.1f} out of 5, {shown.reviews} reviews", "label", id="rating"),
                text(shown.words, id="description"),
                text(f"Department: {shown.department}", "label", id="department"),
                padding=16.0,
                gap=8.0,
            ),
            divider(),
            text("Reviews", "title", padding=(16.0, 12.0)),
            *(item(head, words, key=head) for head, words in _REVIEWS),
        )

    def change(self, by: int) -> None:
        self.state["quantity"] = max(1, min(MOST, self.state["quantity"] + by))

    def add(self, number: int) -> None:
        open_store(self.app).add(number, self.state["quantity"])
        self.snackbar("Added to cart", "View", self.open_cart)

    def open_cart(self) -> None:
        self.start("CartActivity", then=self.cart_closed)

    def cart_closed(self, result: object) -> None:
        if result == "ordered":
            self.finish()
