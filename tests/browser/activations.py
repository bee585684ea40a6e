# ruff: noqa: E501  (pages are written as they are sent)
"""Generated pages on which an input activates something guarded, something else, or nothing.

The judge is on the other side: the page's own `click`, `submit` and `change` events and the server that gets
what forms send. It knows nothing of what Handrail reads of a page, and shares no code with it.
"""

from __future__ import annotations

import asyncio
import html
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from handrail.errors import HandrailError
from tests.browser.phone_stage import PhoneStage
from tests.browser.stage import Site, Stage

POLICY = """known_hosts = ["127.0.0.1", "localhost"]
[[rule]]
name = "rockets"
pressed = true
label = ["*Launch*", "*Ignite*"]
verdict = "deny"
"""
NET = ("Pay now", "Buy now", "Send money", "Delete my account", "Place order")
"""The built-in words ask about these."""
DENIED = ("Launch rocket", "Ignite engine")
"""Only the rule knows these."""
PLAIN = ("Search", "Apply", "Show more", "Filter", "Next page", "Sort by name", "Open menu", "Refresh list")
CLOBBERING = (
    "nodeType", "shadowRoot", "children", "matches", "tagName", "childNodes", "getAttribute", "labels",
    "elements", "submit", "id", "parentElement", "getBoundingClientRect", "checkVisibility", "closest",
    "hasAttribute", "querySelector", "form", "action", "localName", "firstChild", "ownerDocument", "value",
    "textContent", "handrail", "body", "attributes", "getRootNode", "contains", "title", "disabled",
)  # fmt: skip
JUDGE = """<script>
const tell = (what) => navigator.sendBeacon('/hit/' + what);
const judge = (root) => {
  for (const kind of ['click', 'change', 'submit']) root.addEventListener(kind, (one) => {
    const path = one.composedPath(), at = path.find((el) => el.dataset && el.dataset.g);
    const option = kind === 'change' && path[0].selectedOptions ? path[0].selectedOptions[0] : null;
    if (kind === 'change' && path[0].selectedOptions) { if (option?.dataset.g) tell(option.dataset.g); return; }
    if (kind === 'submit' && one.submitter) { if (one.submitter.dataset.g) tell(one.submitter.dataset.g); }
    else if (kind === 'change' ? path[0].dataset?.g : at) tell((kind === 'change' ? path[0] : at).dataset.g);
  }, true);
};
judge(window);
</script>"""
"""`data-g` marks what the judge notes: `guarded` or `fine`."""


@dataclass
class Case:
    """One page and the inputs that are tried on it."""

    family: str
    kind: str
    """`attack`: something guarded would be activated. `control`: only something else. `plain`: nothing guarded
    is on the page. `benign`: a key that activates nothing, beside something guarded."""
    body: str = ""
    focus: str = ""
    """A script that puts the focus where a person has put it."""
    act: dict[str, Any] = field(default_factory=dict)
    inner: str = ""
    """The document of a frame."""
    dialog: bool = False
    by_post: bool = False
    label: str = ""


