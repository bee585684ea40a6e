"""What a window shows: its content, the five operations that change it, and its style. Pure.

A style is a safe list of properties and a small grammar of values, so that it changes only the look inside a
window's own bounds: no position, z-index, transform, pointer-events, filter, shadow or length that reaches
outside, and no function but colours and gradients.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.desk.state import Content
from handrail.errors import InvalidAction
from handrail.hosts import host_of, read_address
from handrail.protocol.content import (
    Append,
    Clear,
    ComponentContent,
    ContentUpdateOperation,
    IframeContent,
    InsertAt,
    Prepend,
    Replace,
    TableContent,
    TextContent,
    WindowContent,
)
from handrail.protocol.read import invalid_action

TEXTS = ("markdown", "html", "text")
FOREIGN_PICTURE = "pictures are loaded from data: and /api/storage/ only; others would tell who looks"
LONGEST = 2_000_000
"""Code points of one window's text, however it got there."""

_CONTENT: TypeAdapter[Any] = TypeAdapter(WindowContent)
AnyContent = TextContent | TableContent | IframeContent | ComponentContent
PROPERTIES = frozenset(
    [
        *("color", "background", "background-color", "opacity", "accent-color"),
        *("border", "border-color", "border-style", "border-width", "border-radius"),
        *("border-top", "border-right", "border-bottom", "border-left"),
        *("padding", "padding-top", "padding-right", "padding-bottom", "padding-left", "gap"),
        *("font-family", "font-size", "font-style", "font-weight", "font-variant", "line-height"),
        *("letter-spacing", "word-spacing", "text-align", "text-transform", "text-decoration", "text-indent"),
        *("white-space", "word-break", "overflow-wrap", "direction"),
    ]
)
READABLE_TAGS = frozenset(
    [
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "blockquote", "pre", "hr", "br", "wbr"),
        *("ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "details", "summary"),
        *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"),
        *("a", "img", "span", "b", "i", "u", "s", "em", "strong", "small", "mark", "del", "ins"),
        *("sub", "sup", "abbr", "cite", "code", "dfn", "kbd", "q", "samp", "time", "var"),
        *("bdi", "bdo", "ruby", "rp", "rt"),
    ]
)
"""The elements of HTML that a window shows: what can be read, and nothing that acts."""
_FRAME_TAGS = frozenset(("html", "head", "body", "meta", "title"))
"""Nobody misses these in a window."""
_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9-]*)([^<>]{0,2000})")
_ACTIVE_ATTRIBUTE = re.compile(r"\s(style|on[a-z]+)\s*=", re.IGNORECASE)
_UNITLESS = frozenset({"opacity", "font-weight", "line-height"})
_LEAST_OPACITY = 0.3
"""A window that nobody sees must not catch anybody's clicks."""
_MOST = {"px": 100.0, "pt": 75.0, "em": 6.0, "rem": 6.0, "%": 100.0, "deg": 360.0, "turn": 1.0, "": 1_000.0}
_FUNCTIONS = frozenset({"rgb", "rgba", "hsl", "hsla", "linear-gradient", "radial-gradient"})
_ALLOWED = re.compile(r"[a-zA-Z0-9#%.,()\s/'\"-]{1,300}")
_FUNCTION = re.compile(r"([a-zA-Z-]+)\s*\(")
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}(?![0-9a-zA-Z])")
_NUMBER = re.compile(r"(?<![a-zA-Z0-9])(-?\d*\.?\d+)([a-zA-Z%]*)")


def content_of(content: AnyContent, path: str, own_hosts: frozenset[str] = frozenset()) -> Content:
    """The content as plain data, after the rules that a schema can't tell."""
    if isinstance(content, TextContent):
        return Content(content.renderer, content.data)
    if isinstance(content, IframeContent):
        return Content(content.renderer, _frame(content, path, own_hosts))
    data = content.data.to_dict()
    if isinstance(content, ComponentContent):
        data["components"] = [_without_foreign_picture(component) for component in data["components"]]
    return Content(content.renderer, data)


def _without_foreign_picture(component: dict[str, Any]) -> dict[str, Any]:
    """A picture from elsewhere never gets to a browser; where it would have come from does."""
    if component["type"] != "image" or is_own_picture(component["src"]):
        return component
    return {**component, "src": "", "leftOut": host_of(component["src"]) or "elsewhere"}


