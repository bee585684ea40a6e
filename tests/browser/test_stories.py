"""The engine's stories on real pages: what it promises on a phone holds in a browser.

The page is the witness: every story asks the page itself what has happened.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.attacks.leak_judge import leaks_in
from tests.browser.conftest import Play
from tests.browser.stage import Stage, proved

LOG = "<script>log = []; addEventListener('click', (one) => log.push(one.target.textContent), true)</script>"


async def ref_of(stage: Stage, word: str) -> str:
    return next(line for line in (await stage.ui()).splitlines() if word in line).split()[0]


def test_a_ref_means_its_row_after_an_insertion_and_is_stale_after_its_removal(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<ul id=list><li>Ada <button>Delete Ada</button></li>"
            "<li>Bob <button>Delete Bob</button></li>"
        )
        ref = await ref_of(stage, "Delete Bob")
        await stage.js("list.insertAdjacentHTML('afterbegin', '<li>Eve <button>Delete Eve</button></li>')")
        assert (await stage.act("tap", target=ref)).success
        assert await stage.js("log") == ["Delete Bob"]
        await stage.js("list.lastElementChild.remove()")
        gone = await stage.act("tap", target=ref)
        assert (gone.failure_code, gone.delivery) == ("STALE_REFERENCE", "not_delivered")
        assert await stage.js("log.length") == 1

    play(story)


def test_an_element_that_is_used_again_for_another_record_is_another_one(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<h1>People</h1><div id=row><span id=who>Ada</span> <button>Delete</button></div>"
            "<div><span>Bob</span> <button>Delete</button></div>"
        )
        lines = (await stage.ui()).splitlines()
        ref = next(after for line, after in pairwise(lines) if "Ada" in line).split()[0]
        await stage.js("who.textContent = 'Zoe'")
        gone = await stage.act("tap", target=ref)
        assert gone.failure_code == "STALE_REFERENCE", gone.to_json()
        assert await stage.js("log") == []

    play(story)


def test_a_covered_button_is_named_with_what_covers_it_and_not_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<button>Send</button>"
            "<div role=dialog aria-label=Cookies"
            " style='position: fixed; inset: 0; background: white; padding-top: 90px'>"
            "<button onclick='this.parentNode.remove()'>Close</button></div>"
        )
        covered = await stage.tap("Send")
        assert covered.failure_code == "ELEMENT_NOT_INTERACTABLE"
        assert covered.message is not None
        assert "Cookies" in covered.message
        assert await stage.js("log") == []
        assert (await stage.tap("Close")).success
        assert (await stage.tap("Send")).success
        assert await stage.js("log") == ["Close", "Send"]

    play(story)


def test_two_that_match_equally_well_are_told_and_none_is_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"{LOG}<p>A <button>Delete</button></p><p>B <button>Delete</button></p>")
        unsure = await stage.tap("Delete")
        assert unsure.failure_code == "AMBIGUOUS_TARGET"
        assert unsure.details is not None
        assert len(unsure.details["candidates"]) == 2
        assert await stage.js("log") == []

    play(story)


def test_a_disabled_button_is_not_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            f"{LOG}<fieldset disabled><button>One</button></fieldset><button aria-disabled=true>Two</button>"
            "<div inert><button>Three</button></div>"
        )
        for word in ("One", "Two", "Three"):
            refused = await stage.tap(word)
            assert refused.failure_code == "ELEMENT_NOT_INTERACTABLE", refused.to_json()
            assert refused.details is not None
            assert refused.details["reason"] == "disabled"
        assert await stage.js("log") == []

    play(story)


def test_what_the_network_brings_late_is_waited_for(play: Play) -> None:
    async def story(stage: Stage) -> None:
        answer = stage.site.hold("/late", "Late content")
        await stage.show(
            "<button onclick=\"fetch('/late').then((r) => r.text()).then((t) => { out.textContent = t; })\">"
            "Load</button><p id=out></p>"
        )
        task = asyncio.create_task(stage.tap("Load"))
        while "/late" not in stage.site.asked:
            await asyncio.sleep(0.005)
        asyncio.get_running_loop().call_later(0.6, answer.set)
        done = await task
        assert done.success, done.to_json()
        assert done.changes is not None
        assert any("Late content" in str(one) for one in done.changes)
        assert done.settle is not None
        assert done.settle.sync is not None
        assert done.settle.sync.waited_for == ("network",)

    play(story)


@pytest.mark.slow
def test_a_page_that_never_stops_still_settles(play: Play) -> None:
    async def story(stage: Stage) -> None:
        poll = stage.site.hold("/poll")
        await stage.show(
            "<style>@keyframes turn { to { rotate: 360deg } }"
            "#spin { animation: turn 1s infinite linear }</style><div id=spin>*</div><p id=clock></p>"
            "<button onclick='out.textContent = 1'>Do</button><p id=out></p>"
            "<script>fetch('/poll'); let n = 0; (function tick() { clock.style.left = ++n + 'px';"
            "requestAnimationFrame(tick); })()</script>"
        )
        done = await stage.tap("Do")
        poll.set()
        assert done.success, done.to_json()
        assert done.settle is not None
        assert done.settle.ms < 1_500
        assert await stage.js("out.textContent") == "1"

    play(story)


def test_a_transition_that_ends_is_waited_for(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<style>#box { transition: translate 400ms; width: 80px }</style>"
            "<button onclick=\"box.style.translate = '300px'\">Move</button>"
            "<div id=box><button>In it</button></div>"
        )
        moved = await stage.tap("Move")
        assert moved.success, moved.to_json()
        assert await stage.js("box.getAnimations().length") == 0

    play(story)


def test_what_changed_after_a_tap_is_told(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<button onclick=\"list.insertAdjacentHTML('beforeend', '<li>New row</li>');"
            'b.disabled = true">Add</button><button id=b>Other</button><ul id=list><li>Old row</li></ul>'
        )
        added = await stage.tap("Add")
        assert added.changes is not None
        told = [(one["type"], one["label"], one.get("attribute")) for one in added.changes]
        assert ("added", "New row", None) in told, told
        assert ("changed", "Other", "enabled") in told, told

    play(story)


def test_a_grave_label_is_asked_for_and_a_denial_presses_nothing(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"{LOG}<h1>Checkout</h1><button>Pay now</button>")
        task = asyncio.create_task(stage.tap("Pay now"))
        while not (pending := await stage.runtime.approvals.pending()):
            await asyncio.sleep(0.005)
        assert "Pay now" in pending[0].request.instruction
        await stage.runtime.approvals.answer(pending[0].id, False, "lena")
        refused = await task
        assert (refused.failure_code, refused.delivery) == ("ACTION_REJECTED", "not_delivered")
        assert await stage.js("log") == []

    play(story)


def test_an_enter_that_would_send_a_grave_form_is_asked_for_too(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<form onsubmit='event.preventDefault(); sent = 1'><input aria-label=Amount>"
            "<button>Pay now</button></form><script>sent = 0</script>"
        )
        await stage.act("type_text", text="9", target={"text": "Amount"})
        task = asyncio.create_task(stage.act("press_key", key="enter"))
        while not (pending := await stage.runtime.approvals.pending()):
            await asyncio.sleep(0.005)
        await stage.runtime.approvals.answer(pending[0].id, False, "lena")
        assert (await task).failure_code == "ACTION_REJECTED"
        assert await stage.js("sent") == 0

    play(story)


def test_a_secret_reaches_the_page_and_no_answer(play_apart: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.runtime.secrets.add("PIN", "tr0ub4dor")
        await stage.show(
            "<input id=code aria-label=Code oninput='copy.textContent = this.value'><p id=copy></p>"
        )
        typed = await stage.act("type_text", text="${secret:PIN}", target={"text": "Code"})
        assert proved(typed), typed.to_json()
        assert await stage.js("document.querySelector('input').value") == "tr0ub4dor"
        assert "tr0ub4dor" not in typed.to_json() + await stage.ui()
        picture = await stage.act("screenshot", marks=True)
        assert picture.success, picture.to_json()

    play_apart(story)


MIRRORS = {
    "<button id=a>Go</button>": "a.setAttribute('aria-label', v)",
    "<button id=b aria-label=Go></button>": "b.textContent = v",
    "<p id=c aria-hidden=true></p>": "c.textContent = v",
    "<style>#d::before { content: attr(x) }</style><p id=d>.</p>": "d.setAttribute('x', v)",
    "<select id=e><option>a</select>": "e.options[0].textContent = v",
    "<svg width=400 height=40><text id=f y=20></text></svg>": "f.textContent = v",
    "<input id=g>": "g.placeholder = v",
    "<input id=h type=button>": "h.value = v",
    "<p id=i></p>": "i.innerHTML = [...v].map(l => `<b>${l}</b>`).join('')",
    "<img id=j width=300 height=30 src=data:,>": "j.alt = v",
    "<div id=k contenteditable></div>": "k.textContent = v",
    "<iframe id=l></iframe>": "l.srcdoc = v",
    "<p>x</p>": "document.title = v; location.hash = v",
    "<p>y</p>": "console.log(v); setTimeout(() => { throw new Error(v) })",
}
"""Elements of a page, and how each repeats what is typed."""


def test_what_a_page_repeats_of_a_secret_is_told_nowhere(play_apart: Play) -> None:
    async def story(stage: Stage) -> None:
        value = "Qz7#Kp2!vX9+m"
        stage.runtime.secrets.add("PIN", value)
        copies = "; ".join(MIRRORS.values())
        field = "<input aria-label=Code oninput='copy(this.value)'>"
        await stage.show(f"{field}{''.join(MIRRORS)}<script>function copy(v) {{ {copies} }}</script>")
        answers = [await stage.act("type_text", text="${secret:PIN}", target={"text": "Code"})]
        answers += [await stage.act("get_ui_tree", format="full"), await stage.act("get_state")]
        answers += [await stage.act("get_logs"), await stage.act("what_changed"), await stage.tap("Nowhere")]
        assert await stage.js("i.textContent + document.title") == value * 2
        assert leaks_in(" ".join(answer.to_json() for answer in answers) + await stage.ui(), value) == []

    play_apart(story)


def test_a_stop_ends_what_waits_and_the_page_is_not_touched_again(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"{LOG}<button>Go</button>")
        task = asyncio.create_task(stage.tap("Go", expect="Never there"))
        while await stage.js("log.length") == 0 or await _is_pressed(stage):
            await asyncio.sleep(0.005)
        reads = stage.session.screens.reads
        while stage.session.screens.reads == reads:  # the tap has returned: its expectation is waited for
            await asyncio.sleep(0.005)
        assert await stage.session.end_actions() == 1
        stopped = await task
        assert (stopped.failure_code, stopped.delivery) == ("CANCELLED", "delivered")
        assert await stage.js("log") == ["Go"]

    play(story)


def test_a_tab_that_crashes_under_a_tap_leaves_the_delivery_unknown(play: Play) -> None:
    async def story(stage: Stage) -> None:
        """A handler that never ends holds the answer to the click; the page dies meanwhile."""
        await stage.show("<button onclick='navigator.sendBeacon(`/hangs`); for (;;) {}'>Hang</button>")
        page = stage.surface.tabs.front
        task = asyncio.create_task(stage.tap("Hang"))
        while ("/hangs", "") not in stage.site.posted:
            await asyncio.sleep(0.005)
        root = stage.surface.tabs.connection.root
        await root.call("SystemInfo.getProcessInfo")
        crash = asyncio.create_task(page.session.call("Page.crash", timeout_ms=15_000))
        failed = await task
        await asyncio.wait({crash})
        assert crash.exception() is not None
        assert (failed.failure_code, failed.delivery) == ("APP_CRASHED", "unknown"), failed.to_json()
        assert failed.retryable is False

    play(story)


async def _is_pressed(stage: Stage) -> bool:
    """The click is on its way: its answer is pending."""
    pending = stage.surface.tabs.connection._pending.values()
    return any(method == "Input.dispatchMouseEvent" for _, method, _ in pending)


def test_a_busy_page_is_said_to_be_busy_in_bounded_time(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<button onclick='const end = Date.now() + 1500; while (Date.now() < end);'>Work</button>"
        )
        done = await stage.tap("Work")
        assert done.success, done.to_json()
        assert done.timings_ms["total"] < 6_000

    play(story)


def test_text_goes_in_at_the_cursor_and_replaces_what_is_selected(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<input aria-label=Word value=abcdef><textarea aria-label=Long></textarea>")
        await stage.tap("Word")
        await stage.js("document.querySelector('input').setSelectionRange(2, 4)")
        typed = await stage.act("type_text", text="X")
        assert proved(typed), typed.to_json()
        assert await stage.js("document.querySelector('input').value") == "abXef"
        lines = await stage.act("type_text", text="one\ntwo", target={"text": "Long"})
        assert proved(lines), lines.to_json()
        assert await stage.js("document.querySelector('textarea').value") == "one\ntwo"

    play(story)


def test_a_field_that_changes_what_is_typed_fails_its_proof(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<input aria-label=Short maxlength=3>")
        cut = await stage.act("type_text", text="abcdef", target={"text": "Short"})
        assert cut.failure_code == "VERIFICATION_FAILED", cut.to_json()
        assert cut.delivery == "delivered"

    play(story)
