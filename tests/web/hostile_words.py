"""Words that a stranger might write: each would run a script somewhere, or turn a text around."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

RUN = "window.pwned=1"
RUNS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s></svg>",
    f"<svg><script href='data:text/javascript,{RUN}'></script></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}></style></mglyph></table></mtext></math>",
    f"<iframe srcdoc=\"<script>parent.{RUN}</script>\"></iframe>",
    f"<iframe src=\"javascript:parent.{RUN}\"></iframe>",
    f"<object data=\"javascript:{RUN}\"></object>",
    f"<embed src=\"javascript:{RUN}\">",
    f"<a href=\"javascript:{RUN}\">go</a>",
    f"<a href=\"java\tscript:{RUN}\">go</a>",
    f"<a href=\"&#106;avascript:{RUN}\">go</a>",
    f"<a href=\"data:text/html,<script>opener.{RUN}</script>\" target=_self>go</a>",
    f"[go](javascript:{RUN})",
    f"[go](<javascript:{RUN}>)",
    f"![x](x\"onerror=\"{RUN})",
    f"<details open ontoggle={RUN}>x</details>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<form action=\"javascript:{RUN}\"><button autofocus>x</button></form>",
    "<meta http-equiv=refresh content=\"0;url=http://evil.invalid/\">",
    "<base href=http://evil.invalid/>",
    "<link rel=stylesheet href=http://evil.invalid/x.css>",
    "<img src=http://evil.invalid/x.png>",
    "<style>@import 'http://evil.invalid/x.css'; * { display: none }</style>",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title=\"</noscript><img src=x onerror={RUN}>\">",
    f"javascript:{RUN}",
    f"${{{RUN}}}{{{{{RUN}}}}}",
)  # fmt: skip
"""Each by itself."""
BREAKS = (
    "{}", "\">{}", "'>{}", "'\"`>{}", "</script>{}", "</style>{}", "</title>{}", "</textarea>{}", "</pre>{}",
    "-->{}", "]]>{}", "<!--{}", "<![CDATA[{}", "&lt;{}", "\\{}", "%3C{}", "\x00{}", "\u202e{}\u202c",
    "\u2066{}", "\u200b{}\u200b", "\ufeff{}", "x\n\n{}\n\ny", "`{}`", "| {} |", "{}" * 2,
    "\" autofocus onfocus=\"" + RUN + "\" x=\"{}", "' onmouseover='" + RUN + "' x='{}",
)  # fmt: skip
"""What leads out of where the words stand."""


def hostile_words(seed: int, count: int) -> list[str]:
    """Different ones; every break and every run is among the first few hundred."""
    return list(dict.fromkeys(_made(Random(seed), count)))


def _made(random: Random, count: int) -> Iterator[str]:
    runs, breaks = list(RUNS), list(BREAKS)
    random.shuffle(runs)
    random.shuffle(breaks)
    for number in range(count):
        words = breaks[number % len(breaks)].replace("{}", runs[number % len(runs)])
        yield "".join(_cased(words, random)) if random.random() < 0.3 else words


def _cased(words: str, random: Random) -> Iterator[str]:
    """Tags are read without case; the script itself is not, so it stays."""
    before, found, after = words.partition(RUN)
    for part in (before, found, after):
        yield part if part == RUN else "".join(random.choice((c.lower(), c.upper())) for c in part)


DOM = """() => {
  const all = [];
  const walk = (root) => { for (const one of root.querySelectorAll("*")) {
    all.push(one);
    if (one.shadowRoot) walk(one.shadowRoot);
  } };
  walk(document);
  const places = /^(src|href|action|formaction|data|poster|background|srcset|content|style)$/i;
  const runs = ({ name }) => /^on|^srcdoc$/i.test(name);
  const strange = /^\\s*(javascript|data:text)|evil\\.invalid/i;
  const loads = ({ name, value }) => places.test(name) && strange.test(value);
  const foreign = /^(object|embed|base|form|math|applet|frame|animate|foreignobject)$/i;
  const told = (found) => found.map((one) => one.outerHTML.slice(0, 200));
  return {
    pwned: window.pwned ?? null,
    bad: told(all.filter((one) => [...one.attributes].some((each) => runs(each) || loads(each)))),
    made: told(all.filter((one) => foreign.test(one.tagName))),
  };
}"""
"""What of the words became more than words, in the page and in its shadow roots."""
