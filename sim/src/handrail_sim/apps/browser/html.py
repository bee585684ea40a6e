"""The little web inside the phone as HTML, for a real engine that draws it."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from handrail_sim.apps.browser.pages import (
    Block,
    Check,
    Choice,
    Heading,
    Input,
    Link,
    Page,
    Paragraph,
    Picture,
    Submit,
    Web,
    open_page,
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
            options = "".join(f"<option>{escape(one)}</option>" for one in block.options)
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
