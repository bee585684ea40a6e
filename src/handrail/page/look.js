// One look at one document and the frames that it may reach, in one task: what is there, what it is called,
// where it is, and what a click at it would reach. Runs in a world of its own, which the page can't touch.
// The body of one function, together with `controls.js` and `activation.js`: they share its names.

if (Object.hasOwn(globalThis, 'handrail')) return globalThis.handrail.token;

// A form or a document answers `el.children` with the field that a page has named so. What the prototypes have is
// therefore read under symbols, `el[$.children]`, which no page can name. Frames have prototypes of their own.
const NAMES = `activeElement addEventListener adoptedStyleSheets alt assignedNodes autocomplete body caption checkVisibility checked childNodes children
  classList clientHeight clientLeft clientTop clientWidth closest contains contentDocument control createRange data
  defaultView disabled dispatchEvent documentElement draggable editContext elementFromPoint execCommand firstChild firstElementChild
  focus form getAnimations getAttribute getBoundingClientRect getElementById getRootNode hasAttribute hasFocus host id
  indeterminate innerText isConnected isContentEditable label labels localName matches max min multiple nextSibling nodeType
  offsetWidth open options ownerDocument parentElement parentNode position previousSibling querySelector querySelectorAll readOnly
  readyState removeEventListener scrollHeight scrollIntoView scrollLeft scrollTop scrollWidth scrollingElement select selected
  selectedOptions selectionEnd selectionStart shadowRoot size styleSheets tabIndex tagName textContent title type value willValidate`.split(/\s+/);
const READ = /^(?:EventTarget|Node|CharacterData|Text|Document|DocumentFragment|ShadowRoot|(?:HTML\w*|SVG|MathML)?Element)$/;
const $ = Object.fromEntries(NAMES.map((name) => [name, Symbol(name)]));
const viewOf = Object.getOwnPropertyDescriptor(Document.prototype, 'defaultView').get;
const teach = (view) => {
  if (!view || Object.hasOwn(Object.getOwnPropertyDescriptor(view, 'Node').value.prototype, $.nodeType)) return;
  for (const name of Object.getOwnPropertyNames(view)) {
    const made = READ.test(name) ? Object.getOwnPropertyDescriptor(view, name).value?.prototype : null;
    for (const key of made ? NAMES : []) {
      const how = Object.getOwnPropertyDescriptor(made, key);
      if (how) Object.defineProperty(made, $[key], how);
    }
  }
};
teach(globalThis);
const frameDocument = (el) => {
  try {
    const inner = el[$.contentDocument];
    if (inner) teach(Reflect.apply(viewOf, inner, []));
    return inner;
  } catch { return null; }
};

const MARGIN = 200;      // px around the viewport that are told, so that one knows what comes next
const MOST_ROWS = 3000, MOST_FAR_ROWS = 12_000;
const HIT_MS = 800;      // for all hit tests of a look; a page of thousands of specks would take minutes
const DEEPEST = 300;     // elements inside each other: what is deeper is left out, not read at the stack's cost
const MOST_TEXT = 2000;  // characters of one text
const MOST_AMOUNTS = 300;  // texts of a look whose numbers are checked for being drawn
const MOST_LETTERS = 400;  // of one element that are read by their places
const DEEP_WORDS = 20;   // elements inside each other whose words are told as they are drawn; deeper ones are told as they are
const NOISE_MS = 1500, NOISE = 2, RESTLESS = 20;

const F = { ENABLED: 1, FOCUSED: 2, SELECTED: 4, CHECKED: 8, CHECKABLE: 16, CLICKABLE: 32, SCROLLABLE: 64,
            LONG_CLICKABLE: 128, PASSWORD: 256, FOCUSABLE: 512 };
const MASK = '••••';
let dots = false;  // phones tell how long a secret is, and typing there is checked by that
const masked = (value) => !value ? '' : dots ? '•'.repeat(value.length) : MASK;

// identity: a number for each element, for as long as the element lives

const ids = new WeakMap(), elements = new Map();
const gone = new FinalizationRegistry((id) => elements.delete(id));
let last = 0;
const idOf = (el) => {
  let id = ids.get(el);
  if (!id) {
    id = ++last;
    ids.set(el, id);
    elements.set(id, new WeakRef(el));
    gone.register(el, id);
  }
  return id;
};
const elementOf = (id) => elements.get(id)?.deref();

// shadow roots: open ones are seen, closed ones are handed in by whoever can ask the browser

const closed = new WeakMap(), asked = new WeakMap();
let shadowed = false;  // some element has a root, whose inside no selector of the document reaches
let suspects = [];
const HOSTS = /^(?:ARTICLE|ASIDE|BLOCKQUOTE|BODY|DIV|FOOTER|H[1-6]|HEADER|MAIN|NAV|P|SECTION|SPAN)$/;
const rootOf = (el) => { const root = el[$.shadowRoot] || closed.get(el) || null; if (root) shadowed = true; return root; };
const suspect = (el, rect) => {
  const isCustom = el[$.localName].includes('-');
  if (!isCustom && (el[$.firstElementChild] || !HOSTS.test(el[$.tagName]))) return;
  if (!isCustom && el[$.textContent].trim()) return;
  const size = `${rect.width}x${rect.height}`;
  if (asked.get(el) !== size && suspects.length < 300) { asked.set(el, size); suspects.push(el); }
};

// text

const squeeze = (text) => {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.length > MOST_TEXT ? `${plain.slice(0, MOST_TEXT - 1)}…` : plain;  // exactly as long as a text that was cut
};
const attr = (el, name) => squeeze(el[$.getAttribute](name) || '');
const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'META', 'LINK', 'HEAD', 'TITLE', 'BR',
  'HR', 'WBR', 'COL', 'COLGROUP', 'DATALIST', 'SOURCE', 'TRACK', 'PARAM', 'BASE']);
// What usually draws nothing does if a style says so.
const isSkipped = (el) => SKIPPED.has(el[$.tagName]) && !isShown(el);

const isShown = (el) => el[$.checkVisibility]({ contentVisibilityAuto: true, visibilityProperty: true });

// A style may turn letters round.
const written = (el, node) => {
  const { unicodeBidi, direction } = getComputedStyle(el);
  return direction === 'rtl' && unicodeBidi.includes('override') ? [...node[$.data]].reverse().join('') : node[$.data];
};
// What an element says, as a reader would read it: texts and the names of pictures inside it.
const saidIn = (el, depth = 0) => {
  if (depth > DEEP_WORDS) return el[$.textContent];
  let said = '';
  const nodes = el[$.tagName] === 'SLOT' && el[$.assignedNodes]().length ? el[$.assignedNodes]() : (rootOf(el) || el)[$.childNodes];
  for (const node of nodes) {
    if (said.length > MOST_TEXT) break;
    if (node[$.nodeType] === 3) said += written(el, node);
    else if (node[$.nodeType] === 1 && node[$.tagName] !== 'BR' && !isSkipped(node)) {
      if (node[$.getAttribute]('aria-hidden') === 'true' || !isPossible(node)) continue;
      const label = attr(node, 'aria-label');
      const own = label || (node[$.tagName] === 'IMG' ? attr(node, 'alt')
        : node[$.tagName] === 'svg' ? svgTitle(node)
        : node[$.tagName] === 'SELECT' || node[$.tagName] === 'TEXTAREA' || node[$.tagName] === 'INPUT' ? ''
        : styled(node, saidIn(node, depth + 1)));
      const isBlock = !/^inline/.test(getComputedStyle(node).display);
      said += isBlock ? ` ${own} ` : own;
    } else if (node[$.nodeType] === 1 && node[$.tagName] === 'BR') said += ' ';
  }
  return said;
};
// With what its style draws: a price may be drawn by that alone.
const styled = (el, said) => {
  const [before, after] = [marked(el) + drawn(el, '::before'), drawn(el, '::after')].map((one) => /[\p{L}\p{N}]/u.test(one) ? one : '');
  return before || after ? `${before} ${said} ${after}` : said;
};
const isPossible = (el) => isShown(el) || getComputedStyle(el).display === 'contents';
const svgTitle = (el) => squeeze(el[$.querySelector]('title')?.[$.textContent] || '');

