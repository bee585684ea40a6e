"""Buying something, from the shelf to the receipt."""

from handrail_sim.apps.shop import Catalogue, money, product
from tests.apps.person import Person

SHOP = "com.handrail.shop"


def at_checkout() -> Person:
    person = Person("shop")
    person.open(SHOP)
    person.tap(product(1).name)
    person.tap("Add to cart")
    person.tap("cart")
    person.tap("Checkout")
    person.type("Ada Marrow", "name")
    person.type("3 Quay Lane", "street")
    person.type("10001 Harbour", "city")
    person.type("ada@harbour.example", "email")
    return person


def test_a_thing_is_bought_and_paid_for() -> None:
    person = at_checkout()
    person.scroll_to("pay")
    person.tap("pay")
    assert person.sees("Confirm payment")
    assert [order["status"] for order in person.state(SHOP)["orders"]] == ["pending"]
    person.tap("Pay now")
    person.wait(2000)
    assert person.sees("Thank you for your order")
    state = person.state(SHOP)
    assert [order["status"] for order in state["orders"]] == ["paid"]
    assert state["cart"] == []


def test_a_cancelled_payment_leaves_the_cart_as_it_was() -> None:
    person = at_checkout()
    person.scroll_to("pay")
    person.tap("pay")
    person.tap("Cancel")
    state = person.state(SHOP)
    assert [order["status"] for order in state["orders"]] == ["cancelled"]
    assert state["cart"][0]["product"] == product(1).name
    assert person.sees("Checkout")


def test_back_out_of_the_payment_sheet_keeps_the_order_waiting() -> None:
    person = at_checkout()
    person.scroll_to("pay")
    person.tap("pay")
    person.back()
    assert not person.sees("Confirm payment")
    assert [order["status"] for order in person.state(SHOP)["orders"]] == ["pending"]
    person.tap("pay")
    person.tap("Pay now")
    person.wait(2000)
    assert [order["status"] for order in person.state(SHOP)["orders"]] == ["paid"]


def test_a_snapshot_of_the_payment_sheet_can_be_paid_twice() -> None:
    person = at_checkout()
    person.scroll_to("pay")
    person.tap("pay")
    person.phone.snapshot("asked")
    for _ in range(2):
        person.phone.restore("asked")
        assert [order["status"] for order in person.state(SHOP)["orders"]] == ["pending"]
        person.tap("Pay now")
        person.wait(2000)
        assert [order["status"] for order in person.state(SHOP)["orders"]] == ["paid"]


def test_a_form_with_gaps_is_not_sent() -> None:
    person = Person("shop")
    person.open(SHOP)
    person.tap(f"Add {product(0).name} to cart")
    person.tap("cart")
    person.tap("Checkout")
    person.scroll_to("pay")
    person.tap("pay")
    assert person.sees("Name is required")
    assert person.state(SHOP)["orders"] == []


def test_the_cart_counts_and_forgets() -> None:
    person = Person("shop")
    person.open(SHOP)
    name = product(0).name
    person.tap(f"Add {name} to cart")
    assert person.sees("Cart, 1 item")
    person.tap("cart")
    person.tap(f"Increase quantity of {name}")
    assert person.state(SHOP)["cart"] == [{"product": name, "quantity": 2, "cents": 2 * product(0).cents}]
    person.tap(f"Remove {name}")
    assert person.sees("Your cart is empty")


def test_the_shelf_loads_another_page_at_its_end() -> None:
    person = Person("shop")
    person.open(SHOP)
    person.scroll_to(product(20).name, most=25)


def test_search_and_departments_narrow_the_shelf() -> None:
    person = Person("shop")
    person.open(SHOP)
    person.tap("Kitchen")
    assert not person.sees(product(2).name)
    person.type("kettle", "search")
    assert person.sees(product(1).name)
    assert not person.sees(product(0).name)


def test_products_are_stable_and_the_shelf_has_no_end() -> None:
    assert product(3) == product(3)
    assert len({product(number).name for number in range(300)}) == 300
    assert money(1250) == "€12.50"
    assert {one.department for one in Catalogue().shelf(24, "Kitchen")} == {"Kitchen"}
