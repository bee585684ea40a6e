// What an input would activate, told in the task in which it is asked: `elements` that the browser itself would press
// or choose, from the focused one `at`, and how many elements listen on the way (`listenerAt`): their handlers may do
// more, up to the window if `top`, unless it is `sure` that the focused element is what they are about. `breaks`: Enter
// writes a new line.

const NATIVE = /^(?:A|AREA|BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY|OPTION)$/;
const ROVING = /^(?:radio|tab|option|menuitem|menuitemradio|menuitemcheckbox|treeitem|gridcell|row)$/;
const EMBEDDED = /^(?:I?FRAME|OBJECT|EMBED|FENCEDFRAME)$/;
const PRESSABLE = 'a[href],area[href],button,input,summary,option,[role=button],[role=link],[role=menuitem],[role=option],[role=tab],[role=checkbox],[role=radio],[role=switch],[onclick],[tabindex]';
const MOST_UNSEEN = 3000, PART_PX = 36;
const STEPPED = /^(?:range|number|date|time|month|week|datetime-local)$/;
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
  .filter((one) => attr(one, 'name') === attr(el, 'name') && one[$.form] === el[$.form] && (one === el || isShown(one)));
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
  if (kind === 'press' && isField(el)) return [...told, el[$.closest]('button,summary')].filter(Boolean);  // a key in it presses what is around it
  if (isField(el) || (kind !== 'press' && NATIVE.test(tag) && el[$.type] !== 'range')) return told;
  return [...told, el];
};
// Elements from the focused one up to its form, whose handlers may do more than the browser does by itself.
const listeners = (el, kind, key, held) => {
  const isDated = STEPPED.test(el[$.type]) && !/^(?:range|number)$/.test(el[$.type]);  // a text is set there as a value
  const isStepped = kind === 'move' ? STEPPED.test(el[$.type]) && (el[$.type] === 'range' || !/^(?:left|right|tab)$/.test(key)) : kind === 'type' && isDated;
  const isChoice = el[$.tagName] === 'SELECT' || (el[$.tagName] === 'INPUT' && (el[$.type] === 'radio' || isStepped));
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
// Words of a style that belong to something around it and may be drawn over it.
const overlaid = (el) => {
  const words = [];
  for (let at = up(el), depth = 0; at && depth < 6; at = up(at), depth++) for (const which of ['::before', '::after']) {
    if (/^(?:absolute|fixed)$/.test(getComputedStyle(at, which).position)) words.push(drawn(at, which));
  }
  return words.filter((one) => /[\p{L}\p{N}]/u.test(one)).join(' ');
};
const described = (el) => `${referred(el, 'aria-describedby')} · ${attr(el, 'aria-description')}`.replace(/^ · | · $/g, '');
const textsOf = (el) => el[$.tagName] === 'FORM' ? [attr(el, 'aria-label'), saidIn(el), attr(el, 'action').replace(/[^A-Za-z]+/g, ' ')]
  : [nameOf(el, roleOf(el)), shownIn(el).join(' · '), ...el[$.tagName] === 'OPTION' ? [attr(el[$.closest]('optgroup') ?? el, 'label')]
    : isShown(el) ? [[readByPlace(el), overlaid(el)].filter(Boolean).join(' · ')] : /^(?:SELECT|TEXTAREA|INPUT)$/.test(el[$.tagName]) ? [] : [el[$.textContent]], attr(el, 'title'), described(el)];
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
  const isTop = kind === 'press' ? held || !el[$.form] || !implicit(el[$.form]).some(isSubmit) : kind === 'type' && !isField(el) && el[$.tagName] !== 'SELECT';
  return { el, told, top: !!listening.length && isTop, sure };
};
const activatedByKey = (kind, key, held, id) => {
  const answer = byKey(kind, key, held, id);
  if (!answer) return null;
  const { el, told, top, sure, unread } = answer;
  if (unread) return { unread };
  const breaks = isField(el) && el[$.tagName] !== 'INPUT';  // Enter writes a line there
  return { at: el ? idOf(el) : 0, elements: describe(told), listens: listening.length, top, sure, breaks, host: mayHost(el) };
};
// What choosing a value in a control chooses.
const activatedByValue = (id, wanted) => {
  const el = controlOf(id), isList = el?.[$.tagName] === 'SELECT';
  listening = el ? [el, ...el[$.form] ? [el[$.form]] : []] : [];
  return { at: id, elements: isList ? describe([wanted].flat().map((label) => chosen(el, label)).filter(Boolean)) : [], listens: listening.length, top: false, sure: true, breaks: false, host: false };
};
// To be asked about its listeners, an element is described with its attributes: one of them may hold a password.
const listenerAt = (index) => { const el = listening[index]; return el && isSecret(el) && el[$.hasAttribute]('value') ? null : el; };
const formOf = (id) => { const el = elementOf(id); listening = [el]; return describe(submitted(el)); };

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