// A list of several lines draws all its options; one that a style draws has a button with words of its own.
const listed = (el) => {
  const groups = [...el[$.querySelectorAll]('optgroup')].map((one) => attr(one, 'label'));
  const shown = el[$.size] > 1 || el[$.multiple] ? [...groups, ...[...el[$.options]].map((one) => one[$.label])] : [valueOf(el)];
  return [...shown, ...[...el[$.children]].filter((one) => one[$.tagName] === 'BUTTON').map((one) => shownWords(one))].join(' ');
};
// The words that are drawn on an element, whatever it is called for readers of the screen.
const quoted = (css) => [...css.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((one) => one[1]).join('');
// A counter may be drawn by symbols of the page's own, which are words as well.
const symbolsOf = (name, doc) => {
  const rules = (group) => { try { return [...group.cssRules ?? []].flatMap((rule) => [rule, ...rules(rule)]); } catch { return []; } };
  const styles = [...doc[$.styleSheets], ...doc[$.adoptedStyleSheets]].flatMap(rules).filter((rule) => rule instanceof doc[$.defaultView].CSSCounterStyleRule && rule.name === name);
  return styles.map((rule) => quoted(`${rule.prefix} ${rule.symbols} ${rule.additiveSymbols} ${rule.suffix}`)).join(' ');
};
const countedBy = (css, doc) => [...css.matchAll(/counters?\(.*?([\w-]+)\)/g)].map((one) => symbolsOf(one[1], doc)).join(' ');
const adrift = new Set();  // a style of theirs may draw elsewhere, where presses go through it
const drawn = (el, which) => {
  const { content, quotes, position, pointerEvents } = getComputedStyle(el, which);
  if (pointerEvents === 'none' && /^(?:absolute|fixed)$/.test(position) && content !== 'none') adrift.add(el);
  const marks = /(?:open|close)-quote/.test(content) && /[\p{L}\p{N}]/u.test(quotes) ? quoted(quotes.replaceAll('" "', '  ')) : '';
  return quoted(content) + marks + (content.includes('counter') ? countedBy(content, el[$.ownerDocument]) : '');
};
const marked = (el) => {
  const { display, listStyleType } = getComputedStyle(el);
  if (!display.includes('list-item')) return '';
  const isPlain = /^(?:none|disc|circle|square|decimal)$/.test(listStyleType);
  return drawn(el, '::marker') || (isPlain ? '' : quoted(listStyleType) || symbolsOf(listStyleType, el[$.ownerDocument]));
};
// A drawing may use a part that uses another.
const usedWords = (el, depth = 0) => {
  const part = depth < 6 ? el[$.getRootNode]()[$.getElementById]?.((attr(el, 'href') || attr(el, 'xlink:href')).replace(/^#/, '')) : null;
  return part ? [part[$.textContent], ...[part, ...part[$.querySelectorAll]('use')].filter((one) => one[$.tagName] === 'use').map((one) => usedWords(one, depth + 1))].join(' ') : '';
};
const shownWords = (el, depth = 0, isSeen = null) => {
  if (depth > DEEP_WORDS) return el[$.textContent];
  if (!isPossible(el)) return '';
  const tag = el[$.tagName];
  let words = marked(el) + drawn(el, '::before');
  if (tag === 'INPUT' && !/^(?:button|submit|reset)$/.test(el[$.type])) words += attr(el, 'alt') || (depth && isField(el) ? ` ${valueOf(el) || attr(el, 'placeholder')} ` : '');
  else if (tag === 'INPUT') words += el[$.value];
  else if (tag === 'IMG') words += attr(el, 'alt') || attr(el, 'title');
  else if (tag === 'use') words += usedWords(el);
  else if (tag === 'SELECT') words += `${drawn(el, '::picker-icon')} ${depth ? listed(el) : ''}`;
  else if (tag === 'TEXTAREA') words += depth ? valueOf(el) : '';
  else for (const node of childrenOf(el)) {
    if (words.length > MOST_TEXT) break;
    if (node[$.nodeType] === 3) words += !isSeen || isSeen(el, node) ? written(el, node) : '';
    else if (node[$.nodeType] === 1 && !isSkipped(node) && node[$.tagName] !== 'title') {
      suspect(node, node[$.getBoundingClientRect]());
      const isInline = node[$.tagName] !== 'BR' && /^inline/.test(getComputedStyle(node).display);
      const inner = shownWords(node, depth + 1, isSeen);
      words += isInline ? inner : ` ${inner} `;
    }
  }
  return words + drawn(el, '::after');
};
// The same by the places of the letters, which may be drawn in another order than they are written in, or not at all:
// rows from above, each from the left.
const letters = (el, clip, put) => {
  if (!isPossible(el)) return;
  const style = getComputedStyle(el), box = el[$.getBoundingClientRect]();
  if (parseFloat(style.opacity) < 0.05 || /inset\((?:100|[5-9]\d)%|circle\(0/.test(style.clipPath)) return;
  const inner = style.overflowX === 'visible' || style.display === 'contents' ? clip : shared(clip, box);
  const isDrawn = parseFloat(style.fontSize) >= 3 && !/^(?:transparent|rgba\(.*[,/] ?0\))$/.test(style.webkitTextFillColor);
  if (isField(el) && /^(?:INPUT|TEXTAREA)$/.test(el[$.tagName])) { put(valueOf(el) || attr(el, 'placeholder'), box, inner); return; }
  if (el[$.tagName] === 'SELECT') { put(valueOf(el), box, inner); return; }
  put(drawn(el, '::before'), { left: box.left, right: box.left, top: box.top, bottom: box.bottom }, null);
  for (const node of childrenOf(el)) {
    if (node[$.nodeType] === 1 && !isSkipped(node)) letters(node, inner, put);
    if (node[$.nodeType] !== 3 || !isDrawn) continue;
    const range = node[$.ownerDocument][$.createRange](), text = node[$.data];
    for (let at = 0; at < text.length; at++) {
      if (!text[at].trim()) continue;
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      if (put(text[at], range.getBoundingClientRect(), inner)) return;
    }
  }
  put(drawn(el, '::after'), { left: box.right, right: box.right, top: box.top, bottom: box.bottom }, null);
};
const shared = (one, other) => one ? { left: Math.max(one.left, other.left), top: Math.max(one.top, other.top), right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom) } : other;
const readByPlace = (el) => {
  const all = [], around = el[$.getBoundingClientRect](), reach = 400;
  const wide = { left: around.left - reach, top: around.top - reach, right: around.right + reach, bottom: around.bottom + reach };
  letters(el, wide, (text, box, clip) => {
    const { left, top, right, bottom } = clip ? shared(clip, box) : box;
    if (text && (!clip || (right - left > 1 && bottom - top > 2))) all.push({ text, left: box.left, right: box.right, at: (box.top + box.bottom) / 2, high: box.bottom - box.top });
    return all.length > MOST_LETTERS;
  });
  const rows = [];
  for (const one of all.sort((a, b) => a.at - b.at)) {
    const row = rows.at(-1);
    if (row && one.at - row[0].at < Math.max(row[0].high, one.high) / 2) row.push(one); else rows.push([one]);
  }
  const lines = rows.map((row) => row.sort((a, b) => a.left - b.left).map((one, at) => (at && one.left - row[at - 1].right > one.high * 0.12 ? ' ' : '') + one.text).join(''));
  return lines.length > 1 ? [...lines, lines.join(' ')].join(' · ') : lines.join('');
};
const shownIn = (el) => [shownWords(el), ...[...el[$.labels] || []].map((label) => shownWords(label))].map(squeeze).filter(Boolean);

const referred = (el, name) => {
  const root = el[$.getRootNode]();
  const said = (el[$.getAttribute](name) || '').split(/\s+/).filter(Boolean).slice(0, 10)
    .map((id) => root[$.getElementById]?.(id)).filter(Boolean)
    .map((one) => attr(one, 'aria-label') || (one[$.matches]('input,textarea,select') ? valueOf(one) : one[$.textContent]));
  return squeeze(said.join(' '));
};

// A field inside a component is called by the component's label.
const labelsOf = (el) => {
  const host = el[$.getRootNode]()[$.host];
  if (el[$.labels]?.length || !host) return [...el[$.labels] || []];
  const around = host[$.closest]('label'), root = host[$.getRootNode]();
  return [around, ...host[$.id] && root[$.querySelectorAll] ? root[$.querySelectorAll](`label[for="${CSS.escape(host[$.id])}"]`) : []].filter(Boolean);
};
const labelled = (el) => squeeze(labelsOf(el).map((label) => attr(label, 'aria-label') || saidIn(label)).join(' ')) || wordsBeside(el);
// A check box without a label is called by the words right after it.
const isBare = (el) => el?.[$.tagName] === 'INPUT' && /^(?:checkbox|radio)$/.test(el[$.type]) && !labelsOf(el).length && !el[$.closest]('button,a');
const wordsBeside = (el) => isBare(el) && el[$.nextSibling]?.[$.nodeType] === 3 ? squeeze(el[$.nextSibling][$.data]) : '';

// roles

const TYPES = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
  radio: 'radio', range: 'slider', file: 'button', color: 'button', hidden: '' };
const IMPLICIT = { BUTTON: 'button', SUMMARY: 'button', TEXTAREA: 'textbox', OPTION: 'option', PROGRESS: 'progressbar',
  METER: 'meter', UL: 'list', OL: 'list', MENU: 'list', LI: 'listitem', TABLE: 'table', TR: 'row', TD: 'cell',
  TH: 'columnheader', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading',
  DIALOG: 'dialog', FIELDSET: 'group', DETAILS: 'group', NAV: 'navigation', MAIN: 'main', ASIDE: 'complementary',
  IFRAME: 'frame', FRAME: 'frame', VIDEO: 'video', AUDIO: 'video', CANVAS: 'canvas', FORM: 'form', OUTPUT: 'status' };
const KNOWN = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'textbox', 'searchbox', 'combobox',
  'spinbutton', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem', 'gridcell', 'listbox',
  'list', 'listitem', 'table', 'grid', 'row', 'cell', 'columnheader', 'rowheader', 'heading', 'img', 'progressbar',
  'meter', 'dialog', 'alertdialog', 'alert', 'status', 'group', 'radiogroup', 'navigation', 'main', 'complementary',
  'region', 'form', 'search', 'banner', 'contentinfo', 'tablist', 'menu', 'menubar', 'toolbar', 'tree', 'treegrid',
  'tooltip', 'log', 'article', 'feed', 'figure', 'presentation', 'none', 'separator', 'scrollbar', 'application']);
const ACTS = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'textbox', 'searchbox', 'combobox',
  'spinbutton', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem', 'select', 'date']);
const FROM_CONTENT = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'treeitem', 'heading', 'cell', 'gridcell', 'columnheader', 'rowheader', 'tooltip']);
const FIELDS = new Set(['textbox', 'searchbox', 'spinbutton', 'date', 'select', 'slider', 'listbox']);
const PANES = new Set(['dialog', 'alertdialog', 'navigation', 'region', 'form', 'search', 'group', 'radiogroup',
  'complementary', 'main', 'tablist', 'menu', 'menubar', 'toolbar', 'listbox', 'list', 'table', 'grid', 'tree', 'frame']);

