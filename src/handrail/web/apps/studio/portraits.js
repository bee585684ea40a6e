// What a recording knows of the elements that steps touch (`element:`) is kept beside the text, so that people read the
// steps alone; it is put back where the flow is run or saved. A step whose first line was edited has none any more.

/** The text without portraits, and by the first line of a step the portraits of those steps, in their order. */
export function fold(text) {
  const kept = [], portraits = new Map();
  let step = "", own = null, indent = -1;
  for (const line of text.split("\n")) {
    const depth = line.search(/\S/);
    if (own && depth > indent) {
      own.push(line.slice(indent));
      continue;
    }
    own = null;
    if (/^\s*- /.test(line)) step = line.trim();
    if (/^\s+element:/.test(line)) {
      indent = depth;
      own = [line.slice(indent)];
      portraits.set(step, [...(portraits.get(step) ?? []), own]);
    } else kept.push(line);
  }
  return { text: kept.join("\n"), portraits };
}

/** The other way: each portrait at the end of its step. */
export function unfold(text, portraits) {
  const left = new Map([...portraits].map(([step, all]) => [step, [...all]]));
  const lines = [];
  let waiting = null; // {portrait, indent} of the step that is being read
  const flush = () => {
    if (!waiting) return;
    const blank = lines.length - [...lines].reverse().findIndex((line) => line.trim());
    lines.splice(blank, 0, ...waiting.portrait.map((line) => " ".repeat(waiting.indent + 2) + line));
    waiting = null;
  };
  for (const line of text.split("\n")) {
    const depth = line.search(/\S/);
    if (waiting && depth >= 0 && depth <= waiting.indent) flush();
    const own = /^\s*- /.test(line) ? left.get(line.trim())?.shift() : null;
    if (own) {
      flush();
      waiting = { portrait: own, indent: depth };
    }
    lines.push(own && !/: |:$/.test(line) ? `${line}:` : line);
  }
  flush();
  return lines.join("\n");
}