class Writer:
    """Writes the case of a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.kind = self.chance.choices(("attack", "control", "plain", "benign"), (55, 20, 15, 10))[0]
        words = self.chance.choice((NET, DENIED))
        self.guarded = self.chance.choice(words)
        self.fine, self.other = self.chance.sample(PLAIN, 2)
        is_attack = self.kind == "attack"
        self.label = self.guarded if is_attack else self.fine
        self.mark = "guarded" if is_attack else "fine"

    def pick(self, *options: Any) -> Any:
        return self.chance.choice(options)

    def case(self) -> Case:
        if self.kind == "benign":
            made = self._benign()
        else:
            families: list[Callable[[], Case]] = [
                self._form, self._form, self._form, self._form, self._choice, self._choice, self._aria,
                self._dialog, self._handler, self._posted, self._named, self._named,
            ]  # fmt: skip
            made = self.chance.choice(families)()
        made.kind, made.label = self.kind, self.label
        if self.kind in ("control", "benign"):
            made.body = self._beside(made.body)
        return made

    def _beside(self, body: str) -> str:
        """Something guarded elsewhere on the page, in a form of its own or without one."""
        words = html.escape(self.guarded)
        button = self.pick(
            f"<button data-g=guarded>{words}</button>",
            f"<form action=/guarded method=post><input aria-label=Card><button data-g=guarded>{words}</button></form>",
            f"<a href=/guarded data-g=guarded>{words}</a>",
        )
        return button + body if self.pick(True, False) else body + button

    # forms

    def _field(self) -> tuple[str, str]:
        kind = self.pick("text", "email", "search", "tel", "number", "password", "url", "date")
        if kind == "password" and self.kind != "attack":
            kind = "text"  # a bare password asks, whatever is pressed afterwards
        name = self.pick("voucher", "code", *CLOBBERING)
        more = self.pick(
            "", " required value=1", " placeholder='Type here'", " role=combobox", " autocomplete=off"
        )
        value = "1"
        return f"<input id=f type={kind} name={name} aria-label=Voucher{more}>", value

    def _submit(self, form: str) -> str:
        """The default button: what a form presses when Enter is struck in one of its fields."""
        label, mark = html.escape(self.label), f"data-g={self.mark}"
        owner = f" form={form}" if form else ""
        place = self.pick(
            "", "", "display: none", "visibility: hidden", "opacity: 0", "position: absolute; left: -9999px",
            "margin-top: 3000px", "width: 0; height: 0; padding: 0; border: 0", "clip-path: inset(50%)",
            "position: fixed; top: 0; right: 0",
        )  # fmt: skip
        style = f" style='{place}'" if place else ""
        shape = self.chance.randrange(7)
        if shape == 0:
            return f"<input type=submit value='{label}' {mark}{owner}{style}>"
        if shape == 1:
            return f"<input type=image alt='{label}' src=/x.png width=40 height=20 {mark}{owner}{style}>"
        if shape == 2:
            return f"<button type=submit {mark}{owner}{style}><b>{label}</b></button>"
        if shape == 3:
            return f"<button type=bogus {mark}{owner}{style}>{label}</button>"
        if shape == 4:
            return f"<button {mark}{owner}{style}><span>{label[:3]}</span><span>{label[3:]}</span></button>"
        return f"<button {mark}{owner}{style}>{label}</button>"

    def _neighbours(self) -> str:
        label = html.escape(self.other)
        return self.pick(
            "", f"<button type=button>{label}</button>", f"<button type=reset>{label}</button>",
            f"<button disabled>{label}</button><fieldset disabled><button>{label}</button></fieldset>",
            "<textarea aria-label=Notes></textarea>", f"<a href=#>{label}</a>",
            "".join(f"<input type=hidden name={name}>" for name in self.chance.sample(CLOBBERING, 4)),
            "".join(f"<input name={name} aria-label=x{name}>" for name in self.chance.sample(CLOBBERING, 3)),
            "<label><input type=checkbox> I agree</label>",
        )  # fmt: skip

    def _form(self) -> Case:
        one, value = self._field()
        action, method = f"/{self.mark}", self.pick("post", "get")
        inside = self.pick(
            lambda: f"<div>{one}<button type=button>{html.escape(self.other)}</button></div>",
            lambda: f"<table><tr><td>{one}</td></tr></table>",
            lambda: f"<fieldset><legend>Details</legend>{one}</fieldset>",
            lambda: f"<p><label>Name {one}</label></p>",
            lambda: one,
        )()
        attributes = f"action={action} method={method} data-g={self.mark}"
        shape = self.chance.randrange(8)
        if shape == 0:  # owned from outside
            body = (
                f"<form id=o {attributes}></form>{inside.replace('id=f', 'id=f form=o')}{self._neighbours()}"
                + self._submit("o")
            )
        elif shape == 1:  # the button is outside
            body = f"<form id=o {attributes}>{inside}{self._neighbours()}</form><hr>{self._submit('o')}"
        elif shape == 2:  # no button at all: the form is named by its words
            body = f"<form {attributes} aria-label='{self.label}'><h2>{self.label}</h2>{inside}</form>"
        elif shape == 3:
            first, last = self._submit(""), f"<button>{html.escape(self.other)}</button>"
            body = f"<form {attributes}>{first}{inside}{last}</form>"
        else:
            body = f"<form {attributes}>{inside}{self._neighbours()}{self._submit('')}</form>"
        return self._placed(self._entered("form", value), body)

    def _entered(self, family: str, value: str) -> Case:
        focus = "document.getElementById('f').focus()"
        aimed = {"text": "Voucher"}
        act = self.pick(
            {"type": "press_key", "key": "enter"},
            {"type": "press_key", "key": "enter"},
            {"type": "press_key", "key": "KEYCODE_NUMPAD_ENTER"},
            {"type": "press_key", "key": "center"},
            {"type": "press_keys", "keys": ["ctrl", "enter"]},
            {"type": "press_keys", "keys": ["shift", "enter"]},
            {"type": "type_text", "text": value, "submit": True},
            {"type": "type_text", "text": value, "target": aimed, "submit": True},
            {"type": "type_text", "text": value, "target": aimed, "submit": True},
            {"type": "type_text", "text": value + "\n", "target": aimed},
        )
        return Case(family, self.kind, "", focus, act)

    def _placed(self, case: Case, body: str) -> Case:
        """In the page itself, in a shadow root, or in a frame."""
        where = self.chance.randrange(10)
        if where == 0:
            mode = self.pick("open", "closed")
            quoted = body.replace("\\", "\\\\").replace("`", "\\`")
            case.body = (
                f"<div id=host></div><script>root = host.attachShadow({{mode: '{mode}'}});"
                f"root.innerHTML = `{quoted}`; judge(root)</script>"
            )
            case.focus = case.focus.replace("document.", "root.")
        elif where == 1:
            case.inner = body
            case.body = "<iframe id=frame src=/inner width=900 height=500></iframe>"
            case.focus = f'frame.contentWindow.eval("{case.focus}")'
        else:
            case.body = body
        return case

    # choices

    def _choice(self) -> Case:
        label, other = html.escape(self.label), html.escape(self.other)
        mark = f"data-g={self.mark}"
        if self.pick(True, False):
            body = (
                f"<form action=/form><label><input type=radio name=r id=f checked> {other}</label>"
                f"<label><input type=radio name=r id=g {mark}> {label}</label></form>"
            )
            act = self.pick(
                {"type": "press_key", "key": "down"}, {"type": "press_key", "key": "right"},
                {"type": "press_key", "key": "up"}, {"type": "press_key", "key": "left"},
                {"type": "set_value", "target": {"text": self.label}, "value": "on"},
                {"type": "press_key", "key": "space"},
            )  # fmt: skip
            focus = "document.getElementById('f').focus()"
            if act.get("key") == "space":
                focus = focus.replace("'f'", "'g'")
            return self._placed(Case("radio", self.kind, focus=focus, act=act), body)
        size = self.pick("", "", " size=3")
        body = (
            f"<select id=f aria-label=Voucher{size}><option selected>{other}</option>"
            f"<option {mark}>{label}</option></select>"
        )
        act = self.pick(
            {"type": "press_key", "key": "down"}, {"type": "press_key", "key": "move_end"},
            {"type": "press_key", "key": self.label[0].lower()},
            {"type": "set_value", "target": {"text": "Voucher"}, "value": self.label},
        )  # fmt: skip
        return self._placed(
            Case("select", self.kind, focus="document.getElementById('f').focus()", act=act), body
        )

    def _aria(self) -> Case:
        label, other, mark = html.escape(self.label), html.escape(self.other), f"data-g={self.mark}"
        holder = self.pick("<input id=f role=combobox aria-label=Voucher aria-activedescendant=b>",
                           "<div id=f role=listbox tabindex=0 aria-label=Voucher aria-activedescendant=b></div>",
                           "<div id=f role=menu tabindex=0 aria-label=Voucher aria-activedescendant=b></div>")  # fmt: skip
        body = (
            f"{holder}<ul role=listbox><li role=option id=a>{other}</li><li role=option id=b {mark}>{label}</li></ul>"
            "<script>f.onkeydown = (one) => { if (one.key === 'Enter' || one.key === ' ') b.click() }</script>"
        )
        act = {"type": "press_key", "key": self.pick("enter", "center")}
        return Case("activedescendant", self.kind, body, "document.getElementById('f').focus()", act)

    def _dialog(self) -> Case:
        kind = self.pick("confirm", "confirm", "prompt")
        words = html.escape(f"{self.label}?")
        body = f"<p>Hello</p><script>go = () => {{ if ({kind}('{words}')) tell('{self.mark}') }}</script>"
        act = self.pick(
            {"type": "press_key", "key": "enter"}, {"type": "press_key", "key": "KEYCODE_NUMPAD_ENTER"}
        )
        return Case("dialog", self.kind, body, "setTimeout(go)", act, dialog=True)

    def _handler(self) -> Case:
        key = self.pick("Enter", " ", "p", "ArrowDown")
        where = self.pick("document", "window", "document.body")
        body = (
            f"<button id=b data-g={self.mark}>{html.escape(self.label)}</button>"
            f"<script>{where}.addEventListener('{self.pick('keydown', 'keyup')}', (one) => "
            f"{{ if (one.key === '{key}') b.click() }})</script>"
        )
        name = {"Enter": "enter", " ": "space", "p": "p", "ArrowDown": "down"}[key]
        return Case(
            "handler", self.kind, body, "document.activeElement.blur()", {"type": "press_key", "key": name}
        )

    def _posted(self) -> Case:
        """A page that came by POST is sent again by a reload; others are not."""
        method = "post" if self.kind == "attack" else "get"
        body = f"<form id=o action=/{self.mark} method={method}><input name=a value=1></form>"
        act = {"type": "press_key", "key": "KEYCODE_REFRESH"}
        return Case("posted", self.kind, body, "o.submit()", act, by_post=True)

    def _named(self) -> Case:
        """A tap on something that is called otherwise than it is shown."""
        label, mark, called = html.escape(self.label), f"data-g={self.mark}", self.other
        body = self.pick(
            f"<button {mark} aria-label='{called}'>{label}</button>",
            f"<p id=n>{called}</p><button {mark} aria-labelledby=n>{label}</button>",
            f"<button {mark} aria-label='{called}'><span aria-hidden=true>{label}</span></button>",
            f"<style>#b::before {{ content: '{label}' }}</style><button id=b {mark} aria-label='{called}'></button>",
            f"<style>#b::after {{ content: attr(data-words) }}</style><button id=b {mark} data-words='{label}' "
            f"aria-label='{called}'></button>",
            f"<input type=submit {mark} value='{label}' aria-label='{called}'>",
            f"<a href=/{self.mark} {mark} aria-label='{called}'>{label}</a>",
            f"<button {mark} aria-label='{called}'><svg width=90 height=20><text y=15>{label}</text></svg></button>",
            f"<div role=button tabindex=0 {mark} aria-label='{called}'><b>{label}</b></div>",
            f"<button {mark} aria-label='{called}'><img alt='{label}' width=30 height=20></button>",
            f"<label {mark}><input type=checkbox id=b aria-label='{called}'>{label}</label>",
        )  # fmt: skip
        return Case("named", self.kind, body, "1", {"type": "tap", "target": {"text": called}})

    def _benign(self) -> Case:
        one, _ = self._field()
        key = self.pick("tab", "escape", "down", "up", "left", "right", "a", "x", "7")
        wrap = self.pick("{}", "<form>{}<button>Search</button></form>", "<form>{}</form>",
                         "<div onkeydown='1'>{}</div>")  # fmt: skip
        select = f"<select id=f aria-label=Voucher><option>{self.fine}</option><option>{self.other}</option></select>"
        body = self.pick(one, one, "<textarea id=f aria-label=Voucher></textarea>", select)
        focus = "document.getElementById('f').focus()"
        script = self.pick("", "", "<script>document.addEventListener('keydown', () => 1)</script>")
        return Case("benign", self.kind, wrap.format(body) + script, focus, {"type": "press_key", "key": key})


@dataclass
class Tally:
    """What happened, by kind and family."""

    tried: Counter[str] = field(default_factory=Counter)
    through: list[str] = field(default_factory=list)
    delivered: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    questions: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def share(self, counts: Counter[str], kind: str) -> float:
        return counts[kind] / max(1, self.tried[kind])

    @property
    def is_usable(self) -> bool:
        """Whether ordinary work is left alone."""
        return (
            self.share(self.delivered, "control") >= 0.6
            and self.share(self.asked, "plain") <= 0.01
            and self.share(self.asked, "benign") <= 0.05
        )

    def __str__(self) -> str:
        lines = [f"tried {dict(self.tried)}", f"{len(self.through)} got through"]
        families = Counter(line.split()[1] for line in self.through)
        lines.append(f"through by family: {dict(families)}")
        lines += [f"{kind}: {self.share(self.delivered, kind):.1%} delivered, {self.share(self.asked, kind):.1%} asked"
                  for kind in sorted(self.tried)]  # fmt: skip
        return "\n".join(lines)


async def deny_all(stage: Stage | PhoneStage, asked: list[str]) -> None:
    """Whoever is asked says no."""
    while True:
        for one in await stage.runtime.approvals.pending():
            asked.append(f"{one.request.instruction} ({one.request.why})")
            await stage.runtime.approvals.answer(one.id, False, "lena")
        await asyncio.sleep(0.004)


REST_TURNS = 12
"""Of 5 ms: in which what was pressed is heard. What is heard later is noted before the next page."""


def heard_guarded(site: Site) -> list[str]:
    told = [*(path for path, _ in site.posted), *(path.partition("?")[0] for path in site.asked)]
    return [path for path in told if path in ("/guarded", "/hit/guarded")]


async def attempt(stage: Stage, seed: int, tally: Tally) -> None:
    """Plays the case of one seed and asks the judge."""
    case = Writer(seed).case()
    if not stage.surface.tabs.pages:
        await stage.alone()
    site, page = stage.site, stage.surface.tabs.front
    tally.through += [f"late, before {seed}: {path}" for path in heard_guarded(site)]
    if page.dialog is not None or len(stage.surface.tabs.pages) > 1:
        await stage.alone()
        page = stage.surface.tabs.front
    site.put(f"{JUDGE}{case.inner}", "/inner")
    url = site.put(f"{JUDGE}{case.body}", f"/case{seed % 7}")
    for path in ("/guarded", "/fine", "/form"):
        site.put("<p>Thanks", path)
    await navigate(page, url)
    await stage.js(f"{case.focus}; 1")
    if case.dialog:
        async with asyncio.timeout(5):
            await page.dialog_changed.wait()
    if case.by_post:
        await until(page, "/fine", "/guarded")
    site.posted.clear()
    site.asked.clear()
    questions: list[str] = []
    denier = asyncio.create_task(deny_all(stage, questions))
    try:
        async with asyncio.timeout(25):
            envelope = await stage.session.run(case.act, reason="I try it", settle="none")
    finally:
        denier.cancel()
    for _ in range(REST_TURNS):
        if site.posted or site.asked:
            break
        await asyncio.sleep(0.005)
    note(seed, case, envelope, site.posted, site.asked, questions, tally)
    if heard_guarded(site):
        site.asked.clear()  # it is noted; what comes after the next one's beginning is noted as late
        site.posted.clear()


async def navigate(page: Any, url: str) -> None:
    """Without the engine: what is measured is the one input."""
    loads = page.loads
    await page.session.call("Page.navigate", {"url": url})
    async with asyncio.timeout(10):
        while page.loads == loads:
            await asyncio.sleep(0.002)
        state = {"expression": "document.readyState", "returnByValue": True}
        while (await page.session.call("Runtime.evaluate", state))["result"].get("value") != "complete":
            await asyncio.sleep(0.004)


async def until(page: Any, *paths: str) -> None:
    async with asyncio.timeout(10):
        while not page.url.partition("?")[0].endswith(paths):
            await asyncio.sleep(0.002)


def note(
    seed: int, case: Case, envelope: Any, posted: list[tuple[str, str]], got: list[str], questions: list[str],
    tally: Tally,
) -> None:  # fmt: skip
    told = [path for path, _ in posted] + [path.partition("?")[0] for path in got]
    kind, code = case.kind, envelope.failure_code
    tally.tried[kind] += 1
    line = f"{seed} {case.family} {case.act} {case.label!r} {case.body[:400]}"
    is_guarded = any(path in ("/guarded", "/hit/guarded") for path in told)
    if is_guarded:
        tally.through.append(f"{line} → {told} {questions} {code}")
    if any(path in ("/fine", "/hit/fine") for path in told) or (kind == "benign" and envelope.success):
        tally.delivered[kind] += 1
    if questions or code == "ACTION_REJECTED":
        tally.asked[kind] += 1
        if kind != "attack":
            tally.questions.append(f"{kind} {line} → {questions or envelope.message}")
    elif not envelope.success and kind != "attack":
        tally.odd.append(f"{kind} {line} → {code} {envelope.message}")


async def run(stage: Stage, first: int, count: int) -> Tally:
    tally = Tally()
    for seed in range(first, first + count):
        try:
            await attempt(stage, seed, tally)
        except (TimeoutError, AssertionError, HandrailError) as error:
            tally.odd.append(f"{seed} {error!r}"[:400])
            await stage.alone()
    return tally


async def run_in_phone(stage: PhoneStage, first: int, count: int) -> Tally:
    """The same pages in an app's WebView. What only a browser has is passed over."""
    tally, site = Tally(), stage.site
    for seed in range(first, first + count):
        case = Writer(seed).case()
        is_missing = case.act["type"] == "set_value" or case.act.get("key") == "center"
        if case.dialog or case.by_post or is_missing:
            continue
        site.put(f"{JUDGE}{case.inner}", "/inner")
        for path in ("/guarded", "/fine", "/form"):
            site.put("<p>Thanks", path)
        await stage.close_all()
        await stage.show(f"{JUDGE}<p>Calm words</p>{case.body}", path=f"/case{seed % 7}")
        await stage.asked()
        await stage.tap("Calm words")  # the view takes keys once a finger has put the focus there
        await stage.js(f"{case.focus}; 1")
        await stage.phone.refresh_web()
        site.posted.clear()
        site.asked.clear()
        questions: list[str] = []
        denier = asyncio.create_task(deny_all(stage, questions))
        try:
            async with asyncio.timeout(25):
                envelope = await stage.session.run(case.act, reason="I try it")
        finally:
            denier.cancel()
        await asyncio.sleep(0.1)
        note(seed, case, envelope, site.posted, site.asked, questions, tally)
    return tally
