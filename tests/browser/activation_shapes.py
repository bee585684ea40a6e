# ruff: noqa: E501  (pages are written as they are sent)
"""Pages that the generator does not write: each was invented to get something guarded pressed unjudged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from tests.browser.activations import JUDGE, deny_all, navigate
from tests.browser.stage import Stage

GUARDED = "<button id=g data-g=guarded>Launch rocket</button>"
PLACED = "position: absolute; left: 0; top: 0; width: 300px; height: 100px"


def key(*names: str) -> tuple[dict[str, Any], ...]:
    return tuple({"type": "press_key", "key": name} for name in names)


def tap(text: str) -> tuple[dict[str, Any], ...]:
    return ({"type": "tap", "target": {"text": text}},)


def at(x: int, y: int) -> tuple[dict[str, Any], ...]:
    return ({"type": "tap", "target": {"x": x, "y": y}},)


@dataclass(frozen=True)
class Shape:
    """One page, and what is tried on it in this order."""

    name: str
    body: str
    acts: tuple[dict[str, Any], ...]
    focus: str = "f"
    """The id of what has the focus, if it is there."""
    inner: str = GUARDED
    """The document of a frame."""


SHAPES = (
    Shape("the label of a hidden button", f"<label for=g style='{PLACED}'>Search</label><div hidden>{GUARDED}</div>", at(60, 20)),
    Shape(
        "a label around a hidden submit",
        "<form action=/guarded><label style='position: absolute; left: 0; top: 0'>Search<input type=submit value='Launch rocket' data-g=guarded style='position: absolute; left: -999px'></label></form>",
        at(8, 8),
    ),
    Shape("two keys together", f"<input id=f>{GUARDED}", ({"type": "press_keys", "keys": ["tab", "enter"]},)),
    Shape("an object", f"<object data=/inner type=text/html style='{PLACED}'></object>", at(60, 20)),
    Shape("an embedded page", f"<embed src=/inner type=text/html style='{PLACED}'>", at(60, 20)),
    Shape(
        "the second of two line breaks",
        f"<form onsubmit='event.preventDefault(); g.focus()'><input id=f aria-label=Code><button>Search</button></form>{GUARDED}",
        ({"type": "type_text", "text": "1\n\n", "target": {"text": "Code"}},),
    ),
    Shape(
        "something that appears under the pointer",
        f"<div onmouseover='h.hidden = false' style='{PLACED}'><a href=# style='display: block; height: 100px'>Search</a><div id=h hidden style='{PLACED}; pointer-events: auto'><button data-g=guarded style='{PLACED}'>Launch rocket</button></div></div>",
        tap("Search"),
    ),
    Shape(
        "a label that changes under the pointer",
        f"<button data-g=guarded style='{PLACED}' onmouseover='this.textContent = \"Launch rocket\"'>Search</button>",
        tap("Search"),
    ),
    Shape(
        "a button that hands the key on",
        f"<button id=f onkeydown='g.focus()'>Search</button>{GUARDED}",
        key("enter"),
    ),
    Shape(
        "an entry of a tree",
        "<div role=treeitem tabindex=0 aria-label=Search data-g=guarded onclick=1><span aria-hidden=true>Launch rocket</span></div>",
        tap("Search"),
    ),
    Shape(
        "a clickable box",
        "<div aria-label=Search onclick=1 data-g=guarded><span aria-hidden=true>Launch rocket</span></div>",
        tap("Search"),
    ),
    Shape(
        "words deep inside",
        f"<button aria-label=Search data-g=guarded>{'<span>' * 25}Launch rocket{'</span>' * 25}</button>",
        tap("Search"),
    ),
    Shape(
        "an open list that Tab chooses from",
        "<select id=f aria-label=Kind><option>Search<option>Filter<option data-g=guarded>Launch rocket</select><input>",
        key("space", "down", "down", "tab"),
    ),
    Shape(
        "a number that sends its form",
        "<form id=o action=/guarded><input type=number aria-label=Count onchange='o.submit()'><button data-g=guarded>Launch rocket</button></form>",
        ({"type": "set_value", "target": {"text": "Count"}, "value": "3"},),
    ),
    Shape(
        "a link around a button",
        "<a href=/guarded data-g=guarded aria-label='Launch rocket'><span role=button tabindex=0>Search</span></a>",
        tap("Search"),
    ),
    Shape(
        "a button in the legend of what is disabled",
        "<form action=/guarded><fieldset disabled><legend><button data-g=guarded>Launch rocket</button></legend></fieldset><input id=f><button>Search</button></form>",
        key("enter"),
    ),
    Shape(
        "an area of a picture",
        "<img usemap=#m alt=Search width=300 height=100 src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'><map name=m><area shape=default href=/guarded data-g=guarded alt='Launch rocket'></map>",
        tap("Search"),
    ),
    Shape(
        "an area of a picture by point",
        f"<img usemap=#m style='{PLACED}' src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'><map name=m><area shape=default href=/guarded data-g=guarded alt='Launch rocket'></map>",
        at(60, 20),
    ),
    Shape(
        "a form that closes its dialog",
        "<dialog open><form method=dialog><input id=f><button data-g=guarded>Launch rocket</button></form></dialog>",
        key("enter"),
    ),
    Shape(
        "a handler far above",
        f"<div onkeydown='g.click()'><div><div><div><div><div><div id=f tabindex=0>Map</div></div></div></div></div></div></div>{GUARDED}",
        key("down"),
    ),
    Shape(
        "a shortcut while a link has the focus",
        f"<a href=# id=f>Home</a><script>document.onkeydown = (e) => e.key === 'p' && g.click()</script>{GUARDED}",
        key("p"),
    ),
    Shape(
        "the delete key outside a field",
        f"<ul><li id=f tabindex=0>Letter</li></ul><script>document.onkeydown = (e) => e.key === 'Delete' && g.click()</script>{GUARDED}",
        key("forward_delete"),
    ),
    Shape(
        "a hidden button of a handler",
        f"<div hidden>{GUARDED}</div><input id=f aria-label=Code onkeydown=\"event.key === 'Enter' && g.click()\">",
        key("enter"),
    ),
    Shape(
        "a frame that is turned",
        f"<iframe src=/inner style='{PLACED}; transform: rotate(180deg); border: 0'></iframe>",
        at(150, 80),
        inner="<style>body { margin: 0 } button, a { position: absolute; width: 300px; height: 50px }</style><button data-g=guarded style='top: 0'>Launch rocket</button><a style='top: 50px'>Search</a>",
    ),
    Shape(
        "a frame of another site over a button",
        f"<button style='{PLACED}'>Search</button><iframe src=OTHER/inner style='{PLACED}; opacity: .01; border: 0'></iframe>",
        at(60, 20),
        inner=f"<button data-g=guarded style='{PLACED}'>Launch rocket</button>",
    ),
    Shape(
        "radios of one form in two places",
        "<form id=o></form><input type=radio form=o name=r id=f checked><p>Search</p><div><label><input type=radio form=o name=r data-g=guarded>Launch rocket</label></div>",
        key("down"),
    ),
    Shape(
        "a page that hears keys first",
        f"<form action=/sent><input id=f><button id=b>Search</button></form><div hidden>{GUARDED}</div><script>addEventListener('keydown', (e) => {{ e.stopImmediatePropagation(); b.remove(); document.forms[0].append(g) }}, true)</script>",
        key("enter"),
    ),
    Shape(
        "a frame of another site that is always new",
        f"<iframe id=f src=OTHER/inner style='{PLACED}'></iframe>",
        key("enter", "enter", "enter", "enter"),
        inner="<form action=/guarded><input autofocus><button data-g=guarded>Launch rocket</button></form><script>document.querySelector('input').focus(); setTimeout(() => location.reload(), 40)</script>",
    ),
    Shape(
        "words over a button that let the pointer through",
        f"<button aria-label=Search data-g=guarded style='{PLACED}'></button><p style='{PLACED}; pointer-events: none'>Launch <b>rocket</b></p>",
        tap("Search"),
    ),
    Shape(
        "a sandboxed frame without an address",
        "<iframe sandbox='allow-scripts allow-forms' srcdoc=\"<form action=/guarded><input id=f autofocus><button>Launch rocket</button></form>\"></iframe>",
        (*at(80, 30), *key("enter")),
    ),
    # Invented from the documentation alone: words that a person sees and no text has.
    Shape("words of a marker", "<ul><li data-g=guarded role=button tabindex=0 aria-label=Search style=\"list-style: 'Launch rocket' inside\"></li></ul>", tap("Search")),
    Shape("words in a field in a button", f"<button data-g=guarded aria-label=Search style='{PLACED}'><input disabled value='Launch rocket' style='pointer-events: none'></button>", tap("Search")),
    Shape("words in a frame over a button", f"<button data-g=guarded aria-label=Search style='{PLACED}'></button><iframe srcdoc='Launch rocket' style='{PLACED}; pointer-events: none; border: 0'></iframe>", tap("Search")),
    Shape("small words over a button", f"<button data-g=guarded aria-label=Search style='{PLACED}'></button><p style='position: absolute; left: 10px; top: 5px; pointer-events: none; margin: 0'>Launch rocket</p>", tap("Search")),
    Shape("words of a counter", "<style>@counter-style l { system: cyclic; symbols: 'Launch rocket'; suffix: '' } #g::before { counter-increment: c; content: counter(c, l) }</style><button id=g data-g=guarded aria-label=Search></button>", tap("Search")),
    Shape("words written backwards", "<button data-g=guarded style='unicode-bidi: bidi-override; direction: rtl'>tekcor hcnuaL</button>", tap("tekcor hcnuaL")),
    Shape("letters from right to left", f"<button data-g=guarded aria-label=Search style='display: flex; flex-direction: row-reverse'>{''.join(f'<i>{letter}</i>' for letter in 'tekcor hcnuaL')}</button>", tap("Search")),
    Shape("a symbol that has words", "<svg width=0 height=0><symbol id=y><text y=15>Launch rocket</text></symbol></svg><button data-g=guarded aria-label=Search><svg width=200 height=20><use href=#y /></svg></button>", tap("Search")),
    Shape("words in a slot", "<x-b>Launch rocket</x-b><script>customElements.define('x-b', class extends HTMLElement { connectedCallback() { const root = this.attachShadow({mode: 'closed'}); root.innerHTML = '<button data-g=guarded aria-label=Search><slot></slot></button>'; judge(root) } })</script>", tap("Search")),
    Shape("a tab and a space in a text", f"<input id=f aria-label=Code>{GUARDED}", ({"type": "type_text", "text": "1\t ", "target": {"text": "Code"}},)),
    Shape("what two have in common", f"<div data-g=guarded onclick=1 role=button tabindex=0 aria-label='Launch rocket'><p style='{PLACED}'>Search</p><p style='{PLACED}; top: 200px'>Filter</p></div>", ({"type": "drag", "from": {"x": 50, "y": 50}, "to": {"x": 50, "y": 250}},)),
    Shape("a popover under the finger", f"<button popovertarget=v style='{PLACED}'>Search</button><div popover id=v style='{PLACED}; margin: 0'><button data-g=guarded style='{PLACED}'>Launch rocket</button></div>", ({"type": "double_tap", "target": {"text": "Search"}},)),
    Shape("a handler of a change, which Enter tells", f"<input id=f aria-label=Code onchange='g.click()'>{GUARDED}", ({"type": "type_text", "text": "1", "submit": True},)),
    Shape("something that acts when the pointer lifts", f"<button id=s style='{PLACED}' onpointerdown='this.remove()'>Search</button><button data-g=guarded style='{PLACED}; z-index: -1' onmouseup=\"tell('guarded')\">Launch rocket</button>", tap("Search")),
    Shape("an option in a group", "<select id=f aria-label=Kind><option>Search<optgroup label='Launch rocket'><option data-g=guarded>Now</optgroup></select>", ({"type": "set_value", "target": {"text": "Kind"}, "value": "Now"}, *key("down"))),
    Shape("an arrow in a number that sends its form", "<form id=o action=/guarded><input type=number id=f onchange='o.submit()'><button data-g=guarded>Launch rocket</button></form>", key("up")),
    Shape("a field inside a link", "<a href=/guarded data-g=guarded>Launch rocket <input aria-label=Code></a>", ({"type": "type_text", "text": "1", "target": {"text": "Code"}},)),
    Shape("a checkbox that sends its form", "<form id=o action=/guarded><label><input type=checkbox onchange='o.submit()'>I agree</label><button data-g=guarded>Launch rocket</button></form>", tap("I agree")),
    Shape("a date that is typed and sends its form", "<form id=o action=/guarded><input type=date id=f onchange='o.submit()'><button data-g=guarded>Launch rocket</button></form>", ({"type": "type_text", "text": "2026-01-02"},)),
    Shape("writing inside a button", "<button data-g=guarded>Launch rocket <span id=f contenteditable>x</span></button>", key("space", "enter")),
    Shape("copying outside a field", f"{GUARDED}<script>document.oncopy = () => g.click()</script>", (*key("copy"), {"type": "press_keys", "keys": ["ctrl", "c"]}), focus=""),
    Shape("a form without a button below a handler", f"<form onsubmit='return false'><input id=f></form>{GUARDED}<script>document.onkeydown = (e) => e.key === 'Enter' && g.click()</script>", key("enter")),
    Shape("a text that changes what its Enter presses", f"<input id=f aria-label=Code oninput='g.focus()'>{GUARDED}", ({"type": "type_text", "text": "1\n"},)),
    Shape("a field that hands single keys on", f"<input id=f onbeforeinput='event.preventDefault()' onkeydown='g.focus()'>{GUARDED}", ({"type": "type_text", "text": "a b"},)),
    Shape("a tab before an Enter", "<form action=/guarded method=post><input id=f><button data-g=guarded style='display: none'>Launch rocket</button></form>", ({"type": "type_text", "text": "1\t\n"},)),
    Shape("letters between letters that nobody sees", f"<button data-g=guarded aria-label=Search style='{PLACED}'>{''.join(f'{letter}<i style=font-size:0>x</i>' for letter in 'Launch rocket')}</button>", tap("Search")),
    Shape("two halves in another order", f"<button data-g=guarded aria-label=Search style='{PLACED}'><span style='display: inline-flex; flex-direction: row-reverse'><b>ch rocket</b><b>Laun</b></span></button>", tap("Search")),
    Shape("words of quotation marks", f"<style>#g::before {{ content: open-quote; quotes: 'Launch rocket' '' }}</style><button id=g data-g=guarded aria-label=Search style='{PLACED}'></button>", tap("Search")),
    Shape("words that what is around it draws over it", f"<style>#w::after {{ content: 'Launch rocket'; position: absolute; left: 9px; top: 9px; pointer-events: none }}</style><div id=w style='{PLACED}'><button data-g=guarded style='{PLACED}'>Search</button></div>", tap("Search")),
    Shape("a frame of another site that lets presses through", f"<button data-g=guarded style='{PLACED}'>Search</button><iframe src=OTHER/inner style='{PLACED}; pointer-events: none; border: 0'></iframe>", tap("Search"), inner="<p>Launch rocket"),
    Shape("a name that is too long", f"<button data-g=guarded style='{PLACED}' aria-label='{'x ' * 1500}Launch rocket'></button>", at(60, 20)),
    Shape("a closed root beside other content", f"<div id=h><i>Welcome</i></div><script>root = h.attachShadow({{mode: 'closed'}}); root.innerHTML = `<button data-g=guarded style='{PLACED}'>Launch rocket</button>`; judge(root)</script>", at(60, 20)),
)  # fmt: skip


async def attempt(stage: Stage, shape: Shape) -> list[str]:
    """What the judge has noted of something guarded."""
    tabs, site = stage.surface.tabs, stage.site
    if len(tabs.pages) != 1 or tabs.front.dialog is not None:
        await stage.alone()
    page = tabs.front
    for path in ("/guarded", "/sent"):
        site.put("<p>Thanks", path)
    site.put(JUDGE + shape.inner, "/inner")
    await navigate(page, site.put(JUDGE + shape.body.replace("OTHER", site.other), "/shape"))
    await stage.js(f"document.getElementById({shape.focus!r})?.focus(); 1")
    site.posted.clear()
    site.asked.clear()
    questions: list[str] = []
    denier = asyncio.create_task(deny_all(stage, questions))
    try:
        async with asyncio.timeout(25):
            for act in shape.acts:
                await stage.session.run(act, reason="I try it")
    finally:
        denier.cancel()
    await asyncio.sleep(0.1)
    heard = [path for path, _ in site.posted] + [path.partition("?")[0] for path in site.asked]
    return [path for path in heard if path in ("/guarded", "/hit/guarded")]