def parts_not_shown(content: AnyContent, path: str) -> dict[str, Any]:
    """What of it will not be there, for whoever sent it: HTML, foreign pictures, wishes of a sandbox."""
    omitted: dict[str, Any] = {}
    if isinstance(content, TextContent) and content.renderer == "html":
        omitted |= html_not_shown(content.data)
    if isinstance(content, ComponentContent):
        foreign = [
            f"{path}.data.components[{at}].src"
            for at, component in enumerate(content.data.components)
            if component.type == "image" and not is_own_picture(component.src)
        ]
        if foreign:
            omitted["not_shown"] = [{"path": place, "why": FOREIGN_PICTURE} for place in foreign]
    if isinstance(content, IframeContent) and not isinstance(content.data, str) and content.data.sandbox:
        allowed = narrow_sandbox(content.data.sandbox).split()
        dropped = [word for word in content.data.sandbox.split() if word.lower() not in allowed]
        if dropped:
            omitted["dropped_sandbox"] = dropped
    return omitted


def html_not_shown(html: str) -> dict[str, Any]:
    """The names of elements that no window shows, and of attributes, with a `=` behind them."""
    dropped: dict[str, None] = {}
    for tag, attributes in _TAG.findall(html):
        if tag.lower() not in READABLE_TAGS | _FRAME_TAGS:
            dropped[tag.lower()] = None
        dropped |= {f"{name.lower()}=": None for name in _ACTIVE_ATTRIBUTE.findall(attributes)}
    return {"dropped_html": list(dropped)} if dropped else {}


def _frame(content: IframeContent, path: str, own_hosts: frozenset[str]) -> Any:
    if isinstance(content.data, str):
        check_page(content.data, f"{path}.data", own_hosts)
        return content.data
    check_page(content.data.url, f"{path}.data.url", own_hosts)
    if content.data.sandbox is None:
        return {"url": content.data.url}
    return {"url": content.data.url, "sandbox": narrow_sandbox(content.data.sandbox)}


def replacement_content(operation: ContentUpdateOperation, renderer: str) -> AnyContent | None:
    """The whole content that an operation brings; None where it only changes a text."""
    if not isinstance(operation, Replace):
        return None
    checked: AnyContent = _CONTENT.validate_python({"renderer": renderer, "data": operation.data})
    return checked


def updated_content(
    old: Content,
    operation: ContentUpdateOperation,
    renderer: str | None,
    own_hosts: frozenset[str] = frozenset(),
) -> Content:
    """The content after one operation, by seed 004's table of operations and renderers."""
    target = renderer or old.renderer
    match operation:
        case Append(data=data):
            text = _text(old, target, operation.op) + data
        case Prepend(data=data):
            text = data + _text(old, target, operation.op)
        case InsertAt(data=data, position=position):
            text = _text(old, target, operation.op)
            if position > len(text):  # Python counts code points, as the specification does
                raise _bad_content("position", f"{position} is outside 0…{len(text)}")
            text = text[:position] + data + text[position:]
        case Replace(data=data):
            content = {"renderer": target, "data": data}
            try:
                checked = _CONTENT.validate_python(content)
            except ValidationError as error:
                problem = invalid_action(error, content)
                path = f"operation.{problem.details['path']}"
                raise InvalidAction(
                    f"operation.{problem.message} (renderer {target})", hint=problem.hint, path=path
                ) from None
            return content_of(checked, "operation", own_hosts)
        case Clear():
            return Content(target, empty_content(target))
    if len(text) > LONGEST:
        raise _bad_content("data", f"the window would hold {len(text):,} characters; at most {LONGEST:,} fit")
    return Content(target, text)


def empty_content(renderer: str) -> Any:
    """Returns what a window shows after `clear`."""
    if renderer == "table":
        return {"headers": [], "rows": []}
    return {"components": []} if renderer == "component" else ""


def _text(old: Content, target: str, op: str) -> str:
    if target not in TEXTS:
        raise _bad_content("op", f"{op} is not valid for the renderer {target}; use replace or clear")
    if old.renderer not in TEXTS:
        hint = "Use replace, with the whole data of the new renderer."
        raise InvalidAction.at("renderer", f"{op} can't turn {old.renderer} into {target}", hint=hint)
    return str(old.data)


