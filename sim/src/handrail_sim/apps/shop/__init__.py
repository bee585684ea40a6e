"""Lantern Shop: an endless shelf, a cart, a checkout, and a payment that a person must approve."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from handrail_sim.apps.shop.browse import Main
from handrail_sim.apps.shop.cart import Cart
from handrail_sim.apps.shop.catalogue import given_product
from handrail_sim.apps.shop.checkout import Checkout, Receipt
from handrail_sim.apps.shop.orders import Orders
from handrail_sim.apps.shop.product_page import ProductPage
from handrail_sim.apps.shop.store import Store, open_store
from handrail_sim.system.activities import App
from handrail_sim.system.world import entries, needed


class Shop(App):
    """The shop; its state is what is in the cart and what became of every order."""

    package = "com.handrail.shop"
    label = "Shop"
    icon = "shop"
    version = "3.2.1"
    permissions = ("android.permission.INTERNET",)
    activities = {
        "MainActivity": Main,
        "ProductActivity": ProductPage,
        "CartActivity": Cart,
        "CheckoutActivity": Checkout,
        "ReceiptActivity": Receipt,
        "OrdersActivity": Orders,
    }

    def fill(self, given: Any) -> None:
        """Products with `name`, `cents`, `department`, `words`, `rating`, `reviews`: these and no others."""
        rows = entries(given, "shop", "name cents department words rating reviews").rows
        for number, row in enumerate(rows):
            needed(row, ("name", "cents"), f"shop[{number}]")
        self.phone.world[self.package] = [given_product(number, row) for number, row in enumerate(rows)]

    def state(self) -> dict[str, Any]:
        """Looking must not leave a trace: a shop that was never opened has an empty cart in memory."""
        if self.phone.files.exists(f"{self.folder}/databases/shop.db"):
            return open_store(self).state()
        with closing(sqlite3.connect(":memory:")) as empty:
            return Store(empty).state()


APP = Shop
