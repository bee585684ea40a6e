"""Refs under random changes of a page whose records have numbers that Handrail never reads.

A ref that is kept must have the number that it had; a ref whose record is still shown should be kept. The
page keeps the numbers in its own world, where no look of ours goes, and tells the tests what lies at a point.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.browser.stage import Stage

PAGE = """
<style>li { height: 30px; margin: 0 } body { margin: 0 }
#scroller { height: 300px; overflow-y: auto; position: relative }
#scroller .row { position: absolute; left: 0; height: 30px; width: 600px }</style>
<h1>Records</h1><button id=tool>Refresh</button>
<ul id=list style="padding: 0; height: 260px; overflow: hidden"></ul>
<div id=scroller><div id=space></div></div>
<script>
const numbers = new WeakMap();
// Numbers of another document are never the same: a page that was loaded anew shows other records.
let next = 1 + Math.floor(Math.random() * 1e9) * 1000, records = [], pool = [];
const NAMES = ['Ada', 'Bob', 'Cy', 'Dora', 'Eve', 'Fay', 'Gil', 'Hal'];
const make = (rnd) =>
  ({ n: next++, name: NAMES[rnd % NAMES.length] + (rnd % 5 ? ' ' + next : ''), count: 0 });
function rowOf(record) {
  const li = document.createElement('li');
  li.innerHTML = '<span></span> <i></i> <button>Open</button> <button>Delete</button> <button></button>'
    + '<input type=checkbox>';
  fill(li, record);
  return li;
}
function fill(li, record) {
  numbers.set(li, record.n);
  li.querySelector('span').textContent = record.name;
  li.querySelector('i').textContent = record.count || '';
  li.querySelectorAll('button')[2].textContent = 'Call ' + record.name;
}
function keyed() {  // moves the elements of records, as a framework with keys does
  const byNumber = new Map([...list.children].map((li) => [numbers.get(li), li]));
  list.replaceChildren(...records.map((one) => {
    const li = byNumber.get(one.n) || rowOf(one);
    fill(li, one);
    return li;
  }));
}
function unkeyed() {  // fills the elements that are there with other records, as one without keys does
  while (list.children.length > records.length) list.lastElementChild.remove();
  records.forEach((one, at) => list.children[at] ? fill(list.children[at], one) : list.append(rowOf(one)));
}
const many = Array.from({ length: 400 },
  (_, at) => ({ n: -at - next, name: 'Item ' + (at % 40 ? at : 'same'), count: 0 }));
function virtual() {  // ten elements for four hundred records
  space.style.height = many.length * 30 + 'px';
  const first = Math.floor(scroller.scrollTop / 30);
  for (let at = 0; at < 11; at++) {
    let row = pool[at];
    if (!row) {
      row = pool[at] = document.createElement('div');
      row.className = 'row';
      row.innerHTML = '<span></span> <button>Open</button> <button>Delete</button>';
      scroller.append(row);
    }
  }
  for (let at = first; at < first + 11 && at < many.length; at++) {
    const row = pool[at % 11];
    row.style.top = at * 30 + 'px';
    numbers.set(row, many[at].n);
    row.querySelector('span').textContent = many[at].name;
  }
}
scroller.addEventListener('scroll', virtual);
const steps = {
  insert: (r) => { records.splice(r % (records.length + 1), 0, make(r)); keyed(); },
  remove: (r) => { records.splice(r % records.length, 1); keyed(); },
  move: (r) => {
    const [one] = records.splice(r % records.length, 1);
    records.splice((r >> 4) % (records.length + 1), 0, one);
    keyed();
  },
  count: (r) => { records[r % records.length].count++; keyed(); },
  rename: (r) => {
    const one = records[r % records.length];
    one.n = next++;
    one.name = NAMES[r % NAMES.length] + ' ' + r % 97;
    unkeyed();
  },
  shift: () => { records.shift(); unkeyed(); },
  replace: () => { list.innerHTML = ''; keyed(); },
  scroll: (r) => { scroller.scrollTop = Math.max(0, scroller.scrollTop + (r % 400) - 200); virtual(); },
  jump: (r) => { scroller.scrollTop = (r % 360) * 30; virtual(); },
};
function step(name, r) {
  while (records.length < 4) records.push(make(r + records.length * 7));
  while (records.length > 8) records.pop();
  steps[name](r);
}
step('insert', 3); virtual();
const rows = () => [...list.children, ...pool];
function numberAt(x, y) {
  const el = document.elementFromPoint(x, y);
  const row = el && el.closest('li, .row');
  const parts = row ? [...row.querySelectorAll('button, input')] : [];
  return row ? [numbers.get(row), parts.indexOf(el.closest('button, input'))] : null;
}
</script>
"""
STEPS = ("insert", "remove", "move", "count", "rename", "shift", "replace", "scroll", "jump")
AWAY = "away"
"""A visit to another page and back, which the page itself can't do."""
Place = tuple[int, int]
"""The hidden number of a record, and which of its controls."""


