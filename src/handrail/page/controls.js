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
const isField = (el) => !!el && (el[$.isContentEditable] || !!el[$.editContext] || el[$.tagName] === 'TEXTAREA'
  || (el[$.tagName] === 'INPUT' && !(el[$.type] in TYPES)));
const rawValue = (el) => el[$.editContext] ? el[$.editContext].text : el[$.isContentEditable] ? el[$.innerText].replace(/\n$/, '') : String(el[$.value]);
let field = null;
// What is focused, kept for `typed`; what a secret field holds never leaves the page.
const aim = () => {
  const el = focused();
  if (!isField(el)) return null;
  const value = rawValue(el);
  let start = null, end = null;
  try { start = el[$.selectionStart]; end = el[$.selectionEnd]; } catch { /* has no selection */ }
  if (start === null || start === undefined) {
    const picked = squeeze(String(el[$.ownerDocument][$.defaultView].getSelection()));
    start = picked && picked === squeeze(value) ? 0 : value.length;
    end = value.length;
  }
  field = { el, value, start, end };
  const kind = el[$.isContentEditable] || el[$.editContext] ? 'editable' : el[$.tagName] === 'TEXTAREA' ? 'area' : el[$.type];
  return { kind, secret: isSecret(el), value: isSecret(el) ? null : value, empty: value === '', readOnly: !!el[$.readOnly], offers: ['aria-autocomplete', 'aria-controls', 'list'].some((name) => el[$.hasAttribute](name)) || roleOf(el) === 'combobox', origin: el[$.ownerDocument][$.defaultView].location.origin };
};
const typed = (text) => {
  if (!field) return null;
  const { el, value, start, end } = field;
  const now = rawValue(el), secret = isSecret(el);
  if (el[$.editContext] && !now.includes(text)) return null;  // the page itself draws what it holds
  const wanted = [value.slice(0, start) + text + value.slice(end), value + text];
  // A page may complete what is typed, with the rest selected.
  const isCompleted = (one) => { try { return el[$.selectionStart] === one.length && el[$.selectionEnd] === now.length && now.toLowerCase().startsWith(one.toLowerCase()); } catch { return false; } };
  const digits = (one) => /^[+\d\s().\/-]*$/.test(one) ? one.replace(/\D/g, '') : '';  // a number may be written in groups
  const same = (one) => now === one || (digits(one) !== '' && digits(one) === digits(now)) || isCompleted(one) || (el[$.isContentEditable] && squeeze(now) === squeeze(one));
  return { arrived: !!el[$.editContext] || wanted.some(same), changed: now !== value, value: secret ? null : now };
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
// At the cursor, as one change of the value.
const valueInto = (text) => {
  if (!field) return;
  const { el, value, start, end } = field;
  if (el[$.isContentEditable]) el[$.ownerDocument][$.execCommand]('insertText', false, text);
  else put(el, value.slice(0, start) + text + value.slice(end));
};
// The page is told of a paste with this text; nobody's clipboard is touched.
const pasteInto = (text) => {
  if (!field) return;
  const view = field.el[$.ownerDocument][$.defaultView], clipboardData = new view.DataTransfer();
  clipboardData.setData('text/plain', text);
  const event = new view.ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData });
  if (field.el[$.dispatchEvent](event)) field.el[$.ownerDocument][$.execCommand]('insertText', false, text);
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
const controlOf = (id) => { const el = elementOf(id); return el?.[$.tagName] === 'OPTION' ? el[$.closest]('select') ?? el : el; };
const setValue = (id, wanted) => {
  const el = controlOf(id);
  if (!el || !el[$.isConnected]) return null;
  if (el[$.tagName] === 'SELECT') {
    const options = [...el[$.options]], offers = options.filter((one) => !one[$.disabled]).map((one) => squeeze(one[$.label]));
    const labels = [wanted].flat(), picked = labels.map((label) => chosen(el, label));
    if (picked.some((option) => !option || option[$.disabled]) || (labels.length !== 1 && !el[$.multiple])) return { value: valueOf(el), ok: false, offers };
    el[$.focus]();
    for (const option of options) option[$.selected] = picked.includes(option);
    el[$.dispatchEvent](new Event('input', { bubbles: true, composed: true }));
    el[$.dispatchEvent](new Event('change', { bubbles: true }));
    return { value: valueOf(el), ok: picked.every((option) => option[$.selected]), offers };
  }
  if (el[$.tagName] !== 'INPUT' || !/^(?:range|number|date|time|month|week|datetime-local|color)$/.test(el[$.type])) return null;
  if (Array.isArray(wanted)) return null;
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

Object.assign(api, { aim, typed, selectAll, putField, valueInto, pasteInto, insertInto, setValue, fileField, drags });
