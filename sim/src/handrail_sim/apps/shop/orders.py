"""All orders and what became of them."""

from __future__ import annotations

from handrail_sim.apps.shop.catalogue import money
from handrail_sim.apps.shop.store import Order, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, chip, column, icon, item, lazy_list, text, toolbar

_WORDS = {"pending": "Waiting for payment", "paid": "Paid", "cancelled": "Cancelled"}


class Orders(Activity):
    """The newest first."""

    title = "Orders"

    def build(self) -> View:
        orders = open_store(self.app).orders()
        return column(
            toolbar("Orders", on_up=self.finish),
            lazy_list(orders, _row, item_key=_key, id="orders", height="wrap", weight=1.0)
            if orders
            else text("No orders yet", padding=16.0, id="empty"),
            height="fill",
        )


def _row(order: Order) -> View:
    status = chip(_WORDS[order.status], order.status == "paid", clickable=False, id="status", checked=None)
    return item(f"Order {order.number}", money(order.cents), icon("receipt"), status, id="order")


def _key(order: Order) -> str:
    return order.number
