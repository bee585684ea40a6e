"""Browser: an address bar above a WebView-shaped tree, pages with links and a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.errors import BadSetting
from handrail_sim.resources import table
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import SEND, VIEW, Handles, Intent
from handrail_sim.system.surroundings import is_online, place_for, transfer_ms
from handrail_sim.system.web_engine import WebEngine
from handrail_sim.system.world import mapping
from handrail_sim.view import Style, View

HOME = "https://harbour.example/"


@dataclass(frozen=True, slots=True)
class Heading:
    """A line of large text."""

    words: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    words: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to another page."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with its alternative text."""

    seed: str
    alt: str


@dataclass(frozen=True, slots=True)
class Input:
    """A line to type into. Kinds: text, email, number, password, area."""

    name: str
    label: str
    kind: str = "text"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """A box to tick."""

    name: str
    label: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; the first is chosen to begin with."""

    name: str
    label: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Submit:
    """Sends what was filled in to this url."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class LocationLine:
    """A line that says where the reader is, and a button that lets the page know."""

    words: str


Written = Heading | Paragraph | Link | Picture | Input | Check | Choice | Submit
Block = Written | LocationLine


@dataclass(frozen=True, slots=True)
class Page:
    """One document."""

    title: str
    blocks: tuple[Block, ...]


_BOOKS = (
    ("The Tin Lighthouse", "M. Quill", "on the shelf"),
    ("Seven Quiet Ferries", "A. Marrow", "lent until Friday"),
    ("A Field Guide to Fog", "P. Inkwell", "on the shelf"),
    ("Lighthouse Keepers' Recipes", "T. Sallow", "in the reading room"),
    ("The Ferry That Was Late", "M. Quill", "on the shelf"),
)


@dataclass(frozen=True, slots=True)
class Web:
    """The web as one phone has it: pages that it was given stand before those that every phone has."""

    pages: Mapping[str, Page]
    books: tuple[tuple[str, str, str], ...]


def web_of(arguments: Mapping[str, Any]) -> Web:
    """`given` is the browser's part of a phone's world."""
    own = {place: read_page(page, place) for place, page in arguments.get("pages", {}).items()}
    books = tuple(
        (str(title), str(author), str(where)) for title, author, where in arguments.get("books", _BOOKS)
    )
    return Web({**_PAGES, **own}, books)


Blocks = Mapping[str, Callable[[Mapping[str, Any]], Block]]
_BLOCKS: Blocks = {
    "heading": lambda row: Heading(str(row["heading"]), int(row.get("level", 1))),
    "link": lambda row: Link(str(row["link"]), str(row["to"])),
    "picture": lambda row: Picture("landscape:4", str(row["picture"])),
    "input": lambda row: Input(
        str(row["input"]), str(row["label"]), str(row.get("kind", "text")), bool(row.get("required"))
    ),
    "check": lambda row: Check(str(row["check"]), str(row["label"]), bool(row.get("required"))),
    "choice": lambda row: Choice(str(row["choice"]), str(row["label"]), tuple(map(str, row["options"]))),
    "submit": lambda row: Submit(str(row["submit"]), str(row["to"])),
}


def read_page(content: Any, place: str, kinds: Blocks = _BLOCKS) -> Page:
    """A page as a world writes it: `title`, and `blocks`, where a text is a paragraph."""
    fields = mapping(content, f"browser.pages.{place}", "title blocks")
    blocks: list[Block] = []
    for block in fields.get("blocks", []):
        if not isinstance(block, dict):
            blocks.append(Paragraph(str(block)))
            continue
        kind = next((name for name in kinds if name in block), None)
        if kind is None:
            raise BadSetting(
                f"world.browser.pages.{place}: {str(block)[:60]} is not a known block",
                path=f"world.browser.pages.{place}",
                hint=f"A text, or a mapping with one of {', '.join(kinds)}.",
            )
        blocks.append(kinds[kind](block))
    return Page(str(fields.get("title", place)), tuple(blocks))


