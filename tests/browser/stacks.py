"""Pages with random stacks: layers, clips, turns, dialogs, frames. The page itself judges every tap.

Each page has some buttons with numbers. The judge is a listener in the page's own world, and in each frame's:
it notes which element every trusted press has reached. It knows nothing of what Handrail believes.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from tests.browser.stage import Site, Stage

JUDGE = (
    "<script>hits = []; function judge(root) { for (const kind of ['mousedown', 'click'])"
    " root.addEventListener(kind, (one) => { const path = one.composedPath(); top.postMessage({ hit: kind,"
    " at: one.timeStamp, name: path.map((at) => at.dataset?.name).find(Boolean) || path[0].nodeName"
    " }, '*') }, true) } judge(window);"
    "onmessage = (one) => { if (one.data.hit) hits.push(one.data) }</script>"
)
"""The last word on a press has the innermost root: a closed one tells nobody else what is in it."""
NOTHING = "position: absolute; left: 0; top: 0"


@dataclass
class Wild:
    """Writes one page."""

    chance: random.Random
    site: Site
    path: str
    count: int = 0
    names: list[str] = field(default_factory=list)
    frames: int = 0

    def button(self) -> str:
        self.count += 1
        name = f"B{self.count:03}"
        self.names.append(name)
        size = f"width: {self._one(20, 60, 120)}px; height: {self._one(14, 30, 70)}px"
        style = f"position: relative; {self._nudge()} {size}"
        if self._maybe(0.08):
            style += "; pointer-events: none"
        if self._maybe(0.06):
            style += "; opacity: 0"
        inner = f"<span style='pointer-events: none'>{name}</span>" if self._maybe(0.2) else name
        return f"<button data-name={name} style='{style}'>{inner}</button>"

    def part(self, depth: int) -> str:
        """Something that holds buttons, in one of the ways in which pages do it."""
        ways = [
            self._plain, self._over, self._sticky, self._clipped, self._scrolled, self._turned, self._ghost,
            self._war, self._context, self._card, self._labelled, self._shadow,
        ]  # fmt: skip
        if depth < 2:
            ways += [self._frame, self._foreign]
        return self.chance.choice(ways)(depth)

    def _inside(self, depth: int) -> str:
        more = self.part(depth + 1) if depth < 3 and self._maybe(0.5) else ""
        return self.button() + more

    def _plain(self, depth: int) -> str:
        return f"<div style='padding: {self._one(0, 8, 20)}px'>{self._inside(depth)}{self.button()}</div>"

    def _over(self, depth: int) -> str:
        """A layer over what is there: half of them let presses through."""
        through = "pointer-events: none;" if self._maybe(0.4) else ""
        size = self._one(
            "inset: 0",
            "left: 0; top: 0; width: 200px; height: 90px",
            "right: 0; bottom: 0; width: 60px; height: 60px",
        )
        colour = f"#0{self._one(0, 4, 9)}f{self._one(1, 8)}"
        layer = f"<div style='position: absolute; {size}; {through} background: {colour}'></div>"
        return f"<div style='position: relative'>{self._inside(depth)}{self.button()}{layer}</div>"

    def _sticky(self, depth: int) -> str:
        return (
            f"<div data-scroll={self._one(0, 20, 70)} style='height: 120px; overflow: auto'>"
            f"<div style='position: sticky; top: 0; height: 40px; background: #eee'>{self.button()}</div>"
            f"{self._inside(depth)}{self.button()}<div style='height: 300px'></div></div>"
        )

    def _clipped(self, depth: int) -> str:
        clip = self._one(
            "overflow: hidden",
            "overflow: clip",
            "clip-path: inset(10px)",
            "clip-path: circle(30px at 40px 20px)",
            "border-radius: 40px; overflow: hidden",
        )
        box = f"width: 150px; height: {self._one(20, 50, 90)}px; {clip}"
        return f"<div style='{box}'>{self._inside(depth)}{self.button()}</div>"

    def _scrolled(self, depth: int) -> str:
        return (
            f"<div data-scroll={self._one(0, 30, 60)} style='width: 220px; height: 80px; overflow: auto'>"
            f"{self._inside(depth)}<div style='height: 40px'></div>{self.button()}"
            f"<div style='height: 200px; width: 400px'></div></div>"
        )

    def _turned(self, depth: int) -> str:
        turn = self._one(
            "rotate(30deg)",
            "rotate(-80deg)",
            "scale(.5)",
            "scale(1.6)",
            "skewX(40deg)",
            "rotate3d(0, 1, 0, 60deg)",
            "translate(30px, 12px)",
        )
        return f"<div style='width: 160px; transform: {turn}'>{self._inside(depth)}</div>"

    def _ghost(self, depth: int) -> str:
        """Nothing of it takes presses, but what is told to."""
        back = f"<div style='pointer-events: auto; display: inline-block'>{self.button()}</div>"
        return f"<div style='pointer-events: none'>{self._inside(depth)}{back}</div>"

    def _war(self, depth: int) -> str:
        del depth
        layers = "".join(
            f"<div style='position: absolute; left: {self._one(0, 15, 40)}px; top: {self._one(0, 10)}px;"
            f" z-index: {self._one(-1, 0, 1, 9, 9999)}; background: #fff'>{self.button()}</div>"
            for _ in range(3)
        )
        return f"<div style='position: relative; height: 60px'>{layers}</div>"

    def _context(self, depth: int) -> str:
        """A stacking context holds the highest child down."""
        makes = self._one(
            "opacity: .9", "isolation: isolate", "filter: blur(0)", "will-change: transform", "contain: paint"
        )
        return (
            "<div style='position: relative; height: 70px'>"
            f"<div style='{makes}; position: relative; z-index: 1'>"
            f"<div style='position: relative; z-index: 999'>{self._inside(depth)}</div></div>"
            f"<div style='{NOTHING}; z-index: {self._one(0, 2)}; width: {self._one(30, 200)}px; height: 40px;"
            f" background: #ff9'>{self.button()}</div></div>"
        )

    def _card(self, depth: int) -> str:
        self.count += 1
        name = f"B{self.count:03}"
        self.names.append(name)
        return (
            f"<div role=button tabindex=0 aria-label={name} data-name={name}"
            f" style='width: 260px; padding: 12px; background: #eef'>{self._inside(depth)}</div>"
        )

    def _labelled(self, depth: int) -> str:
        del depth
        self.count += 1
        name = f"B{self.count:03}"
        self.names.append(name)
        box = "<input type=checkbox style='position: absolute; opacity: 0'>"
        return f"<label data-name={name}>{box}{name}</label>"

    def _shadow(self, depth: int) -> str:
        mode = self._one("open", "closed")
        return f"<div data-shadow={mode}><template>{self._inside(depth)}</template></div>"

    def _frame(self, depth: int) -> str:
        inner = self._inside(depth + 1).replace("&", "&amp;").replace('"', "&quot;")
        judge = JUDGE.replace('"', "&quot;")
        return f'<iframe style="width: 260px; height: 110px" srcdoc="{judge}{inner}{AFTER_QUOTED}"></iframe>'

    def _foreign(self, depth: int) -> str:
        """Of another site, in a process of its own; or in a sandbox."""
        self.frames += 1
        path = f"{self.path}-frame{self.frames}"
        self.site.put(JUDGE + self._inside(depth + 1) + AFTER, path)
        mark = self._one("", "", "sandbox=allow-scripts")
        style = f"width: 260px; height: 120px; border: {self._one(0, 2, 6)}px solid"
        return f"<iframe {mark} style='{style}' src={self.site.other}{path}></iframe>"

    def top(self) -> str:
        """What the browser draws over everything."""
        if self._maybe(0.15):
            return f"<dialog data-modal={self._one(0, 1)}>{self.button()}{self.part(2)}</dialog>"
        if self._maybe(0.2):
            place = "margin: 0; inset: auto; left: 60px; top: 40px"
            return f"<div popover data-popover style='{place}'>{self.button()}</div>"
        if self._maybe(0.3):
            backdrop = "position: fixed; inset: 0; background: #0006; z-index: 50"
            return (
                f"<div style='{backdrop}'></div><div style='position: fixed; left: 80px; top: 60px;"
                f" z-index: 60; background: #fff; padding: 20px'>{self.button()}{self.part(2)}</div>"
            )
        if self._maybe(0.3):
            bar = "position: fixed; left: 0; top: 0; right: 0; height: 50px; background: #ccc"
            return f"<div style='{bar}'>{self.button()}</div>"
        return ""

    def _nudge(self) -> str:
        margin, top, left = self._one(0, 0, -14, 6), self._one(0, 0, 8, -20), self._one(0, 0, -30, 25)
        return f"margin: {margin}px; top: {top}px; left: {left}px;"

    def _one(self, *of: object) -> object:
        return self.chance.choice(of)

    def _maybe(self, share: float) -> bool:
        return self.chance.random() < share


AFTER = (
    "<script>document.querySelectorAll('[data-shadow]').forEach((one) => { const root = one.attachShadow({"
    " mode: one.dataset.shadow }); root.append(one.querySelector('template').content); judge(root) });"
    "document.querySelectorAll('[data-scroll]').forEach((one) => { one.scrollTop = one.dataset.scroll });"
    "document.querySelectorAll('[data-modal]').forEach("
    "(one) => one.dataset.modal == 1 ? one.showModal() : one.show());"
    "document.querySelectorAll('[data-popover]').forEach((one) => one.showPopover())</script>"
)
AFTER_QUOTED = AFTER.replace('"', "&quot;")


def wild_page(site: Site, seed: int, path: str = "/stack") -> tuple[str, list[str]]:
    """A body, and the names of its buttons in the order in which they were written."""
    wild = Wild(random.Random(seed), site, path)
    parts = "".join(wild.part(0) for _ in range(5)) + wild.top()
    return f"{JUDGE}{parts}{AFTER}", wild.names


@dataclass
class Verdicts:
    """What became of all taps."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


async def tap_all(stage: Stage, seed: int, verdicts: Verdicts) -> None:
    """Every button of a page, each on the page as it is now."""
    body, names = wild_page(stage.site, seed)
    await stage.show(body)
    for name in names:
        await stage.js("hits.length = 0")
        done = await stage.act("tap", target={"text": name})
        hits = await stage.js("new Promise((done) => setTimeout(() => done(hits.slice()), 0))")
        reached = list({one["at"]: one["name"] for one in hits if one["hit"] == "mousedown"}.values())
        told = "tapped" if done.success else str(done.failure_code)
        verdicts.counts[told] += 1
        if done.success and reached != [name]:
            verdicts.wrong.append(f"seed {seed}: {name} was tapped, and {reached} was reached")
        if not done.success and reached:
            verdicts.wrong.append(f"seed {seed}: {name} failed with {told}, and {reached} was reached")
