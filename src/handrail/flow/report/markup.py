"""HTML that can't be broken from inside: every text is escaped here, only `Html` passes as it is.

Screen text, labels and logs are a stranger's. Nothing else in the report writes a tag or an attribute.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_VOID = frozenset({"meta", "br", "input"})
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Controls, and marks that turn the direction of what follows; a lone surrogate has no bytes in UTF-8."""


class Html(str):
    """Markup that `tag` made. A plain `str` is never taken for it."""

    __slots__ = ()


Content = str | Iterable["Content"] | None
Attribute = str | int | float | bool | None


def visible(text: str) -> str:
    """What can't be seen, or would turn the text around, as its code: `\\u202e`."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape(text: str) -> str:
    """For content and for attributes in double quotes."""
    return html.escape(visible(text), quote=True)


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """`tag("a", label, href="#s1")`. `class_` is class, `aria_label` aria-label; None, False are left out."""
    opened = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Html(f"<{opened}>")
    return Html(f"<{opened}>{join(content)}</{name}>")


def join(content: Content) -> Html:
    if content is None:
        return Html()
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return Html(escape(content))
    return Html("".join(map(join, content)))


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
