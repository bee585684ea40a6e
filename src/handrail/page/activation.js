// What an input would activate, told in the task in which it is asked: `elements` that the browser itself would press
// or choose, from the focused one `at`, and how many elements listen on the way (`listenerAt`): their handlers may do
// more, up to the window if `top`, unless it is `sure` that the focused element is what they are about.

const NATIVE = /^(?:A|AREA|BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY|OPTION)$/;
const ROVING = /^(?:radio|tab|option|menuitem|menuitemradio|menuitemcheckbox|treeitem|gridcell|row)$/;
const EMBEDDED = /^(?:I?FRAME|OBJECT|EMBED|FENCEDFRAME)$/;
const PRESSABLE = 'a[href],area[href],button,input,summary,option,[role=button],[role=link],[role=menuitem],[role=option],[role=tab],[role=checkbox],[role=radio],[role=switch],[onclick],[tabindex]';
const MOST_UNSEEN = 3000;
const isSubmit = (el) => (el[$.tagName] === 'BUTTON' && el[$.type] === 'submit') || (el[$.tagName] === 'INPUT' && /^(?:submit|image)$/.test(el[$.type]));
// The default button; a disabled one may be passed over. A form without one is submitted by itself.
const implicit = (form) => {
  const told = [];
  for (const el of form[$.getRootNode]()[$.querySelectorAll]('button,input')) {
    if (el[$.form] !== form || !isSubmit(el)) continue;
    told.push(el);
    if (!isDisabled(el)) return told;
  }
  return [...told, form];
};
const neighbours = (all, el, key) => {
  const able = all.filter((one) => one === el || !isDisabled(one)), at = able.indexOf(el), count = able.length;
  if (at < 0 || count < 2) return able.filter((one) => one !== el);
  const next = able[(at + 1) % count], before = able[(at + count - 1) % count];
  return key === 'up' ? [before] : key === 'down' ? [next] : /^(?:left|right)$/.test(key) ? [before, next] : able.filter((one) => one !== el);
};
const isClosed = (el) => { try { return !el[$.matches](':open'); } catch { return false; } };  // an older browser does not tell
const optionsOf = (el, key) => {
  const options = [...el[$.options]].filter((one) => !isDisabled(one)), at = options.findIndex((one) => one[$.selected]);
  if (key && el[$.size] < 2 && !isClosed(el)) return options;  // keys go to the open list, which does not tell where it is
  return /^(?:up|left)$/.test(key) ? options.slice(Math.max(0, at - 1), Math.max(0, at)) : /^(?:down|right)$/.test(key) ? options.slice(at + 1, at + 2) : options;
};
const radiosOf = (el) => [...el[$.getRootNode]()[$.querySelectorAll]('input[type=radio]')]
  .filter((one) => attr(one, 'name') === attr(el, 'name') && one[$.form] === el[$.form]);
const byId = (el, name) => attr(el, name).split(' ').map((id) => id && el[$.getRootNode]()[$.getElementById]?.(id)).filter(Boolean);
const siblings = (el) => {
  const role = roleOf(el), around = el[$.parentElement]?.[$.closest]('[role=radiogroup],[role=tablist],[role=listbox],[role=menu],[role=menubar],[role=tree],[role=grid],ul,ol') || el[$.parentElement];
  return around ? [...around[$.querySelectorAll](`[role=${role}]`)] : [];
};
const inWidget = (el, kind, key) => {
  const at = byId(el, 'aria-activedescendant');
  const popups = [...byId(el, 'aria-controls'), ...byId(el, 'aria-owns')];
  if (kind === 'press') return [...at, ...popups.flatMap((one) => [...one[$.querySelectorAll]('[aria-selected=true]')])];
  if (kind === 'move' && !NATIVE.test(el[$.tagName])) return at.length ? neighbours(siblings(at[0]), at[0], key) : ROVING.test(roleOf(el)) ? neighbours(siblings(el), el, key) : [];
  return [];
};
const submitted = (el) => el[$.form] ? implicit(el[$.form]) : [];
const activated = (el, kind, key) => {
  const tag = el[$.tagName];
  if (key === 'tab') return tag === 'SELECT' && el[$.size] < 2 && !isClosed(el) ? optionsOf(el, '') : [];  // an open list is chosen from
  const told = inWidget(el, kind, key);
  if (tag === 'SELECT') return [...told, ...optionsOf(el, kind === 'move' ? key : ''), ...kind === 'press' ? submitted(el) : []];
  if (tag === 'INPUT' && el[$.type] === 'radio' && kind === 'move') return [...told, ...neighbours(radiosOf(el), el, key)];
  if (kind === 'press' && tag === 'INPUT' && !/^(?:button|submit|reset|image)$/.test(el[$.type])) {
    return [...told, ...isField(el) ? [] : [el], ...submitted(el)];
  }
  if (isField(el) || (kind !== 'press' && NATIVE.test(tag) && el[$.type] !== 'range')) return told;
  return [...told, el];
};
// Elements from the focused one up to its form, whose handlers may do more than the browser does by itself.
const listeners = (el, kind, key, held) => {
  const isChoice = el[$.tagName] === 'SELECT' || (el[$.tagName] === 'INPUT' && el[$.type] === 'radio');
  if (key === 'tab' && (!isChoice || isClosed(el))) return [];
  if (kind !== 'press' && isChoice) return [el, ...el[$.form] ? [el[$.form]] : []];
  const isNative = NATIVE.test(el[$.tagName]), isWhole = held || (kind === 'type' && !isField(el));  // a letter outside a field is a shortcut
  if (!isWhole && kind !== 'press' && (isNative || isField(el))) return [];
  const form = el[$.form], upwards = [];
  for (let at = el; at; at = at === form && !isWhole ? null : up(at)) {
    upwards.push(at);
    if (!isWhole && (form ? !isWithin(el, form) : isNative && !isField(el))) break;
  }
  return upwards;
};
let listening = [];
const textsOf = (el) => el[$.tagName] === 'FORM' ? [attr(el, 'aria-label'), saidIn(el), attr(el, 'action').replace(/[^A-Za-z]+/g, ' ')]
  : [nameOf(el, roleOf(el)), shownIn(el).join(' '), attr(el, 'title'), isShown(el) || /^(?:SELECT|TEXTAREA|INPUT)$/.test(el[$.tagName]) ? '' : el[$.textContent]];
