"""The little web inside the phone: pages as data, and what their forms answer. Knows no view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from handrail_sim.errors import BadSetting
from handrail_sim.resources import table
from handrail_sim.system.world import mapping

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
class Where:
    """A line that says where the reader is, and a button that lets the page know."""

    words: str


Written = Heading | Paragraph | Link | Picture | Input | Check | Choice | Submit
Block = Written | Where


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


_OWN_BLOCKS: Blocks = {**_BLOCKS, "where": lambda row: Where(row["where"])}
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
        return _web_search(form.get("q", ""), web)
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


def _web_search(query: str, web: Web) -> Page:
    results = [Link(page.title, f"https://{place}") for place, page in web.pages.items()]
    fitting = [link for link in results if query.casefold() in link.words.casefold()] or results[:2]
    return Page(f"{query} - Search", (Heading(f"Results for {query}", 2), *fitting))


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
