"""The seven components: every field of seed 004 does something that a person can see or an agent hears."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.web.desk_person import Person

pytestmark = pytest.mark.slow

DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def layout(*components: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"renderer": "component", "data": {"components": list(components), **more}}


def shown(person: Person, *components: dict[str, Any], **more: Any) -> Locator:
    person.show("a", layout(*components, **more))
    return person.window("a").locator(".grid > *")


def test_a_button_tells_its_agent_what_was_pressed(person: Person) -> None:
    [button] = shown(person, {"type": "button", "label": "Go on", "action": "continue"}).all()
    button.click()
    letter = person.letter()
    assert (letter["action"], letter["window_id"], letter["parallel"]) == ("continue", "a", True)
    assert "form_data" not in letter


@pytest.mark.parametrize("variant", ["primary", "ghost", "danger"])
def test_the_variants_of_a_button_look_unlike_a_plain_one(person: Person, variant: str) -> None:
    button = {"type": "button", "label": "x", "action": "x"}
    shown(person, button | {"variant": "secondary"}, button | {"variant": variant})
    looks = (
        person.window("a")
        .locator(".grid > button")
        .evaluate_all(
            "all => all.map(e => getComputedStyle(e)).map(s => s.color + s.backgroundColor + s.borderColor)"
        )
    )
    assert looks[0] != looks[1]


def test_the_sizes_of_a_button_grow(person: Person) -> None:
    buttons = [{"type": "button", "label": "x", "action": "x", "size": size} for size in ("sm", "md", "lg")]
    heights = shown(person, *buttons).evaluate_all("all => all.map(e => e.offsetHeight)")
    assert heights == sorted(set(heights))


def test_a_button_has_its_icon_and_a_disabled_one_does_nothing(person: Person) -> None:
    [button] = shown(
        person, {"type": "button", "label": "Save", "action": "s", "icon": "save", "disabled": True}
    ).all()
    expect(button.locator("svg")).to_be_visible()
    expect(button).to_be_disabled()


def test_a_form_goes_to_the_agent_with_every_field_as_it_stands(person: Person) -> None:
    shown(
        person,
        {"type": "input", "name": "who", "formId": "f", "label": "Name", "defaultValue": "Ada"},
        {"type": "input", "name": "note", "formId": "f", "label": "Note", "rows": 3},
        {"type": "select", "name": "slot", "formId": "f", "label": "Slot", "defaultValue": "pm",
         "options": [{"value": "am", "label": "Morning"}, {"value": "pm", "label": "Evening"}]},
        {"type": "input", "name": "other", "formId": "g", "label": "Other", "defaultValue": "not mine"},
        {"type": "button", "label": "Send", "action": "order", "submitForm": "f"},
    )  # fmt: skip
    person.page.get_by_label("Note").fill("two\nlines")
    person.button("Send").click()
    letter = person.letter()
    assert letter["form_id"] == "f"
    assert letter["form_data"] == {"who": "Ada", "note": "two\nlines", "slot": "pm"}


@pytest.mark.parametrize("variant", ["text", "email", "password", "number", "url"])
def test_an_input_is_of_its_variant(person: Person, variant: str) -> None:
    shown(person, {"type": "input", "name": "x", "variant": variant, "placeholder": "type here"})
    field = person.page.get_by_placeholder("type here")
    assert field.get_attribute("type") == variant
    assert field.evaluate("e => e.labels.length > 0 && e.ariaLabel") == "type here"


def test_rows_make_a_textarea_and_disabled_fields_stay_as_they_are(person: Person) -> None:
    options = [{"value": "v", "label": "L"}]
    shown(
        person,
        {"type": "input", "name": "a", "label": "Area", "rows": 5, "disabled": True},
        {"type": "select", "name": "b", "label": "Choice", "options": options, "disabled": True},
    )
    assert person.page.get_by_label("Area").evaluate("e => [e.tagName, e.rows]") == ["TEXTAREA", 5]
    expect(person.page.get_by_label("Area")).to_be_disabled()
    expect(person.page.get_by_label("Choice")).to_be_disabled()


def test_a_select_begins_with_its_placeholder(person: Person) -> None:
    options = [{"value": "v", "label": "L"}]
    shown(
        person, {"type": "select", "name": "b", "label": "Choice", "placeholder": "Pick", "options": options}
    )
    field = person.page.get_by_label("Choice")
    assert field.evaluate("e => [e.value, e.options[0].text, e.options.length]") == ["", "Pick", 2]


def test_what_was_typed_survives_a_new_version_of_the_layout(person: Person) -> None:
    field = {"type": "input", "name": "q", "formId": "f", "label": "Question"}
    shown(person, field, {"type": "progress", "value": 10})
    person.page.get_by_label("Question").fill("half a sen")
    operation = {"op": "replace", "data": layout(field, {"type": "progress", "value": 90})["data"]}
    person.server.act({"type": "window.updateContent", "windowId": "a", "operation": operation})
    expect(person.page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "90")
    expect(person.page.get_by_label("Question")).to_have_value("half a sen")
    expect(person.page.get_by_label("Question")).to_be_focused()


def test_clicks_that_are_not_parallel_wait_for_the_agents_answer(person: Person) -> None:
    button = {"type": "button", "label": "Next", "action": "next", "parallel": False}
    shown(person, button)
    for _ in range(3):
        person.button("Next").click()
    expect(person.page.locator(".clicks-note")).to_have_text("2 clicks wait for the agent")
    first = person.until(person.server.letters)
    assert [one["parallel"] for one in first] == [False], "only the first was sent"
    person.server.act({"type": "window.setContent", "windowId": "a", "content": layout(button, gap="lg")})
    assert len(person.until(person.server.letters)) == 1
    expect(person.page.locator(".clicks-note")).to_have_text("1 click waits for the agent")


@pytest.mark.parametrize(
    ("variant", "tag"),
    [("body", "P"), ("heading", "H3"), ("subheading", "H4"), ("caption", "P"), ("code", "PRE")],
)
def test_text_has_its_role(person: Person, variant: str, tag: str) -> None:
    found = shown(person, {"type": "text", "content": "some words", "variant": variant})
    assert found.evaluate("e => [e.tagName, e.textContent]") == [tag, "some words"]


def test_text_has_its_colour_and_alignment(person: Person) -> None:
    colours = ("default", "muted", "accent", "success", "warning", "error")
    parts = [{"type": "text", "content": c, "color": c, "textAlign": "right"} for c in colours]
    found = shown(person, *parts).evaluate_all("all => all.map(e => getComputedStyle(e).color)")
    assert len(set(found)) == len(colours)
    assert shown_align(person) == {"right"}


def shown_align(person: Person) -> set[str]:
    found = person.window("a").locator(".grid > *")
    return set(found.evaluate_all("all => all.map(e => getComputedStyle(e).textAlign)"))


def test_badges_differ_by_variant(person: Person) -> None:
    variants = ("default", "success", "warning", "error", "info")
    shown(person, *({"type": "badge", "label": v, "variant": v} for v in variants))
    badges = person.window("a").locator(".badge")
    expect(badges).to_have_text(list(variants))
    assert len(set(badges.evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)"))) == 5


def test_progress_shows_label_value_and_variant(person: Person) -> None:
    variants = ("default", "success", "warning", "error")
    shown(
        person,
        *(
            {"type": "progress", "value": 30, "label": "Copy", "showValue": True, "variant": v}
            for v in variants
        ),
    )
    bars = person.page.get_by_role("progressbar", name="Copy")
    assert (
        bars.evaluate_all("all => all.map(e => Math.round(100 * e.firstChild.offsetWidth / e.offsetWidth))")
        == [30] * 4
    )
    assert (
        len(set(bars.evaluate_all("all => all.map(e => getComputedStyle(e.firstChild).backgroundColor)")))
        == 4
    )
    expect(person.window("a").locator(".progress-head").first).to_contain_text("30 %")


@pytest.mark.parametrize("fit", ["contain", "cover", "fill"])
def test_an_image_has_its_size_and_fit(person: Person, fit: str) -> None:
    found = shown(person, {"type": "image", "src": DOT, "width": 120, "height": "3em", "fit": fit})
    assert found.evaluate("e => [e.offsetWidth, e.offsetHeight, getComputedStyle(e).objectFit]") == [
        120,
        42,
        fit,
    ]


@pytest.mark.parametrize(("gap", "px"), [("none", 0), ("sm", 6), ("md", 12), ("lg", 22)])
def test_the_gap_lies_between_components(person: Person, gap: str, px: int) -> None:
    badge = {"type": "badge", "label": "x"}
    boxes = shown(person, badge, badge, gap=gap).evaluate_all(
        "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom] })"
    )
    assert round(boxes[1][0] - boxes[0][1]) == px


@pytest.mark.parametrize(("cols", "shares"), [(2, [1, 1]), ([8, 2], [4, 1]), ([1, 2, 1], [1, 2, 1])])
def test_columns_have_their_ratios(person: Person, cols: Any, shares: list[int]) -> None:
    text = {"type": "text", "content": "x"}
    found = shown(person, *[text] * len(shares), cols=cols, gap="none")
    widths = found.evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert [round(width / min(widths), 1) for width in widths] == shares
    assert (
        len({round(y) for y in found.evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")}) == 1
    )


def test_an_empty_layout_says_so(person: Person) -> None:
    person.show("a", layout())
    expect(person.window("a").locator(".empty")).to_contain_text("Nothing here yet")