// An option is told as a part of its list. What has a name is judged by it, wherever it is.
const describe = (els) => [...new Set(els)].map((el) => {
  const texts = [...new Set(textsOf(el).map(squeeze))].filter(Boolean), shown = el[$.tagName] === 'OPTION' ? el[$.closest]('select') ?? el : el;
  return { id: idOf(shown), texts, rid: ridOf(el), named: texts.length > 0 && el[$.tagName] !== 'FORM' };
});
const byKey = (kind, key, held, id) => {
  const el = id ? elementOf(id) : focused();
  if (id && !el) return null;
  if (el && EMBEDDED.test(el[$.tagName])) return frameDocument(el) === null && /^I?FRAME$/.test(el[$.tagName]) ? null : { el, unread: true, told: [] };
  if (!el || el === el[$.ownerDocument][$.body] || el === el[$.ownerDocument][$.documentElement]) {
    listening = [];
    for (let at = el || document[$.documentElement]; at; at = up(at)) listening.push(at);
    return { el: null, told: [], top: true, sure: false };
  }
  listening = listeners(el, kind, key, held);
  const told = activated(el, kind, key);
  const sure = !held && kind !== 'type' && (ACTS.has(roleOf(el)) && !isField(el) || told.some((one) => one !== el && !isSubmit(one) && one[$.tagName] !== 'FORM'));
  const isTop = kind === 'press' ? held || !el[$.form] : kind === 'type' && !isField(el) && el[$.tagName] !== 'SELECT';
  return { el, told, top: !!listening.length && isTop, sure };
};
const activatedByKey = (kind, key, held, id) => {
  const answer = byKey(kind, key, held, id);
  if (!answer) return null;
  const { el, told, top, sure, unread } = answer;
  if (unread) return { unread };
  return { at: el ? idOf(el) : 0, elements: describe(told), listens: listening.length, top, sure };
};
// What choosing a value in a control chooses.
const activatedByValue = (id, wanted) => {
  const el = elementOf(id), isList = el?.[$.tagName] === 'SELECT';
  listening = el ? [el, ...el[$.form] ? [el[$.form]] : []] : [];
  return { at: id, elements: isList ? describe([chosen(el, wanted)].filter(Boolean)) : [], listens: listening.length, top: false, sure: true };
};
const listenerAt = (index) => listening[index];
const formOf = (id) => describe(submitted(elementOf(id)));

// What a handler could press and no look tells, because it is hidden or elsewhere on the page.
const unseen = () => {
  const told = [], roots = [document];
  for (const root of roots) for (const el of root[$.querySelectorAll]('*')) {
    const inner = rootOf(el) || (EMBEDDED.test(el[$.tagName]) ? frameDocument(el) : null);
    if (inner) roots.push(inner);
    if (el[$.matches](PRESSABLE) && !isField(el) && !rowOf?.has(el) && !hasControls(el)) told.push(el);
    if (told.length > MOST_UNSEEN) return null;
  }
  return describe(told).filter((one) => one.texts.length);
};

