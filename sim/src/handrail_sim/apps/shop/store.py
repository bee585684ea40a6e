"""Cart and orders, in the app's SQLite file. Knows prices through the catalogue, and no screen."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.apps.shop.catalogue import Catalogue, Product

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

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
        """What an order is of."""
        rows = self._database.execute(
            "SELECT product, quantity FROM order_lines WHERE order_id = ? ORDER BY rowid", (number,)
        )
        return [{"product": self._catalogue.product(one).name, "quantity": count} for one, count in rows]

    def orders(self) -> list[Order]:
        """The newest first."""
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
    """What this phone's shop sells."""
    return Catalogue(app.phone.world.get(app.package, ()))


def open_store(app: App) -> Store:
    """The cart and the orders of this app."""
    return Store(app.database("shop.db"), catalogue(app))
