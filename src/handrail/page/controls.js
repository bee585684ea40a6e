// Typing into fields, and setting controls that have a value of their own.

const focused = () => {
  let el = document[$.activeElement];
  for (;;) {
    const inner = el && (rootOf(el)?.[$.activeElement]
      || ((el[$.tagName] === 'IFRAME' || el[$.tagName] === 'FRAME') ? frameDocument(el)?.[$.activeElement] : null));
    if (!inner) return el;
    el = inner;
  }
};
const isField = (el) => !!el && (el[$.isContentEditable] || el[$.tagName] === 'TEXTAREA'
  || (el[$.tagName] === 'INPUT' && !(el[$.type] in TYPES)));
const rawValue = (el) => el[$.isContentEditable] ? el[$.innerText].replace(/\n$/, '') : String(el[$.value]);
let field = null;
// What is focused, kept for `typed`; what a secret field holds never leaves the page.
const aim = () => {
  const el = focused();
  if (!isField(el)) return null;
  const value = rawValue(el);
  let start = null, end = null;
  try { start = el[$.selectionStart]; end = el[$.selectionEnd]; } catch { /* has no selection */ }
  if (start === null || start === undefined) { start = value.length; end = value.length; }
  field = { el, value, start, end };
  const kind = el[$.isContentEditable] ? 'editable' : el[$.tagName] === 'TEXTAREA' ? 'area' : el[$.type];
  return { kind, secret: isSecret(el), value: isSecret(el) ? null : value, empty: value === '', readOnly: !!el[$.readOnly], origin: el[$.ownerDocument][$.defaultView].location.origin };
};
const typed = (text) => {
  if (!field) return null;
  const { el, value, start, end } = field;
  const now = rawValue(el), secret = isSecret(el);
  const wanted = [value.slice(0, start) + text + value.slice(end), value + text];
  const same = (one) => now === one || (el[$.isContentEditable] && squeeze(now) === squeeze(one));
  return { arrived: wanted.some(same), changed: now !== value, value: secret ? null : now };
};
const selectAll = () => {
  if (!field) return;
  const { el } = field;
  if (el[$.isContentEditable]) {
    const range = el[$.ownerDocument][$.createRange]();
    range.selectNodeContents(el);
    const selection = el[$.ownerDocument][$.defaultView].getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  } else el[$.select]();
};
const put = (el, value) => {
  const proto = el[$.tagName] === 'TEXTAREA' ? HTMLTextAreaElement : el[$.tagName] === 'SELECT' ? HTMLSelectElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(el, value);
  el[$.dispatchEvent](new Event('input', { bubbles: true, composed: true }));
  el[$.dispatchEvent](new Event('change', { bubbles: true }));
};
// For what belongs to one site alone: whose field it is, and the text, in one task.
const insertInto = (text, origin) => {
  const el = focused();
  if (!document[$.hasFocus]() || !field || el !== field.el || !isField(el) || placeOf(el[$.ownerDocument]) !== origin) return false;
  return el[$.ownerDocument][$.execCommand]('insertText', false, text);
};
const putField = (text) => { if (field) put(field.el, text); };

// The field for files that an element is, or stands for.
const fileField = (id) => {
  const el = elementOf(id), field = el?.[$.matches]?.('label') ? el[$.control] : el;
  return field?.[$.isConnected] && field[$.tagName] === 'INPUT' && field[$.type] === 'file' ? field : null;
};

const same = (one, other) => squeeze(one).toLowerCase() === squeeze(other).toLowerCase();
const chosen = (el, wanted) => {
  const options = [...el[$.options]];
  return options.find((one) => squeeze(one[$.label]) === squeeze(wanted)) || options.find((one) => same(one[$.label], wanted))
    || options.find((one) => one[$.value] === wanted);
};

// Controls that have a value of their own: lists to choose from, sliders, dates. Null for others.
const setValue = (id, wanted) => {
  const el = elementOf(id);
  if (!el || !el[$.isConnected]) return null;
  if (el[$.tagName] === 'SELECT') {
    const options = [...el[$.options]], offers = options.filter((one) => !one[$.disabled]).map((one) => squeeze(one[$.label]));
    const found = chosen(el, wanted);
    if (!found || found[$.disabled]) return { value: valueOf(el), ok: false, offers };
    el[$.focus]();
    for (const one of options) one[$.selected] = one === found;
    el[$.dispatchEvent](new Event('input', { bubbles: true, composed: true }));
    el[$.dispatchEvent](new Event('change', { bubbles: true }));
    return { value: valueOf(el), ok: found[$.selected], offers };
  }
  if (el[$.tagName] !== 'INPUT' || !/^(?:range|number|date|time|month|week|datetime-local|color)$/.test(el[$.type])) return null;
  let value = String(wanted).trim();
  if (el[$.type] === 'range') {
    const low = Number(el[$.min] || 0), high = Number(el[$.max] || 100);
    value = String(value.endsWith('%') ? low + (high - low) * parseFloat(value) / 100 : Number(value));
  }
  el[$.focus]();
  put(el, value);
  const ok = el[$.type] === 'range' || el[$.type] === 'number' ? Number(el[$.value]) === Number(value) && el[$.value] !== '' : el[$.value] === value;
  return { value: String(el[$.value]), ok, offers: [] };
};

// Whether a mouse that is pressed and moved there draws something along instead of nothing.
const drags = (x, y) => {
  for (let at = hitAt(x, y); at; at = up(at)) {
    if (at[$.draggable] === true && at[$.tagName] !== 'IMG' && at[$.tagName] !== 'A') return true;
    const role = at[$.getAttribute]?.('role');
    if ((at[$.tagName] === 'INPUT' && at[$.type] === 'range') || role === 'slider' || role === 'scrollbar' || at[$.tagName] === 'CANVAS') return true;
  }
  return false;
};

Object.assign(api, { aim, typed, selectAll, putField, insertInto, setValue, fileField, drags });
