"""Refs under random changes of a page whose records have numbers that Handrail never reads.

A ref that is kept must have the number that it had; a ref whose record is still shown should be kept. The
page keeps the numbers in its own world, where no look of ours goes, and tells the tests what lies at a point.
"""

from __future__ import annotations

import random
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
let next = 1, records = [], pool = [];
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
  (_, at) => ({ n: 10000 + at, name: 'Item ' + (at % 40 ? at : 'same'), count: 0 }));
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
function numberAt(x, y) {
  const el = document.elementFromPoint(x, y);
  const row = el && el.closest('li, .row');
  const parts = row ? [...row.querySelectorAll('button, input')] : [];
  return row ? [numbers.get(row), parts.indexOf(el.closest('button, input'))] : null;
}
</script>
"""
STEPS = ("insert", "remove", "move", "count", "rename", "shift", "replace", "scroll", "jump")
Place = tuple[int, int]
"""The hidden number of a record, and which of its controls."""


@dataclass
class Tally:
    """What was seen."""

    steps: int = 0
    wrong: list[str] = field(default_factory=list)
    shown: int = 0
    kept: int = 0

    @property
    def share(self) -> float:
        return self.kept / self.shown if self.shown else 1.0


async def places(stage: Stage) -> dict[str, Place]:
    """Each ref that can be tapped now, and the hidden number of what lies there."""
    await stage.act("get_ui_tree")
    refs = [(ref, node.touch_at) for ref, node in stage.session.looks.registry.refs.items() if node.touch_at]
    points = [[point.x, point.y] for _, point in refs if point]
    numbers = await stage.js(f"{points}.map(([x, y]) => numberAt(x, y))")
    found = zip([ref for ref, point in refs if point], numbers, strict=True)
    return {ref: (number[0], number[1]) for ref, number in found if number}


async def mutate(stage: Stage, count: int, seed: int) -> Tally:
    """So many random steps; every ref is followed by its number."""
    chance, tally = random.Random(seed), Tally()
    known = await places(stage)
    before = dict(known)
    for at in range(count):
        name = chance.choice(STEPS)
        elements_before = await stage.js("[...list.children, ...pool].map((row) => numbers.get(row))")
        await stage.js(f"ids = [...list.children, ...pool]; step({name!r}, {chance.randrange(1 << 20)})")
        now = await places(stage)
        tally.steps += 1
        for ref, place in now.items():
            if known.setdefault(ref, place) != place:
                tally.wrong.append(f"step {at} {name}: {ref} was {known[ref]} and is {place}")
        # Of a framework that draws a record in another element, nobody can know that it is the same.
        same = await stage.js("ids.map((row) => row.isConnected ? numbers.get(row) : -1)")
        stays = {a for a, b in zip(elements_before, same, strict=True) if a == b}
        shown = set(now.values())
        for ref, place in before.items():
            if place[0] in stays and place in shown:
                tally.shown += 1
                tally.kept += ref in now
        before = now
    return tally