_OWN_BLOCKS: Blocks = {**_BLOCKS, "where": lambda row: LocationLine(row["where"])}
_PAGES = {
    place: read_page(page, place, _OWN_BLOCKS) for place, page in table("apps/browser/pages.toml").items()
}


def open_page(url: str, web: Web | None = None) -> Page:
    """The document at an address; an unknown one is a page too, as in a real browser."""
    web = web or web_of({})
    parts = urlsplit(url)
    place = f"{parts.netloc}{parts.path or '/'}"
    form = dict(parse_qsl(parts.query))
    if place == "harbour.example/results":
        return _results(form.get("q", ""), web)
    if place == "harbour.example/joined":
        return _joined(form)
    if place == "search.example/":
        query = form.get("q", "")
        results = [Link(page.title, f"https://{place}") for place, page in web.pages.items()]
        fitting = [link for link in results if query.casefold() in link.words.casefold()] or results[:2]
        return Page(f"{query} - Search", (Heading(f"Results for {query}", 2), *fitting))
    return web.pages.get(place) or _missing(parts.netloc, place)


def _results(query: str, web: Web) -> Page:
    wanted = query.casefold()
    hits = [book for book in web.books if wanted in f"{book[0]} {book[1]}".casefold()]
    lines = [Paragraph(f"{title}, {author}: {where}") for title, author, where in hits]
    count = f"{len(hits)} book{'' if len(hits) == 1 else 's'} for “{query}”"
    again = Link("New search", "https://harbour.example/search")
    return Page(f"{query} - Catalogue", (Heading(count), *lines, again))


def _joined(form: Mapping[str, str]) -> Page:
    letter = (
        "You will get our monthly letter." if form.get("newsletter") else "We will write only if we must."
    )
    thanks = f"Your card is waiting at the {form.get('branch', 'Harbour')} branch."
    return Page(
        "Welcome",
        (
            Heading(f"Thank you, {form.get('name', 'reader')}"),
            Paragraph(thanks),
            Paragraph(letter),
            Link("Home", HOME),
        ),
    )


def offline_page(url: str) -> Page:
    """What a browser shows instead of a page when there is no network."""
    return Page(
        urlsplit(url).netloc,
        (
            Heading("No internet"),
            Paragraph("Try checking the network cables, modem, and router, or reconnecting to Wi-Fi."),
            Paragraph("ERR_INTERNET_DISCONNECTED"),
        ),
    )


def _missing(host: str, place: str) -> Page:
    if host != "harbour.example":
        return Page(
            "Webpage not available",
            (
                Heading("Webpage not available"),
                Paragraph(f"The webpage at {place} could not be loaded because:"),
                Paragraph("net::ERR_NAME_NOT_RESOLVED"),
            ),
        )
    return Page("404", (Heading("Not found"), Paragraph("There is no such page."), Link("Home", HOME)))


def address(typed: str) -> str:
    """What the address bar makes of what was typed: an address, or words to search for."""
    words = typed.strip()
    if "://" in words:
        return words
    if "." in words and " " not in words:
        return f"https://{words}" if "/" in words else f"https://{words}/"
    return f"https://search.example/?q={quote_plus(words)}"


def submit_url(url: str, values: Mapping[str, str]) -> str:
    """Where a form sends its reader: the values in the query, as method=get does."""
    return f"{url}?{urlencode(values)}"


def complaint(page: Page, values: Mapping[str, str]) -> tuple[str, str] | None:
    for block in page.blocks:
        if isinstance(block, Input):
            value = values.get(block.name, "").strip()
            if block.required and not value:
                return block.name, "Please fill out this field."
            if block.kind == "email" and value and "@" not in value[1:-1]:
                return block.name, f"Please include an '@' in the email address. '{value}' is missing an '@'."
        elif isinstance(block, Check) and block.required and not values.get(block.name):
            return block.name, "Please tick this box if you want to proceed."
    return None


_SIZES = {1: 24.0, 2: 20.0}
_KEYBOARDS = {"email": "email", "number": "number", "password": "password"}


