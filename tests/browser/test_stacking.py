"""What lies over what, as the browser draws it: every tap reaches the element that it names, or is refused.

The witness is the page: it logs what each click reached.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import Play
from tests.browser.stacks import Verdicts
from tests.browser.stacks import tap_all as tap_all_names
from tests.browser.stage import Stage

LOG = (
    "<script>log = []; addEventListener('click', (one) => log.push(one.target.id || 'other'), true)</script>"
)
CASES: dict[str, tuple[str, set[str]]] = {
    "a backdrop over a page": (
        "<button id=under>Under</button>"
        "<div style='position: fixed; inset: 0; background: #0008; z-index: 5'></div>"
        "<div style='position: fixed; top: 90px; left: 90px; z-index: 6; background: #fff; padding: 20px'>"
        "<button id=over>Over</button></div>",
        {"over"},
    ),
    "a modal dialog": (
        "<button id=under>Under</button><dialog id=d><button id=over>Over</button></dialog>"
        "<script>d.showModal()</script>",
        {"over"},
    ),
    "a popover": (
        "<button id=under>Under</button><div id=p popover style='inset: auto; margin: 0; left: 0; top: 0;"
        "width: 200px; height: 80px'><button id=over style='margin: 30px'>Over</button></div>"
        "<script>p.showPopover()</script>",
        {"over"},
    ),
    "a sticky header over rows": (
        "<div style='position: sticky; top: 0; height: 60px; background: #eee; z-index: 1'>"
        "<button id=top>Top</button></div><div style='margin-top: -50px'><button id=row>Row</button></div>"
        "<div style='height: 3000px'><button id=low style='margin-top: 90px'>Low</button></div>",
        {"top", "low"},
    ),
    "an earlier element above a later one": (
        "<div style='position: absolute; left: 0; top: 0; z-index: 9; width: 300px; height: 60px;"
        "background: #fff'><button id=early>Early</button></div>"
        "<div style='position: absolute; left: 0; top: 0; z-index: 1'><button id=late>Late</button></div>",
        {"early"},
    ),
    "a stacking context that holds its children down": (
        "<div style='position: relative; z-index: 1; opacity: .99'><button id=in style='position: absolute;"
        "z-index: 999; left: 0; top: 0'>Within</button></div>"
        "<div style='position: absolute; z-index: 2; left: 0; top: 0; width: 200px; height: 50px;"
        "background: #ddd'><button id=out style='margin: 10px'>Outside</button></div>",
        {"out"},
    ),
    "a layer that lets everything through": (
        "<button id=through>Through</button>"
        "<div style='position: fixed; inset: 0; pointer-events: none; background: #f003'></div>",
        {"through"},
    ),
    "a clipped part": (
        "<div style='overflow: hidden; height: 40px; width: 200px; position: relative'>"
        "<button id=seen>Seen</button>"
        "<button id=cut style='position: absolute; top: 60px'>Cut</button></div>",
        {"seen", "cut"},  # scrolled into view
    ),
    "a rotated and a zoomed button": (
        "<div style='rotate: 45deg; margin: 90px; width: 90px'><button id=turned>Turned</button></div>"
        "<div style='scale: 2; margin: 60px; width: 60px'><button id=large>Large</button></div>",
        {"turned", "large"},
    ),
    "half of a button under a bar": (
        "<button id=wide style='width: 300px; height: 40px'>Wide</button>"
        "<div style='position: absolute; left: 0; top: 0; width: 200px; height: 60px;"
        "background: #ccc'></div>",
        {"wide"},
    ),
    "a card with a button in its middle": (
        "<div id=card onclick='1' style='cursor: pointer; width: 300px; height: 100px; text-align: center'>"
        "Card <br><br><button id=inner>Inner</button></div>",
        {"card", "inner"},
    ),
}


async def tap_all(stage: Stage) -> dict[str, str]:
    """Every button and card, each on the page as it was written: what the click reached, or the refusal."""
    found: dict[str, str] = {}
    for name in await stage.js("[...document.querySelectorAll('button, #card')].map((one) => one.id)"):
        await stage.js("log.length = 0")
        done = await stage.act("tap", target={"id": name})
        log = await stage.js("log")
        assert len(log) <= 1
        found[name] = log[0] if log else str(done.failure_code)
        assert bool(log) is done.success, done.to_json()
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_tap_reaches_what_it_names_or_is_refused(play: Play, case: str) -> None:
    body, free = CASES[case]

    async def story(stage: Stage) -> None:
        await stage.show(LOG + body)
        found = await tap_all(stage)
        for name, hit in found.items():
            assert hit == (name if name in free else "ELEMENT_NOT_INTERACTABLE"), found

    play(story)


def test_a_frame_of_another_site_is_tapped_where_nothing_of_the_page_lies_over_it(play: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put(
            "<body style='margin: 0'>"
            "<button style='height: 40px' onclick='parent.postMessage(1, \"*\")'>Free</button>"
            "<div style='height: 60px'></div><button onclick='parent.postMessage(2, \"*\")'>Hidden</button>",
            "/inner",
        )
        await stage.show(
            "<script>got = []; onmessage = (one) => got.push(one.data)</script>"
            f"<iframe src={stage.site.other}/inner style='border: 5px solid; width: 300px; height: 200px'>"
            "</iframe><div style='position: absolute; top: 90px; left: 0; width: 400px; height: 200px;"
            "background: #fff'>Cover</div>"
        )
        hidden = await stage.tap("Hidden")
        assert hidden.failure_code == "ELEMENT_NOT_INTERACTABLE", hidden.to_json()
        free = await stage.tap("Free")
        assert free.success, free.to_json()
        assert await stage.js("got") == [1]

    play(story)


def test_a_frame_of_another_origin_in_the_same_process_is_read_too(play: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put("<button onclick='parent.postMessage(3, \"*\")'>In sandbox</button>", "/inner")
        await stage.show(
            "<script>got = []; onmessage = (one) => got.push(one.data)</script>"
            "<iframe sandbox=allow-scripts src=/inner></iframe>"
            "<iframe srcdoc='<button>In srcdoc</button>'></iframe>"
        )
        text = await stage.ui()
        assert "In srcdoc" in text
        assert (await stage.tap("In sandbox")).success
        assert await stage.js("got") == [3]

    play(story)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_tap_on_a_page_of_random_stacks_reaches_its_button_or_is_refused(play: Play, seed: int) -> None:
    async def story(stage: Stage) -> None:
        verdicts = Verdicts()
        await tap_all_names(stage, seed, verdicts)
        assert verdicts.wrong == []
        assert verdicts.counts["tapped"] > 1
        assert verdicts.counts["ELEMENT_NOT_INTERACTABLE"] > 0

    play(story)


def test_what_takes_no_presses_is_not_tapped_through(play: Play) -> None:
    """A button that a style has switched off, and words that lie over another button."""

    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<button id=off style='pointer-events: none'>Off</button><div style='position: relative'>"
            "<button id=pay style='width: 200px; height: 40px'></button>"
            "<b style='position: absolute; left: 60px; top: 10px; pointer-events: none'>Hello</b></div>"
        )
        for name in ("Off", "Hello"):
            refused = await stage.act("tap", target={"text": name})
            assert refused.failure_code == "ELEMENT_NOT_INTERACTABLE", refused.to_json()
        assert await stage.js("log") == []

    play(story)


def test_a_button_in_a_card_is_not_tapped_for_the_card(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<div role=button tabindex=0 id=card aria-label=Card style='width: 90px'>"
            "<button id=inner style='width: 90px; height: 60px'>Remove</button></div>"
            "<div role=button tabindex=0 id=other aria-label=Other style='width: 200px'>"
            "<iframe srcdoc='<p>Inside' style='width: 200px; height: 90px; border: 0'></iframe></div>"
        )
        for name in ("Card", "Other"):
            refused = await stage.act("tap", target={"text": name})
            assert refused.failure_code == "ELEMENT_NOT_INTERACTABLE", refused.to_json()
        assert await stage.js("log") == []

    play(story)
