"""The records of `records`, drawn by React and by react-window as a page of today does it.

Four lists: with keys (elements move with their records), by index (elements are used again for others), a
window over a thousand records whose rows come and go, and one whose rows are used again while it scrolls.
"""

from __future__ import annotations

from tests.browser.records import AWAY
from tests.browser.stage import Site
from tests.npm import modules

PACKAGES = ("react@18.3.1", "react-dom@18.3.1", "react-window@1.8.11")
_SCRIPTS = (
    "react/umd/react.production.min.js",
    "react-dom/umd/react-dom.production.min.js",
    "react-window/dist/index-prod.umd.js",
)
SHAPES = ("buttons", "card", "links", "pressed", "labels", "role")
"""How a record is drawn: with buttons beside its name, with a heading, as a link, as a row to press."""
STEPS = (
    "insert", "remove", "move", "count", "rename", "renumber", "sort", "remount", "replace", "scroll",
    "jump", "late", AWAY,
)  # fmt: skip
_PAGE = """
<style>body { margin: 0 } .row { height: 28px; white-space: nowrap } h2 { margin: 0; font-size: 14px }
.row header, .deep, .deep div { display: inline } .pair { display: flex } .pair > div { width: 600px }
</style><div id=app></div>
<script>
const e = React.createElement, { useLayoutEffect, useRef } = React;
const numbers = new WeakMap();
let next = 1 + Math.floor(Math.random() * 1e9) * 1000, generation = 0;
const NAMES = ['Ada', 'Bob', 'Cy', 'Dora', 'Eve', 'Fay', 'Gil', 'Hal'];
const mix = (r) => Math.imul(r + next, 2654435761) >>> 8;
const name = (r) => NAMES[r % 8] + (r % 4 ? ' ' + r % 97 : '');
const make = (r) => ({ name: name(mix(r)), n: next++, count: 0 });
const lists = { keyed: [], indexed: [] };
const many = Array.from({ length: 1000 },
  (_, at) => ({ n: next++, name: 'Item ' + (at % 30 ? at : 'same') }));
const windows = {};
const Row = ({ record, style }) => {
  const at = useRef();
  useLayoutEffect(() => { numbers.set(at.current, record.n); });
  return e('div', { className: 'row', ref: at, style, ...SHAPES[shape].row },
    ...SHAPES[shape].parts(record, record.count ? e('i', null, record.count) : null));
};
const button = (words) => e('button', null, words);
const SHAPES = {
  buttons: { parts: ({ name }, count) => [e('span', null, name), ' ', count, button('Open'), button('Delete'),
    button('Call ' + name), e('input', { type: 'checkbox' })] },
  card: { parts: ({ name }, count) => [e('header', null, e('b', null, name), button('\u22ee')), count,
    e('div', { className: 'deep' }, e('div', null, button('Open'), button('Delete')))] },
  links: { parts: ({ name }, count) => [e('a', { href: '#x' }, name), count] },
  pressed: { row: { onClick: () => 0, style: { cursor: 'pointer' }, tabIndex: 0 },
    parts: ({ name }, count) => [e('span', null, name), e('small', null, 'member'), count] },
  labels: { parts: ({ name }, count) => [e('label', null, e('input', { type: 'checkbox' }), name), count,
    e('button', { 'aria-label': 'More' })] },
  role: { row: { role: 'option', tabIndex: 0 }, parts: ({ name }, count) => [name, count] },
};
const shape = new URLSearchParams(location.search).get('shape') || 'buttons';
const Windowed = ({ name, itemKey }) => e(ReactWindow.FixedSizeList,
  { ref: (one) => { windows[name] = one; }, height: 196, width: 560, itemSize: 28, itemCount: many.length,
    overscanCount: 1, itemKey }, Item);
const Item = ({ index, style }) => e(Row, { record: many[index], style });
const App = () => e('div', null, e('h1', null, 'Records'), e('button', null, 'Refresh'),
  e('div', { className: 'pair' },
    e('div', { key: 'k' + generation }, e('h2', null, 'With keys'),
      lists.keyed.map((one) => e(Row, { key: one.n, record: one }))),
    e('div', null, e('h2', null, 'By index'),
      lists.indexed.map((one, at) => e(Row, { key: at, record: one })))),
  e('div', { className: 'pair' }, e(Windowed, { name: 'comes' }),
    e(Windowed, { name: 'reuses', itemKey: (index) => index % 12 })));
const root = ReactDOM.createRoot(document.getElementById('app'));
const draw = () => ReactDOM.flushSync(() => root.render(e(App)));
const both = (change) => {
  const before = lists.indexed.map((one) => ({ ...one }));
  change(lists.keyed); change(lists.indexed); recall(before, lists.indexed); draw();
};
// A row that says the same between rows that say the same is the same, whatever it counts: nobody can tell.
const says = (one) => one?.name;
const recall = (before, now) => now.forEach((one, at) => {
  if ([-1, 0, 1].every((by) => says(before[at + by]) === says(now[at + by]))) now[at] = before[at];
});
const steps = {
  insert: (r) => both((list) => list.splice(r % (list.length + 1), 0, make(r))),
  remove: (r) => both((list) => list.splice(r % list.length, 1)),
  move: (r) => both((list) => list.splice((r >> 4) % list.length, 0, ...list.splice(r % list.length, 1))),
  count: (r) => both((list) => { list[r % list.length].count++; }),
  rename: (r) => both((list) => { list[r % list.length] = make(r); }),
  renumber: (r) => both((list) => {  // recycled for a record whose name is another number of the same word
    const at = r % list.length;
    list[at] = { ...make(r), name: list[at].name.replace(/ .*/, '') + ' ' + (1 + r % 97) };
  }),
  sort: () => both((list) => list.sort((one, other) => one.name < other.name ? -1 : 1)),
  remount: () => { generation++; draw(); },
  replace: (r) => both((list) => list.splice(0, list.length, ...[1, 2, 3, 4].map((at) => make(r * at)))),
  scroll: (r) => moveAll((one) => one.state.scrollOffset + r % 300 - 150),
  jump: (r) => moveAll(() => r % 900 * 28),
  late: (r) => { setTimeout(() => both((list) => { list[r % list.length].count++; }), 0); },
};
const moveAll = (to) => ReactDOM.flushSync(
  () => Object.values(windows).forEach((one) => one.scrollTo(Math.max(0, to(one)))));
function step(name, r) {
  for (const list of Object.values(lists)) {
    while (list.length < 4) list.push(make(r + list.length * 7));
    while (list.length > 9) list.pop();
  }
  steps[name](r);
}
step('insert', 3);
const rows = () => [...document.querySelectorAll('.row')];
function numberAt(x, y) {
  const el = document.elementFromPoint(x, y);
  const row = el && el.closest('.row');
  const parts = row ? [...row.querySelectorAll('button, input, a')] : [];
  return row ? [numbers.get(row), parts.indexOf(el.closest('button, input, a'))] : null;
}
</script>
"""


def react_page(site: Site, shape: str = SHAPES[0]) -> str:
    """Its address; its scripts are served from where npm has put them."""
    folder = modules(*PACKAGES)
    for at, script in enumerate(_SCRIPTS):
        site.pages[f"/script{at}.js"] = (folder / script).read_text()
    scripts = "".join(f"<script src=/script{at}.js></script>" for at in range(len(_SCRIPTS)))
    return f"{site.put(scripts + _PAGE, '/records')}?shape={shape}"
