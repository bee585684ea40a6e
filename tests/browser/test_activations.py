"""What was not judged is not pressed: generated and invented pages, and races."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.activation_shapes import SHAPES, attempt
from tests.browser.activations import POLICY, Tally, run, run_in_phone
from tests.browser.later_shapes import LATER
from tests.browser.phone_stage import phone_staged
from tests.browser.stage import Loop, Stage, served, staged
from tests.browser.stranger_shapes import GUARDED, PLAIN, STRANGERS, attempts

SAMPLE, PAGES, IN_PHONE = 400, 1_500, 60


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, Stage]]:
    loop = Loop()
    with served() as site:
        context = staged(site, tmp_path_factory.mktemp("home"), POLICY)
        stage = loop.run(context.__aenter__())
        try:
            yield loop, stage
        finally:
            loop.run(context.__aexit__(None, None, None))
            loop.close()


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("pages", [SAMPLE, pytest.param(PAGES, marks=pytest.mark.slow)])
def test_no_input_activates_what_was_not_judged(guarded: tuple[Loop, Stage], pages: int) -> None:
    loop, stage = guarded
    tally = asyncio.run_coroutine_threadsafe(run(stage, 5_000, pages), loop.loop).result(1_800)
    assert not tally.through, "\n".join(tally.through)
    assert tally.is_usable or pages == SAMPLE, f"{tally}\n" + "\n".join(tally.questions)


def test_no_invented_page_gets_something_guarded_pressed(guarded: tuple[Loop, Stage]) -> None:
    loop, stage = guarded
    pressed = {shape.name: loop.run(attempt(stage, shape)) for shape in SHAPES}
    assert pressed == {shape.name: [] for shape in SHAPES}


FOUND = (  # by a stranger; each of them was pressed once
    "a slot in a closed button", "the pointer brings it, and it hears only the finger's end",
    "hovering brings it, and it hears the pointer", "a cover that opens as the finger comes",
    "an OK under its question in a style", "an OK under its question in a shadow", "drawn: words below it",
    "drawn: an image's words", "drawn: words of a described element", "drawn: a description",
    "a frame of another site in a frame that lets presses through", "an inert frame of another site",
    "words that a style of something elsewhere draws over it", "words that hang out of their box over it",
    "a popover over an open dialog", "usually not drawn: a rule's style",
    "usually not drawn: options of a list", "a button in a link beside its words",
    "a popover of a button, then two spaces",
)  # fmt: skip
INVENTED = STRANGERS + LATER


def test_no_page_of_a_stranger_gets_something_guarded_pressed(guarded: tuple[Loop, Stage]) -> None:
    loop, stage = guarded
    found = tuple(shape for shape in INVENTED if shape.name in FOUND)
    assert len(found) == len(FOUND)
    for label in GUARDED:
        assert loop.run(attempts(stage, found, label)) == {}


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_none_of_all_pages_of_a_stranger_gets_something_guarded_pressed(guarded: tuple[Loop, Stage]) -> None:
    loop, stage = guarded
    heard = {}
    for label in (*GUARDED, PLAIN):
        work = attempts(stage, INVENTED, label)
        heard[label] = asyncio.run_coroutine_threadsafe(work, loop.loop).result(1_800)
    assert len(heard.pop(PLAIN)) >= 0.6 * len(INVENTED)
    assert heard == {label: {} for label in GUARDED}


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_no_input_activates_what_was_not_judged_in_a_page_inside_a_phone(tmp_path: Path) -> None:
    async def story() -> Tally:
        with served() as site:
            async with phone_staged(site, tmp_path, policy=POLICY) as stage:
                return await run_in_phone(stage, 5_000, IN_PHONE)

    tally = asyncio.run(story())
    assert tally.tried["attack"] > IN_PHONE / 4
    assert not tally.through, "\n".join(tally.through)
    assert tally.share(tally.delivered, "control") >= 0.6, f"{tally}\n" + "\n".join(tally.questions)


def test_a_key_is_refused_when_what_it_presses_changes_after_it_was_judged(
    guarded: tuple[Loop, Stage],
) -> None:
    """A page that puts another default button into the form while the key is on its way."""
    loop, stage = guarded

    async def story() -> None:
        await stage.alone()
        await stage.show(
            "<form id=o action=/sent><input id=f aria-label=Code><button>Search</button></form><script>"
            "setInterval(() => { o.querySelector('button').textContent = 'Search ' + performance.now() }, 1)"
            "</script>"
        )
        await stage.js("f.focus()")
        stage.site.asked.clear()
        refused = await stage.act("press_key", key="enter")
        assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
        assert not [path for path in stage.site.asked if path.startswith("/sent")]

    loop.run(story())


def test_words_that_come_with_the_pointer_are_no_change(guarded: tuple[Loop, Stage]) -> None:
    loop, stage = guarded

    async def story() -> None:
        await stage.alone()
        await stage.show(
            "<style>a:hover::after { content: ' now' }</style>"
            "<a href=/found onmouseover='this.title = 1'>Search</a>"
        )
        stage.site.put("<p>Results", "/found")
        pressed = await stage.tap("Search", expect="Results")
        assert pressed.success, pressed.to_json()

    loop.run(story())
