"""Lantern Shop: an endless shelf, a cart, a checkout, and a payment that a person must approve."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.surroundings import is_online, transfer_ms
from handrail_sim.system.world import entries, needed
from handrail_sim.view import Style, View

PAGE = 12
REACH = 1540  # how far a search looks: twenty series of everything
_THINGS = (
    ("Mug", "mug", 900),
    ("Kettle", "kettle", 3400),
    ("Lamp", "lamp", 4200),
    ("Notebook", "notebook", 650),
    ("Umbrella", "umbrella", 2400),
    ("Backpack", "backpack", 5900),
    ("Plant pot", "plant", 1800),
    ("Headphones", "headphones", 7900),
    ("Wool blanket", "blanket", 4900),
    ("Wall clock", "clock", 3100),
    ("Water bottle", "bottle", 1500),
)
_MAKES = ("Blue", "Enamel", "Travel", "Oak", "Quiet", "Little", "Harbour")
_PRODUCT_WORDS = (
    "Made to be used every day and to be mended when it breaks.",
    "Holds its colour in sun and rain.",
    "Packed flat, put together in ten minutes without tools.",
    "Comes with a spare part, because the first one always gets lost.",
    "Tested for two winters on a small island.",
)
DEPARTMENTS = ("All", "Kitchen", "Home", "Travel")
_DEPARTMENT = {
    "mug": "Kitchen",
    "kettle": "Kitchen",
    "bottle": "Travel",
    "umbrella": "Travel",
    "backpack": "Travel",
    "headphones": "Travel",
}


@dataclass(frozen=True, slots=True)
class Product:
    """One thing for sale; the price is in cents."""

    number: int
    name: str
    picture: str
    cents: int
    rating: float
    reviews: int
    words: str
    department: str


@lru_cache(maxsize=2048)
def product(number: int) -> Product:
    """The n-th product, from 0. 7 makes and 11 things share no factor: 77 products before a name returns."""
    thing, picture, base = _THINGS[number % len(_THINGS)]
    series = number // (len(_THINGS) * len(_MAKES))
    name = f"{_MAKES[number % len(_MAKES)]} {thing.lower()}" + (f" No. {series + 1}" if series else "")
    return Product(
        number,
        name,
        f"product:{name.lower()}",
        base + 50 * (number * 7 % 13),
        3.0 + number * 7 % 21 / 10,
        4 + number * 37 % 480,
        _PRODUCT_WORDS[number % len(_PRODUCT_WORDS)],
        _DEPARTMENT.get(picture, "Home"),
    )


class Catalogue:
    """The products of one phone: those that it was given, else the endless shelf."""

    def __init__(self, products: Sequence[Product] = ()) -> None:
        self._configured = products

    def product(self, number: int) -> Product:
        return self._configured[number] if self._configured else product(number)

    def shelf(self, count: int, department: str = "All", query: str = "") -> list[Product]:
        """The first `count` products of a department whose names hold the query."""
        wanted = query.strip().casefold()
        matches = (
            entry
            for entry in self._configured or map(product, range(REACH))
            if department in ("All", entry.department) and wanted in entry.name.casefold()
        )
        return list(islice(matches, count))


def configured_product(number: int, row: Mapping[str, Any]) -> Product:
    """One from a phone's world; what it does not say is as it is for the product with this number."""
    usual = product(number)
    name = str(row["name"])
    kind = next((picture for thing, picture, _ in _THINGS if thing.casefold() in name.casefold()), "")
    return Product(
        number,
        name,
        f"product:{name.lower()}",
        int(row["cents"]),
        float(row.get("rating", usual.rating)),
        int(row.get("reviews", usual.reviews)),
        str(row.get("words", usual.words)),
        str(row.get("department", _DEPARTMENT.get(kind, "Home"))),
    )


def money(cents: int) -> str:
    """`€12.50`"""
    return f"€{cents // 100}.{cents % 100:02d}"


MOST = 9
SHIPPING_CENTS = 490
FREE_FROM_CENTS = 6000


@dataclass(frozen=True, slots=True)
class Line:
    """One product in the cart."""

    product: Product
    quantity: int

    @property
    def cents(self) -> int:
        return self.product.cents * self.quantity


