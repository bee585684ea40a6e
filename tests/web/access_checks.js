// What an accessibility checker would look at, as one expression: names, structure, contrast.
() => {
  const NAMED = "button, a[href], input, select, textarea, iframe, dialog, nav, main, aside, [role], [tabindex='0']";
  const named = (e) => e.getAttribute("aria-label") || byId(e) || labels(e) || e.textContent || e.title || e.alt || "";
  const byId = (e) => (e.getAttribute("aria-labelledby") ?? "").split(" ")
    .map((id) => document.getElementById(id)?.textContent ?? "").join("");
  const labels = (e) => [...(e.labels ?? [])].map((one) => one.textContent).join("");
  const nameless = [...document.querySelectorAll(NAMED)]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.getAttribute("role") !== "separator")
    .filter((e) => !named(e).trim()).map((e) => e.outerHTML.slice(0, 120));

  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const references = ["aria-labelledby", "aria-describedby", "aria-controls"].flatMap((name) =>
    [...document.querySelectorAll(`[${name}]`)].flatMap((e) => e.getAttribute(name).split(" ")));
  const structure = [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `id ${id} twice`),
    ...references.filter((id) => !document.getElementById(id)).map((id) => `no element ${id}`),
    ...[...document.querySelectorAll("img:not([alt])")].map(() => "a picture without alt"),
    ...[...document.querySelectorAll("button button, a button, button a")].map(() => "a button in a button"),
    ...(document.documentElement.lang ? [] : ["no language"]),
    ...(document.querySelectorAll("main").length === 1 ? [] : ["not one main"]),
  ];

  // WCAG 2.2: relative luminance of what is painted, translucent layers laid over each other.
  const parse = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return colour.startsWith("color(srgb") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const linear = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement ?? at.getRootNode().host) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const faint = [];
  const judge = (e) => {
    const style = getComputedStyle(e);
    const back = ground(e);
    const [a, b] = [light(over(parse(style.color), back)), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least) faint.push(`${ratio.toFixed(2)} ${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`);
  };
  const look = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (e.shadowRoot) look(e.shadowRoot);
      const says = [...e.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.textContent.trim());
      const shown = e.checkVisibility({ opacityProperty: true }) && !e.closest(":disabled, .is-frameless, noscript");
      if (says && shown) judge(e);
    }
  };
  look(document.body);
  return { nameless, structure, faint };
}