const roleOf = (el) => {
  const given = (el[$.getAttribute]('role') || '').toLowerCase().split(/\s+/).find((one) => KNOWN.has(one));
  const tag = el[$.tagName];
  if (tag === 'INPUT') {
    const type = el[$.type];
    if (given && given !== 'presentation' && given !== 'none' && !(given === 'combobox' && type !== 'button')) return given;
    if (type in TYPES) return TYPES[type];
    return /^(?:date|time|month|week|datetime-local)$/.test(type) ? 'date' : type === 'number' ? 'spinbutton' : type === 'search' ? 'searchbox' : 'textbox';
  }
  if (tag === 'SELECT') return el[$.multiple] || el[$.size] > 1 ? 'listbox' : 'select';
  if (given && given !== 'presentation' && given !== 'none') return given;
  if (tag === 'A' || tag === 'AREA') return el[$.hasAttribute]('href') ? 'link' : '';
  if (tag === 'IMG') return el[$.alt] || el[$.title] || el[$.hasAttribute]('aria-label') ? 'img' : '';
  if (tag === 'svg') return el[$.hasAttribute]('aria-label') || el[$.querySelector](':scope > title') ? 'img' : '';
  if (el[$.isContentEditable] && !el[$.parentElement]?.[$.isContentEditable]) return 'textbox';
  if (given) return '';
  if (tag === 'TD' && el[$.closest]('table')?.[$.matches]('[role=grid],[role=treegrid]')) return 'gridcell';
  if (tag === 'SECTION') return el[$.hasAttribute]('aria-label') || el[$.hasAttribute]('aria-labelledby') ? 'region' : '';
  return IMPLICIT[tag] || '';
};

const nameOf = (el, role) => {
  const by = el[$.hasAttribute]('aria-labelledby') ? referred(el, 'aria-labelledby') : '';
  if (by) return by;
  const aria = attr(el, 'aria-label');
  if (aria) return aria;
  const tag = el[$.tagName];
  if (tag === 'INPUT' && /^(?:button|submit|reset)$/.test(el[$.type]))
    return squeeze(el[$.value]) || (el[$.type] === 'submit' ? 'Submit' : el[$.type] === 'reset' ? 'Reset' : attr(el, 'title'));
  if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT' || tag === 'METER' || tag === 'PROGRESS') {
    const label = labelled(el);
    if (label) return label;
    if (tag === 'INPUT' && el[$.type] === 'image') return attr(el, 'alt') || attr(el, 'title') || 'Submit';
    if (tag === 'INPUT' && el[$.type] === 'file') return attr(el, 'title') || 'Choose file';
    return attr(el, 'title');
  }
  if (tag === 'IMG' || tag === 'AREA') return attr(el, 'alt') || attr(el, 'title');
  if (tag === 'svg') return svgTitle(el);
  if (tag === 'FIELDSET') return squeeze(el[$.querySelector](':scope > legend')?.[$.textContent] || '');
  if (tag === 'TABLE') return squeeze(el[$.caption]?.[$.textContent] || '') || attr(el, 'title');
  if (tag === 'OPTION') return squeeze(el[$.label]);
  if (FROM_CONTENT.has(role)) return squeeze(saidIn(el)) || attr(el, 'title');
  return '';
};

const valueOf = (el) => {
  if (el[$.tagName] === 'SELECT') return squeeze([...el[$.selectedOptions]].map((one) => one[$.label]).join(', '));
  if (el[$.tagName] === 'INPUT' && el[$.type] === 'password') return masked(el[$.value]);
  if (el[$.editContext]) return el[$.editContext].text.slice(0, MOST_TEXT);
  if (el[$.isContentEditable]) return el[$.innerText].slice(0, MOST_TEXT).replace(/\n$/, '');
  return String(el[$.value] ?? '').slice(0, MOST_TEXT);
};

const isSecret = (el) => el[$.tagName] === 'INPUT' && (el[$.type] === 'password'
  || /(?:^|\s)(?:current|new)-password|one-time-code|cc-(?:number|csc)/.test(el[$.autocomplete] || ''));

// the walk

let rows, docs, view, truncated, cuts, rowOf, active, layered, amounts, margin = MARGIN;

const deepActive = () => {
  const found = new Set();
  let doc = document;
  while (doc) {
    let el = doc[$.activeElement], next = null;
    while (el) {
      found.add(el);
      if (el[$.tagName] === 'IFRAME' || el[$.tagName] === 'FRAME') next = frameDocument(el);
      el = rootOf(el)?.[$.activeElement] || null;
    }
    doc = next;
  }
  return found;
};