@dataclass(frozen=True, slots=True)
class Order:
    """What was or will be bought. Status: pending, paid, cancelled."""

    id: int
    status: str
    cents: int
    name: str
    address: str
    email: str
    placed_ms: int

    @property
    def number(self) -> str:
        return f"HR-{10400 + self.id}"


class Store:
    """The tables `cart`, `orders` and `order_lines`."""

    def __init__(self, database: sqlite3.Connection, catalogue: Catalogue | None = None) -> None:
        self._database = database
        self._catalogue = catalogue or Catalogue()
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create()

    def _create(self) -> None:
        for statement in (
            "CREATE TABLE cart (product INTEGER PRIMARY KEY, quantity INTEGER NOT NULL)",
            "CREATE TABLE orders (_id INTEGER PRIMARY KEY AUTOINCREMENT, status TEXT NOT NULL, "
            "cents INTEGER NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, email TEXT NOT NULL, "
            "placed INTEGER NOT NULL)",
            "CREATE TABLE order_lines (order_id INTEGER NOT NULL, product INTEGER NOT NULL, "
            "quantity INTEGER NOT NULL)",
            "PRAGMA user_version = 1",
        ):
            self._database.execute(statement)
        self._database.commit()

    def cart(self) -> list[Line]:
        rows = self._database.execute("SELECT product, quantity FROM cart ORDER BY rowid")
        return [Line(self._catalogue.product(number), quantity) for number, quantity in rows]

    def count(self) -> int:
        return sum(line.quantity for line in self.cart())

    def set_quantity(self, number: int, quantity: int) -> None:
        """0 takes the product out."""
        if quantity <= 0:
            self._database.execute("DELETE FROM cart WHERE product = ?", (number,))
        else:
            self._database.execute(
                "INSERT INTO cart VALUES (?, ?) "
                "ON CONFLICT (product) DO UPDATE SET quantity = excluded.quantity",
                (number, min(quantity, MOST)),
            )
        self._database.commit()

    def add(self, number: int, quantity: int = 1) -> None:
        held = next((line.quantity for line in self.cart() if line.product.number == number), 0)
        self.set_quantity(number, held + quantity)

    def subtotal(self) -> int:
        return sum(line.cents for line in self.cart())

    def shipping(self) -> int:
        return 0 if self.subtotal() >= FREE_FROM_CENTS else SHIPPING_CENTS

    def total(self) -> int:
        return self.subtotal() + self.shipping()

    def place(self, name: str, address: str, email: str, now_ms: int) -> Order:
        """A pending order of what is in the cart; the cart stays until it is paid."""
        cursor = self._database.execute(
            "INSERT INTO orders (status, cents, name, address, email, placed) "
            "VALUES ('pending', ?, ?, ?, ?, ?)",
            (self.total(), name, address, email, now_ms),
        )
        number = int(cursor.lastrowid or 0)
        self._database.executemany(
            "INSERT INTO order_lines VALUES (?, ?, ?)",
            [(number, line.product.number, line.quantity) for line in self.cart()],
        )
        self._database.commit()
        return self.order(number)

    def pay(self, number: int) -> None:
        self._settle(number, "paid")
        self._database.execute("DELETE FROM cart")
        self._database.commit()

    def cancel(self, number: int) -> None:
        self._settle(number, "cancelled")
        self._database.commit()

    def _settle(self, number: int, status: str) -> None:
        self._database.execute(
            "UPDATE orders SET status = ? WHERE _id = ? AND status = 'pending'", (status, number)
        )

    def order(self, number: int) -> Order:
        row = self._database.execute(
            "SELECT _id, status, cents, name, address, email, placed FROM orders WHERE _id = ?", (number,)
        ).fetchone()
        return Order(*row)

    def lines(self, number: int) -> list[dict[str, object]]:
        rows = self._database.execute(
            "SELECT product, quantity FROM order_lines WHERE order_id = ? ORDER BY rowid", (number,)
        )
        return [{"product": self._catalogue.product(entry).name, "quantity": count} for entry, count in rows]

    def orders(self) -> list[Order]:
        rows = self._database.execute(
            "SELECT _id, status, cents, name, address, email, placed FROM orders ORDER BY _id DESC"
        )
        return [Order(*row) for row in rows]

    def state(self) -> dict[str, object]:
        """Cart and orders as `sim state` shows them."""
        return {
            "cart": [
                {"product": line.product.name, "quantity": line.quantity, "cents": line.cents}
                for line in self.cart()
            ],
            "total_cents": self.total() if self.cart() else 0,
            "orders": [
                {
                    "number": order.number,
                    "status": order.status,
                    "cents": order.cents,
                    "name": order.name,
                    "address": order.address,
                    "email": order.email,
                    "lines": self.lines(order.id),
                }
                for order in self.orders()
            ],
        }