def document(browser: Main, page: Page) -> list[View]:
    """The blocks of the page; a complaint stands below the field it is about."""
    return [view for number, block in enumerate(page.blocks) for view in _views(browser, block, number)]


def _views(browser: Main, block: Block, number: int) -> list[View]:
    if isinstance(block, LocationLine):
        return [
            ui.text(browser.where(), cls="android.widget.TextView", key="where"),
            ui.button(block.words, browser.ask_place, "outlined", key=f"where:{number}"),
        ]
    views = [_view(browser, block, number)]
    bubble = browser.state["bubble"]
    if bubble and getattr(block, "name", "") == bubble[0]:
        views.append(ui.text(bubble[1], "error", cls="android.view.View", key="bubble"))
    return views


def _view(browser: Main, block: Written, number: int) -> View:
    match block:
        case Heading():
            style = Style(kind="text", size=_SIZES.get(block.level, 16.0), bold=True)
            return ui.text(block.words, cls="android.widget.TextView", style=style, state="heading")
        case Paragraph():
            return ui.text(block.words, cls="android.widget.TextView")
        case Link():
            return _link(browser, block, number)
        case Picture():
            return ui.image(
                block.seed, cls="android.widget.Image", text=block.alt, width="fill", height=160.0
            )
        case Input():
            return _input_view(browser, block)
        case Check():
            checked = bool(browser.state["values"].get(block.name))
            box = ui.checkbox(
                "",
                checked,
                partial(browser.set_value, block.name),
                id=f"={block.name}",
                desc=block.label,
                width=48.0,
            )
            return ui.row(
                box, ui.text(block.label, cls="android.widget.TextView"), cls="android.view.View", gap=8.0
            )
        case Choice():
            return _choice(browser, block)
        case Submit():
            return ui.button(block.words, partial(browser.submit, block.url), key=f"submit:{number}")


def _link(browser: Main, link: Link, number: int) -> View:
    style = Style(kind="text", size=16.0, color="primary")
    return View(
        cls="android.view.View",
        key=f"link:{number}",
        desc=link.words,
        layout="frame",
        clickable=True,
        on_click=partial(browser.open, link.url),
        padding=(0.0, 6.0),
        children=[ui.text(link.words, cls="android.widget.TextView", style=style)],
    )


def _input_view(browser: Main, block: Input) -> View:
    """The id attribute of an element is its resource id, without a package."""
    return ui.column(
        ui.text(block.label, "label", cls="android.widget.TextView"),
        ui.field(
            f"={block.name}",
            str(browser.state["values"].get(block.name, "")),
            hint=block.label,
            on_change=partial(browser.set_value, block.name),
            input_type=_KEYBOARDS.get(block.kind, "text"),
            password=block.kind == "password",
            multiline=block.kind == "area",
        ),
        cls="android.view.View",
        gap=4.0,
    )


def _choice(browser: Main, block: Choice) -> View:
    """A select element: a Spinner whose text is the chosen option."""
    chosen = browser.state["values"].get(block.name, block.options[0])
    return ui.column(
        ui.text(block.label, "label", cls="android.widget.TextView"),
        ui.button(
            chosen,
            partial(browser.open_choices, block.name, block.options),
            "outlined",
            cls="android.widget.Spinner",
            id=f"={block.name}",
        ),
        cls="android.view.View",
        gap=4.0,
    )


_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:16px}form,p{margin:12px 0}label{display:block;margin:12px 0}"
    "input:not([type=checkbox]),select,textarea,button{font:inherit;padding:8px;box-sizing:border-box}"
    ".picture{height:160px;background:linear-gradient(#9cf,#69a)}"
)


def html_at(url: str, web: Web | None = None) -> str | None:
    """The document at an address of the phone's own web; None for one that it does not have."""
    if not (urlsplit(url).hostname or "").endswith(".example"):
        return None
    return html_of(open_page(url, web))