// The entry of a menu or list that the keyboard is at, while the focus itself stays on the whole.
let atKey = null;
const keyAt = () => {
  for (const el of active) {
    const id = el[$.getAttribute]?.('aria-activedescendant');
    if (id) return el[$.getRootNode]()[$.getElementById]?.(id) ?? null;
  }
  return null;
};

const near = (box) => box.x < view.width + margin && box.x + box.w > -margin
  && box.y < view.height + margin && box.y + box.h > -margin;

const boxOf = (el, at) => {
  const r = el[$.getBoundingClientRect]();
  return { x: at.x + r.left * at.k, y: at.y + r.top * at.k, w: r.width * at.k, h: r.height * at.k };
};

const childrenOf = (el) => {
  const root = rootOf(el);
  if (root) return root[$.childNodes];
  if (el[$.tagName] === 'SLOT') { const given = el[$.assignedNodes](); if (given.length) return given; }
  return el[$.childNodes];
};

const ENDS = new Set(['TR', 'LI', 'P', 'DT', 'DD', 'OPTION', 'TD', 'TH']);  // nothing escapes from these

const add = (row, parent) => {
  row.parent = parent;
  row.kids = [];
  parent?.kids.push(row);
  rows++;
  if (row.el) rowOf.set(row.el, row);
  return row;
};
const drop = (row) => {  // its children take its place
  const kids = row.parent.kids;
  kids.splice(kids.indexOf(row), 1, ...row.kids);
  for (const kid of row.kids) kid.parent = row.parent;
  rows--;
  rowOf.delete(row.el);
};

const scrollsOf = (el, style) => {
  if (style.overflowX === 'visible' && style.overflowY === 'visible') return false;
  const y = el[$.scrollHeight] > el[$.clientHeight] + 1 && /auto|scroll|overlay/.test(style.overflowY);
  const x = el[$.scrollWidth] > el[$.clientWidth] + 1 && /auto|scroll|overlay/.test(style.overflowX);
  return (x || y) && el[$.clientHeight] > 0 && el[$.clientWidth] > 0;
};

// How far it is scrolled, and how far it can be. From right to left, the browser counts from the end.
const scrollOf = (el) => {
  const x = el[$.scrollWidth] - el[$.clientWidth], y = el[$.scrollHeight] - el[$.clientHeight];
  return [getComputedStyle(el).direction === 'rtl' ? x + el[$.scrollLeft] : el[$.scrollLeft], el[$.scrollTop], x, y];
};

const FORM = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'OPTION', 'FIELDSET']);
let mayBarren = false;  // something in this document is switched off by an attribute
const isDisabled = (el) => {
  if (el[$.disabled] === true || (FORM.has(el[$.tagName]) && el[$.matches](':disabled'))) return true;
  return mayBarren && !!el[$.closest]('[aria-disabled="true"],[inert]');
};

const stateOf = (el, role) => {
  const said = [];
  const expanded = el[$.tagName] === 'SUMMARY' ? String(!!el[$.parentElement]?.[$.open]) : el[$.getAttribute]('aria-expanded');
  if (expanded === 'true') said.push('expanded');
  if (expanded === 'false') said.push('collapsed');
  if (el[$.indeterminate] === true || el[$.getAttribute]('aria-checked') === 'mixed') said.push('mixed');
  if (el[$.getAttribute]('aria-pressed') === 'true') said.push('pressed');
  const current = el[$.getAttribute]('aria-current');
  if (current && current !== 'false') said.push('current');
  const invalid = el[$.getAttribute]('aria-invalid');
  if ((invalid && invalid !== 'false') || (el[$.willValidate] && el[$.matches](':user-invalid'))) said.push('invalid');
  if (role === 'progressbar' || role === 'meter') {
    const told = attr(el, 'aria-valuetext') || el[$.getAttribute]('aria-valuenow')
      || (el[$.tagName] === 'METER' || (el[$.tagName] === 'PROGRESS' && el[$.position] >= 0) ? String(el[$.value]) : '');
    if (told) said.push(told);
    else if (role === 'progressbar') said.push('in progress');
  }
  if (el[$.getAttribute]('aria-busy') === 'true') said.push('busy');
  if (el === atKey) said.push('active');
  return said.join(', ');
};

const isTiny = (box) => box.w < 4 || box.h < 4;