def catalogue(app: App) -> Catalogue:
    return Catalogue(app.phone.world.get(app.package, ()))


def open_store(app: App) -> Store:
    return Store(app.database("shop.db"), catalogue(app))


LOADING_MS = 900
SHELF_KB = 240.0
PRICE = Style(kind="text", size=16.0, bold=True, color="primary")


def cart_button(activity: Activity, then: Callable[[object], None] | None = None) -> View:
    count = open_store(activity.app).count()
    words = f"Cart, {count} item{'' if count == 1 else 's'}" if count else "Cart, empty"
    return ui.icon_button("cart", words, partial(activity.start, "CartActivity", then=then), id="cart")


class Main(Activity):
    """`state["pages"]` is how far the shelf has been loaded; `loading` while the next page is on its way."""

    title = "Lantern Shop"

    def on_create(self) -> None:
        self.state.update(pages=1, loading=False, department="All", query="")

    def build(self) -> View:
        return ui.screen(
            ui.toolbar(
                "Lantern Shop",
                ui.icon_button("receipt", "Orders", partial(self.start, "OrdersActivity"), id="orders"),
                cart_button(self),
            ),
            ui.field(
                "search",
                hint="Search products",
                on_change=self.search,
                margin=(16.0, 4.0),
                ime_action="search",
            ),
            ui.hscroll(
                ui.row(*map(self.department, DEPARTMENTS), width="wrap", gap=8.0, padding=(16.0, 8.0))
            ),
            self.shelf(),
        )

    def department(self, name: str) -> View:
        return ui.chip(
            name, name == self.state["department"], partial(self.show, name), key=f"department:{name}"
        )

    def shelf(self) -> View:
        products: list[Product | None] = [
            *catalogue(self.app).shelf(
                self.state["pages"] * PAGE, self.state["department"], self.state["query"]
            )
        ]
        return ui.lazy_list(
            [*products, None],
            self.tile,
            item_key=_product_key,
            id="products",
            key=f"products:{self.state['department']}",
            weight=1.0,
            on_end=self.load_more,
        )

    def tile(self, product: Product | None) -> View:
        if product is None:
            return ui.row(
                ui.spinner(id="loading", desc="Loading"),
                height=96.0,
                gravity="center",
                visible=self.state["loading"],
            )
        return ui.card(
            ui.row(
                ui.image(product.picture, product.name, id="photo"),
                ui.column(
                    ui.text(product.name, "subtitle", id="name"),
                    ui.text(money(product.cents), id="price", style=PRICE),
                    ui.text(f"{product.rating:.1f} ★ ({product.reviews})", "caption", id="rating"),
                    weight=1.0,
                    gap=4.0,
                ),
                ui.icon_button(
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


def _product_key(product: Product | None) -> str:
    return "end" if product is None else str(product.number)


_REVIEWS = (
    ("Does what it says", "Bought a second one for my neighbour."),
    ("Smaller than I thought", "Still good. Measure first."),
    ("Third winter, no complaints", "The spare part came in handy."),
    ("Quick delivery", "The parcel was here the next day."),
)


def stepper(quantity: int, less: partial[None], more: partial[None], name: str = "") -> View:
    of = f" of {name}" if name else ""
    return ui.row(
        ui.icon_button(
            "remove", f"Decrease quantity{of}", less, id="less", enabled=quantity > 1 or bool(name)
        ),
        ui.text(str(quantity), "subtitle", id="quantity", desc=f"Quantity {quantity}"),
        ui.icon_button("add", f"Increase quantity{of}", more, id="more", enabled=quantity < MOST),
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
        return ui.screen(
            ui.toolbar(shown.name, cart_button(self, self.cart_closed), on_up=self.finish),
            ui.scroll(self.details(shown), weight=1.0, id="page"),
            ui.row(
                stepper(self.state["quantity"], partial(self.change, -1), partial(self.change, 1)),
                ui.spacer(weight=1.0),
                ui.button("Add to cart", partial(self.add, shown.number), id="add_to_cart"),
                padding=(16.0, 12.0),
                style=Style(kind="bottom_bar", background="surface_container"),
            ),
        )

    def details(self, shown: Product) -> View:
        return ui.column(
            ui.image(shown.picture, shown.name, width="fill", height=280.0, id="photo"),
            ui.column(
                ui.text(shown.name, "headline", id="name"),
                ui.text(money(shown.cents), id="price", style=PRICE),
                ui.text(f"{shown.rating:.1f} out of 5, {shown.reviews} reviews", "label", id="rating"),
                ui.text(shown.words, id="description"),
                ui.text(f"Department: {shown.department}", "label", id="department"),
                padding=16.0,
                gap=8.0,
            ),
            ui.divider(),
            ui.text("Reviews", "title", padding=(16.0, 12.0)),
            *(ui.item(head, words, key=head) for head, words in _REVIEWS),
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


ORDERED = "ordered"


def sum_line(words: str, cents: int, bold: bool = False, name: str = "") -> View:
    style = Style(kind="text", size=16.0, bold=bold)
    amount = "Free" if cents == 0 and words == "Shipping" else money(cents)
    return ui.row(ui.text(words, style=style), ui.spacer(weight=1.0), ui.text(amount, style=style, id=name))


class Cart(Activity):
    """Lines, sums, checkout."""

    title = "Cart"

    @property
    def store(self) -> Store:
        return open_store(self.app)

    def build(self) -> View:
        lines = self.store.cart()
        body = self.filled(lines) if lines else self.empty()
        return ui.screen(ui.toolbar("Cart", on_up=self.finish), *body)

    def empty(self) -> list[View]:
        return [
            ui.message(
                ui.icon("cart", size=72.0),
                ui.text("Your cart is empty", "title", id="empty"),
                ui.button("Continue shopping", self.finish, "tonal", id="continue"),
            )
        ]

    def filled(self, lines: list[Line]) -> list[View]:
        store = self.store
        return [
            ui.lazy_list(lines, self.line, item_key=_cart_line_key, id="lines", weight=1.0),
            ui.column(
                sum_line("Subtotal", store.subtotal(), name="subtotal"),
                sum_line("Shipping", store.shipping(), name="shipping"),
                sum_line("Total", store.total(), bold=True, name="total"),
                ui.button("Checkout", self.checkout, id="checkout", width="fill"),
                padding=16.0,
                gap=8.0,
                style=Style(kind="bottom_bar", background="surface_container"),
            ),
        ]

    def checkout(self) -> None:
        self.start("CheckoutActivity", then=self.closed)

    def closed(self, result: object) -> None:
        if result == ORDERED:
            self.finish(ORDERED)

    def line(self, line: Line) -> View:
        number, name = line.product.number, line.product.name
        return ui.row(
            ui.image(line.product.picture, name, width=72.0, height=72.0, id="photo"),
            ui.column(
                ui.text(name, "subtitle", id="name"),
                ui.text(money(line.cents), id="price", style=PRICE),
                stepper(
                    line.quantity,
                    partial(self.set, number, line.quantity - 1),
                    partial(self.set, number, line.quantity + 1),
                    name,
                ),
                weight=1.0,
                gap=4.0,
            ),
            ui.icon_button("delete", f"Remove {name}", partial(self.set, number, 0), id="remove"),
            gap=16.0,
            padding=(16.0, 8.0),
            id="line",
        )

    def set(self, number: int, quantity: int) -> None:
        self.store.set_quantity(number, quantity)


def _cart_line_key(line: Line) -> str:
    return str(line.product.number)


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
        return ui.screen(
            ui.toolbar("Checkout", on_up=self.finish),
            ui.scroll(
                ui.column(
                    ui.header("Delivery address", padding=(0.0, 8.0)),
                    *(self.input(name, hint) for name, hint in _FIELDS.items()),
                    ui.checkbox("This is a gift", self.state["gift"], self.sets("gift"), id="gift"),
                    sum_line("Total", total, bold=True, name="total"),
                    ui.button(f"Pay {money(total)}", self.pay, id="pay", width="fill"),
                    padding=16.0,
                    gap=8.0,
                ),
                weight=1.0,
                id="form",
            ),
        )

    def input(self, name: str, hint: str) -> View:
        error = self.state["errors"].get(name, "")
        kind = "email" if name == "email" else "text"
        return ui.column(
            ui.field(name, hint=hint, input_type=kind, ime_action="done" if name == "email" else "next"),
            ui.text(error, "error", id=f"{name}_error") if error else None,
        )

    def pay(self) -> None:
        values = {name: self.field(name).strip() for name in _FIELDS}
        errors = {name: f"{_FIELDS[name]} is required" for name, value in values.items() if not value}
        if values["email"] and "@" not in values["email"][1:-1]:
            errors["email"] = "This is not an email address"
        self.state["errors"] = errors
        if self.state["errors"]:
            return
        if not self.state["order"]:
            address = f"{values['street']}, {values['city']}"
            placed = self.store.place(values["name"], address, values["email"], self.phone.wall_ms())
            self.state["order"] = placed.id
        self.sheet(self.payment)

    def payment(self) -> View:
        order = self.store.order(self.state["order"])
        paying = self.state["paying"]
        return ui.column(
            ui.row(ui.icon("payment"), ui.text("Confirm payment", "title", id="sheet_title"), gap=12.0),
            ui.text(money(order.cents), "display", id="amount"),
            ui.text("To Lantern Shop", id="payee"),
            ui.item("Harbour card •• 41", "Debit", ui.icon("bank"), id="card", padding=0.0),
            ui.row(ui.spinner(desc="Paying"), gravity="center", height=64.0) if paying else self.answers(),
            padding=(24.0, 0.0, 24.0, 24.0),
            gap=8.0,
        )

    def answers(self) -> View:
        return ui.row(
            ui.button("Cancel", self.cancel, "outlined", id="cancel_payment"),
            ui.button("Pay now", self.approve, id="confirm_payment"),
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


class Receipt(Activity):
    """The order is paid."""

    title = "Receipt"

    def build(self) -> View:
        order = open_store(self.app).order(int(self.extras["order"]))
        return ui.message(
            ui.icon(
                "check_circle", size=72.0, style=Style(kind="icon", icon="check_circle", color="success")
            ),
            ui.text("Thank you for your order", "headline", id="thanks"),
            ui.text(f"Order {order.number}", id="order_number"),
            ui.text(f"{money(order.cents)} paid", id="paid"),
            ui.text(f"A confirmation goes to {order.email}", "label"),
            ui.button("Continue shopping", self.finish, id="continue"),
            height="fill",
            gap=12.0,
            padding=24.0,
        )


_WORDS = {"pending": "Waiting for payment", "paid": "Paid", "cancelled": "Cancelled"}


class Orders(Activity):
    """The newest first."""

    title = "Orders"

    def build(self) -> View:
        orders = open_store(self.app).orders()
        return ui.screen(
            ui.toolbar("Orders", on_up=self.finish),
            ui.lazy_list(orders, _row, item_key=_order_key, id="orders", weight=1.0)
            if orders
            else ui.text("No orders yet", padding=16.0, id="empty"),
        )


def _row(order: Order) -> View:
    status = ui.chip(_WORDS[order.status], order.status == "paid", clickable=False, id="status", checked=None)
    return ui.item(f"Order {order.number}", money(order.cents), ui.icon("receipt"), status, id="order")


def _order_key(order: Order) -> str:
    return order.number


@declared
class Shop(App):
    """The shop; its state is what is in the cart and what became of every order."""

    activities = {
        "MainActivity": Main,
        "ProductActivity": ProductPage,
        "CartActivity": Cart,
        "CheckoutActivity": Checkout,
        "ReceiptActivity": Receipt,
        "OrdersActivity": Orders,
    }

    def fill(self, content: Any) -> None:
        """Products with `name`, `cents`, `department`, `words`, `rating`, `reviews`: these and no others."""
        rows = entries(content, "shop", "name cents department words rating reviews").rows
        for number, entry in enumerate(rows):
            needed(entry, ("name", "cents"), f"shop[{number}]")
        self.phone.world[self.package] = [
            configured_product(number, entry) for number, entry in enumerate(rows)
        ]

    def state(self) -> dict[str, Any]:
        """Looking must not leave a trace: a shop that was never opened has an empty cart in memory."""
        if self.phone.files.exists(f"{self.folder}/databases/shop.db"):
            return open_store(self).state()
        with closing(sqlite3.connect(":memory:")) as empty:
            return Store(empty).state()


APP = Shop