def _bad_content(field: str, why: str) -> InvalidAction:
    hint = "append, prepend and insertAt need markdown, html or text; insertAt counts code points from 0."
    return InvalidAction.at(f"operation.{field}", f"{why}", hint=hint)


def filter_style(style: Mapping[str, str | int | float] | None) -> tuple[dict[str, str], list[str]]:
    """What may be set, in kebab-case, and the names of what was dropped."""
    safe: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in (style or {}).items():
        # `borderRadius` → `border-radius`.
        prop = re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name)
        text = style_as_css(prop, value)
        if prop in PROPERTIES and is_safe(prop, text):
            safe[prop] = text
        else:
            dropped.append(name)
    return safe, dropped


def style_as_css(prop: str, value: str | float) -> str:
    """A number counts as pixels where CSS wants a length, as in React."""
    if isinstance(value, str):
        return value.strip()
    number = f"{value:.4f}".rstrip("0").rstrip(".")
    return number if prop in _UNITLESS or value == 0 else f"{number}px"


def is_safe(prop: str, text: str) -> bool:
    """True when the value can't load, cover or hide anything."""
    if not _ALLOWED.fullmatch(text) or text.count("(") != text.count(")"):
        return False
    if any(name.lower() not in _FUNCTIONS for name in _FUNCTION.findall(text)):
        return False
    if re.search(r"(?:^|[^a-zA-Z-])\(", text):
        return False
    if prop == "opacity":
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            return False
        return _LEAST_OPACITY <= number <= 1
    numbers = _NUMBER.findall(_COLOUR.sub("", text))
    return all(0 <= float(number) <= _MOST.get(unit.lower(), -1) for number, unit in numbers)


SANDBOX = ("allow-scripts", "allow-forms")
"""What a frame may do at most: on an opaque origin, without popups, downloads or navigation of the page."""
_APP = re.compile(r"app:[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\?[A-Za-z0-9%=&+._~-]{0,400})?")
"""What stands behind the name is the app's own: which phone a window shows, for example."""
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml)[;,]")
OWN_PICTURES = ("/api/storage/", "/static/")
"""The desk's own places for pictures; nothing is ever loaded from elsewhere."""


def narrow_sandbox(sandbox: str) -> str:
    """The words of an agent's `sandbox` that are ours too: it can only take away."""
    words = sandbox.lower().split()
    return " ".join(word for word in SANDBOX if word in words)


def check_page(url: str, path: str, own_hosts: frozenset[str] = frozenset()) -> None:
    """Raises `InvalidAction` unless it is `app:NAME` or http(s) elsewhere than on the desk itself."""
    if _APP.fullmatch(url):
        return
    host = _host_of_url(url)
    if host is None:
        raise _refused_address(path, url, "is not a page: give app:NAME or an http(s) address")
    if host in own_hosts:
        raise _refused_address(path, url, "is the desk itself, which no frame may show")


def check_link(url: str, path: str) -> None:
    """Raises `InvalidAction` unless it is http(s)."""
    if _host_of_url(url) is None:
        raise _refused_address(path, url, "is not an http(s) address")


def check_picture(src: str, path: str) -> None:
    """Raises `InvalidAction` for a picture from elsewhere."""
    if not is_own_picture(src):
        raise _refused_address(path, src, "is neither a data: picture nor a file of /api/storage/")


def is_own_picture(src: str) -> bool:
    """True for a data: picture and for a file of the desk."""
    if _PICTURE.match(src):
        return True
    return src.startswith(OWN_PICTURES) and not _leaves_folder(src)


def check_file(target: str, path: str) -> None:
    """Raises `InvalidAction` for a path that leads out of the storage."""
    if not target or target.startswith("/") or _leaves_folder(target):
        raise _refused_address(path, target, "is not a path inside the storage")


def _leaves_folder(path: str) -> bool:
    """`..` in any spelling, or a character that browsers read as a slash or skip."""
    return re.search(r"\.\.|%2e|%2f|%5c|\\|[\x00-\x20]", path, re.IGNORECASE) is not None


def _host_of_url(url: str) -> str | None:
    """`host:port` of an http(s) address, None for everything else."""
    read = read_address(url)
    if read is None:
        return None
    host, port = read
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refused_address(path: str, value: str, why: str) -> InvalidAction:
    return InvalidAction.at(
        path,
        f"{value!r:.120} {why}",
        hint="Frames take app:NAME, http and https; pictures take data: and /api/storage/ addresses.",
    )
