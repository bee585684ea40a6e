"""One small shop on an Android phone, an iPhone and a web page, and its own account of what happened in it.

The phones' is kept by the app itself, outside of its screens; the page's is what its server was asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote

import pytest

from handrail.config import Config
from handrail.engine.session import Session
from handrail.runtime import Runtime
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, field, item, scroll, switch, toolbar
from tests.browser.stage import has_browser, served, staged
from tests.scenario.world import PHONES, address_of, play, play_live, until, usual_clock

PACKAGE = "com.example.corner"
SURFACES = ("android", "ios", pytest.param("browser", marks=pytest.mark.slow))
"""Starting Chromium takes longer than a story."""
NAMES = ("Ada", "Grace", "Joan", "Karen")


class Counter(Activity):
    """The first page."""

    def on_create(self) -> None:
        self.state.update(rows=list(NAMES), gift=False)

    def note(self, what: str) -> Callable[[], None]:
        return lambda: CornerShop.account.append(what)

    def build(self) -> View:
        rows = [item(name, key=name, on_click=self.note(f"row {name}")) for name in self.state["rows"]]
        return column(
            toolbar("Corner shop"),
            scroll(
                column(
                    button("Help", self.note("help")),
                    button("Pay $12.50", self.note("paid"), id="pay"),
                    button("Order now", self.note("ordered"), id="order"),
                    switch("Gift wrap", self.state["gift"], self.wrapped, id="gift"),
                    button("More people", self.more),
                    button("Fewer people", self.fewer),
                    button("Delivery", lambda: self.start("Delivery")),
                    field("name", hint="Name", on_change=self.typed),
                    *rows,
                    *(button(f"Offer {n}", self.note(f"offer {n}"), "text") for n in range(30)),
                ),
                weight=1.0,
                height="wrap",
            ),
            height="fill",
        )

    def typed(self, text: str) -> None:
        CornerShop.account.append(f"typed {text}")

    def wrapped(self, on: bool) -> None:
        self.state["gift"] = on
        CornerShop.account.append(f"gift {on}")

    def more(self) -> None:
        self.state["rows"] = ["Barbara", *self.state["rows"]]

    def fewer(self) -> None:
        self.state["rows"] = [name for name in self.state["rows"] if name != "Grace"]


class Delivery(Activity):
    """The second page."""

    def build(self) -> View:
        paid: Callable[[], None] = lambda: CornerShop.account.append("second")  # noqa: E731
        return column(toolbar("Delivery"), button("Confirm delivery", paid), height="fill")


class CornerShop(App):
    package = PACKAGE
    label = "Corner shop"
    activities = {"Counter": Counter, "Delivery": Delivery}
    account: ClassVar[list[str]] = []


_SCRIPT = """<script>
tell = (what) => fetch('/did?' + encodeURIComponent(what));
row = (name) => { const li = document.createElement('li'); li.innerHTML = '<button>' + name + '</button>';
  li.firstChild.onclick = () => tell('row ' + name); return li; };
</script>"""
PAGE = f"""{_SCRIPT}<h1>Corner shop</h1>
<button onclick="tell('help')">Help</button><br>
<button id=pay onclick="tell('paid')">Pay $12.50</button><br>
<button id=order onclick="tell('ordered')">Order now</button><br>
<label><input type=checkbox role=switch id=gift
  onchange="tell('gift ' + (this.checked ? 'True' : 'False'))">Gift wrap</label><br>
<button onclick="people.prepend(row('Barbara'))">More people</button>
<button onclick="[...people.children].filter(li => li.textContent == 'Grace').map(li => li.remove())">Fewer people</button>
<a href="/delivery">Delivery</a><br>
<input id=name aria-label=Name oninput="tell('typed ' + this.value)">
<ul id=people></ul><div id=offers></div>
<script>for (const name of {list(NAMES)}) people.append(row(name));
for (let n = 0; n < 30; n++) {{ const b = document.createElement('button'); b.textContent = 'Offer ' + n;
  b.onclick = () => tell('offer ' + n); offers.append(b, document.createElement('br')); }}
</script>"""  # noqa: E501
SECOND = f"""{_SCRIPT}<h1>Delivery</h1><button onclick="tell('second')">Confirm delivery</button>"""


@dataclass
class ShopWorld:
    """The shop's first page in front of one session."""

    kind: str
    runtime: Runtime
    session: Session
    account: Callable[[], list[str]]
    """What happened in the shop, by its own account."""
    app: str
    """As rules name it."""

    async def came(self, what: str) -> None:
        """Until the shop has noted it: a page tells its server a moment later."""
        await until(lambda: what in self.account())

    async def ref(self, label: str) -> str:
        """The ref of the line that has this label."""
        envelope = await self.session.get_ui_tree()
        assert envelope.details
        for line in envelope.details["text"].splitlines():
            if label in line and line.strip().startswith("@"):
                return str(line.split()[0])
        raise AssertionError(f"{label!r} has no ref in:\n{envelope.details['text']}")


@asynccontextmanager
async def _phone_shop(kind: str, home: Path, policy: str | None) -> AsyncIterator[ShopWorld]:
    clock = usual_clock()
    CornerShop.account.clear()
    apps: list[str | type[App]] = ["launcher", CornerShop]
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home)}
    config = Config.from_env(env)
    if policy is not None:
        config.policy.parent.mkdir(parents=True, exist_ok=True)
        config.policy.write_text(policy)
    phone = PHONES[kind](clock=clock, apps=apps)
    async with address_of(phone) as name, Runtime.open(config, clock=clock, env=env) as runtime:
        session = await runtime.session(name)
        started = await session.start_app(PACKAGE)
        assert started.success, started.to_json()
        yield ShopWorld(kind, runtime, session, lambda: list(CornerShop.account), PACKAGE)


@asynccontextmanager
async def _web_shop(home: Path, policy: str | None) -> AsyncIterator[ShopWorld]:
    with served() as site:
        url = site.put(PAGE, "/")
        site.put(SECOND, "/delivery")
        known = 'known_hosts = ["127.0.0.1"]\n'
        async with staged(site, home, known + (policy or "")) as stage:
            await stage.goto(url)
            did = "/did?"
            yield ShopWorld(
                "browser",
                stage.runtime,
                stage.session,
                lambda: [unquote(path[len(did) :]) for path in list(site.asked) if path.startswith(did)],
                site.origin,
            )


def tell(
    kind: str,
    home: Path,
    story: Callable[[ShopWorld], Coroutine[Any, Any, None]],
    policy: str | None = None,
) -> None:
    """Plays a story in the shop of one surface."""
    if kind == "browser" and not has_browser():
        pytest.skip("no Chromium here; HANDRAIL_REQUIRE_BROWSER=1 makes this a failure")

    async def run() -> None:
        opened = _web_shop(home, policy) if kind == "browser" else _phone_shop(kind, home, policy)
        async with opened as shop:
            await story(shop)

    (play_live if kind == "browser" else play)(run())
