"""A page as Chromium tells it to accessibility: plain Views with text, controls by their web names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from handrail_sim.apps.browser.pages import (
    Block,
    Check,
    Choice,
    Heading,
    Input,
    Link,
    Page,
    Paragraph,
    Picture,
    Submit,
    Where,
    Written,
)
from handrail_sim.view import Style, View, button, checkbox, column, field, image, row, text

if TYPE_CHECKING:
    from handrail_sim.apps.browser.screen import Main

_SIZES = {1: 24.0, 2: 20.0}
_KEYBOARDS = {"email": "email", "number": "number", "password": "password"}


def document(browser: Main, page: Page) -> list[View]:
    """The blocks of the page; a complaint stands below the field it is about."""
    return [view for number, block in enumerate(page.blocks) for view in _views(browser, block, number)]


def _views(browser: Main, block: Block, number: int) -> list[View]:
    if isinstance(block, Where):
        return [
            text(browser.where(), cls="android.widget.TextView", key="where"),
            button(block.words, browser.ask_place, "outlined", key=f"where:{number}"),
        ]
    views = [_view(browser, block, number)]
    bubble = browser.state["bubble"]
    if bubble and getattr(block, "name", "") == bubble[0]:
        views.append(text(bubble[1], "error", cls="android.view.View", key="bubble"))
    return views


def _view(browser: Main, block: Written, number: int) -> View:
    match block:
        case Heading():
            style = Style(kind="text", size=_SIZES.get(block.level, 16.0), bold=True)
            return text(block.words, cls="android.widget.TextView", style=style, state="heading")
        case Paragraph():
            return text(block.words, cls="android.widget.TextView")
        case Link():
            return _link(browser, block, number)
        case Picture():
            return image(block.seed, cls="android.widget.Image", text=block.alt, width="fill", height=160.0)
        case Input():
            return _input(browser, block)
        case Check():
            return _check(browser, block)
        case Choice():
            return _choice(browser, block)
        case Submit():
            return button(block.words, partial(browser.submit, block.url), key=f"submit:{number}")


def _link(browser: Main, link: Link, number: int) -> View:
    style = Style(kind="text", size=16.0, color="primary")
    return View(
        cls="android.view.View",
        key=f"link:{number}",
        desc=link.words,
        layout="frame",
        clickable=True,
        on_click=partial(browser.open, link.url),
        padding=(0.0, 6.0),
        children=[text(link.words, cls="android.widget.TextView", style=style)],
    )


def _input(browser: Main, block: Input) -> View:
    """The id attribute of an element is its resource id, without a package."""
    return column(
        text(block.label, "label", cls="android.widget.TextView"),
        field(
            f"={block.name}",
            str(browser.state["values"].get(block.name, "")),
            hint=block.label,
            on_change=partial(browser.set_value, block.name),
            input_type=_KEYBOARDS.get(block.kind, "text"),
            password=block.kind == "password",
            multiline=block.kind == "area",
        ),
        cls="android.view.View",
        gap=4.0,
    )


def _check(browser: Main, block: Check) -> View:
    checked = bool(browser.state["values"].get(block.name))
    box = checkbox(
        "", checked, partial(browser.set_value, block.name), id=f"={block.name}", desc=block.label, width=48.0
    )
    return row(box, text(block.label, cls="android.widget.TextView"), cls="android.view.View", gap=8.0)


def _choice(browser: Main, block: Choice) -> View:
    """A select element: a Spinner whose text is the chosen option."""
    chosen = browser.state["values"].get(block.name, block.options[0])
    return column(
        text(block.label, "label", cls="android.widget.TextView"),
        button(
            chosen,
            partial(browser.open_choices, block.name, block.options),
            "outlined",
            cls="android.widget.Spinner",
            id=f"={block.name}",
        ),
        cls="android.view.View",
        gap=4.0,
    )