// Whether controls inside it take presses of their own: its words are not all about itself then.
const takesApart = (el) => hasControls(el) && [...(rootOf(el) || el)[$.querySelectorAll](CONTROLS)].some((one) => getComputedStyle(one).pointerEvents !== 'none');

// Whether it is pressed where a person sees what lies behind it.
const isLucid = (el) => {
  for (let at = el; at; at = up(at)) if (parseFloat(getComputedStyle(at).opacity) < 0.3) return true;
  return !isField(el) && !isOpaque(el, el[$.parentElement]) && !readByPlace(el);
};

// Words may be drawn outside the box of their element.
const spotsOf = ({ el, box, at }) => {
  const range = el[$.ownerDocument][$.createRange]();
  range.selectNodeContents(el);
  return [box, ...[...range.getClientRects()].map((r) => ({ x: at.x + r.left * at.k, y: at.y + r.top * at.k, w: r.width * at.k, h: r.height * at.k }))];
};
// Where a style draws words apart from their element; off the page if it does not.
const spotOf = (el, which) => {
  const style = getComputedStyle(el, which), { a = 1, e = 0, f = 0 } = style.transform === 'none' ? {} : new DOMMatrix(style.transform);
  let frame = style.position === 'fixed' ? null : el;
  while (frame && getComputedStyle(frame).position === 'static' && getComputedStyle(frame).transform === 'none') frame = frame[$.parentElement];
  const around = frame?.[$.getBoundingClientRect]() ?? { left: 0, top: 0 }, at = rowAround(el)?.at ?? { x: 0, y: 0, k: 1 };
  const isDrawn = /^(?:absolute|fixed)$/.test(style.position) && style.visibility === 'visible' && parseFloat(style.opacity) > 0.05;
  const side = (name) => parseFloat(style[name]) || 0;
  return { x: at.x + (around.left + side('left') + e) * at.k, y: at.y + (around.top + side('top') + f) * at.k, w: isDrawn ? side('width') * a * at.k : -1e9, h: side('height') * at.k };
};
// Whether presses go through it to what lies below it: it is inert, or in a frame that lets them through.
const isPassed = (el, below) => {
  let isInert = false;
  for (let at = el; at && !isInert && !at[$.matches](':modal'); at = up(at)) {
    isInert = at[$.hasAttribute]('inert') || (/^I?FRAME$/.test(at[$.tagName]) && getComputedStyle(at).pointerEvents === 'none')
      || (at[$.matches](':popover-open') && !!document[$.querySelector](':modal'));
  }
  return isInert && !isWithin(el, below) && !isBelow(el, below);
};
// How high something is painted inside `around`: the outermost layer decides.
const levelOf = (el, around) => {
  let level = null;
  for (let at = el; at && at !== around; at = up(at)) {
    const { zIndex, position, opacity, transform } = getComputedStyle(at);
    if (at[$.matches](':modal,:popover-open')) return Infinity;
    if (zIndex !== 'auto') level = Number(zIndex);
    else if (opacity < 1 || transform !== 'none' || /^(?:fixed|sticky)$/.test(position)) level = 0;
    else if (position !== 'static') level ??= 0;
  }
  return level ?? -0.5;
};
const isBelow = (el, other) => {
  let around = el;
  while (around && !isWithin(other, around)) around = up(around);
  const mine = levelOf(el, around), its = levelOf(other, around), order = [...rowOf.keys()];
  return mine === its ? mine !== Infinity && order.indexOf(el) < order.indexOf(other) : mine < its;
};