const isClippedAway = (el) => { const { clip, clipPath } = getComputedStyle(el); return /^rect\((?:0px|1px)/.test(clip) || /inset\((?:50|100)%/.test(clipPath); };
// Around what has no size of its own: pictures that float in a link.
const around = (el, at) => {
  const boxes = [...el[$.children]].filter(isShown).map((kid) => boxOf(kid, at)).filter((box) => !isTiny(box));
  const x = Math.min(...boxes.map((box) => box.x)), y = Math.min(...boxes.map((box) => box.y));
  return boxes.length ? { x, y, w: Math.max(...boxes.map((box) => box.x + box.w)) - x, h: Math.max(...boxes.map((box) => box.y + box.h)) - y } : null;
};
// A control that is drawn by its label, or by what is around it: there it is pressed.
const drawnBy = (el, box, at) => {
  if (!isTiny(box) && !isClippedAway(el)) return box;
  const isChoice = el[$.tagName] === 'INPUT' && /^(?:checkbox|radio|file)$/.test(el[$.type]);
  if (!isChoice && el[$.tagName] !== 'INPUT' && !isField(el) && roleOf(el) !== 'textbox') return (el[$.tagName] === 'A' && around(el, at)) || box;
  for (const label of el[$.labels] || []) {
    const other = boxOf(label, at);
    if (!isTiny(other) && isShown(label)) return { ...other, label };
  }
  if (isChoice && !isClippedAway(el)) return box;
  for (let label = up(el), depth = 0; label && depth < 4 && label[$.ownerDocument] === el[$.ownerDocument]; label = up(label), depth++) {
    const other = boxOf(label, at);
    if (other.w >= 12 && other.h >= 12 && isShown(label)) return { ...other, label };
  }
  return box;
};

const control = (el, role, at, doc, known) => {
  const tag = el[$.tagName];
  const box = drawnBy(el, known || boxOf(el, at), at);
  const row = { el, id: idOf(el), tag: tag.toLowerCase(), role, doc, box, flags: 0, text: '', desc: '', hint: '',
    state: role || el[$.hasAttribute]('aria-busy') || el[$.hasAttribute]('aria-expanded') || el === atKey ? stateOf(el, role) : '',
    pane: '', tip: '', at, acts: ACTS.has(role) };
  const name = role ? nameOf(el, role) : attr(el, 'aria-label');
  let flags = isDisabled(el) ? 0 : F.ENABLED;
  if (active.has(el)) flags |= F.FOCUSED;
  if (row.acts) flags |= F.CLICKABLE | F.FOCUSABLE;
  if (role === 'checkbox' || role === 'radio' || role === 'switch' || role === 'menuitemcheckbox' || role === 'menuitemradio') {
    flags |= F.CHECKABLE;
    if (el[$.tagName] === 'INPUT' ? el[$.checked] : el[$.getAttribute]('aria-checked') === 'true') flags |= F.CHECKED;
    row.text = name;
  } else if (role === 'textbox' || role === 'searchbox' || role === 'spinbutton' || role === 'date'
             || (role === 'combobox' && (tag === 'INPUT' || el[$.isContentEditable]))) {
    row.text = isField(el) ? (isSecret(el) ? masked(el[$.value]) : valueOf(el)) : squeeze(el[$.textContent] || '');
    row.desc = name;
    row.hint = attr(el, 'placeholder') || attr(el, 'aria-placeholder');
    if (isSecret(el)) flags |= F.PASSWORD;
    if (el[$.readOnly]) row.state = [row.state, 'read-only'].filter(Boolean).join(', ');
    if (role === 'date' && el[$.type]) row.hint = row.hint || { date: 'YYYY-MM-DD', time: 'HH:MM', month: 'YYYY-MM', week: 'YYYY-Www', 'datetime-local': 'YYYY-MM-DDTHH:MM' }[el[$.type]];
  } else if (role === 'select' || role === 'combobox') {
    const value = (tag === 'SELECT' ? valueOf(el) : squeeze(saidIn(el))).replace(/^\u200b+$/, '');
    if (name && name !== value) { row.text = name; row.state = [value, row.state].filter(Boolean).join(', '); } else row.text = value;
    row.value = value;
  } else if (role === 'slider') {
    row.desc = name;
    row.state = attr(el, 'aria-valuetext') || (tag === 'INPUT' ? String(el[$.value]) : el[$.getAttribute]('aria-valuenow') || '');
  } else if (role === 'img') {
    row.desc = name;
  } else {
    row.text = name;
  }
  if (role === 'tab' || role === 'option' || role === 'treeitem' || role === 'row' || role === 'gridcell') {
    if (el[$.getAttribute]('aria-selected') === 'true' || (tag === 'OPTION' && el[$.selected])) flags |= F.SELECTED;
  }
  const tip = attr(el, 'title');
  if (tip && tip !== name) row.tip = tip;
  row.flags = flags;
  return row;
};

const withStyle = (el, said) => squeeze(styled(el, said));
const directText = (el) => {
  let said = '';
  for (const node of childrenOf(el)) {
    if (node[$.nodeType] === 3 && !isBare(node[$.previousSibling])) said += written(el, node);
    else if (node[$.nodeType] === 1 && !isSkipped(node) && !isShown(node) && getComputedStyle(node).display === 'contents') said += ` ${directText(node)} `;
  }
  return withStyle(el, said);
};

// Only words and marks of writing inside: told as one text.
const PHRASING = new Set(['B', 'I', 'EM', 'STRONG', 'SPAN', 'SMALL', 'SUB', 'SUP', 'CODE', 'MARK', 'U', 'S', 'Q', 'ABBR',
  'CITE', 'TIME', 'DEL', 'INS', 'KBD', 'SAMP', 'VAR', 'FONT', 'BR', 'WBR', 'TT', 'BIG', 'STRIKE', 'LABEL', 'DFN', 'DATA', 'BDI', 'BDO']);
const HANDLERS = ['onclick', 'ondblclick', 'oncontextmenu', 'onmousedown', 'onpointerdown'];
const isHandled = (el) => HANDLERS.some((name) => el[$.hasAttribute](name)) || el[$.getAttribute]('draggable') === 'true';
const isWriting = (el, depth = 0) => {
  if (rootOf(el) || depth > 6) return false;
  for (const kid of childrenOf(el)) if (kid[$.nodeType] === 1) {
    if (!PHRASING.has(kid[$.tagName]) || kid[$.hasAttribute]('role') || isHandled(kid) || kid[$.hasAttribute]('tabindex')
        || (kid[$.tagName] === 'LABEL' && kid[$.control]) || !isWriting(kid, depth + 1)) return false;
    if (kid[$.tagName] !== 'BR' && kid[$.tagName] !== 'WBR' && getComputedStyle(kid).cursor === 'pointer'
        && getComputedStyle(el).cursor !== 'pointer') return false;
    if (!kid[$.firstChild] && isIcon(kid, getComputedStyle(kid))) return false;
  }
  return true;
};

// An anchor that leads nowhere is there for a script; one with a name is a place to jump to.
const isForScripts = (el) => !el[$.hasAttribute]('href') && !el[$.hasAttribute]('name') && !!el[$.textContent].trim() && !hasControls(el);

const isSmall = (rect) => rect.width >= 6 && rect.height >= 6 && rect.width <= 48 && rect.height <= 48;

// A small picture drawn by style alone: a bin, a star, a heart. Nobody draws one for a reader of texts.
const isIcon = (el, style) => !el[$.firstChild] && el[$.classList].length > 0 && isSmall(el[$.getBoundingClientRect]()) && !el[$.closest]('button,a[href],label,[role=button],[aria-hidden="true"]')
  && (style.content.includes('url(') || style.backgroundImage.includes('url(') || style.maskImage.includes('url('));

const cut = (clip, box) => ({ l: Math.max(clip?.l ?? -1e9, box.x), t: Math.max(clip?.t ?? -1e9, box.y),
  r: Math.min(clip?.r ?? 1e9, box.x + box.w), b: Math.min(clip?.b ?? 1e9, box.y + box.h) });

const visitAll = (el, parent, at, doc, inside) => {
  for (const node of childrenOf(el)) if (node[$.nodeType] === 1) visit(node, parent, at, doc, inside);
};

// Whether a frame is drawn in another way than moved and scaled: then no place of its inside is known.
const isBent = (el) => {
  for (let at = el; at; at = at[$.parentElement] || at[$.getRootNode]()[$.host]) {
    const style = getComputedStyle(at);
    if (style.rotate !== 'none' || style.offsetPath !== 'none' || (style.scale !== 'none' && !/^[\d.]+$/.test(style.scale))) return true;
    if (style.transform === 'none') continue;
    const m = new DOMMatrix(style.transform);
    if (!m.is2D || m.a <= 0 || Math.abs(m.a - m.d) > 1e-3 || Math.abs(m.b) > 1e-3 || Math.abs(m.c) > 1e-3) return true;
  }
  return false;
};

const frameOf = (el, parent, box, at, doc) => {
  const row = add({ el, id: idOf(el), tag: 'iframe', role: 'frame', doc, box, flags: F.ENABLED, text: '', desc: '', hint: '',
    state: '', pane: attr(el, 'title') || attr(el, 'aria-label'), tip: '', at, acts: false, keep: true }, parent);
  const k = el[$.offsetWidth] ? box.w / el[$.offsetWidth] : at.k;
  row.bent = at.bent || isBent(el);
  row.inner = { x: box.x + el[$.clientLeft] * k, y: box.y + el[$.clientTop] * k, k, w: el[$.clientWidth] * k, h: el[$.clientHeight] * k };
  const inner = frameDocument(el);
  if (!inner || !inner[$.documentElement]) { row.foreign = true; return; }
  watch(inner);
  const through = at.through || getComputedStyle(el).pointerEvents === 'none';
  walk(inner, row, { x: row.inner.x, y: row.inner.y, k, through, bent: row.bent, depth: (at.depth || 0) + 20 });
  const scroller = inner[$.scrollingElement];
  if (scroller && (scroller[$.scrollHeight] > scroller[$.clientHeight] + 1 || scroller[$.scrollWidth] > scroller[$.clientWidth] + 1)) {
    row.flags |= F.SCROLLABLE;
    row.scroll = scrollOf(scroller);
  }
};

const visit = (el, parent, at, doc, inside) => {
  const tag = el[$.tagName];
  if (tag === 'BR' || tag === 'WBR' || isSkipped(el)) return;
  const box = boxOf(el, at);
  const isNear = near(box);
  if (!isNear && ENDS.has(tag) && (box.w || box.h)) { truncated++; return; }
  if (rows >= (margin === MARGIN ? MOST_ROWS : MOST_FAR_ROWS) || inside.depth > DEEPEST) { truncated++; cuts++; return; }
  const shown = isShown(el);
  if (!shown) {
    const style = getComputedStyle(el);
    if (style.display === 'none') {
      if (tag === 'INPUT' && el[$.labels]?.length) hiddenControl(el, parent, at, doc);
      return;
    }
    if (style.display !== 'contents' && style.visibility === 'visible') return;  // content-visibility, closed details
    visitAll(el, parent, at, doc, { ...inside, depth: inside.depth + 1 });
    return;
  }
  if (!isNear && !active.has(el)) {
    truncated++;
    visitAll(el, parent, at, doc, { ...inside, depth: inside.depth + 1 });
    return;
  }
  if (tag === 'IFRAME' || tag === 'FRAME') { frameOf(el, parent, box, at, doc); return; }
  if (!rootOf(el)) suspect(el, box);
  const style = getComputedStyle(el);
  const role = roleOf(el);
  if (tag === 'LABEL' && el[$.control] && isTold(el[$.control]) && nameOf(el[$.control], roleOf(el[$.control])).includes(attr(el, 'aria-label') || squeeze(saidIn(el)))) {  // its control says it
    if (el[$.contains](el[$.control]) || hasControls(el)) visitAll(el, parent, at, doc, { ...inside, label: true, pointer: true, depth: inside.depth + 1 });
    return;
  }
  const row = control(el, role, at, doc, box);
  if (role === 'frame') row.role = '';
  if (tag !== 'HTML' && tag !== 'BODY' && scrollsOf(el, style)) {
    row.flags |= F.SCROLLABLE;
    row.scroll = scrollOf(el);
    row.keep = true;
  }
  if (!row.acts && (isHandled(el) || (tag === 'A' && isForScripts(el)) || isIcon(el, style) || (style.cursor === 'pointer' && !inside.pointer && tag !== 'LABEL' && tag !== 'BODY' && tag !== 'HTML')
      || ((el[$.tabIndex] >= 0 || role === 'gridcell' || (!role && (el[$.localName].includes('-') || (row.text && !el[$.firstElementChild])))) && el[$.hasAttribute]('tabindex') && !(row.flags & F.SCROLLABLE)))) {
    row.flags |= F.CLICKABLE;
    row.acts = true;
    row.tip ||= squeeze(`${drawn(el, '::before')} ${drawn(el, '::after')}`);
  }
  if (style.pointerEvents === 'none' || at.through) row.through = true;
  if (style.position !== 'static' && style.position !== 'relative') layered = true;
  add(row, parent);
  const isComponent = row.acts && !role && el[$.localName].includes('-');
  if (isComponent) row.text ||= squeeze(saidIn(el));
  const isLeaf = row.acts && (isComponent || !['treeitem', 'listitem', 'row', 'cell', ''].includes(role)) && !hasControls(el);
  row.clip = style.position === 'fixed' ? null : inside.clip;
  const clip = style.overflowX === 'visible' && style.overflowY === 'visible' ? row.clip : cut(row.clip, box);
  const deeper = { label: inside.label, depth: inside.depth + 1, clip, pointer: inside.pointer || style.cursor === 'pointer' || ACTS.has(role) };
  if (role === 'listbox' && tag === 'SELECT') {
    for (const option of el[$.options]) if (near(boxOf(option, at))) add(control(option, 'option', at, doc), row);
  } else if (tag === 'SELECT' || tag === 'TEXTAREA' || tag === 'VIDEO' || tag === 'AUDIO' || tag === 'CANVAS' || (tag === 'svg' && !hasControls(el) && (row.acts || row.text || !el[$.querySelector]('text')))) {
    // one element, whatever the browser draws in it
    if (tag === 'VIDEO' || tag === 'AUDIO' || tag === 'CANVAS') { row.keep = true; row.acts ||= tag !== 'CANVAS'; row.text = row.text || attr(el, 'aria-label'); }
    if (tag === 'VIDEO' || tag === 'AUDIO') row.flags |= F.CLICKABLE;
  } else if (row.flags & F.PASSWORD || role === 'textbox' || role === 'searchbox') {
    // what it holds is its value
  } else if (isLeaf) {
    // its words are its name
  } else if (isWriting(el)) {
    row.text = (row.acts && row.text) || withStyle(el, saidIn(el));
    tellSeen(row);
  } else {
    if (!FROM_CONTENT.has(role) || row.kids) row.text = row.acts && role ? row.text : directText(el);
    visitAll(el, row, at, doc, deeper);
    if (row.acts && role && row.text && row.kids.length) trimSaid(row);
  }
  finish(row, role, inside);
};

// The parts of a control say what its name says: only those that act, or say something else, are told.
const trimSaid = (row) => {
  for (const kid of [...row.kids]) {
    if (!kid.acts && !kid.kids.length && !(kid.flags & F.SCROLLABLE) && row.text.includes(kid.text || kid.desc)) {
      row.kids.splice(row.kids.indexOf(kid), 1);
      rows--;
      rowOf.delete(kid.el);
    }
  }
};

const CONTROLS = `a[href],button,input,select,textarea,iframe,summary,[tabindex],[contenteditable],[draggable=true],${[...ACTS, 'gridcell', 'row'].map((role) => `[role=${role}]`)}`;
// Also in what is put into a slot, and in components.
const hasControls = (el) => (el[$.tagName] === 'SLOT' ? [...el[$.assignedNodes]()] : [el, rootOf(el)]).some((part) => part?.[$.querySelector]
  && ((part !== el && part[$.matches]?.(CONTROLS)) || !!part[$.querySelector](CONTROLS)
  || [...part[$.querySelectorAll]('*'), ...part === el ? [] : [part]].some((one) => one[$.localName]?.includes('-') && rootOf(one) && hasControls(one))));
const isTold = (el) => { const box = el[$.getBoundingClientRect](); return isShown(el) || (box.width === 0 && !!el[$.labels]?.length); };

const hiddenControl = (el, parent, at, doc) => {
  const role = roleOf(el);
  if (role !== 'checkbox' && role !== 'radio') return;
  const box = drawnBy(el, { x: 0, y: 0, w: 0, h: 0 }, at);
  if (isTiny(box) || !near(box)) return;
  tellDrawn(add(control(el, role, at, doc), parent), role);
};

// What is drawn on it and neither its name nor its parts say.
const saidBy = (row) => [row.text, row.desc, row.tip, row.state, ...row.kids.map(saidBy)].join(' ');
// Whether the numbers in a text are drawn: a style may hide, cover or paint over single digits.
const isDigitSeen = (row) => (el, node) => {
  if (!/\p{N}/u.test(node[$.data])) return true;
  const style = getComputedStyle(el), range = node[$.ownerDocument][$.createRange]();
  range.selectNodeContents(node);
  const rect = range.getBoundingClientRect();
  if (parseFloat(style.fontSize) < 3 || rect.width < 1 || rect.height < 2 || style.webkitTextSecurity !== 'none') return false;
  if (/^(?:transparent|rgba\(.*[,/] ?0\))$/.test(style.webkitTextFillColor)) return false;
  let opacity = 1, ground = '', isInner = true, box = rect;
  for (let at = el; at; at = at[$.parentElement]) {
    const { opacity: own, filter, clipPath, maskImage, overflowX, display, backgroundColor, backgroundImage } = getComputedStyle(at);
    opacity *= own;
    ground ||= backgroundImage === 'none' ? backgroundColor.replace(/^(?:transparent|rgba\(.*[,/] ?0\))$/, '') : 'a picture';
    if (opacity < 0.05 || /opacity\(0(?!\.[1-9])/.test(filter)) return false;
    if (isInner && (maskImage !== 'none' || /inset\((?:100|[5-9]\d)%|circle\(0/.test(clipPath))) return false;
    if (isInner && overflowX !== 'visible' && display !== 'contents') box = shared(box, at[$.getBoundingClientRect]());
    isInner &&= at !== row.el;
  }
  if (box.right - box.left < 1 || box.bottom - box.top < 2 || style.webkitTextFillColor === (ground || 'rgb(255, 255, 255)')) return false;
  const hit = hitAt(row.at.x + (box.left + box.right) / 2 * row.at.k, row.at.y + (box.top + box.bottom) / 2 * row.at.k);
  return row.through || !hit || isWithin(el, hit) || isWithin(hit, row.el) || !isOpaque(hit, row.el);
};
const numbersIn = (words) => words.replace(/\P{N}+/gu, '');
// What a text says in another way than it is drawn: words kept from readers of the screen, numbers that nobody sees.
const tellSeen = (row) => {
  if (row.hint || row.acts || !(row.text || row.el[$.firstElementChild])) return;
  const isOtherwise = !!row.el[$.querySelector]?.('[aria-hidden=true],[aria-label]');
  if (!isOtherwise && !(/\p{N}/u.test(row.text) && amounts++ < MOST_AMOUNTS)) return;
  const words = squeeze(shownWords(row.el, 0, isDigitSeen(row)));
  if (numbersIn(words) !== numbersIn(row.text) || (isOtherwise && !squeeze(row.text).includes(words))) row.hint = words || 'not drawn';
};
const tellDrawn = (row, role) => {
  if (!row.acts || FIELDS.has(role) || isField(row.el) || row.hint || (row.el[$.tagName] !== 'BUTTON' && hasControls(row.el))) return;
  const words = shownIn(row.el).join(' ');
  if (words && !squeeze(saidBy(row)).includes(words)) row.hint = words;
};

// What has nothing but one control in it, as large as itself, is that control.
const isShell = ({ kids: [kid, more], box, role, text, state, desc, hint, tip, el }) => kid?.acts && !more && (text ? text === kid.text : !ACTS.has(role)) && !state && !desc && !hint && !tip && !el[$.hasAttribute]('onclick')
  && kid.box.w * kid.box.h * 2 > box.w * box.h;
const finish = (row, role, inside) => {
  tellDrawn(row, role);
  const name = !row.acts && PANES.has(role) ? nameOf(row.el, role) : '';
  if (name) { row.pane = name; row.keep = true; if (row.text === name) row.text = ''; }
  if (role === 'dialog' || role === 'alertdialog' || row.tag === 'details' || row.el[$.matches]?.(':popover-open')) row.keep = true;
  if (row.acts && isShell(row)) row.acts = false;
  if (row.keep || row.acts || (!inside.label && (row.text || row.desc || row.state))) return;
  if (row.kids.length >= 2 || (row.flags & F.FOCUSED && row.el[$.tagName] !== 'BODY')) return;
  drop(row);
};

// Whose a document is: of one that was written without an address, whoever wrote it.
const placeOf = (doc) => { const view = doc[$.defaultView], origin = view?.location.origin ?? 'null'; return origin !== 'null' ? origin : view?.origin ?? 'null'; };

const walk = (doc, parent, at) => {
  const protocol = doc[$.defaultView]?.location.protocol ?? 'about:', origin = placeOf(doc);
  // A document that a page has written itself, without an address, is that page's own.
  docs.push(origin !== 'null' ? origin : protocol === 'about:' && parent.doc !== undefined && parent.role === 'frame' ? docs[parent.doc] : protocol);
  const body = doc[$.body] || doc[$.documentElement], before = mayBarren;
  mayBarren = before || !!doc[$.querySelector]('[aria-disabled="true"],[inert]') || shadowed;
  if (body) visit(body, parent, at, docs.length - 1, { pointer: false, label: false, depth: at.depth || 0 });
};

// what a click reaches

const hitAt = (x, y) => {
  let root = document, dx = x, dy = y, el = null;
  for (let depth = 0; depth < 40; depth++) {
    const hit = root[$.elementFromPoint](dx, dy);
    if (!hit || hit === el) return el;
    el = hit;
    const shadow = rootOf(el);
    if (shadow) { root = shadow; continue; }
    if (el[$.tagName] === 'IFRAME' || el[$.tagName] === 'FRAME') {
      const row = rowOf.get(el);
      const inner = frameDocument(el);
      if (!inner || !row?.inner) return el;
      dx = (x - row.inner.x) / row.inner.k;
      dy = (y - row.inner.y) / row.inner.k;
      root = inner;
      continue;
    }
    return el;
  }
  return el;
};

const up = (el) => el[$.parentElement] || el[$.getRootNode]()[$.host] || el[$.ownerDocument][$.defaultView]?.frameElement || null;
const isWithin = (el, around) => { for (let at = el; at; at = up(at)) if (at === around) return true; return false; };
const rowAround = (el) => { for (let at = el; at; at = up(at)) { const row = rowOf.get(at); if (row) return row; } return null; };

const isOpaque = (el, until) => {
  for (let at = el; at && !isWithin(until, at); at = up(at)) {
    if (/^(?:IMG|CANVAS|VIDEO|IFRAME)$/.test(at[$.tagName])) return true;
    const style = at[$.ownerDocument][$.defaultView].getComputedStyle(at);
    if (style.backgroundImage !== 'none') return true;
    const alpha = /rgba?\([^)]*?(?:,|\/)\s*([\d.]+%?)\s*\)$/.exec(style.backgroundColor);
    const isRgba = style.backgroundColor.startsWith('rgba') || style.backgroundColor.includes('/');
    if (style.backgroundColor !== 'transparent' && (!isRgba || parseFloat(alpha?.[1] ?? '1') > 0.25)) return true;
  }
  return false;
};

const pointsIn = (box, clip) => {
  let l = Math.max(box.x, view.l), t = Math.max(box.y, view.t);
  let r = Math.min(box.x + box.w, view.r), b = Math.min(box.y + box.h, view.b);
  if (clip && Math.min(r, clip.r) > Math.max(l, clip.l) && Math.min(b, clip.b) > Math.max(t, clip.t)) {
    l = Math.max(l, clip.l); t = Math.max(t, clip.t); r = Math.min(r, clip.r); b = Math.min(b, clip.b);
  }
  if (r <= l || b <= t) return [];
  const at = (fx, fy) => [Math.min(Math.floor(l + (r - l) * fx), Math.ceil(r) - 1), Math.min(Math.floor(t + (b - t) * fy), Math.ceil(b) - 1)];
  if (r - l < 16 && b - t < 16) return [at(.5, .5)];
  return [at(.5, .5), at(.25, .5), at(.75, .5), at(.5, .2), at(.5, .8), at(.1, .15), at(.9, .85), at(.9, .15), at(.1, .85)];
};

// A group of a drawing is hit where its parts are painted, not in the middle of them all.
const paintedIn = ({ el, at, clip }) => el[$.tagName] === 'g' ? [...el[$.querySelectorAll]('*')].slice(0, 12).flatMap((part) => pointsIn(boxOf(part, at), clip).slice(0, 3)) : [];
const reach = (row) => {
  const points = pointsIn(row.box, row.clip);
  if (!points.length) return;
  if (row.at.bent) { row.cover = 'clipped'; return; }
  if (row.through && !row.acts) { reachThrough(row, points[0]); return; }
  let first = null, inner = null;
  for (const [x, y] of row.acts ? [...points, ...paintedIn(row)] : points.slice(0, 1)) {
    const hit = hitAt(x + .5, y + .5);
    if (hit && isMine(hit, row)) {
      const taker = row.acts ? takerOf(hit) : row;
      if (taker === row || !row.acts) { row.cover = ''; row.point = [x, y]; return; }
      if (!taker || isMeant(row, taker)) inner ||= [x, y]; else first ||= hit;
    } else first ||= hit || document[$.documentElement];
  }
  if (inner) { row.cover = ''; row.point = inner; return; }
  if (!first) return;
  if (isWithin(row.el, first) && first !== row.el) { row.cover = 'clipped'; return; }
  if (!row.acts && !isOpaque(first, row.el)) { row.cover = ''; return; }
  row.cover = first;
};
// A part of it that takes all presses is pressed for it, unless it is called otherwise.
const isMeant = (row, part) => {
  const said = part.text || part.desc || part.hint, mine = row.text || row.desc;
  return !mine || !said || mine.includes(said);
};

// Words that let presses through: whatever acts behind them takes what is meant for them.
const reachThrough = (row, [x, y]) => {
  const hit = hitAt(x + .5, y + .5);
  row.cover = hit && !isWithin(row.el, hit) && takerOf(hit) ? hit : '';
};
const takerOf = (el) => { for (let at = el; at; at = up(at)) { const row = rowOf.get(at); if (row?.acts) return row; } return null; };
const isMine = (hit, row) => {
  // what a frame takes is not told to what is around it
  if (hit[$.ownerDocument] !== row.el[$.ownerDocument] || (hit !== row.el && /^I?FRAME$/.test(hit[$.tagName]))) return false;
  if (isWithin(hit, row.el)) return true;
  for (const label of [...row.el[$.labels] || [], row.box.label]) if (label && isWithin(hit, label)) return true;
  return false;
};

// What lies over a frame that can't be read from here, at points of it: '' for nothing.
const over = (id, points) => {
  const frame = elementOf(id), isLost = !frame || rowOf.get(frame)?.bent;
  return points.map(([x, y]) => {
    if (isLost) return 'clipped';
    const hit = hitAt(x, y);
    if (hit === frame) return '';
    if (!hit || isWithin(frame, hit)) return 'clipped';
    return rowAround(hit)?.id ?? 'clipped';
  });
};

// a coverer that was not worth a row by itself gets one, so that it can be named
const named = (el) => {
  const known = rowOf.get(el);
  if (known) return known;
  let around = rowAround(up(el) || el);
  if (!around) return null;
  const box = boxOf(el, around.at || { x: 0, y: 0, k: 1 });
  return add({ el, id: idOf(el), tag: el[$.tagName].toLowerCase(), role: '', doc: around.doc, box, flags: F.ENABLED | F.CLICKABLE,
    text: '', desc: '', hint: '', state: '', pane: '', tip: '', at: around.at, acts: true, cover: '', point: null }, around);
};

// What has no words is often called by its class: `trash`, `fa-heart`.
const classOf = (row) => {
  if (!row.acts || row.role || row.text || row.desc || row.hint || row.tip || row.kids.length) return '';
  const able = [...row.el[$.classList]].filter((one) => /^[A-Za-z][A-Za-z_-]{2,30}$/.test(one));
  return able.sort((one, other) => other.length - one.length)[0] || '';
};

const ridOf = (el) => {
  const id = el[$.getAttribute]('data-testid') || el[$.getAttribute]('data-test-id') || el[$.id] || '';
  return /^[\w.$-]{1,60}$/.test(id) && !/\d{4,}|^r\d|^:r/.test(id) ? id : '';
};

const flatten = (root) => {
  const flat = [];
  const put = (row, parent) => {
    const at = flat.length, { box } = row;
    const cover = row.cover === undefined ? null : row.cover === '' || row.cover === 'clipped' ? row.cover : row.coverId || 'clipped';
    flat.push([row.id, parent, row.tag, row.role, row.flags, Math.round(box.x), Math.round(box.y),
      Math.round(box.x + box.w), Math.round(box.y + box.h), row.text, row.desc, row.hint, row.state, row.pane, row.tip,
      row.el ? ridOf(row.el) || classOf(row) : '', row.doc, cover, row.point ?? null, row.scroll ?? null,
      row.foreign ? [row.inner.x, row.inner.y, row.inner.k, row.inner.w, row.inner.h] : null]);
    for (const kid of row.kids) put(kid, at);
  };
  put(root, -1);
  return flat;
};

const look = (withDots = false) => {
  dots = withDots;
  if (isOwn()) return '{"own": true}';
  const root = document[$.documentElement];
  const visual = globalThis.visualViewport;
  view = { width: globalThis.innerWidth, height: globalThis.innerHeight };
  const zoomed = visual && (visual.scale !== 1 || visual.offsetLeft || visual.offsetTop);  // pinched: only a part is shown
  view.l = zoomed ? visual.offsetLeft : 0;
  view.t = zoomed ? visual.offsetTop : 0;
  view.r = zoomed ? view.l + visual.width : view.width;
  view.b = zoomed ? view.t + visual.height : view.height;
  rows = 0; amounts = 0; docs = []; adrift.clear(); truncated = 0; cuts = 0; rowOf = new Map(); active = deepActive(); atKey = keyAt(); suspects = []; layered = false;
  const at = { x: 0, y: 0, k: 1 };
  const scroller = document[$.scrollingElement] || root;
  const page = add({ el: root, id: root ? idOf(root) : 0, tag: 'html', role: 'page', doc: 0,
    box: { x: 0, y: 0, w: view.width, h: view.height }, flags: F.ENABLED, text: '', desc: '', hint: '', state: '',
    pane: squeeze(document[$.title]), tip: '', at, acts: false }, null);
  if (scroller && (scroller[$.scrollHeight] > scroller[$.clientHeight] + 1 || scroller[$.scrollWidth] > scroller[$.clientWidth] + 1)) {
    page.flags |= F.SCROLLABLE;
    page.scroll = scrollOf(scroller);
  }
  if (root) walk(document, page, at);
  const told = margin === MARGIN ? [...rowOf.values()].filter((row) => row !== page) : [];
  const end = performance.now() + HIT_MS;
  let unasked = 0;
  for (const row of told) if (row.acts || row.foreign || row.through) {
    if (performance.now() > end) { unasked++; continue; }
    reach(row);
    if (row.cover) layered = true;
  }
  // Where nothing lies over anything, texts need not be asked about.
  if (layered) for (const row of told) {
    if (row.acts || row.foreign || row.through || !(row.text || row.desc)) continue;
    if (performance.now() > end) unasked++; else reach(row);
  }
  for (const row of told) if (row.cover && row.cover !== 'clipped') row.coverId = named(row.cover)?.id;
  return JSON.stringify({ token: api.token, view: [view.width, view.height, globalThis.devicePixelRatio, visual?.scale ?? 1, visual?.offsetLeft ?? 0, visual?.offsetTop ?? 0, visual?.width ?? view.width],
    docs, rows: flatten(page), truncated, unasked, cut: cuts, suspects: suspects.length, state: document[$.readyState] });
};

// Everything on the page, also what is scrolled out of sight; where a touch would land is not asked. The last look stays.
const everything = (withDots) => {
  const kept = [rowOf, layered, suspects, docs];
  margin = Infinity;
  try { return look(withDots); } finally { margin = MARGIN; [rowOf, layered, suspects, docs] = kept; }
};
const reveal = (id) => {
  const el = elementOf(id), drawn = el?.[$.isConnected] ? drawnBy(el, boxOf(el, { x: 0, y: 0, k: 1 }), { x: 0, y: 0, k: 1 }).label ?? el : null;
  drawn?.[$.scrollIntoView]({ block: 'center', inline: 'nearest', behavior: 'instant' });
  return !!drawn;
};

// Handrail's own desk tells a program nothing: who drives a browser must not answer its questions.
const isOwn = () => !!document[$.querySelector]('meta[name="handrail-desk"]');

// rest

const watched = new WeakSet();
const history = new WeakMap();  // node → [count since the mark, times before it]
let lastChange = -1e9, markAt = 0;
const noted = (records) => {
  const now = performance.now();
  for (const record of records) {
    const node = record.target[$.nodeType] === 3 ? record.target[$.parentNode] || record.target : record.target;
    let known = history.get(node);
    if (!known) history.set(node, known = { times: [], after: 0, noise: 0 });
    known.times.push(now);
    if (known.times.length > 8) known.times.shift();
    if (known.noise === markAt && markAt) continue;
    const before = known.times.filter((t) => t < markAt && t > markAt - NOISE_MS).length;
    if (known.mark !== markAt) { known.mark = markAt; known.after = 0; }
    known.after++;
    if (before >= NOISE || known.after > RESTLESS) { known.noise = markAt; continue; }
    lastChange = now;
  }
};
const observer = new MutationObserver(noted);
const watch = (root) => {
  if (watched.has(root)) return;
  watched.add(root);
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
};
const mark = () => { noted(observer.takeRecords()); markAt = performance.now(); };
const rest = () => {
  noted(observer.takeRecords());
  const moving = document[$.getAnimations]().filter((one) => one.playState === 'running'
    && one.effect?.getComputedTiming().endTime !== Infinity).length;
  return [document[$.readyState], performance.now() - lastChange, moving, performance.now() - markAt];
};

watch(document);
const api = {
  token: Math.random().toString(36).slice(2, 10),
  look, everything, reveal, mark, rest, hitAt, idOf, elementOf, isMine, over, isOwn, F,
  take: (host, root) => { closed.set(host, root); watch(root); },
  suspects: () => suspects,
};
Object.defineProperty(globalThis, 'handrail', { value: api });
