"""The shop's first screen: search, departments, and a shelf that loads another page at its end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from handrail_sim.apps.shop.catalogue import DEPARTMENTS, PAGE, Product, money
from handrail_sim.apps.shop.store import catalogue, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.system.surroundings import is_online, transfer_ms
from handrail_sim.view import (
    Style,
    View,
    card,
    chip,
    column,
    field,
    hscroll,
    icon_button,
    image,
    lazy_list,
    row,
    spinner,
    text,
    toolbar,
)

LOADING_MS = 900
SHELF_KB = 240.0
PRICE = Style(kind="text", size=16.0, bold=True, color="primary")


def cart_button(activity: Activity, then: Callable[[object], None] | None = None) -> View:
    """The cart with the number of things in it, said aloud as shops do."""
    count = open_store(activity.app).count()
    words = f"Cart, {count} item{'' if count == 1 else 's'}" if count else "Cart, empty"
    return icon_button("cart", words, partial(activity.start, "CartActivity", then=then), id="cart")


class Main(Activity):
    """`state["pages"]` is how far the shelf has been loaded; `loading` while the next page is on its way."""

    title = "Lantern Shop"

    def on_create(self) -> None:
        self.state.update(pages=1, loading=False, department="All", query="")

    def build(self) -> View:
        return column(
            toolbar(
                "Lantern Shop",
                icon_button("receipt", "Orders", partial(self.start, "OrdersActivity"), id="orders"),
                cart_button(self),
            ),
            field(
                "search",
                hint="Search products",
                on_change=self.search,
                margin=(16.0, 4.0),
                ime_action="search",
            ),
            hscroll(row(*map(self.department, DEPARTMENTS), width="wrap", gap=8.0, padding=(16.0, 8.0))),
            self.shelf(),
            height="fill",
        )

    def department(self, name: str) -> View:
        return chip(
            name, name == self.state["department"], partial(self.show, name), key=f"department:{name}"
        )

    def shelf(self) -> View:
        found: list[Product | None] = [
            *catalogue(self.app).shelf(
                self.state["pages"] * PAGE, self.state["department"], self.state["query"]
            )
        ]
        return lazy_list(
            [*found, None],
            self.tile,
            item_key=_key,
            id="products",
            key=f"products:{self.state['department']}",
            height="wrap",
            weight=1.0,
            on_end=self.load_more,
        )

    def tile(self, product: Product | None) -> View:
        if product is None:
            return row(
                spinner(id="loading", desc="Loading"),
                height=96.0,
                gravity="center",
                visible=self.state["loading"],
            )
        return card(
            row(
                image(product.picture, product.name, id="photo"),
                column(
                    text(product.name, "subtitle", id="name"),
                    text(money(product.cents), id="price", style=PRICE),
                    text(f"{product.rating:.1f} ★ ({product.reviews})", "caption", id="rating"),
                    width="wrap",
                    weight=1.0,
                    gap=4.0,
                ),
                icon_button(
                    "add", f"Add {product.name} to cart", partial(self.add, product.number), id="add"
                ),
                gap=16.0,
            ),
            id="product",
            padding=12.0,
            on_click=partial(self.start, "ProductActivity", number=product.number),
        )

    def add(self, number: int) -> None:
        open_store(self.app).add(number)
        self.toast("Added to cart")

    def show(self, name: str) -> None:
        self.state["department"] = name

    def search(self, words: str) -> None:
        self.state["query"] = words

    def load_more(self) -> None:
        if not self.state["loading"]:
            self.state["loading"] = True
            self.later(LOADING_MS + (transfer_ms(self.phone, SHELF_KB) or 0.0), self.loaded)

    def loaded(self) -> None:
        if not is_online(self.phone):
            self.state["loading"] = False
            self.snackbar("No connection", "Retry", self.load_more)
            return
        self.state.update(loading=False, pages=self.state["pages"] + 1)


def _key(product: Product | None) -> str:
    return "end" if product is None else str(product.number)
