# ruff: noqa: E501  (pages are written as they are sent)
"""One change of a page between the question and the yes, judged by whether the page hears the click."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from tests.browser.activations import POLICY, navigate
from tests.browser.stage import Stage, served, staged

PAGE = """<script>pay = () => navigator.sendBeacon('/hit/guarded')</script><h1 id=h>Basket</h1>
<style id=st>.b::before { content: 'Fee 3 ' }</style><p class=b>net</p>
<ul id=ul style='display: flex; flex-direction: column; margin: 0'><li id=l1>Rent <b id=p>5.05</b><li id=l2>Gift <b>7.20</b></ul>
<label id=lab for=i>Acc</label><input id=i aria-label=Account value=DE12><input id=e aria-label=Note placeholder=write>
<textarea id=ta aria-label=Memo>hello</textarea><select id=s aria-label=Sum><option>5<option>500</select>
<label><input type=checkbox id=c> Monthly</label><label><input type=radio name=r checked>Once</label><label><input type=radio name=r id=r2>Daily</label>
<input type=range id=ra aria-label=Tip><input type=date id=d aria-label=When value=2026-01-01><img id=im alt=Ada src=/x.png width=20 height=20>
<svg width=90 height=20><text y=15 id=sv>Fast</text></svg><progress id=pr value=3 max=10></progress><meter id=me value=3 max=10></meter>
<details id=de><summary>More</summary><p>Fee 9</p></details><div id=ce contenteditable aria-label=Text>dear</div><button id=dis>Other</button>
<a id=a href=/x aria-label=Terms>t</a><span id=ti title='tip one'>?</span><ol id=ol><li>first</ol><output id=o>8</output>
<p>Sum <i id=w1></i> now</p><style id=st2>#w1::after { content: '5 ' }</style><p>Due <b aria-hidden=true id=ah>5</b> today</p><p>To <b aria-label=Friend id=al>Ada</b></p>
<p>x<span id=z2 style='display: inline-block'>0</span>0</p><iframe id=f1 srcdoc='<p id=q>Frame 1</p>' width=200 height=40></iframe><iframe id=f2 src=//localhost:@P/inner width=200 height=40></iframe>
<x-s id=xs></x-s><div id=sc style='height: 40px; overflow: auto'><p>One<p>Two<p>Three<p>Four</div><p>1<span id=z>0</span>0 coins</p>
<p id=hid style='visibility: hidden'>Late fee</p><button onclick=pay() id=g>Pay now</button>
<script>rt = xs.attachShadow({ mode: 'closed' }); rt.innerHTML = '<p>Shadow 4</p>'</script>"""
INNER = "<p id=q>Inner 1</p><script>onmessage = () => { q.textContent = 'Inner 2' }</script>"
SAMPLE = {
    "a text": "p.textContent = '900.00'",
    "a value": "i.value = 'DE13'",
    "a label whose field is called otherwise": "lab.textContent = 'Her account'",
    "letters turned round": "p.style.cssText = 'direction: rtl; unicode-bidi: bidi-override'",
    "the order of rows, by a style": "l1.style.order = 2",
    "words of a style inside a text": "st2.textContent = \"#w1::after { content: '900 ' }\"",
    "a number that is kept from readers": "ah.textContent = 900",
    "a digit that a style makes clear": "z.style.opacity = 0",
}
PATCH = "document.body.insertAdjacentHTML('beforeend', `<div style='position: absolute; background: white; left: ${z.getBoundingClientRect().left}px; top: ${scrollY + z.getBoundingClientRect().top}px; width: 9px; height: 18px'></div>`)"
CHANGES = {
    **SAMPLE,
    "the title": "document.title = 'Other'", "a heading": "h.textContent = 'Basket!'", "a placeholder": "e.placeholder = 'w'",
    "a text area": "ta.value = 'x'", "a list": "s.selectedIndex = 1", "a checkbox": "c.checked = true", "a radio": "r2.checked = true",
    "a slider": "ra.value = 90", "a date": "d.value = '2026-02-01'", "words of a picture": "im.alt = 'Bob'", "words in a drawing": "sv.textContent = 'Slow'",
    "a progress": "pr.value = 9", "a meter": "me.value = 9", "something opened": "de.open = true", "an editor": "ce.textContent = 'd'",
    "a button switched off": "dis.disabled = true", "a name": "a.setAttribute('aria-label', 'No terms')", "a tooltip": "ti.title = 'two'",
    "a frame": "f1.contentDocument.getElementById('q').textContent = 'Frame 2'", "a frame of another site": "f2.contentWindow.postMessage('x', '*')",
    "a closed shadow": "rt.innerHTML = '<p>Shadow 5</p>'", "words of a style": "st.textContent = \".b::before { content: 'Fee 9 ' }\"",
    "the order of rows": "ul.append(l1)", "a new row": "ul.insertAdjacentHTML('beforeend', '<li>New 1')", "a row less": "l2.remove()",
    "the button": "g.textContent = 'Pay now 2'", "a box that scrolls": "sc.scrollTop = 60", "a digit hidden": "z.hidden = true", "a text shown": "hid.style.visibility = 'visible'",
    "a list's marker": "ol.style.listStyleType = \"'Pay '\"", "an output": "o.value = 9", "a field closed": "i.readOnly = true", "a field refused": "i.setAttribute('aria-invalid', 'true')",
    "words laid over it": "document.body.insertAdjacentHTML('beforeend', \"<div style='position: fixed; left: 0; top: 60px; width: 400px; height: 30px; background: white'>Rent 900</div>\")",
    "a dialog": "setTimeout(() => confirm('x'))", "words that are called otherwise": "al.textContent = 'Eve'", "a clear text": "z.parentElement.style.opacity = 0",
    "a digit without colour": "z.style.color = 'transparent'", "a digit in the colour of its ground": "z.style.color = 'white'", "a digit without size": "z.style.fontSize = 0",
    "a digit that is clipped": "z2.style.clipPath = 'inset(50%)'", "a digit in a box without width": "z2.style.cssText += 'width: 0; overflow: hidden'",
    "a digit scaled to nothing": "z2.style.transform = 'scale(0)'", "a digit under a filter": "z.style.filter = 'opacity(0)'", "a digit under a mask": "z2.style.maskImage = 'linear-gradient(transparent, transparent)'",
    "a digit as a dot": "z.style.webkitTextSecurity = 'disc'", "a digit under a patch": PATCH,
}  # fmt: skip


async def is_pressed_after(stage: Stage, change: str) -> bool:
    page = stage.surface.tabs.front
    if page.dialog is not None:
        await stage.alone()
        page = stage.surface.tabs.front
    await navigate(page, stage.site.put(PAGE.replace("@P", str(stage.site.port)), "/change"))
    stage.site.asked.clear()

    async def answer() -> None:
        while not (waiting := await stage.runtime.approvals.pending()):
            await asyncio.sleep(0.004)
        await page.session.call("Runtime.evaluate", {"expression": f"{change}; 1"})
        await asyncio.sleep(0.1)  # what the change starts has begun
        await stage.runtime.approvals.answer(waiting[0].id, True, "lena")

    person = asyncio.create_task(answer())
    try:
        await stage.tap("Pay now")
    finally:
        person.cancel()
    with suppress(asyncio.CancelledError):
        await person
    await asyncio.sleep(0.1)  # a beacon is on its way
    return any("/hit/guarded" in path for path in stage.site.asked)


@pytest.mark.parametrize(
    "changes", [SAMPLE, pytest.param(CHANGES, marks=pytest.mark.slow)], ids=("some", "all")
)
def test_a_yes_ends_with_what_a_person_could_see_change(tmp_path: Path, changes: dict[str, str]) -> None:
    async def story() -> None:
        with served() as site:
            site.put(INNER, "/inner")
            async with staged(site, tmp_path / "home", POLICY) as stage:
                assert await is_pressed_after(stage, "0"), "nothing changed"
                pressed = [name for name, change in changes.items() if await is_pressed_after(stage, change)]
                assert pressed == []

    asyncio.run(story())
