"""Agent-written Markdown and HTML as HTML that can only be read: no scripts, styles, forms, ids or classes,
no picture from elsewhere, links that open outside. Pure; slow enough for a thread."""

from __future__ import annotations

import re
from functools import lru_cache

import nh3
from lxml import etree
from markdown_it import MarkdownIt

from handrail.desk.content import READABLE_TAGS, is_own_picture
from handrail.errors import InvalidAction

_REMOVED_TAGS = frozenset(
    ("script", "style", "title", "textarea", "select", "option", "noscript", "iframe", "object", "template")
)
"""Left out with what is inside; the inside of every other unknown element stays."""
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "ol": {"start"},
    "bdo": {"dir"},
    "details": {"open"},
    "abbr": {"title"},
    "time": {"datetime"},
}
_NUMBERS = {"width", "height", "colspan", "rowspan", "start"}
LONGEST_MARKDOWN = 200_000
"""Code points; the worst of them take seconds, and nobody reads more in a window."""
_LINK = re.compile(r"(https?://|mailto:)[^\s\\]+", re.IGNORECASE)


def render(renderer: str, data: str) -> str:
    """Safe HTML of a window's text. Raises `InvalidAction` for a renderer that is not text."""
    match renderer:
        case "markdown":
            return (
                clean_html(_markdown().render(data)) if len(data) <= LONGEST_MARKDOWN else preformatted(data)
            )
        case "html":
            return clean_html(data)
        case _:
            raise InvalidAction.at("renderer", f"{renderer!r:.60} is not rendered by the server")


def clean_html(html: str) -> str:
    """Only what can be read is left. What is nested too deeply to be meant is shown as it was written."""
    level = _limit_depth(html)
    return preformatted(html) if level is None else _cleaner().clean(level)


def preformatted(text: str) -> str:
    """The text as it was written, every mark of it harmless."""
    return f"<pre>{nh3.clean_text(_encodable(text))}</pre>"


def _limit_depth(html: str) -> str | None:
    """Well-formed HTML no deeper than 256 elements, None for a deeper one. The sanitiser follows HTML5 to the
    letter, where crooked nesting costs time and memory by the square; well-formed it is linear."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(f"<div>{_encodable(html)}</div>".encode(), parser)
    if any("Excessive depth" in problem.message for problem in parser.error_log):
        return None
    return etree.tostring(root, encoding="unicode", method="html")


def _encodable(text: str) -> str:
    """Without what UTF-8 can't say, and without NUL, at which the parser would stop."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(READABLE_TAGS),
        clean_content_tags=set(_REMOVED_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_schemes={"http", "https", "mailto", "data"},
    )


def _attribute(_tag: str, name: str, value: str) -> str | None:
    """The value that stays, or None."""
    if name == "src":
        return value if is_own_picture(value) else None
    if name == "href":
        return value if _LINK.fullmatch(value) else None
    if name in _NUMBERS:
        return value if re.fullmatch(r"\d{1,4}", value) else None
    return value