// What a click at a point activates: each element that acts by itself or is told to, up to the first that the browser presses.
const pressedAt = (x, y) => {
  const hit = hitAt(x, y), told = [];
  if (!hit || (/^I?FRAME$/.test(hit[$.tagName]) && frameDocument(hit) === null)) return { hit, told };
  if (EMBEDDED.test(hit[$.tagName]) && !/^image\//.test(attr(hit, 'type'))) return { hit, told, unread: true };
  for (let at = hit; at; at = up(at)) if (rowOf?.get(at)?.bent) return { hit, told, unread: true };  // nobody knows what is where in it
  for (let at = hit; at && at[$.ownerDocument] === hit[$.ownerDocument]; at = up(at)) {
    const tag = at[$.tagName], isNative = NATIVE.test(tag) && !(tag === 'A' && !at[$.hasAttribute]('href'));
    if (tag === 'LABEL' && at[$.control] && !isField(at[$.control])) told.push(at[$.control]);
    if (isNative || ((rowOf?.get(at)?.acts || at[$.hasAttribute]('onclick')) && !hasControls(at))) told.push(at);
    if (isNative) break;
  }
  // Words that lie over it and let presses through are what a person reads there.
  const boxes = told.map((one) => rowOf?.get(one)?.box).filter(Boolean);
  const isOver = (row) => [{ x, y, w: 0, h: 0 }, ...boxes].some((box) => row.x < box.x + (box.w || 1) && box.x < row.x + row.w && row.y < box.y + (box.h || 1) && box.y < row.y + row.h);
  for (const row of told.length && rowOf ? rowOf.values() : []) if (row.through && row.text && isOver(row.box)) told.push(row.el);
  return { hit, told: told.filter((one) => !isField(one)) };
};
const activatedAt = (points) => points.map(([x, y]) => {
  const { hit, told, unread } = pressedAt(x, y), row = hit && rowOf?.get(hit);
  if (row?.foreign) return { frame: row.id, x: (x - row.inner.x) / row.inner.k, y: (y - row.inner.y) / row.inner.k };
  return { unread: !!unread, elements: describe(told) };
});

// The answer that was judged is compared in the very events that act, before the page gets them.
const ACTING = ['keydown', 'keypress', 'keyup', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'submit'];
const ARMED_MS = 20_000;  // whoever has armed it is gone; a person's own input passes
let armed = null;
const ask = ({ kind, key, held, points }) => {
  if (points) {
    const asked = points.map(([x, y]) => pressedAt(x, y));
    return { answer: JSON.stringify(activatedAt(points)), els: asked.flatMap(({ hit, told }) => [hit, ...told]), view: asked[0].hit };
  }
  const answer = byKey(kind, key, held);
  return { answer: JSON.stringify(activatedByKey(kind, key, held)), els: answer?.el ? [answer.el, ...answer.told] : [], view: answer?.el };
};
const isJudged = (event) => {
  if (!armed.isCompared && /^(?:keydown|pointerdown)$/.test(event.type)) {
    armed.isCompared = true;
    if (ask(armed).answer !== armed.answer) return false;
  }
  const target = event.type === 'submit' ? event.submitter : event.type === 'click' ? event.composedPath()[0] : null;
  return !armed.els || !target || isField(target) || armed.els.some((el) => el && (isWithin(target, el) || isWithin(el, target)));
};
const check = (event) => {
  if (!armed || !event.isTrusted || performance.now() > armed.until) return;
  armed.isRefused ||= !isJudged(event);
  if (!armed.isRefused) return;
  event.preventDefault();
  event.stopImmediatePropagation();
};
// `isOpen`: everything counted as pressed, so whatever is pressed was judged.
const arm = (question, answer, isOpen) => {
  disarm();
  const { els, view, answer: fresh } = ask(question), views = new Set([globalThis, view?.[$.ownerDocument][$.defaultView] ?? globalThis]);
  armed = { ...question, answer, els: isOpen ? null : els, views, isRefused: fresh !== answer, isCompared: false, until: performance.now() + ARMED_MS };
  for (const each of views) listen(each);
};
const disarm = () => {
  const was = armed;
  armed = null;
  for (const each of was?.views ?? []) if (each !== globalThis) for (const type of ACTING) each[$.removeEventListener](type, check, true);
  return !!was?.isRefused;
};
const listen = (view) => { for (const type of ACTING) view[$.addEventListener](type, check, true); };
listen(globalThis);  // where this runs before the page, nothing of the page hears an event sooner

Object.assign(api, { activatedByKey, activatedByValue, activatedAt, unseen, listenerAt, formOf, arm, disarm });