def html_of(page: Page) -> str:
    """The page; its fields belong to the form of its button."""
    submit = next((block for block in page.blocks if isinstance(block, Submit)), None)
    body = "".join(map(_written, page.blocks))
    form = f'<form action="{escape(submit.url)}">{body}</form>' if submit is not None else body
    head = "<meta charset=utf-8><meta name=viewport content='width=device-width'>"
    title = f"<title>{escape(page.title)}</title>"
    return f"<!doctype html>{head}{title}<style>{_STYLE}</style>{form}"


def _written(block: Block) -> str:  # noqa: PLR0911 - one for each kind
    match block:
        case Heading():
            return f"<h{block.level}>{escape(block.words)}</h{block.level}>"
        case Paragraph():
            return f"<p>{escape(block.words)}</p>"
        case Link():
            return f'<p><a href="{escape(block.url)}">{escape(block.words)}</a></p>'
        case Picture():
            return f'<div class=picture role=img aria-label="{escape(block.alt)}"></div>'
        case Input():
            return f"<label>{escape(block.label)} {_input(block)}</label>"
        case Check():
            needed = " required" if block.required else ""
            name = escape(block.name)
            return f"<label><input type=checkbox id={name} name={name}{needed}> {escape(block.label)}</label>"
        case Choice():
            options = "".join(f"<option>{escape(option)}</option>" for option in block.options)
            name = escape(block.name)
            return f"<label>{escape(block.label)} <select id={name} name={name}>{options}</select></label>"
        case Submit():
            return f"<p><button>{escape(block.words)}</button></p>"
        case _:
            return f"<p>Your position is unknown</p><button type=button>{escape(block.words)}</button>"


def _input(block: Input) -> str:
    name, needed = escape(block.name), " required" if block.required else ""
    if block.kind == "area":
        return f"<textarea id={name} name={name}{needed}></textarea>"
    return f"<input type={block.kind} id={name} name={name}{needed}>"


LOADING_MS = 400
PAGE_KB = 120.0
WEB_VIEW = "android.webkit.WebView"
WEB_NAME = "webview"