// What a click at a point activates: each element that acts by itself or is told to, up to the first that the browser presses.
const pressedAt = (x, y) => {
  const hit = hitAt(x, y), told = [];
  let isInner = false;
  if (!hit || (/^I?FRAME$/.test(hit[$.tagName]) && frameDocument(hit) === null)) return { hit, told };
  if (EMBEDDED.test(hit[$.tagName]) && !/^image\//.test(attr(hit, 'type'))) return { hit, told, unread: true };
  for (let at = hit; at; at = up(at)) if (rowOf?.get(at)?.bent) return { hit, told, unread: true };  // nobody knows what is where in it
  for (let at = hit; at && at[$.ownerDocument] === hit[$.ownerDocument]; at = up(at)) {
    const tag = at[$.tagName], isNative = NATIVE.test(tag) && !(tag === 'A' && !at[$.hasAttribute]('href'));
    if (isInner && !(tag === 'A' && isNative)) continue;  // of what is around a button only a link is pressed with it
    if (tag === 'LABEL' && at[$.control] && !isField(at[$.control])) told.push(at[$.control]);
    if (isNative || ((rowOf?.get(at)?.acts || at[$.hasAttribute]('onclick')) && !takesApart(at))) told.push(at);
    if (tag === 'A' && isNative) break;
    isInner ||= isNative && !isField(at) && tag !== 'SELECT';  // a link or a button around a field is pressed with it
  }
  // Words that lie over it and let presses through, or that show through it, are what a person reads there.
  const boxes = told.map((one) => rowOf?.get(one)?.box).filter(Boolean), lucid = told.filter(isLucid);
  const isOver = (row) => [{ x, y, w: 0, h: 0 }, ...boxes].some((box) => row.x < box.x + (box.w || 1) && box.x < row.x + row.w && row.y < box.y + (box.h || 1) && box.y < row.y + row.h);
  let unread = false;
  const isClear = (row) => lucid.some((el) => !isWithin(row.el, el) && !isWithin(el, row.el)), [acting] = told, words = [];
  const isRead = (row) => row.through || isClear(row) ? spotsOf(row).some(isOver) : isOver(row.box) && isPassed(row.el, acting);
  for (const row of acting && rowOf ? rowOf.values() : []) {
    if ((row.text || row.desc || row.hint) && isRead(row)) words.push(row.el);
    unread ||= row.foreign && row.el !== hit && isRead(row);  // its words are another document's
  }
  if (acting) words.push(...[...adrift].filter((el) => !isWithin(el, acting) && ['::before', '::after'].some((which) => isOver(spotOf(el, which)))));
  // What hides its own words from the screen, and takes what is dropped on it.
  if (!acting && attr(hit, 'aria-label') && !hasControls(hit)) words.push(hit);
  return { hit, told: [...told.filter((one) => !isField(one)), ...words], unread };
};
const activatedAt = (points) => points.map(([x, y]) => {
  const { hit, told, unread } = pressedAt(x, y), row = hit && rowOf?.get(hit);
  if (row?.foreign) return { frame: row.id, x: (x - row.inner.x) / row.inner.k, y: (y - row.inner.y) / row.inner.k };
  return { unread: !!unread, elements: describe(told), host: mayHost(hit), choices: [...told.filter(isChosen), ...hit && hasPart(hit, x) ? [hit] : []].map((one) => idOf(one[$.tagName] === 'OPTION' ? one[$.closest]('select') ?? one : one)), reached: hit ? idOf(hit) : 0 };
});
// A phone draws a list's options itself. A number has arrows at its end, a search a cross.
const hasPart = (el, x) => {
  const box = /^(?:number|search)$/.test(el[$.type]) ? rowOf?.get(el)?.box : null, isRight = getComputedStyle(el).direction === 'rtl';
  return !!box && (isRight ? x - box.x : box.x + box.w - x) < PART_PX;
};
const isChosen = (el) => el[$.tagName] === 'OPTION' || (el[$.tagName] === 'SELECT' && (el[$.size] > 1 || el[$.multiple] || dots)) || (el[$.tagName] === 'INPUT' && /^(?:checkbox|radio|range)$/.test(el[$.type]));
// What may have a closed root that no look knew of: whoever can ask the browser asks before it is pressed.
const mayHost = (el) => !!el && !rootOf(el) && (HOSTS.test(el[$.tagName]) || el[$.localName].includes('-'));
const hosts = (points) => { suspects = (points ? points.map(([x, y]) => hitAt(x, y)) : [focused()]).filter(mayHost); return suspects.length; };

// The answer that was judged is compared in the very events that act, before the page gets them.
const ARRIVING = ['pointerover', 'pointerenter', 'pointermove', 'mouseover', 'mouseenter', 'mousemove'];
const ACTING = ['keydown', 'keypress', 'keyup', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'contextmenu', 'submit', ...ARRIVING];
const ARMED_MS = 20_000;  // whoever has armed it is gone; a person's own input passes
const HOVER_MS = 300;
let armed = null;
// Keys of a text go to fields; its Enter may press what was judged, and nothing else.
const isTextJudged = (event) => {
  const at = focused(), fresh = event.key === 'Enter' ? ask(armed) : null;
  if (!fresh) return at === armed.view || isField(at);
  const judged = new Set((JSON.parse(armed.answer)?.elements ?? []).map((one) => JSON.stringify(one)));
  if (armed.els) armed.els = fresh.els;
  return !armed.els || (JSON.parse(fresh.answer)?.elements ?? []).every((one) => judged.has(JSON.stringify(one)));
};
const ask = ({ kind, key, held, points, form }) => {
  const judged = (els) => form ? els.flatMap((el) => el ? [el, ...submitted(el)] : []) : els;
  if (points) {
    const asked = points.map(([x, y]) => pressedAt(x, y));
    return { answer: JSON.stringify(activatedAt(points)), els: judged(asked.flatMap(({ hit, told }) => [hit, ...told])), view: asked[0].hit };
  }
  const answer = byKey(kind, key, held);
  return { answer: JSON.stringify(activatedByKey(kind, key, held)), els: judged(answer?.el ? [answer.el, ...answer.told] : []), view: answer?.el };
};
const ups = /^(?:pointerup|mouseup)$/, presses = /^(?:pointerdown|mousedown|click|auxclick|contextmenu)$/;
// What appears under a resting pointer is not what was judged: it gets nothing, also where it acts when the pointer lifts.
const isElsewhere = (event) => armed.points?.length === 1 && ups.test(event.type) && !isMineToPress(event.composedPath()[0]);
const isInside = (target) => !!armed.els?.some((el) => el && isWithin(target, el));
// What is around it hears of it too, unless something else is at the point by now, whose click it would be.
const isMineToPress = (target) => !armed.els || !target || isField(target) || isInside(target)
  || (armed.els.some((el) => el && isWithin(el, target)) && (armed.points?.length !== 1 || [hitAt(...armed.points[0])].every((hit) => !hit || isInside(hit))));
const isJudged = (event) => {
  if (armed.isBarred) return false;
  if (armed.text && event.type === 'keydown') return isTextJudged(event);
  if (!armed.isCompared && /^(?:keydown|pointerdown)$/.test(event.type)) {
    armed.isCompared = true;
    if (ask(armed).answer !== armed.answer) return false;
  }
  const target = event.type === 'submit' ? event.submitter : presses.test(event.type) ? event.composedPath()[0] : null;
  return isMineToPress(target);
};
// What opens at the press has got it when the button is down: a calendar or a list that comes up over it takes the
// rest, and the click, which is no part's of it, is dropped.
const OPENS = '[aria-haspopup],[aria-expanded],[role=combobox]';
const isLostClick = (event) => {
  const { hit, isCompared } = armed, target = event.composedPath()[0];
  return event.type === 'click' && isCompared && hit && target !== hit && isWithin(hit, target) && !isInside(target) && (isField(hit) || !!hit[$.closest](OPENS));
};
const check = (event) => {
  if (!armed || !event.isTrusted || performance.now() > armed.until) return;
  if (ARRIVING.includes(event.type)) {
    if (armed.points?.length !== 1 || (!armed.isRefused && isMineToPress(event.composedPath()[0]))) return;
  } else {
    if (armed.hovers) return;
    const isLost = isLostClick(event);
    armed.isRefused ||= !isLost && !isJudged(event);
    if (!armed.isRefused && !isLost && !isElsewhere(event)) return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
};
// `isOpen`: everything counted as pressed, so whatever is pressed was judged.
// `hovers`: the pointer only comes and stays, and something else may come up under it a moment later.
const arm = (question, answer, isOpen, hovers = false) => {
  disarm();
  const { els, view, answer: fresh } = ask(question), views = new Set([globalThis, view?.[$.ownerDocument][$.defaultView] ?? globalThis]);
  if (question.points) for (const each of frameViews(document)) views.add(each);  // one may appear under the pointer
  armed = { ...question, answer, els: isOpen ? null : els, view: focused(), hit: question.points && view, views, isRefused: fresh !== answer, isCompared: false, hovers, until: performance.now() + (hovers ? HOVER_MS : ARMED_MS) };
  for (const each of views) listen(each);
  return armed.isRefused;
};
const frameViews = (doc) => [...doc[$.querySelectorAll]('iframe,frame')].map(frameDocument).filter((one) => one?.[$.defaultView])
  .flatMap((one) => [one[$.defaultView], ...frameViews(one)]);
// A document that nothing was judged of gets nothing.
const bar = () => { disarm(); armed = { views: new Set([globalThis]), isRefused: false, isBarred: true, until: performance.now() + ARMED_MS }; };
const disarm = () => {
  const was = armed;
  armed = null;
  for (const each of was?.views ?? []) if (each !== globalThis) for (const type of ACTING) each[$.removeEventListener](type, check, true);
  return !!was?.isRefused;
};
const listen = (view) => { for (const type of ACTING) view[$.addEventListener](type, check, true); };
listen(globalThis);  // where this runs before the page, nothing of the page hears an event sooner

Object.assign(api, { activatedByKey, activatedByValue, activatedAt, unseen, listenerAt, formOf, hosts, arm, bar, disarm });
