# ruff: noqa: E501  (pages are written as they are sent)
"""Pages invented by somebody who had not read the code, to get something guarded pressed unjudged.

`@L` stands for the guarded label; with an ordinary one the same pages show that their inputs do arrive. Judged by what
the page itself hears and by the server that gets the POST.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from handrail.errors import HandrailError
from tests.browser.activations import deny_all, navigate, until
from tests.browser.stage import Stage

Acts = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Stranger:
    """One page, and what is tried on it in this order."""

    name: str
    body: str
    acts: Acts
    focus: str = ""
    """A script that puts the focus where a person has put it."""
    inner: str = ""
    """The document of a frame, at `/inner`."""
    by_post: bool = False
    """The page is reached by sending the form `o`."""


G = "data-g=guarded"
B = f"<button id=g {G} onclick=pay()>@L</button>"
POST = "action=/guarded method=post"
FIELD = "<input id=f aria-label=Voucher>"
BOX = "position: absolute; left: 0; top: 0; width: 300px; height: 100px"


def tap(text: str = "Show more", **fields: Any) -> dict[str, Any]:
    return {"type": "tap", "target": {"text": text}, **fields}


def key(name: str) -> dict[str, Any]:
    return {"type": "press_key", "key": name}


def keys(*names: str) -> dict[str, Any]:
    return {"type": "press_keys", "keys": list(names)}


def typed(text: str, target: str = "Voucher", **fields: Any) -> dict[str, Any]:
    return {"type": "type_text", "text": text, "target": {"text": target}, **fields}


def blind(text: str, **fields: Any) -> dict[str, Any]:
    """Into whatever has the focus."""
    return {"type": "type_text", "text": text, **fields}


def value(wanted: Any, target: str = "Voucher") -> dict[str, Any]:
    return {"type": "set_value", "target": {"text": target}, "value": wanted}


def at(x: int, y: int, **fields: Any) -> dict[str, Any]:
    return {"type": "tap", "target": {"x": x, "y": y}, **fields}


ENTER = key("enter")
FOCUS = "document.getElementById('f').focus()"
FOCUS_G = "document.getElementById('g').focus()"


def shape(
    name: str, body: str, *acts: dict[str, Any], focus: str = "", inner: str = "", by_post: bool = False
) -> Stranger:
    return Stranger(name, body, acts, focus, inner, by_post)


FORMS = (
    shape(
        "the button in the legend of a disabled fieldset",
        f"<form {POST}>{FIELD}<fieldset disabled><legend><button {G}>@L</button></legend></fieldset></form>",
        typed("1", submit=True),
    ),
    shape(
        "formaction of a hidden first button",
        f"<form action=/fine>{FIELD}<button hidden formaction=/guarded formmethod=post {G}>@L</button><button>Search</button></form>",
        typed("1", submit=True),
    ),
    shape(
        "a submit named by its title",
        f"<form {POST}>{FIELD}<input type=image title='@L' src=/x.png width=30 height=20 {G}></form>",
        typed("1\n"),
    ),
    shape(
        "a submit named by aria alone",
        f"<form {POST}>{FIELD}<input type=submit value='→' aria-label='@L' {G}></form>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "owned by the first of two forms with one id",
        f"<form id=o {POST}><button {G}>@L</button></form><form id=o action=/fine><button>Search</button></form><input form=o id=f aria-label=Voucher>",
        typed("1", submit=True),
    ),
    shape(
        "the owner changes as the field is focused",
        f"<form id=p {POST}><button {G}>@L</button></form><form action=/fine><input id=f aria-label=Voucher onkeydown=\"this.setAttribute('form', 'p')\"><button>Search</button></form>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "the button is moved in by the field's own key",
        f"<form id=o {POST}>{FIELD}</form>{B}<script>f.onkeydown = () => f.after(g)</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a dialog's form",
        f"<dialog id=d closedby=any><form method=dialog>{FIELD}<button {G} onclick=pay()>@L</button></form></dialog><script>d.showModal()</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a form within a shadow that delegates the focus",
        f"<x-a id=f></x-a><script>f.attachShadow({{mode: 'closed', delegatesFocus: true}}).innerHTML = `<form {POST}><input aria-label=Voucher><button {G} onclick=pay()>@L</button></form>`</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a select that sends its form",
        f"<form id=o {POST}><select id=f aria-label=Voucher onchange='o.requestSubmit(g)'><option>One<option>Two</select><button id=g {G}>@L</button></form>",
        key("down"),
        focus=FOCUS,
    ),
    shape(
        "a select that sends its form, by value",
        f"<form id=o {POST}><select id=f aria-label=Voucher onchange='o.requestSubmit(g)'><option>One<option>Two</select><button id=g {G}>@L</button></form>",
        value("Two"),
    ),
    shape(
        "several options that send their form",
        f"<form id=o {POST}><select multiple id=f aria-label=Many onchange='o.requestSubmit(g)'><option>One<option>Two<option>Three</select><button id=g {G}>@L</button></form>",
        {"type": "set_value", "target": {"id": "f"}, "value": ["One", "Three"]},
    ),
    shape(
        "several options, one guarded",
        f"<select multiple id=f aria-label=Many onchange='if (this.options[1].selected) pay()'><option>One<option {G}>@L<option>Three</select>",
        {"type": "set_value", "target": {"id": "f"}, "value": ["One", "@L"]},
    ),
    shape(
        "an option whose shown words are its label attribute",
        f"<select id=f aria-label=Voucher><option>One<option {G} label='@L' value=two>Two</select>",
        value("two"),
    ),
    shape(
        "a slider that sends its form",
        f"<form id=o {POST}><input type=range id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        value(80),
    ),
    shape(
        "a slider that sends its form, by an arrow",
        f"<form id=o {POST}><input type=range id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        key("right"),
        focus=FOCUS,
    ),
    shape(
        "a checkbox that sends its form",
        f"<form id=o {POST}><input type=checkbox id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        key("space"),
        focus=FOCUS,
    ),
    shape(
        "a tapped checkbox that sends its form",
        f"<form id=o {POST}><input type=checkbox id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        tap("Voucher"),
    ),
    shape(
        "a tapped slider that sends its form",
        f"<form id=o {POST}><input type=range id=f aria-label=Voucher onchange='o.requestSubmit(g)' style='{BOX}'><button id=g {G} style='position: absolute; top: 300px'>@L</button></form>",
        at(220, 50),
    ),
    shape(
        "an image map",
        f"<img src=/x.png usemap=#m width=200 height=100 style='{BOX}'><map name=m><area id=a shape=rect coords=0,0,200,100 alt=Continue title='@L' href=/guarded {G}></map>",
        at(60, 30),
    ),
    shape(
        "a field whose text is pasted sends its form",
        f"<form id=o {POST}><input id=f aria-label=Voucher onpaste='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        typed("12", how="paste"),
    ),
    shape(
        "a text set as a value sends its form",
        f"<form id=o {POST}><input id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        typed("12", how="value"),
    ),
    shape(
        "a date set as a value sends its form",
        f"<form id=o {POST}><input type=date id=f aria-label=Voucher onchange='o.requestSubmit(g)'><button id=g {G}>@L</button></form>",
        typed("2026-04-01", how="value"),
    ),
)

KEYS = (
    shape(
        "an access key",
        f"{FIELD}<button id=g accesskey=p {G} onclick=pay()>@L</button>",
        keys("alt", "p"),
        focus=FOCUS,
    ),
    shape(
        "an access key with shift",
        f"{FIELD}<button id=g accesskey=p {G} onclick=pay()>@L</button>",
        keys("alt", "shift", "p"),
    ),
    shape(
        "an access key of a label",
        f"<label accesskey=s for=g>Show more</label><button id=g hidden {G} onclick=pay()>@L</button>",
        keys("alt", "s"),
    ),
    shape(
        "the key moves the focus before it presses",
        f"{FIELD}{B}<script>f.onkeydown = () => g.focus()</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a letter moves the focus, the next one presses",
        f"{FIELD}{B}<script>f.onkeydown = () => g.focus()</script>",
        typed("a b\n", how="keys"),
    ),
    shape(
        "the focus leaves the field as it comes",
        f"{FIELD}{B}<script>f.onfocus = () => setTimeout(() => g.focus(), 5)</script>",
        typed("a b c", how="keys"),
    ),
    shape("a tab within the text", f"{FIELD}{B}", typed("a\t b\n", how="keys")),
    shape("a tab within the text, of itself", f"{FIELD}{B}", typed("a\t \n")),
    shape("keys where no field has the focus", B, blind(" ", how="keys"), focus=FOCUS_G),
    shape("a line break where no field has the focus", B, blind("\n", how="keys"), focus=FOCUS_G),
    shape(
        "a letter where no field has the focus",
        f"{B}<script>document.onkeydown = (one) => {{ if (one.key === 'p') g.click() }}</script>",
        blind("p", how="keys"),
        focus="document.activeElement.blur()",
    ),
    shape(
        "a letter's keypress where no field has the focus",
        f"{B}<script>window.onkeypress = () => g.click()</script>",
        blind("x", how="keys"),
        focus="document.activeElement.blur()",
    ),
    shape("words of Handrail's own choice where no field has the focus", B, blind(" "), focus=FOCUS_G),
    shape(
        "an entry named by a reflected property",
        f"<div id=f tabindex=0 role=menu aria-label=Voucher></div><div role=menuitem id=b {G} onclick=pay()>@L</div><script>f.ariaActiveDescendantElement = b; f.onkeydown = (one) => {{ if (one.key === 'Enter') b.click() }}</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a list that remembers its own entry",
        f"<ul id=f tabindex=0 aria-label=Voucher><li>One<li class=on {G} onclick=pay()>@L</ul><script>f.onkeyup = (one) => {{ if (one.key === ' ') f.querySelector('.on').click() }}</script>",
        key("space"),
        focus=FOCUS,
    ),
    shape(
        "an editable text with a button in it",
        f"<div id=f contenteditable aria-label=Voucher>text</div>{B}<script>f.onkeydown = (one) => {{ if (one.key === 'Enter') g.click() }}</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a text area that sends",
        f"<form id=o {POST}><textarea id=f aria-label=Voucher></textarea><button id=g {G}>@L</button></form><script>f.onkeydown = (one) => {{ if (one.key === 'Enter' && one.ctrlKey) o.requestSubmit(g) }}</script>",
        keys("ctrl", "enter"),
        focus=FOCUS,
    ),
    shape(
        "beforeinput of a line break",
        f"<textarea id=f aria-label=Voucher></textarea>{B}<script>f.onbeforeinput = (one) => {{ if (one.inputType === 'insertLineBreak') g.click() }}</script>",
        typed("a\n"),
    ),
    shape(
        "a reload by F5", f"<form id=o {POST}><input name=a value=1></form>", key("KEYCODE_F5"), by_post=True
    ),
    shape(
        "a reload by its keys",
        f"<form id=o {POST}><input name=a value=1></form>",
        keys("ctrl", "r"),
        by_post=True,
    ),
    shape(
        "a reload past the cache",
        f"<form id=o {POST}><input name=a value=1></form>",
        keys("ctrl", "shift", "r"),
        by_post=True,
    ),
    shape("a pad's middle key", B, key("KEYCODE_DPAD_CENTER"), focus=FOCUS_G),
    shape("a pad's first button", B, key("KEYCODE_BUTTON_A"), focus=FOCUS_G),
    shape("a second enter key", B, key("KEYCODE_NUMPAD_ENTER"), focus=FOCUS_G),
    shape("shift and space", B, keys("shift", "space"), focus=FOCUS_G),
    shape("ctrl and space", B, keys("ctrl", "space"), focus=FOCUS_G),
    shape("meta and enter", B, keys("meta", "enter"), focus=FOCUS_G),
    shape(
        "a summary that holds the focus",
        f"<details><summary id=f aria-label=Voucher>More</summary></details>{B}<script>f.onclick = () => 0; f.onkeydown = () => g.focus()</script>",
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "a dialog that opens with its button focused",
        f"<form id=o><input id=f aria-label=Voucher><button command=show-modal commandfor=d type=button>Show more</button></form><dialog id=d>{B}</dialog><script>f.onkeydown = () => d.showModal()</script>",
        typed("1\n"),
    ),
    shape(
        "a command opens, the second break presses",
        f"<button id=f commandfor=d command=show-modal aria-label=Voucher>Show more</button><dialog id=d><button autofocus id=g {G} onclick=pay()>@L</button></dialog>",
        blind("\n\n", how="keys"),
        focus=FOCUS,
    ),
    shape(
        "a popover with its button focused",
        f"<button id=f popovertarget=d>Show more</button><div id=d popover><button autofocus id=g {G} onclick=pay()>@L</button></div>",
        ENTER,
        ENTER,
        focus=FOCUS,
    ),
    shape(
        "spaces for a popover",
        f"<button id=f popovertarget=d>Show more</button><div id=d popover><button autofocus id=g {G} onclick=pay()>@L</button></div>",
        blind("  ", how="keys"),
        focus=FOCUS,
    ),
    shape(
        "a confirm answered by the space bar",
        "<p>x</p><script>go = () => { if (confirm('@L?')) pay() }</script>",
        key("space"),
        focus="setTimeout(go)",
    ),
    shape(
        "a confirm whose words come last",
        "<p>x</p><script>go = () => { if (confirm('Welcome. '.repeat(400) + '@L?')) pay() }</script>",
        ENTER,
        focus="setTimeout(go)",
    ),
    shape(
        "a confirm asked by another confirm",
        "<p>x</p><script>go = () => { if (confirm('More?')) if (confirm('@L?')) pay() }</script>",
        tap("OK"),
        ENTER,
        focus="setTimeout(go)",
    ),
    shape(
        "a prompt answered by a text with a break",
        "<p>x</p><script>go = () => { if (prompt('@L?') !== null) pay() }</script>",
        blind("1\n"),
        focus="setTimeout(go)",
    ),
    shape(
        "a confirm under two keys of a text",
        "<input id=f aria-label=Voucher><script>f.onkeydown = (one) => { if (one.key === 'a' && confirm('@L?')) pay() }</script>",
        typed("a\n", how="keys"),
    ),
)

POINTS = (
    shape(
        "a label far away",
        f"<label for=g style='{BOX}'>Show more</label><hr><div hidden>{B}</div>",
        at(60, 30),
    ),
    shape(
        "a label in a shadow",
        f"<x-a id=f></x-a><script>f.attachShadow({{mode: 'closed'}}).innerHTML = `<label for=g>Show more</label><button id=g hidden {G} onclick=pay()>@L</button>`</script>",
        at(30, 15),
    ),
    shape(
        "a label around a link's words and a button",
        f"<label style='{BOX}'>Show more <button id=g {G} onclick=pay() style='position: absolute; top: 500px'>@L</button></label>",
        at(60, 30),
    ),
    shape(
        "a label of a custom element",
        f"<label for=c style='{BOX}'>Show more</label><script>customElements.define('x-c', class extends HTMLElement {{ static formAssociated = true; constructor() {{ super(); this.i = this.attachInternals(); this.attachShadow({{mode: 'closed'}}).innerHTML = '<b>@L</b>'; this.onclick = () => pay() }} }})</script><x-c id=c {G}></x-c>",
        at(60, 30),
    ),
    shape(
        "a button inside a summary",
        f"<details><summary style='{BOX}'>Show more <button id=g {G} onclick='event.preventDefault(); pay()' style='position: absolute; left: 100px; top: 30px; width: 100px; height: 40px'>@L</button></summary></details>",
        at(150, 50),
    ),
    shape(
        "a slot in a closed button",
        f"<x-b>Show more</x-b><script>document.querySelector('x-b').attachShadow({{mode: 'closed'}}).innerHTML = `<button {G} onclick=pay()><slot></slot> <b>@L</b></button>`</script>",
        at(40, 18),
    ),
    shape(
        "a frame that lets fingers through",
        f"{B}<style>#g, iframe {{ {BOX} }} iframe {{ pointer-events: none; border: 0 }}</style><iframe src=/inner></iframe>",
        tap(),
        inner="<a href=# style='position: absolute; left: 50px; top: 30px; background: white'>Show more</a>",
    ),
    shape(
        "an inert cover",
        f"{B}<style>#g {{ {BOX} }}</style><div inert style='{BOX}; background: white'><button>Show more</button></div>",
        tap(),
    ),
    shape(
        "a button that lets fingers through",
        f"{B}<style>#g {{ {BOX} }}</style><button style='{BOX}; pointer-events: none'>Show more</button>",
        tap(),
    ),
    shape(
        "an unseen frame above",
        f"<button style='{BOX}'>Show more</button><iframe src=/inner style='{BOX}; opacity: 0; border: 0'></iframe>",
        tap(),
        inner=f"<style>#g {{ {BOX} }}</style>{B}",
    ),
    shape(
        "an unseen frame of another site above",
        f"<button style='{BOX}'>Show more</button><iframe src=//localhost:@P/inner style='{BOX}; opacity: 0.001; border: 0'></iframe>",
        tap(),
        inner=f"<style>#g {{ {BOX} }}</style>{B}",
    ),
    shape(
        "an unseen sandbox above",
        f"<button style='{BOX}'>Show more</button><iframe sandbox='allow-scripts allow-forms' src=/inner style='{BOX}; opacity: 0.001; border: 0'></iframe>",
        at(60, 30),
        inner=f"<style>#g {{ {BOX} }}</style>{B}",
    ),
    shape(
        "a key in a frame of another site",
        "<iframe id=f src=//localhost:@P/inner width=400 height=200></iframe>",
        ENTER,
        focus=FOCUS,
        inner=f"<form {POST}><input autofocus aria-label=Voucher><button {G}>@L</button></form><script>document.querySelector('input').focus()</script>",
    ),
    shape(
        "typed into a frame of another site",
        "<iframe id=f src=//localhost:@P/inner width=400 height=200></iframe>",
        typed("1", submit=True),
        inner=f"<form {POST}><input aria-label=Voucher><button {G}>@L</button></form>",
    ),
    shape(
        "typed into a sandbox in a frame",
        "<iframe src=/inner width=400 height=200></iframe>",
        typed("1", submit=True),
        inner=f"<iframe sandbox='allow-scripts allow-forms' width=380 height=180 srcdoc=\"<form action=/guarded method=post><input aria-label=Voucher><button {G}>@L</button></form>\"></iframe>",
    ),
    shape(
        "a frameset",
        "</body><frameset cols='50%,50%'><frame src=/inner><frame src=/inner></frameset>",
        {"type": "tap", "target": {"x": 30, "y": 20}},
        inner=f"<style>#g {{ {BOX} }}</style>{B}",
    ),
    shape(
        "the pointer brings it",
        f"<div style='{BOX}' class=w><a href=#>Show more</a>{B}</div><style>.w #g {{ display: none; {BOX} }} .w:hover #g {{ display: block }}</style>",
        tap(),
    ),
    shape(
        "the pointer brings it, and it hears only the finger's end",
        f"<div style='{BOX}' class=w><a href=#>Show more</a><div id=g {G} onpointerup=pay()>@L</div></div><style>.w #g {{ display: none; {BOX} }} .w:hover #g {{ display: block }}</style>",
        tap(),
    ),
    shape(
        "the finger brings it",
        f"<div style='{BOX}' class=w><a href=#>Show more</a><div id=g {G} onmouseup=pay()>@L</div></div><style>.w #g {{ display: none; {BOX} }} .w:active #g {{ display: block }}</style>",
        tap(),
    ),
    shape(
        "hovering brings it, and it hears the pointer",
        f"<div style='{BOX}' class=w><a href=#>Show more</a><div id=g {G} onmouseenter=pay()>@L</div></div><style>.w #g {{ display: none; {BOX} }} .w:hover #g {{ display: block }}</style>",
        {"type": "hover", "target": {"text": "Show more"}},
    ),
    shape(
        "a first tap puts it under the second",
        f"<div style='{BOX}' id=w><button style='{BOX}' onclick=\"this.remove(); g.style.display = 'block'\">Show more</button>{B}</div><style>#g {{ display: none; {BOX} }}</style>",
        {"type": "double_tap", "target": {"text": "Show more"}},
    ),
    shape(
        "a first tap puts it under the second, which only a double click presses",
        f"<div style='{BOX}' id=w><button style='{BOX}' onclick=\"this.remove(); g.style.display = 'block'\">Show more</button><button id=g {G} onmousedown=pay()>@L</button></div><style>#g {{ display: none; {BOX} }}</style>",
        {"type": "double_tap", "target": {"text": "Show more"}},
    ),
    shape(
        "only a double click",
        f"<button id=g {G} ondblclick=pay() aria-label='Show more'>@L</button>",
        {"type": "double_tap", "target": {"text": "Show more"}},
    ),
    shape(
        "a middle click",
        f"<a id=g href=# {G} onauxclick=pay() aria-label='Show more'>@L</a>",
        tap(button="middle"),
    ),
    shape(
        "a right click",
        f"<div id=g role=button {G} oncontextmenu='event.preventDefault(); pay()' aria-label='Show more'>@L</div>",
        tap(button="right"),
    ),
    shape(
        "a right click at a point",
        f"<div id=g {G} oncontextmenu='event.preventDefault(); pay()' style='{BOX}'>@L</div>",
        at(60, 30, button="right"),
    ),
    shape(
        "a click with a key held",
        f"<a id=g href=/guarded {G} aria-label='Show more'>@L</a>",
        tap(modifiers=["ctrl"]),
    ),
    shape(
        "a click with alt held on a label",
        f"<label for=g style='{BOX}'>Show more</label><div hidden>{B}</div>",
        at(60, 30, modifiers=["alt", "shift"]),
    ),
    shape(
        "a right click that opens on the way up",
        f"<div style='{BOX}' class=w><a href=#>Show more</a><div id=g {G} onauxclick=pay() onmouseup=pay()>@L</div></div><style>.w #g {{ display: none; {BOX} }} .w:active #g {{ display: block }}</style>",
        at(30, 10, button="right"),
    ),
    shape(
        "hovering what acts at once",
        f"<button id=g {G} onmouseenter=pay() aria-label='Show more'>@L</button>",
        {"type": "hover", "target": {"text": "Show more"}},
    ),
    shape(
        "hovering at a point",
        f"<button id=g {G} onpointerover=pay() style='{BOX}'>@L</button>",
        {"type": "hover", "target": {"x": 60, "y": 40}},
    ),
    shape(
        "hovering a child",
        f"<div id=g {G} onmousemove=pay() style='{BOX}'><span>Show more</span> <b>@L</b></div>",
        {"type": "hover", "target": {"x": 30, "y": 10}},
    ),
    shape(
        "a finger that only comes down",
        f"<div id=g {G} onmousedown=pay() style='{BOX}'>@L</div>",
        {"type": "swipe", "from": {"x": 60, "y": 40}, "to": {"x": 60, "y": 400}},
    ),
    shape(
        "a finger that only lifts",
        f"<div id=g {G} onpointerup=pay() style='{BOX}'>@L</div>",
        {"type": "swipe", "from": {"x": 60, "y": 400}, "to": {"x": 60, "y": 40}},
    ),
    shape(
        "a path that ends on it",
        f"<div id=g {G} onmouseup=pay() style='{BOX}'>@L</div>",
        {"type": "drag_path", "points": [{"x": 500, "y": 400}, {"x": 300, "y": 300}, {"x": 60, "y": 40}]},
    ),
    shape(
        "dropped on it",
        f"<div draggable=true style='position: absolute; top: 300px'>Ticket</div><div id=g {G} ondragover='event.preventDefault()' ondrop='event.preventDefault(); pay()' style='{BOX}'>@L</div>",
        {"type": "drag", "from": {"text": "Ticket"}, "to": {"x": 60, "y": 40}},
    ),
    shape(
        "dragged away",
        f"<div id=g {G} draggable=true ondragstart=pay() style='{BOX}'>@L</div><div style='position: absolute; top: 300px'>Basket</div>",
        {"type": "drag", "from": {"x": 60, "y": 40}, "to": {"text": "Basket"}},
    ),
    shape(
        "held",
        f"<div id=g {G} style='{BOX}' onmousedown=\"h = setTimeout(pay, 300)\" onmouseup='clearTimeout(h)'>@L</div>",
        {"type": "long_press", "target": {"x": 60, "y": 40}},
    ),
    shape(
        "two fingers on it",
        f"<div id=g {G} style='{BOX}' ontouchstart=pay() onpointerdown=pay()>@L</div>",
        {"type": "pinch", "cx": 100, "cy": 50, "start_radius": 30, "end_radius": 60},
    ),
    shape(
        "a wheel on it",
        f"<div id=g {G} style='{BOX}' onwheel=pay()>@L</div>",
        {"type": "scroll_to", "target": {"text": "Nowhere"}, "direction": "down"},
    ),
    shape(
        "a cover that opens as the finger comes",
        f"<div id=o {G} onclick=pay()><button style='{BOX}' onmousedown=\"this.style.display = 'none'\">Show more</button><div style='{BOX}; z-index: -1'>@L</div></div>",
        tap(),
    ),
    shape(
        "the page scrolls it under the finger",
        f"<div style='height: 2000px'></div><button id=s>Show more</button><div style='height: 2000px'></div>{B}<style>#g {{ position: fixed; display: none; inset: 0; width: 100%; height: 100% }}</style><script>onscroll = () => {{ g.style.display = 'block' }}</script>",
        tap(),
    ),
    shape(
        "it comes by in an animation",
        f"<button style='{BOX}'>Show more</button>{B}<style>#g {{ {BOX}; animation: m 90ms infinite steps(2) }} @keyframes m {{ 0% {{ left: 0 }} 50% {{ left: 400px }} }}</style>",
        tap(),
    ),
    shape(
        "it comes by between two looks",
        f"<button style='{BOX}'>Show more</button>{B}<style>#g {{ {BOX}; left: 400px }}</style><script>document.addEventListener('mousemove', () => {{ g.style.left = 0 }}, true)</script>",
        tap(),
    ),
    shape(
        "a shadow takes the capture first",
        f"<button id=s style='{BOX}'>Show more</button>{B}<style>#g {{ {BOX}; left: 400px }}</style><script>for (const kind of ['pointerover', 'pointermove', 'mouseover', 'pointerdown']) window.addEventListener(kind, () => {{ g.style.left = 0 }}, true)</script>",
        tap(),
    ),
    shape(
        "a disabled button's child",
        f"<div id=g {G} onclick=pay() style='{BOX}'><button disabled style='width: 300px; height: 60px'><span>Show more</span></button>@L</div>",
        at(60, 30),
    ),
    shape(
        "an svg's link",
        f"<svg width=300 height=100 style='{BOX}'><a href=/guarded {G}><rect width=300 height=100 fill=white /><text y=30>@L</text></a></svg>",
        at(200, 80),
    ),
    shape(
        "a button in a foreign object",
        f"<svg width=300 height=100 style='{BOX}'><foreignObject width=300 height=100><button {G} onclick=pay() style='width: 300px; height: 100px' aria-label='Show more'>@L</button></foreignObject></svg>",
        at(60, 30),
    ),
    shape(
        "a picture in the top layer",
        f"<button style='{BOX}'>Show more</button><div popover=manual id=p style='{BOX}; margin: 0; opacity: 0.01'>{B}</div><style>#g {{ {BOX} }}</style><script>p.showPopover()</script>",
        tap(),
    ),
    shape(
        "zoomed",
        f"<div style='zoom: 3'><button style='position: absolute; left: 0; top: 0; width: 60px; height: 20px'>Show more</button>{B}</div><style>#g {{ position: absolute; left: 62px; top: 0; width: 60px; height: 20px }}</style>",
        at(250, 30),
    ),
    shape("an address that is a script", B, {"type": "open_url", "url": "javascript:pay()"}),
    shape(
        "an OK under its question in a style",
        f"<div role=dialog aria-modal=true><style>.q::before {{ content: '@L?' }}</style><p class=q></p><button {G} onclick=pay()>OK</button></div>",
        tap("OK"),
    ),
    shape(
        "an OK under its question in a shadow",
        f"<div role=dialog aria-modal=true><x-q id=q></x-q><button {G} onclick=pay()>OK</button></div><script>q.attachShadow({{mode: 'open'}}).innerHTML = '<p>@L?</p>'</script>",
        tap("OK"),
    ),
)

DRAWN = tuple(
    shape(f"drawn: {name}", f"<div style='padding: 20px'>{body}</div>", *(acts or (tap("Continue"),)))
    for name, body, *acts in (
        (
            "a quotation mark",
            f"<style>q {{ quotes: '@L' '' }}</style><button {G} onclick=pay() aria-label=Continue><q></q></button>",
        ),
        (
            "a list's marker",
            f"<style>li {{ list-style: '@L' inside }}</style><button {G} onclick=pay() aria-label=Continue><li></li></button>",
        ),
        (
            "a marker's content",
            f"<style>li::marker {{ content: '@L' }}</style><button {G} onclick=pay() aria-label=Continue><ul><li></ul></button>",
        ),
        (
            "a variable's content",
            f"<style>#v {{ --a: '@L' }} #v::before {{ content: var(--a) }}</style><button id=v {G} onclick=pay() aria-label=Continue></button>",
        ),
        (
            "content in two halves",
            f"<style>#v::before {{ content: '@1' }} #v::after {{ content: '@2' }}</style><button id=v {G} onclick=pay() aria-label=Continue></button>",
        ),
        (
            "a counter's symbol",
            f"<style>@counter-style w {{ system: cyclic; symbols: '@L' }} #v::before {{ counter-increment: a; content: counter(a, w) }}</style><button id=v {G} onclick=pay() aria-label=Continue></button>",
        ),
        (
            "a symbol used from elsewhere",
            f"<svg width=0 height=0><defs><text id=t y=15>@L</text></defs></svg><button {G} onclick=pay() aria-label=Continue><svg width=160 height=20><use href=#t /></svg></button>",
        ),
        (
            "letters in another order of an svg",
            f"<button {G} onclick=pay() aria-label=Continue><svg width=200 height=20><text y=15 x=80>@2</text><text y=15 x=0 textLength=78>@1</text></svg></button>",
        ),
        (
            "mathematics",
            f"<button {G} onclick=pay() aria-label=Continue><math><mtext>@L</mtext></math></button>",
        ),
        (
            "a field's value",
            f"<button {G} onclick=pay() aria-label=Continue><input value='@L' tabindex=-1 readonly style='pointer-events: none; border: 0'></button>",
        ),
        (
            "a field's placeholder",
            f"<div role=button {G} onclick=pay() aria-label=Continue><input placeholder='@L' tabindex=-1 disabled style='pointer-events: none; border: 0'></div>",
        ),
        (
            "a text area",
            f"<div role=button {G} onclick=pay() aria-label=Continue><textarea disabled style='pointer-events: none'>@L</textarea></div>",
        ),
        (
            "a list's option",
            f"<div role=button {G} onclick=pay() aria-label=Continue><select disabled style='pointer-events: none'><option>@L</select></div>",
        ),
        (
            "a frame above it",
            f"<button {G} onclick=pay() aria-label=Continue style='position: absolute; left: 0; top: 0; width: 200px; height: 40px'></button><iframe srcdoc='@L' style='position: absolute; left: 0; top: 0; width: 190px; height: 36px; pointer-events: none; border: 0'></iframe>",
            at(100, 20),
        ),
        (
            "words above it",
            f"<button {G} onclick=pay() aria-label=Continue style='position: absolute; left: 0; top: 0; width: 200px; height: 40px'></button><span style='position: absolute; left: 10px; top: 10px; pointer-events: none'>@L</span>",
            at(100, 20),
        ),
        (
            "words below it",
            f"<span style='position: absolute; left: 10px; top: 10px'>@L</span><button {G} onclick=pay() aria-label=Continue style='position: absolute; left: 0; top: 0; width: 200px; height: 40px; opacity: 0'></button>",
            at(100, 20),
        ),
        (
            "words above an unnamed one",
            f"<div {G} onclick=pay() tabindex=0 style='position: absolute; left: 0; top: 0; width: 200px; height: 40px'></div><span style='position: absolute; left: 10px; top: 10px; pointer-events: none'>@L</span>",
            at(100, 20),
        ),
        (
            "from right to left",
            f"<button {G} onclick=pay() aria-label=Continue style='direction: rtl; unicode-bidi: bidi-override'>@R</button>",
        ),
        (
            "from right to left by a character",
            f"<button {G} onclick=pay()>&#x202e;@R&#x202c;</button>",
            at(50, 35),
        ),
        (
            "words in a row turned round",
            f"<button {G} onclick=pay() aria-label=Continue><span style='display: inline-flex; flex-direction: row-reverse; gap: 4px'><i>@2</i><i>@1</i></span></button>",
        ),
        (
            "words that float",
            f"<button {G} onclick=pay() aria-label=Continue style='width: 200px'><span style='float: right'>@2</span><span style='float: left'>@1</span></button>",
        ),
        (
            "decoys without size",
            f"<button {G} onclick=pay() aria-label=Continue>@1<i style='font-size: 0'>xyz</i>@2</button>",
        ),
        (
            "decoys without colour",
            f"<button {G} onclick=pay()>@1<i style='color: transparent; position: absolute'>xyz</i>@2</button>",
            at(45, 35),
        ),
        (
            "decoys that are cut off",
            f"<button {G} onclick=pay()>@1<i style='display: inline-block; width: 0; height: 1em; overflow: hidden'>xyz</i>@2</button>",
            at(45, 35),
        ),
        (
            "decoys under a clip",
            f"<button {G} onclick=pay()>@1<i style='clip-path: inset(50%); position: absolute'>xyz</i>@2</button>",
            at(45, 35),
        ),
        (
            "decoys of no opacity",
            f"<button {G} onclick=pay()>@1<i style='opacity: 0; position: absolute'>xyz</i>@2</button>",
            at(45, 35),
        ),
        (
            "decoys scaled to nothing",
            f"<button {G} onclick=pay()>@1<i style='position: absolute; transform: scale(0)'>xyz</i>@2</button>",
            at(45, 35),
        ),
        ("zero-width joints", f"<button {G} onclick=pay()>@Z</button>", at(45, 35)),
        ("soft hyphens", f"<button {G} onclick=pay()>@S</button>", at(45, 35)),
        ("letters of another alphabet", f"<button {G} onclick=pay()>@H</button>", at(45, 35)),
        ("letters of mathematics", f"<button {G} onclick=pay()>@M</button>", at(45, 35)),
        (
            "a word each in shadows",
            f"<button {G} onclick=pay()><x-1></x-1> <x-2></x-2></button><script>for (const [n, w] of [['x-1', '@1'], ['x-2', '@2']]) document.querySelector(n).attachShadow({{mode: 'closed'}}).textContent = w</script>",
            at(45, 35),
        ),
        (
            "slots in another order",
            f"<x-s {G} onclick=pay() role=button aria-label=Continue><b slot=b>@2</b><b slot=a>@1</b></x-s><script>document.querySelector('x-s').attachShadow({{mode: 'open'}}).innerHTML = '<slot name=a></slot><slot name=b></slot>'</script>",
        ),
        (
            "upright letters",
            f"<button {G} onclick=pay() aria-label=Continue style='writing-mode: vertical-rl; text-orientation: upright; letter-spacing: -3px'>@L</button>",
        ),
        (
            "capitals by a style",
            f"<button {G} onclick=pay() aria-label=Continue style='text-transform: uppercase'>@L</button>",
        ),
        ("ruby", f"<button {G} onclick=pay() aria-label=Continue><ruby>@1<rt>x</rt></ruby>@2</button>"),
        (
            "an image's words",
            f"<button {G} onclick=pay() aria-label=Continue><img title='@L' alt='' src=/x.png width=40 height=20></button>",
        ),
        (
            "a fallback of a broken image",
            f"<button {G} onclick=pay() aria-label=Continue><img alt='@L' src=/none.png></button>",
        ),
        (
            "words of a described element",
            f"<p id=w>@L</p><button {G} onclick=pay() aria-label=Continue aria-describedby=w>→</button>",
        ),
        ("a description", f"<button {G} onclick=pay() aria-label=Continue aria-description='@L'>→</button>"),
        (
            "a progress's words",
            f"<button {G} onclick=pay() aria-label=Continue><progress></progress><output>@L</output></button>",
        ),
        (
            "words of a first line",
            f"<style>#v::first-letter {{ font-size: 100% }}</style><button id=v {G} onclick=pay() aria-label=Continue>@L</button>",
        ),
        (
            "words in the button's own attribute",
            f"<style>#v::after {{ content: attr(aria-label) ' ' attr(data-a) }}</style><button id=v {G} onclick=pay() aria-label=@1 data-a='@2'></button>",
            at(45, 35),
        ),
    )
)

STRANGERS = FORMS + KEYS + POINTS + DRAWN
HOMOGLYPHS = str.maketrans("aeopcyxi", "аеорсухі")


def write(text: str, label: str, port: int) -> str:
    """What the signs stand for."""
    first, _, rest = label.partition(" ")
    mathematical = "".join(chr(0x1D5EE + ord(one) - 97) if "a" <= one <= "z" else one for one in label)
    for sign, words in {
        "@L": label, "@1": first, "@2": rest, "@R": label[::-1], "@P": str(port), "@Z": "\u200b".join(label),
        "@S": "&shy;".join(label), "@H": label.translate(HOMOGLYPHS), "@M": mathematical,
    }.items():  # fmt: skip
        text = text.replace(sign, words)
    return text


GUARDED = ("Launch rocket", "Pay now")
"""What a rule denies, and what the built-in words ask about."""
PLAIN = "Apply filter"
JUDGE = """<script>
const tell = (what) => navigator.sendBeacon('/hit/' + what);
globalThis.pay = () => tell('guarded');
for (const kind of ['click', 'change', 'submit']) addEventListener(kind, (one) => {
  const path = one.composedPath(), at = path.find((el) => el.dataset && el.dataset.g);
  const marked = kind === 'change' ? [...path[0].selectedOptions ?? []].some((el) => el.dataset.g)
    : kind === 'submit' ? one.submitter?.dataset.g : at?.matches('button,a,area,input,x-b,x-c,x-s');
  if (marked) pay();
}, true);
</script>"""


async def attempt(stage: Stage, shape: Stranger, label: str) -> list[str]:
    """What of the guarded thing the page and the server heard."""
    site, page = stage.site, stage.surface.tabs.front
    if page.dialog is not None or len(stage.surface.tabs.pages) > 1:
        await stage.alone()
        page = stage.surface.tabs.front
    site.put(JUDGE + write(shape.inner, label, site.port), "/inner")
    for path in ("/guarded", "/fine"):
        site.put("<p>Thanks", path)
    await navigate(page, site.put(JUDGE + write(shape.body, label, site.port), "/stranger"))
    if shape.by_post:
        await stage.js("o.submit(); 1")
        await until(page, "/guarded")
    if shape.focus:
        await stage.js(f"try {{ {shape.focus} }} catch {{ }}; 1")
    if "setTimeout(go)" in shape.focus:
        async with asyncio.timeout(5):
            await page.dialog_changed.wait()
    site.posted.clear()
    site.asked.clear()
    denier = asyncio.create_task(deny_all(stage, []))
    try:
        for act in shape.acts:
            async with asyncio.timeout(25):
                await stage.session.run(
                    json.loads(write(json.dumps(act), label, site.port)), reason="I try it"
                )
    finally:
        denier.cancel()
    await asyncio.sleep(0.15)  # a beacon is on its way
    return [path for path in site.asked if path.partition("?")[0] in ("/guarded", "/hit/guarded")]


async def attempts(stage: Stage, shapes: tuple[Stranger, ...], label: str) -> dict[str, list[str]]:
    """By name, of those that were heard."""
    heard = {}
    for shape in shapes:
        try:
            if told := await attempt(stage, shape, label):
                heard[shape.name] = told
        except (TimeoutError, HandrailError, AssertionError):  # a page that holds the browser up
            with suppress(HandrailError):
                await stage.alone()
    return heard
