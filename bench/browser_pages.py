"""Ten pages of the kinds that agents meet, written for `browser_peers.py`; each tells its server what can be
acted on in it.

The judge is a plain query of the document by the page itself: it knows no peer and shares no code with one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

_JUDGE = """<script>addEventListener('load', () => {
const shown = (el) => { const box = el.getBoundingClientRect(), style = getComputedStyle(el);
  return box.width > 0 && box.height > 0 && box.top < innerHeight && style.visibility === 'visible'; };
const words = (label) => [...label.childNodes].map((one) => one.nodeType === 3 ? one.data : '')
  .join('').trim();
const name = (el) => el.getAttribute('aria-label') || (el.labels?.[0] && words(el.labels[0])) || el.innerText
  || (el.type === 'submit' ? el.value : '') || el.placeholder || el.alt || el.title || '';
const found = [...document.querySelectorAll(
  'a[href], button, input:not([type=hidden]), select, textarea, summary,'
  + '[role=button], [role=checkbox], [role=tab], [role=treeitem], [role=slider], [role=menuitem],'
  + '[contenteditable=true]')].filter(shown).map((el) => name(el).trim().split('\\n')[0]);
fetch('/judge' + location.pathname, { method: 'POST', body: JSON.stringify(found) });
});</script>"""


def _rows(count: int, row: str) -> str:
    names = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo")
    return "".join(row.format(at=at, name=names[at % len(names)]) for at in range(count))


_DAYS = "".join(
    "<tr>" + "".join(f"<td><button>{7 * week + day + 1}</button></td>" for day in range(7)) + "</tr>"
    for week in range(4)
)
BODIES = {
    "one-button": "<p>Click the button.</p><button>Click Me!</button>",
    "login": (
        "<h1>Welcome back</h1><form><label>Username <input></label>"
        "<label>Password <input type=password></label>"
        "<label><input type=checkbox> Keep me signed in</label><button>Login</button></form>"
        "<a href=#f>Forgot your password?</a>"
    ),
    "checkboxes": "<p>Select the words and press Submit.</p>"
    + _rows(12, "<div><label><input type=checkbox> word{at} {name}</label></div>")
    + "<button>Submit</button>",
    "slider": (
        "<p>Select 42 with the slider and hit Submit.</p><label>Volume <input type=range value=7></label>"
        "<button>Submit</button>"
    ),
    "flight": (
        "<h2>Book Your One-Way Flight</h2><label>From <input placeholder='City or airport'></label>"
        "<label>To <input placeholder='City or airport'></label>"
        "<label>Departure date <input type=date></label>"
        "<label>Class <select><option>Economy<option>Business<option>First</select></label>"
        "<button>Search</button><p>Prices are for one person.</p>"
    ),
    "calendar": (
        "<p>Select 12 as the date.</p><button aria-label=Previous>&lt;</button> <b>March 2026</b> "
        "<button aria-label=Next>&gt;</button><table><tr><th>M<th>T<th>W<th>T<th>F<th>S<th>S</tr>"
        f"{_DAYS}</table>"
    ),
    "inbox": "<h1>Primary</h1><input aria-label='Search mail'>"
    + _rows(
        8,
        "<div class=mail><a href=#m{at}><b>{name}</b> Meeting number {at}</a> <span>Could we move it to the"
        " afternoon, the room is taken</span> <button aria-label='Star {name} {at}'>&#9734;</button>"
        " <button aria-label='Delete {name} {at}'>&#10005;</button></div>",
    ),
    "feed": _rows(
        5,
        "<article><b>{name}</b> <small>@{name}{at} · {at}h ago</small><p>Thought {at}: it rained all day and"
        " nobody minded.</p><button>Reply</button><button>Retweet</button><button>Like</button>"
        "<a href=#s{at}>Share post {at}</a></article>",
    ),
    "tree": "<div role=tree>"
    + _rows(
        6,
        "<div role=treeitem tabindex=0 aria-expanded=true aria-label='Folder {name}'>&#128193; Folder {name}"
        "<div role=treeitem tabindex=-1 aria-label='File {name}-{at}'>File {name}-{at}</div></div>",
    )
    + "</div>",
    "editor": (
        "<p>Make the third line bold and press Submit.</p><div role=toolbar>"
        + "".join(f"<button aria-label={one}>{one[0]}</button>" for one in ("Bold", "Italic", "Underline"))
        + "<select aria-label=Size><option>Small<option>Large</select></div>"
        "<div contenteditable=true aria-label=Text style='height: 90px'>"
        "One line.<br>Two lines.<br>Three.</div>"
        "<button>Submit</button>"
    ),
}
CLICKS = (
    "<h1>Shopping</h1>"
    "<button onclick=\"list.insertAdjacentHTML('beforeend', '<li>Milk ' + (++n))\">Add milk</button>"
    "<label><input type=checkbox> Ready</label><ul id=list></ul><script>n = 0</script>"
)


@dataclass
class PeerSite:
    """The pages, and what each has said can be acted on in it."""

    port: int = 0
    judged: dict[str, list[str]] = field(default_factory=dict)
    heard: dict[str, Event] = field(default_factory=dict)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"


@contextmanager
def peer_site() -> Iterator[PeerSite]:
    site = PeerSite(heard={name: Event() for name in BODIES})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            body = CLICKS if name == "clicks" else BODIES.get(name, "")
            page = f"<!doctype html><meta charset=utf-8><title>{name}</title>{body}{_JUDGE}"
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def do_POST(self) -> None:
            name = self.path.rpartition("/")[2]
            found = json.loads(self.rfile.read(int(self.headers["content-length"])))
            site.judged[name] = found
            if name in site.heard:
                site.heard[name].set()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_port
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