@dataclass
class Tally:
    """What was seen."""

    steps: int = 0
    wrong: list[str] = field(default_factory=list)
    shown: int = 0
    """Refs whose record is still shown, by the element that showed it."""
    kept: int = 0
    redrawn: int = 0
    """Refs whose record is still shown, but by another element: nobody can know that it is the same."""

    @property
    def share(self) -> float:
        return self.kept / self.shown if self.shown else 1.0

    def __str__(self) -> str:
        return (
            f"{self.steps} changes, {len(self.wrong)} wrong refs, kept {self.kept} of {self.shown}"
            f" ({self.share:.1%}); {self.redrawn} records were drawn anew by another element"
        )


async def places(stage: Stage) -> dict[str, Place]:
    """Each ref that can be tapped now, and the hidden number of what lies there."""
    await stage.act("get_ui_tree")
    refs = [
        (ref, node.touch_at) for ref, node in stage.session.screens.registry.refs.items() if node.touch_at
    ]
    points = [[point.x, point.y] for _, point in refs if point]
    numbers = await stage.js(f"{points}.map(([x, y]) => numberAt(x, y))")
    found = zip([ref for ref, point in refs if point], numbers, strict=True)
    return {ref: (number[0], number[1]) for ref, number in found if number}


async def mutate(stage: Stage, count: int, seed: int, steps: Sequence[str] = STEPS) -> Tally:
    """So many random steps; every ref is followed by its number."""
    chance, tally = random.Random(seed), Tally()
    known = await places(stage)
    before = dict(known)
    for at in range(count):
        name = chance.choice(steps)
        stays = await _step(stage, name, chance.randrange(1 << 20))
        now = await places(stage)
        tally.steps += 1
        for ref, place in now.items():
            if known.setdefault(ref, place) != place:
                tally.wrong.append(f"step {at} {name}: {ref} was {known[ref]} and is {place}")
        shown = set(now.values())
        for ref, place in before.items():
            if place in shown and place[0] not in stays:
                tally.redrawn += 1
            elif place in shown:
                tally.shown += 1
                tally.kept += ref in now
        before = now
    return tally


async def _step(stage: Stage, name: str, number: int) -> set[int]:
    """Does it; the records that are still drawn by the element that drew them before."""
    had = await stage.js("old = rows(); old.map((row) => numbers.get(row))")
    if name == AWAY:
        left = await stage.act("open_url", url=stage.site.put("<p>Elsewhere</p>", "/elsewhere"))
        assert left.success, left.to_json()
        back = await stage.act("press_key", key="back")
        assert back.success, back.to_json()
        if await stage.js("typeof old") == "undefined":
            return set()  # loaded anew
    else:
        await stage.js(f"step({name!r}, {number})")
    has = await stage.js("old.map((row) => row.isConnected ? numbers.get(row) : null)")
    return {one for one, other in zip(had, has, strict=True) if one == other}
