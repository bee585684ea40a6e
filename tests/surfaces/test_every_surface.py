"""The same stories, rules, questions, attacks and refs on an Android phone, an iPhone and a web page.

The surface is a parameter. What happened is told by the shop itself, never by Handrail.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import HandrailError
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.safety.approval_store import AskedApproval
from tests.scenario.world import until
from tests.surfaces.shop import SURFACES, ShopWorld, tell

pytestmark = [pytest.mark.parametrize("kind", SURFACES), pytest.mark.timeout(300)]
ORDER = '[[rule]]\nname = "{0}"\nverdict = "{0}"\nlabel = ["Order now"]\n'
ATTEMPTS = 25


async def asked(shop: ShopWorld) -> AskedApproval:
    """The question that waits for an answer."""
    [question] = await until(shop.runtime.approvals.pending)
    assert isinstance(question, AskedApproval)
    return question


def done(envelope: Envelope) -> Envelope:
    assert envelope.success, envelope.to_json()
    return envelope


# scenario


def test_a_tap_is_delivered_once(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        assert done(await shop.session.tap("Help")).delivery == "delivered"
        await shop.came("help")
        assert shop.account() == ["help"]

    tell(kind, tmp_path, story)


def test_a_text_arrives_and_is_read_back(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        typed = done(await shop.session.type_text("Ada Lovelace", target="Name"))
        assert typed.verification is not None
        assert typed.verification.outcome == "verified"
        await shop.came("typed Ada Lovelace")

    tell(kind, tmp_path, story)


def test_a_switch_is_turned_and_its_state_expected(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        is_on = {"target": "Gift wrap", "property": "checked", "value": True}
        done(await shop.session.tap("Gift wrap", expect={"state": is_on}))
        await shop.came("gift True")
        assert shop.account() == ["gift True"]

    tell(kind, tmp_path, story)


def test_what_is_further_down_is_scrolled_to(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        done(await shop.session.scroll_to("Offer 29"))
        done(await shop.session.tap("Offer 29"))
        await shop.came("offer 29")
        assert shop.account() == ["offer 29"]

    tell(kind, tmp_path, story)


def test_another_page_is_opened_and_left(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        done(await shop.session.tap("Delivery", expect={"visible": "Confirm delivery"}))
        done(await shop.session.press_key("back"))
        done(await shop.session.wait_for({"visible": "Help"}))
        assert shop.account() == []

    tell(kind, tmp_path, story)


def test_what_is_not_there_is_said_and_nothing_is_touched(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        missing = await shop.session.tap("Cancel the order")
        assert (missing.failure_code, missing.delivery) == ("ELEMENT_NOT_FOUND", "not_delivered")
        assert shop.account() == []

    tell(kind, tmp_path, story)


# policy


@pytest.mark.parametrize("way", ["text", "id", "ref", "point", "double tap", "long press"])
def test_a_rule_holds_whatever_names_the_button(kind: str, way: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        ref = await shop.ref("Order now")
        node = shop.session.screens.registry.refs[ref]
        target: Any = {"id": {"id": "order"}, "ref": ref, "point": node.center._asdict()}.get(
            way, "Order now"
        )
        act = {"double tap": shop.session.double_tap, "long press": shop.session.long_press}.get(
            way, shop.session.tap
        )
        denied = await act(target)
        assert (denied.failure_code, denied.delivery) == ("ACTION_REJECTED", "not_delivered"), (
            denied.to_json()
        )
        done(await shop.session.tap("Help"))
        await shop.came("help")
        assert shop.account() == ["help"]

    tell(kind, tmp_path, story, ORDER.format("deny"))


def test_a_rule_about_the_app_holds_for_all_of_it(kind: str, tmp_path: Path) -> None:
    apps = ["com.example.*", "http://127.0.0.1*"]

    async def story(shop: ShopWorld) -> None:
        for target in ("Help", "Gift wrap"):
            assert (await shop.session.tap(target)).failure_code == "ACTION_REJECTED"
        typed = await shop.session.type_text("x", target="Name")
        assert (typed.failure_code, typed.delivery) == ("ACTION_REJECTED", "not_delivered")
        assert shop.account() == []

    tell(kind, tmp_path, story, f'[[rule]]\nname = "no"\nverdict = "deny"\napp = {apps}\neffect = "input"\n')


# approval


@pytest.mark.parametrize("yes", [True, False])
def test_a_button_that_pays_waits_for_a_person(kind: str, yes: bool, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        doing = asyncio.create_task(shop.session.tap("Pay $12.50"))
        question = await asked(shop)
        assert "Pay $12.50" in str(question.request)
        assert shop.account() == []
        await shop.runtime.approvals.answer(question.id, yes, "lena")
        ended = await doing
        assert ended.success is yes, ended.to_json()
        if yes:
            await shop.came("paid")
        assert shop.account() == (["paid"] if yes else [])

    tell(kind, tmp_path, story)


def test_a_yes_is_void_once_the_screen_has_changed(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        doing = asyncio.create_task(shop.session.tap("Pay $12.50"))
        question = await asked(shop)
        done(await shop.session.tap("Gift wrap"))
        await shop.runtime.approvals.answer(question.id, True, "lena")
        ended = await doing
        assert (ended.failure_code, ended.delivery) == ("ACTION_REJECTED", "not_delivered"), ended.to_json()
        assert "paid" not in shop.account()

    tell(kind, tmp_path, story)


# attacks


def drawn(luck: random.Random, ref: str, x: int, y: int) -> dict[str, Any]:
    """One thing that somebody may try on a button whose place and ref are known."""
    near = {"x": x + luck.randint(-6, 6), "y": y + luck.randint(-6, 6)}
    target: Any = luck.choice(["Order now", {"id": "order"}, ref, near, {"text_contains": "Order"}])
    far = {"x": x, "y": y + luck.choice([-300, 300])}
    return luck.choice([
        {"type": "tap", "target": target},
        {"type": "double_tap", "target": target},
        {"type": "long_press", "target": target},
        {"type": "swipe", "from": near, "to": {"x": near["x"] + 3, "y": near["y"]}},
        {"type": "drag", "from": near, "to": {"x": near["x"] + 2, "y": near["y"]}},
        {"type": "drag", "from": far, "to": near},
        {"type": "drag_path", "path": [far, near]},
        {"type": "pinch", "cx": x, "cy": y, "start_radius": 20, "end_radius": 60},
        {"type": "press_key", "key": luck.choice(["enter", "space", "tab"])},
        {"type": "type_text", "text": luck.choice(["now\n", "a\tb\n"]), "target": "Name"},
        {"type": "set_value", "target": target, "value": 1},
    ])  # fmt: skip


def test_nothing_drawn_reaches_a_denied_button(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        luck, asked_for = random.Random(7), 0
        for _ in range(ATTEMPTS):
            ref = await shop.ref("Order now")
            place = shop.session.screens.registry.refs[ref].center
            try:
                action = action_from(drawn(luck, ref, *place))
            except HandrailError:
                continue
            ended = await shop.session.run(action, reason="I try it")
            asked_for += ended.failure_code == "ACTION_REJECTED"
            assert "ordered" not in shop.account(), (action, ended.to_json())
        done(await shop.session.tap("Help"))
        await shop.came("help")
        assert "ordered" not in shop.account()
        assert asked_for > ATTEMPTS / 3, "the attempts are too tame"

    tell(kind, tmp_path, story, ORDER.format("deny"))


# identity


@pytest.mark.parametrize("change", ["More people", "Fewer people"])
def test_a_ref_means_its_row_when_rows_come_and_go(kind: str, change: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        done(await shop.session.scroll_to("Karen"))
        ref = await shop.ref("Karen")
        done(await shop.session.scroll_to(change, direction="up"))
        done(await shop.session.tap(change))
        done(await shop.session.scroll_to("Karen"))
        await shop.session.get_ui_tree()
        ended = await shop.session.tap(ref)
        if ended.success:
            await shop.came("row Karen")
        else:
            assert (ended.failure_code, ended.delivery) == ("STALE_REFERENCE", "not_delivered")
        assert [what for what in shop.account() if what.startswith("row")] in ([], ["row Karen"])

    tell(kind, tmp_path, story)


def test_a_ref_of_what_is_gone_touches_nothing(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        ref = await shop.ref("Help")
        done(await shop.session.tap("Delivery", expect={"visible": "Confirm delivery"}))
        stale = await shop.session.tap(ref)
        assert (stale.failure_code, stale.delivery) == ("STALE_REFERENCE", "not_delivered"), stale.to_json()
        assert shop.account() == []

    tell(kind, tmp_path, story)


def test_no_ref_of_one_page_is_another_elements_on_the_next(kind: str, tmp_path: Path) -> None:
    async def story(shop: ShopWorld) -> None:
        await shop.session.get_ui_tree()
        was = {ref: shop.session.screens.registry.label_of(node) for ref, node in _refs(shop).items()}
        done(await shop.session.tap("Delivery", expect={"visible": "Confirm delivery"}))
        await shop.session.get_ui_tree()
        now = {ref: shop.session.screens.registry.label_of(node) for ref, node in _refs(shop).items()}
        assert {ref: label for ref, label in now.items() if ref in was and was[ref] != label} == {}
        assert now

    tell(kind, tmp_path, story)


def _refs(shop: ShopWorld) -> dict[str, Any]:
    return dict(shop.session.screens.registry.refs)