class Main(Activity):
    """`state["history"]` ends with the page in front; `values` is what its form holds."""

    title = "Browser"
    single_top = True

    def on_create(self) -> None:
        self.state.update(history=[], values={}, bubble=[], loading=False, offline=False, url="")
        self.open(self.intent.data or HOME)

    def on_new_intent(self, intent: Intent) -> None:
        self.open(intent.data or HOME)

    @property
    def page(self) -> Page:
        return (
            offline_page(self.state["url"])
            if self.state["offline"]
            else open_page(self.state["url"], self.stored_web)
        )

    @property
    def stored_web(self) -> Web:
        return web_of(self.phone.world.get(self.app.package, {}))

    def where(self) -> str:
        place = place_for(self.phone, self.app.package)
        if place is not None:
            return f"You are at {place.latitude:.4f}, {place.longitude:.4f}"
        return "Your position is unknown"

    def ask_place(self) -> None:
        self.request_permission("ACCESS_FINE_LOCATION", self.location_decided)

    def location_decided(self, granted: bool) -> None:
        if not granted:
            self.toast("Location is blocked")

    def build(self) -> View:
        if self.phone.web is not None:
            page = self.real_web(self.phone.web)
            return ui.screen(self.bar(), page)
        return ui.screen(
            self.bar(), ui.progress(60.0, id="progress") if self.state["loading"] else None, self.web()
        )

    def web(self) -> View:
        """The widget, in it the document by its title, in it the body: what Chromium tells of itself."""
        loading = self.state["loading"]
        blocks = [] if loading else document(self, self.page)
        body = ui.column(*blocks, cls="android.view.View", padding=16.0, gap=12.0)
        root = ui.scroll(
            body,
            cls=WEB_VIEW,
            text="" if loading else self.page.title,
            key=f"page:{self.state['url']}",
            focusable=True,
        )
        return ui.frame(root, cls=WEB_VIEW, id=WEB_NAME, weight=1.0)

    def real_web(self, engine: WebEngine) -> View:
        """The same by a real engine, which has a history and forms of its own."""
        engine.pages = partial(html_at, web=self.stored_web)
        self.state["url"] = engine.address(self, WEB_NAME) or self.state["url"]
        self.app.prefs("browser")["url"] = self.state["url"]
        return engine.view(self, WEB_NAME, self.state["history"][-1])

    def bar(self) -> View:
        return ui.row(
            ui.icon_button("home", "Home", partial(self.open, HOME), id="home_button"),
            ui.field(
                "url_bar",
                self.state["url"],
                hint="Search or type web address",
                weight=1.0,
                input_type="uri",
                ime_action="go",
                on_submit=self.go,
            ),
            ui.icon_button("refresh", "Reload", self.reload, id="refresh_button"),
            ui.icon_button("more", "More options", self.more, id="menu_button"),
            height=64.0,
            padding=(4.0, 4.0),
        )

    def go(self) -> None:
        self.open(address(self.field("url_bar")))

    def open(self, url: str) -> None:
        self.state["history"].append(url)
        self.load(url)

    def load(self, url: str) -> None:
        if self.phone.web is not None:
            self.state.update(url=url)
            return
        self.state.update(url=url, loading=True, values={}, bubble=[], offline=False)
        self.app.prefs("browser")["url"] = url
        self.later(LOADING_MS + (transfer_ms(self.phone, PAGE_KB) or 0.0), self.loaded)

    def loaded(self) -> None:
        self.state.update(loading=False, offline=not is_online(self.phone))

    def reload(self) -> None:
        if self.phone.web is not None:
            self.phone.web.reload(self, WEB_NAME)
            return
        self.load(self.state["url"])

    def more(self) -> None:
        self.menu(
            "menu_button", {"New tab": partial(self.open, HOME), "Share": self.share, "Reload": self.reload}
        )

    def share(self) -> None:
        extras = {"android.intent.extra.TEXT": self.state["url"]}
        self.start_intent(Intent(action=SEND, mime="text/plain", extras=extras))

    def back(self) -> bool:
        """Through the history first; a page that is the first one lets go."""
        if self.phone.web is not None:
            return self.phone.web.back(self, WEB_NAME)
        if len(self.state["history"]) < 2:
            return False
        self.state["history"].pop()
        self.load(self.state["history"][-1])
        return True

    def set_value(self, name: str, value: str | bool) -> None:
        self.state["values"][name] = ("on" if value else "") if isinstance(value, bool) else value
        self.state["bubble"] = []

    def open_choices(self, name: str, options: tuple[str, ...]) -> None:
        chosen = options.index(self.state["values"].get(name, options[0]))
        self.choose("", options, partial(self.take, name, list(options)), chosen)

    def take(self, name: str, options: list[str], number: int) -> None:
        self.set_value(name, options[number])

    def submit(self, url: str) -> None:
        values = {name: value for name, value in self.state["values"].items() if value}
        if wrong := complaint(self.page, values):
            self.state["bubble"] = list(wrong)
            return
        sent = submit_url(url, values)
        prefs = self.app.prefs("browser")
        prefs["sent"] = f"{prefs.get('sent', '')}\n{sent}".strip()
        self.open(sent)


@declared
class Browser(App):
    """The browser; its state is the page in front and the forms that were sent."""

    permissions: ClassVar[tuple[str, ...]] = (
        "android.permission.INTERNET",
        "android.permission.ACCESS_FINE_LOCATION",
    )
    activities = {"MainActivity": Main}
    handles = (Handles("MainActivity", VIEW, scheme="http,https"),)

    def fill(self, content: Any) -> None:
        """`pages` by address without https://, with `title` and `blocks`; `books` of the catalogue."""
        fields = mapping(content, "browser", "pages books")
        web_of(fields)  # what is wrong with it is said now
        self.phone.world[self.package] = fields

    def state(self) -> dict[str, Any]:
        prefs = self.prefs("browser")
        sent = [line for line in str(prefs.get("sent", "")).split("\n") if line]
        return {"url": str(prefs.get("url", "")), "sent": sent}


APP = Browser
